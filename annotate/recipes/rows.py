"""One record in, its item, response, judge labels and human labels out: the mapping of columns, compiled once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.importers.fit import Unfit
from annotate.importers.records import Record
from annotate.recipes import values
from annotate.recipes.parse import MappingError, split_target
from annotate.recipes.spec import Expression, FieldRule, Recipe, TableOptions
from annotate.recipes.transforms import as_text, by_path, parse_path, strip
from db.records import HumanLabelRow, ImportRow, ItemRow, JudgeLabelRow, ResponseRow, Role

Getter = Callable[["Joined"], Any]
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
class _Rater:
    """The fields of one coder, tie-breaker or judge; ``join`` is the file whose lines are named."""

    name: Getter
    role: Role
    parts: Mapping[str, Getter]
    join: str | None


class Mapper:
    """The compiled fields of a recipe. ``rows`` raises Unfit where a record does not fit them."""

    def __init__(self, recipe: Recipe) -> None:
        self._fields = {rule.target: _getter(rule.value) for rule in recipe.fields}
        self._typed = _typed(self._fields, recipe.options)
        self._strata = {name: self._fields[t] for t, (family, name, _) in _families(recipe) if family == "stratum"}
        self._coders = [*_raters(recipe, "coder", "coder"), *_raters(recipe, "tiebreak", "tiebreak"), *_final(recipe)]
        self._judges = _raters(recipe, "judge", "coder")
        self._long = {"coder", "judge"} & self._fields.keys()
        self._adds = bool({"question", "response"} & self._fields.keys()) or recipe.options.labels_only
        self._adds = self._adds or "item" not in self._fields
        self._seen: dict[tuple[str, str, str, int], int] = {}
        self._used = {rule.value.column for rule in recipe.fields if rule.value.join is None} | set(recipe.ignore)

    def rows(self, record: Joined) -> Iterator[ImportRow]:
        """The item, its response, then the labels. A blank label is a row too: it is counted where it is stored."""
        get = self._value
        question = as_text(get("question", record)) or ""
        context = values.text_or_none(get("context", record))
        key = self._key(record, question, context)
        place: dict[str, Any] = {
            "item": key,
            "model": strip(get("model", record)) or "",
            "condition": strip(get("condition", record)) or "",
        }
        place["repeat"] = get("repeat", record) or (1 if self._long and self._adds else None)
        if self._adds:
            yield self._item(key, question, context, record)
            response = self._response(place, record)
            if not self._long or self._is_new(response):
                yield response
        for judge in self._judges:
            if (label := _judge_label(judge, place, record)) is not None:
                yield label
        pi = get("pi", record) or get("weight", record)
        for coder in self._coders:
            if (human := _human_label(coder, place, record, pi)) is not None:
                yield human

    def _key(self, record: Joined, question: str, context: str | None) -> str:
        """The item's key: its own, else one from question and context, else the line (tables of labels alone)."""
        if "question" in self._fields and not question:
            raise Unfit("the question is missing")
        if "item" not in self._fields:
            return values.derived_key(question, context) if question else f"row-{record.main.row}"
        if (key := strip(self._value("item", record))) is None:
            raise Unfit("the item's key is missing")
        return key

    def _is_new(self, response: ResponseRow) -> bool:
        """False for a response that an earlier row had (tables with one label a row repeat it); Unfit if it differs."""
        place = (response.item, response.model, response.condition, response.repeat or 1)
        text = hash((response.text, response.text_b))
        new = place not in self._seen
        if self._seen.setdefault(place, text) != text:
            raise Unfit("another response has the same item, model and condition: map 'repeat' or 'condition' too")
        return new

    def _value(self, target: str, record: Joined) -> Any:
        getter = self._typed.get(target) or self._fields.get(target)
        return getter(record) if getter is not None else None

    def _item(self, key: str, question: str, context: str | None, record: Joined) -> ItemRow:
        strata = {name: text for name, get in self._strata.items() if (text := strip(get(record))) is not None}
        return ItemRow(
            key=key,
            row=record.main.row,
            question=question or key,
            context=context,
            gold=self._value("gold", record) or (),
            rationale=values.text_or_none(self._value("rationale", record)),
            options=self._value("options", record) or (),
            answer_key=strip(self._value("key", record)),
            strata=strata,
            source=record.sources[None],
        )

    def _response(self, place: Mapping[str, Any], record: Joined) -> ResponseRow:
        get = self._value
        text = as_text(get("response", record))
        confidence = get("confidence", record)
        failure = strip(get("failure", record))
        return ResponseRow(
            row=record.main.row,
            text=text or "",
            text_b=as_text(get("response_b", record)),
            model_b=strip(get("model_b", record)),
            reason=values.text_or_none(get("reason", record)),
            choice=strip(get("choice", record)),
            confidence=confidence[0] if confidence else None,
            confidence_grid=confidence[1] if confidence else None,
            searched=get("searched", record),
            failure=failure,
            extra=self._extra(record, text),
            source=record.sources[None],
            **place,
        )

    def _extra(self, record: Joined, text: str | None) -> dict[str, object]:
        """The columns that no field took; and that the text was not there, where it was not."""
        left = {
            name: value
            for name, value in record.main.data.items()
            if name not in self._used and value not in (None, "")
        }
        if text is None:
            left["text_missing"] = True
        return left


