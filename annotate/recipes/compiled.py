"""The fields of a recipe as functions, made once: from a record to the value of each field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.importers.fit import Unfit
from annotate.importers.records import Record
from annotate.recipes import values
from annotate.recipes.parse import MappingError, split_target
from annotate.recipes.spec import Expression, FieldRule, Recipe, TableOptions
from annotate.recipes.transforms import as_text, by_path, parse_path, strip
from db.records import Role

Getter = Callable[["Joined"], Any]
Reader = Callable[[object], Any]
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Joined:
    """A record of the main file, the records that are joined to it, and what the file's name says.

    ``sources`` holds the position of each file in the import's list: of the main one under None, of a join by name.
    """

    main: Record
    others: Mapping[str, Record | None]
    captures: Mapping[str, str]
    sources: Mapping[str | None, int]


@dataclass(frozen=True, slots=True)
class Rater:
    """The fields of one coder, tie-breaker or judge; ``join`` is the file whose lines are named."""

    name: Getter
    role: Role
    parts: Mapping[str, Getter]
    join: str | None

    def row(self, record: Joined) -> int | None:
        """The line of the file that the rater's columns are in; None where it has no partner for this record."""
        if self.join is None:
            return record.main.row
        other = record.others.get(self.join)
        return other.row if other is not None else None


def compile_fields(recipe: Recipe) -> dict[str, Getter]:
    """Every plain field that the recipe maps, read as its type."""
    readers = readers_of(recipe.options)
    rules = {rule.target: rule for rule in recipe.fields}
    if "confidence" in rules and recipe.options.confidence_scale is None:
        hint = "Say what certainty is written as: confidence_scale = 1 or 100."
        raise MappingError("Confidence is mapped, but its scale is not declared.", hint)
    return {target: _getter(rules[target].value, readers[target]) for target in readers if target in rules}


def compile_strata(recipe: Recipe) -> dict[str, Getter]:
    """The strata by name."""
    return {name: _getter(value, strip) for name, value in stratum_rules(recipe)}


def stratum_rules(recipe: Recipe) -> list[tuple[str, Expression]]:
    """(name, expression) of each stratum."""
    named = [(split_target(rule.target), rule.value) for rule in recipe.fields]
    return [(name, value) for (family, name, _), value in named if family == "stratum"]


def compile_judges(recipe: Recipe) -> list[Rater]:
    return _raters(recipe, "judge", "coder")


def compile_coders(recipe: Recipe) -> list[Rater]:
    """Coders, tie-breakers and the final label, in this order."""
    coders = [*_raters(recipe, "coder", "coder"), *_raters(recipe, "tiebreak", "tiebreak")]
    parts = {_FINAL[rule.target]: rule for rule in recipe.fields if rule.target in _FINAL}
    return [*coders, _rater(_constant("final"), "adjudicator", parts)] if parts else coders


def readers_of(options: TableOptions) -> dict[str, Reader]:
    """How the value of each plain field is read as its type."""
    return {
        "item": strip,
        "question": as_text,
        "context": values.text_or_none,
        "gold": values.texts(options.gold_separator),
        "rationale": values.text_or_none,
        "options": values.texts(options.options_separator),
        "key": strip,
        "response": as_text,
        "response_b": as_text,
        "model": strip,
        "model_b": strip,
        "condition": strip,
        "repeat": values.whole("repeat"),
        "reason": values.text_or_none,
        "choice": strip,
        "confidence": values.confidence(options.confidence_scale or 100, options.confidence_grid),
        "searched": values.yes_no("searched"),
        "failure": strip,
        "pi": values.probability("pi", inverse=False),
        "weight": values.probability("weight", inverse=True),
    }


# --- where values come from ---------------------------------------------------------------------------


