"""A table whose columns are mapped as ``annotate import --format table`` maps them: one row a response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from annotate.counting.facts import Expression, Facts, Path, confidence, first, number, whole, yes_no
from annotate.counting.shapes import CONFIDENCE, NO_ITEM, REPEAT, SCORE, SEARCHED, UNREADABLE, Get, Shape
from annotate.counting.shapes import at as value_at
from annotate.importers.fit import Unfit
from annotate.recipes import values
from annotate.recipes.parse import MappingError, split_target
from annotate.recipes.spec import FieldRule, Recipe
from annotate.recipes.transforms import parse_path, strip

OPTIONS = (
    *("map", "confidence_scale", "confidence_grid"),
    *("delimiter", "quoting", "encoding", "gold_separator", "options_separator", "labels_only"),
)
"""Options of the table importer; those of the second line only matter to the records that are drawn."""
_READ = ("item", "model", "condition", "repeat", "failure", "confidence", "searched", "choice", "key")
_LONG = ("judge", "judge_label", "judge_score", "judge_rationale")


def fits(columns: Sequence[str]) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Mapped:
    """Where each field comes from: a path into the record, or the same text for all."""

    fields: Mapping[str, Path | str]
    strata: Mapping[str, Path | str]
    judges: Mapping[str, Path | str]
    scores: Mapping[str, Path | str]
    scale: int | None
    grid: int | None

    def every(self) -> Iterator[Path]:
        for group in (self.fields, self.strata, self.judges, self.scores):
            yield from (place for place in group.values() if not isinstance(place, str))


def shape(options: Mapping[str, str], columns: Sequence[str], source: str) -> Shape:
    """Raises MappingError where the mapping is missing or holds what only reading row by row can do."""
    mapped = _mapped(_recipe(options, columns, source), columns)
    paths = tuple(dict.fromkeys(mapped.every()))

    def facts(get: Get) -> Facts:
        return _facts(get, mapped)

    def problem(data: Mapping[str, Any]) -> str | None:
        return _problem(data, mapped, paths)

    has = frozenset(name for name in (CONFIDENCE, SEARCHED, "choice") if name in mapped.fields)
    judges, scored = tuple(dict.fromkeys((*mapped.judges, *mapped.scores))), tuple(mapped.scores)
    return Shape("table", dict(options), paths, paths, tuple(mapped.strata), judges, scored, has, facts, problem)


def _recipe(options: Mapping[str, str], columns: Sequence[str], source: str) -> Recipe:
    from annotate.importers.base import Request
    from annotate.importers.guess import guess_columns
    from annotate.importers.table import table_recipe

    if not options.get("map"):
        guess = guess_columns(columns)
        example = guess.map_text or "COLUMN=item,COLUMN=model,COLUMN=judge.NAME"
        raise MappingError(f"{source}: which column is which was not said.", f"For example --map '{example}'")
    return table_recipe(FilePath(source), Request((FilePath(source),), options), columns)


def _mapped(recipe: Recipe, columns: Sequence[str]) -> Mapped:
    found: dict[str, dict[str, Path | str]] = {"": {}, "stratum": {}, "judge": {}, "judge.score": {}}
    for rule in recipe.fields:
        family, name, part = split_target(rule.target)
        if not name and family in _LONG:
            raise MappingError("A table with one verdict a row cannot be counted.", "Give each judge a column.")
        if not name and family in _READ:
            found[""][family] = _place(rule, columns)
        elif family == "stratum" or (family == "judge" and part in ("", "score")):
            found[f"{family}.{part}" if part else family][name] = _place(rule, columns)
    if "item" not in found[""]:
        raise MappingError("No column is mapped to item, by which a response is told from others.", "COLUMN=item")
    if "confidence" in found[""] and recipe.options.confidence_scale is None:
        hint = "Say what certainty is written as: --option confidence_scale=1 or 100."
        raise MappingError("Confidence is mapped, but its scale is not declared.", hint)
    scale, grid = recipe.options.confidence_scale, recipe.options.confidence_grid
    return Mapped(found[""], found["stratum"], found["judge"], found["judge.score"], scale, grid)


def _place(rule: FieldRule, columns: Sequence[str]) -> Path | str:
    value = rule.value
    if value.steps or value.join is not None or value.capture is not None:
        message = f"{rule.target}: only plain columns and constants can be counted where they lie."
        raise MappingError(message, "Leave out steps, joins and captures, or import the files.")
    if value.const is not None:
        return value.const
    column = value.column or ""
    if column in columns:
        return (column,)
    try:
        return tuple(map(str, parse_path(column)))
    except ValueError:
        return (column,)


def _facts(get: Get, mapped: Mapped) -> Facts:
    import ibis

    def text(place: Path | str | None, *, typed: bool = False) -> Expression:
        if place is None or place == "":
            return ibis.null("string")
        return ibis.literal(place) if isinstance(place, str) else get(place, typed=typed)

    field = {name: text(mapped.fields.get(name), typed=name in (REPEAT, SEARCHED)) for name in _READ}
    repeat, searched = whole(field["repeat"]), yes_no(field["searched"])
    stated, grid = confidence(field["confidence"], mapped.scale or 100, mapped.grid)
    scores = {name: number(text(place)) for name, place in mapped.scores.items()}
    typed = {REPEAT: repeat.wrong, CONFIDENCE: stated.wrong, SEARCHED: searched.wrong}
    wrong = [(each, name) for name, each in typed.items() if name in mapped.fields]
    wrong += [(score.wrong, SCORE) for score in scores.values()]
    is_key = ibis.ifelse(field["choice"] == field["key"], 1, 0)
    known = field["choice"].notnull() & field["key"].notnull()
    return Facts(
        problem=first((field["item"].isnull(), NO_ITEM), *wrong),
        item=field["item"],
        model=field["model"].fill_null(""),
        condition=field["condition"].fill_null(""),
        repeat=repeat.value.fill_null(1),
        failure=field["failure"],
        strata={name: text(place) for name, place in mapped.strata.items()},
        raw={name: text(place) for name, place in mapped.judges.items()},
        scores={name: score.value for name, score in scores.items()},
        confidence=stated.value,
        grid=grid,
        searched=searched.value,
        choice=field["choice"],
        is_key=ibis.ifelse(known, is_key, ibis.null("int64")).cast("int64"),
    )


def _problem(data: Mapping[str, Any], mapped: Mapped, paths: Sequence[Path]) -> str | None:
    if all(value_at(data, path) is None for path in paths):
        return UNREADABLE

    def value(place: Path | str | None) -> Any:
        return place if place is None or isinstance(place, str) else value_at(data, place)

    readers: list[tuple[str, Path | str | None, Any]] = [
        (REPEAT, mapped.fields.get("repeat"), values.whole("repeat")),
        (CONFIDENCE, mapped.fields.get("confidence"), values.confidence(mapped.scale or 100, mapped.grid)),
        (SEARCHED, mapped.fields.get("searched"), values.yes_no("searched")),
        *((SCORE, place, values.number("score")) for place in mapped.scores.values()),
    ]
    if strip(value(mapped.fields["item"])) is None:
        return NO_ITEM
    for kind, place, read in readers:
        try:
            read(value(place))
        except Unfit:
            return kind
    return None
