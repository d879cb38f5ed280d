"""What the columns of a source mean: a table with a mapping, records of ehq, or graded responses of WikiProfile.

A shape names the columns that are read, turns them into facts in the engine, and says of a single record, in Python,
why it cannot be counted: so that the first of those that were left out can be named with their line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from annotate.counting.facts import Expression, Facts, Path
from annotate.importers.sources import SourceError


class Get(Protocol):
    """The value of a path: stripped text, null where nothing is left; ``typed``: whole numbers and truth as such."""

    def __call__(self, path: Path, *, typed: bool = False) -> Expression: ...


UNREADABLE = "not readable"
NO_ITEM, NO_MODEL = "no item", "no model"
REPEAT, CONFIDENCE, SEARCHED, SCORE = "repeat", "confidence", "searched", "score"


@dataclass(frozen=True, slots=True)
class Shape:
    """``paths``: the columns (and fields in them) that are read. ``needed``: those that some record must have.

    ``strata``, ``judges`` and ``scored`` name what there is. ``has``: confidence, searched, choice, where mapped.
    ``options``: what the import of drawn records is told, beside the format's name.
    """

    format: str
    options: Mapping[str, str]
    paths: tuple[Path, ...]
    needed: tuple[Path, ...]
    strata: tuple[str, ...]
    judges: tuple[str, ...]
    scored: tuple[str, ...]
    has: frozenset[str]
    facts: Callable[[Get], Facts]
    problem: Callable[[Mapping[str, Any]], str | None]


def shape_of(format_: str, options: Mapping[str, str], columns: Sequence[str], source: str) -> Shape:
    """The shape of a source with these columns. ``format_`` '' is found out; raises SourceError where it is none."""
    from annotate.counting import shape_ehq, shape_table, shape_wikiprofile

    known = {"table": shape_table, "ehq": shape_ehq, "wikiprofile": shape_wikiprofile}
    if not format_:
        fitting = (name for name in ("ehq", "wikiprofile") if known[name].fits(columns))
        format_ = "table" if "map" in options else next(fitting, "table")
    if format_ not in known:
        hint = f"Formats that can be counted: {', '.join(known)}. Any other: import it, or write it out as a table."
        raise SourceError(f"The format {format_!r} cannot be counted where it lies.", hint)
    unknown = [name for name in options if name not in known[format_].OPTIONS]
    if unknown:
        hint = f"Its options: {', '.join(known[format_].OPTIONS) or 'none'}."
        raise SourceError(f"The format {format_!r} has no option {unknown[0]!r} when it is counted.", hint)
    shape: Shape = known[format_].shape(options, columns, source)
    return shape


def at(data: Mapping[str, Any], path: Path) -> Any:
    """The value of a path in a record; None where something on the way is missing or JSON text that is none."""
    import json

    value: Any = data
    for part in path:
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                return None
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value


def check_columns(source: str, paths: Sequence[Path], columns: Sequence[str]) -> None:
    """Raise SourceError where a column is not there, naming the nearest that is."""
    import difflib

    for path in paths:
        if path[0] not in columns:
            near = difflib.get_close_matches(path[0], columns, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Its columns: {', '.join(columns) or 'none'}."
            raise SourceError(f"{source}: there is no column {path[0]!r}.", hint)