def _judge_label(judge: _Rater, place: Mapping[str, Any], record: Joined) -> JudgeLabelRow | None:
    name, row = strip(judge.name(record)), _row_of(judge, record)
    if name is None or row is None:
        return None
    parts = {part: get(record) for part, get in judge.parts.items()}
    return JudgeLabelRow(
        judge=name,
        row=row,
        raw=values.text_or_none(parts.get("")),
        score=parts.get("score"),
        rationale=values.text_or_none(parts.get("rationale")),
        reply=values.text_or_none(parts.get("reply")),
        source=record.sources[judge.join],
        **place,
    )


def _human_label(coder: _Rater, place: Mapping[str, Any], record: Joined, pi: float | None) -> HumanLabelRow | None:
    name, row = strip(coder.name(record)), _row_of(coder, record)
    if name is None or row is None:
        return None
    parts = {part: get(record) for part, get in coder.parts.items()}
    return HumanLabelRow(
        coder=name,
        row=row,
        label=strip(parts.get("")),
        rating=parts.get("rating"),
        role=coder.role,
        note=values.text_or_none(parts.get("note")),
        utc=strip(parts.get("time")),
        pi=pi,
        source=record.sources[coder.join],
        **place,
    )


def _row_of(rater: _Rater, record: Joined) -> int | None:
    """The line of the file that the rater's columns are in; None where that file has no partner for this record."""
    if rater.join is None:
        return record.main.row
    other = record.others.get(rater.join)
    return other.row if other is not None else None


# --- compiling --------------------------------------------------------------------------------------


def _getter(expression: Expression) -> Getter:
    source = _source(expression)
    if not expression.steps:
        return source
    steps = expression.steps

    def get(record: Joined) -> Any:
        value = source(record)
        for step in steps:
            value = step(value)
        return value

    return get


def _source(expression: Expression) -> Getter:
    if expression.const is not None:
        const = expression.const
        return lambda record: const
    if expression.capture is not None:
        capture = expression.capture
        return lambda record: record.captures.get(capture)
    column = expression.column or ""
    join = expression.join
    if join is not None:
        return lambda record: _cell(record.others[join], column)
    if "." in column or "[" in column:
        return _nested(column)
    return lambda record: record.main.data.get(column)


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


def _typed(fields: Mapping[str, Getter], options: TableOptions) -> dict[str, Getter]:
    """The fields that are not plain text, with their reading."""
    readers: dict[str, Callable[[object], Any]] = {
        "gold": values.texts(options.gold_separator),
        "options": values.texts(options.options_separator),
        "repeat": values.whole("repeat"),
        "searched": values.yes_no("searched"),
        "pi": values.probability("pi", inverse=False),
        "weight": values.probability("weight", inverse=True),
    }
    if "confidence" in fields:
        if options.confidence_scale is None:
            hint = "Say what certainty is written as: confidence_scale = 1 or 100."
            raise MappingError("Confidence is mapped, but its scale is not declared.", hint)
        readers["confidence"] = values.confidence(options.confidence_scale, options.confidence_grid)
    return {target: _then(fields[target], read) for target, read in readers.items() if target in fields}


def _then(get: Getter, read: Callable[[object], Any]) -> Getter:
    return lambda record: read(get(record))


def _families(recipe: Recipe) -> list[tuple[str, tuple[str, str, str]]]:
    return [(rule.target, split_target(rule.target)) for rule in recipe.fields]


_LONG: Mapping[str, Mapping[str, str]] = {
    "coder": {"label": "", "rating": "rating", "note": "note", "time": "time"},
    "judge": {"judge_label": "", "judge_score": "score", "judge_rationale": "rationale"},
}
_FINAL = {"final": "", "final.rating": "rating", "final.note": "note"}


def _raters(recipe: Recipe, family: str, role: Role) -> list[_Rater]:
    rules = {rule.target: rule for rule in recipe.fields}
    named: dict[str, dict[str, FieldRule]] = {}
    for target, (found, name, part) in _families(recipe):
        if found == family and name:
            named.setdefault(name, {})[part] = rules[target]
    raters = [_rater(_constant(name), role, parts) for name, parts in named.items()]
    if family in rules:
        parts = {part: rules[target] for target, part in _LONG[family].items() if target in rules}
        raters.append(_rater(_getter(rules[family].value), role, parts))
    return raters


def _final(recipe: Recipe) -> Sequence[_Rater]:
    parts = {_FINAL[rule.target]: rule for rule in recipe.fields if rule.target in _FINAL}
    return [_rater(_constant("final"), "adjudicator", parts)] if parts else []


def _rater(name: Getter, role: Role, parts: Mapping[str, FieldRule]) -> _Rater:
    readers: dict[str, Callable[[object], Any]] = {"rating": values.whole("rating"), "score": values.number("score")}
    join = next((rule.value.join for rule in parts.values() if rule.value.join), None)
    getters = {part: _getter(rule.value) for part, rule in parts.items()}
    typed = {part: _then(get, readers[part]) if part in readers else get for part, get in getters.items()}
    return _Rater(name, role, typed, join)


def _constant(name: str) -> Getter:
    return lambda record: name