def _getter(expression: Expression, read: Reader | None = None) -> Getter:
    """The value of an expression, read as its type. A bare column, by far the most frequent, is one call."""
    readers = (*expression.steps, *([] if read is None else [read]))
    if len(readers) == 1 and _is_bare(expression):
        column, only = expression.column or "", readers[0]
        return lambda record: only(record.main.data.get(column))
    source = _source(expression)
    for reader in readers:
        source = _then(source, reader)
    return source


def _is_bare(expression: Expression) -> bool:
    """True for a column of the main file whose name is no path."""
    column = expression.column
    return column is not None and expression.join is None and "." not in column and "[" not in column


def _then(get: Getter, read: Reader) -> Getter:
    return lambda record: read(get(record))


def _constant(value: str) -> Getter:
    return lambda record: value


def _source(expression: Expression) -> Getter:
    if expression.const is not None:
        return _constant(expression.const)
    if expression.capture is not None:
        capture = expression.capture
        return lambda record: record.captures.get(capture)
    column = expression.column or ""
    join = expression.join
    if join is not None:
        return lambda record: _cell(record.others[join], column)
    if _is_bare(expression):
        return lambda record: record.main.data.get(column)
    return _nested(column)


def _cell(record: Record | None, column: str) -> object:
    return record.data.get(column) if record is not None else None


def _nested(column: str) -> Getter:
    """A column whose name looks like a path: itself where it is there, else the path into the record."""
    try:
        follow = by_path(parse_path(column))
    except ValueError:
        return lambda record: record.main.data.get(column)

    def get(record: Joined) -> object:
        value = record.main.data.get(column, _MISSING)
        if value is not _MISSING:
            return value
        try:
            return follow(record.main.data)
        except Unfit:
            return None

    return get


# --- raters -------------------------------------------------------------------------------------------

_LONG: Mapping[str, Mapping[str, str]] = {
    "coder": {"label": "", "rating": "rating", "note": "note", "time": "time"},
    "judge": {"judge_label": "", "judge_score": "score", "judge_rationale": "rationale"},
}
_FINAL = {"final": "", "final.rating": "rating", "final.note": "note"}
_PARTS: Mapping[str, Reader] = {
    "rating": values.whole("rating"),
    "score": values.number("score"),
    "note": values.text_or_none,
    "time": strip,
    "rationale": values.text_or_none,
    "reply": values.text_or_none,
}


def judge_readers(recipe: Recipe) -> dict[str, dict[str, tuple[FieldRule, Reader]]]:
    """The judges that have columns of their own: {judge: {part: (its rule, how it is read)}}."""
    return {
        name: {part: (rule, _PARTS.get(part, as_text)) for part, rule in parts.items()}
        for name, parts in _named(recipe, "judge").items()
    }


def _named(recipe: Recipe, family: str) -> dict[str, dict[str, FieldRule]]:
    """{name: {part: rule}} of the fields of a family."""
    named: dict[str, dict[str, FieldRule]] = {}
    for rule in recipe.fields:
        found, name, part = split_target(rule.target)
        if found == family and name:
            named.setdefault(name, {})[part] = rule
    return named


def _raters(recipe: Recipe, family: str, role: Role) -> list[Rater]:
    rules = {rule.target: rule for rule in recipe.fields}
    named = _named(recipe, family)
    raters = [_rater(_constant(name), role, parts) for name, parts in named.items()]
    if family in rules:
        parts = {part: rules[target] for target, part in _LONG[family].items() if target in rules}
        raters.append(_rater(_getter(rules[family].value, strip), role, parts))
    return raters


def _rater(name: Getter, role: Role, parts: Mapping[str, FieldRule]) -> Rater:
    join = next((rule.value.join for rule in parts.values() if rule.value.join), None)
    getters = {part: _getter(rule.value, _PARTS.get(part, as_text)) for part, rule in parts.items()}
    return Rater(name, role, getters, join)


def columns_used(rules: Sequence[FieldRule]) -> set[str]:
    """The columns of the main file that some field takes."""
    return {rule.value.column for rule in rules if rule.value.join is None and rule.value.column}
