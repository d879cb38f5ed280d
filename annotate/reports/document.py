"""A report as blocks that point into results.json, so that terminal, Markdown and HTML show one and the same number.

A number is never written into a sentence: a `Ref` says where in the results it stands and how it is printed. What a
study brought along (names of models, labels, strata) is a `Name`, so that a writer can escape it and a reader of the
HTML can tell a digit of a name from a digit of a result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["count", "share", "change", "percent", "decimal", "text", "rank"]

UNDEFINED = "undefined"


@dataclass(frozen=True, slots=True)
class Ref:
    """A value of results.json: ``path`` is a JSON pointer (RFC 6901), ``kind`` how it is printed."""

    path: str
    kind: Kind = "share"


@dataclass(frozen=True, slots=True)
class Name:
    """A name that came with the study: shown as it is, made safe by the writer."""

    text: str


Inline = str | Ref | Name
Line = tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    line: Line


@dataclass(frozen=True, slots=True)
class Paragraph:
    line: Line


@dataclass(frozen=True, slots=True)
class Bullets:
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under a header; the columns numbered in ``right`` are right-aligned."""

    title: Line
    header: tuple[Line, ...]
    rows: tuple[tuple[Line, ...], ...]
    right: tuple[int, ...] = ()
    note: Line = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """One point of a figure with its interval: JSON pointers to numbers; ``series`` is its place in the legend."""

    series: int
    value: str
    low: str | None = None
    high: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a figure: what it is about, its marks, and what stands at its right end."""

    label: Line
    marks: tuple[Mark, ...]
    end: Line = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """Points with intervals on one axis, a line each. ``name`` is the file's; ``text`` says what is to be seen."""

    name: str
    title: Line
    text: str
    series: tuple[str, ...]
    rows: tuple[Row, ...]
    axis: str = ""


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A text of several lines as it is, folded away under ``summary`` where a form can fold."""

    summary: Line
    ref: Ref


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that are folded away under ``summary`` where a form can fold."""

    summary: Line
    blocks: tuple[Block, ...]


Block = Heading | Paragraph | Bullets | Table | Figure | Verbatim | Fold


def interval_at(line: Line, at: int) -> bool:
    """Whether an interval in brackets begins here: five inlines that a form keeps on one line."""
    return (
        line[at : at + 1] == ("[",)
        and line[at + 2 : at + 3] == (", ",)
        and line[at + 4 : at + 5] == ("]",)
        and all(isinstance(line[place], Ref) for place in (at + 1, at + 3))
    )


@dataclass(frozen=True, slots=True)
class Document:
    """The blocks of a report and the results that they point into."""

    blocks: tuple[Block, ...]
    results: Mapping[str, Any]

    def text(self, inline: Inline) -> str:
        """What an inline shows, before a writer makes it safe."""
        if isinstance(inline, Ref):
            return format_value(resolve(self.results, inline.path), inline.kind)
        return inline.text if isinstance(inline, Name) else inline

    def line(self, line: Line) -> str:
        """A whole line as plain text."""
        return "".join(self.text(inline) for inline in line)


def pointer(*parts: str | int) -> str:
    """The JSON pointer through ``parts``."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def resolve(value: Any, path: str) -> Any:
    """The value at a JSON pointer; raises KeyError with the pointer where there is none."""
    for part in path.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(key)] if isinstance(value, Sequence) else value[key]
        except (LookupError, ValueError, TypeError):
            raise KeyError(path) from None
    return value


def format_value(value: Any, kind: Kind) -> str:
    """Print one value of the results; an undefined one says so."""
    if value is None:
        return UNDEFINED
    if kind == "text":
        return str(value)
    if kind == "count":
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
    if kind == "percent":
        return f"{100 * value:.1f} %"
    if kind == "rank":
        return f"{value:g}"
    digits = 2 if kind == "decimal" else 3
    value = round(value, digits) + 0.0  # no negative zero
    return f"{value:+.{digits}f}" if kind == "change" else f"{value:.{digits}f}"
