"""One record in, its item, response, judge labels and human labels out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, cast

from annotate.importers.fit import Unfit
from annotate.recipes import values
from annotate.recipes.compiled import (
    Getter,
    Joined,
    Rater,
    columns_used,
    compile_coders,
    compile_fields,
    compile_judges,
    compile_strata,
)
from annotate.recipes.spec import Recipe
from annotate.recipes.transforms import strip
from db.records import HumanLabelRow, ImportRow, ItemRow, JudgeLabelRow, ResponseRow

RESPONSE_FIELDS = {
    "response_b": "text_b",
    "model_b": "model_b",
    "reason": "reason",
    "choice": "choice",
    "searched": "searched",
    "failure": "failure",
}
_ITEM_FIELDS = {
    "context": "context",
    "gold": "gold",
    "rationale": "rationale",
    "options": "options",
    "key": "answer_key",
}
_REMEMBERED = 50_000
TEXT_ALONE = "(the text alone)"
"""Stands for the question where a text is judged by itself."""


class Mapper:
    """The compiled fields of a recipe. ``rows`` raises Unfit where a record does not fit them."""

    def __init__(self, recipe: Recipe) -> None:
        fields = compile_fields(recipe)
        self._fields = fields
        self._text = fields.get("response")
        self._confidence = fields.get("confidence")
        self._pi = fields.get("pi") or fields.get("weight")
        self._place = [(name, fields[name]) for name in ("model", "condition") if name in fields]
        self._repeat = fields.get("repeat")
        self._response_fields = [(name, fields[target]) for target, name in RESPONSE_FIELDS.items() if target in fields]
        self.items = Items(fields, compile_strata(recipe))
        self._judges, self._coders = compile_judges(recipe), compile_coders(recipe)
        self._adds = (
            bool({"question", "response"} & fields.keys()) or recipe.options.labels_only or "item" not in fields
        )
        self._long = self._adds and any(rule.target in ("coder", "judge") for rule in recipe.fields)
        self._seen: dict[tuple[str, str, str, int], int] = {}
        self._last: tuple[str, str, str, int] | None = None
        self.used = frozenset(columns_used(recipe.fields) | set(recipe.ignore))

    def rows(self, record: Joined) -> list[ImportRow]:
        """The item (once for as many records as repeat it), its response, then the labels.

        A blank label is a row too: it is counted where it is stored. Raises Unfit where the record does not fit; what
        it alone would have brought is then left to the next record that has it.
        """
        self._last = None
        try:
            return list(self._made(record))
        except Unfit:
            self.items.forget()
            if self._last is not None:
                self._seen.pop(self._last, None)
            raise

    def _made(self, record: Joined) -> Iterator[ImportRow]:
        key, item = self.items.of(record)
        place: dict[str, Any] = {"item": key}
        for name, get in self._place:
            place[name] = get(record) or ""
        repeat = self._repeat(record) if self._repeat is not None else None
        place["repeat"] = 1 if repeat is None and self._long else repeat
        if self._adds:
            if item is not None:
                yield item
            response = self._response(place, record)
            if not self._long or self._is_new(response):
                yield response
        for judge in self._judges:
            if (label := _judge_label(judge, place, record)) is not None:
                yield label
        pi = self._pi(record) if self._pi is not None else None
        for coder in self._coders:
            if (human := _human_label(coder, place, record, pi)) is not None:
                yield human

    def _is_new(self, response: ResponseRow) -> bool:
        """False for a response that an earlier row had (tables with one label a row repeat it); Unfit if it differs."""
        place = (response.item, response.model, response.condition, response.repeat or 1)
        text = hash((response.text, response.text_b))
        new = place not in self._seen
        if new:
            self._last = place
        if self._seen.setdefault(place, text) != text:
            raise Unfit("another response has the same item, model and condition: map 'repeat' or 'condition' too")
        return new

    def _response(self, place: Mapping[str, Any], record: Joined) -> ResponseRow:
        more: dict[str, Any] = {name: get(record) for name, get in self._response_fields}
        if self._confidence is not None and (found := self._confidence(record)) is not None:
            more["confidence"], more["confidence_grid"] = found
        text = self._text(record) if self._text is not None else None
        more["extra"] = self._extra(record, text)
        return ResponseRow(row=record.main.row, text=text or "", source=record.sources[None], **place, **more)

    def _extra(self, record: Joined, text: str | None) -> dict[str, object]:
        """The columns that no field took; and that the text was not there, where it was not."""
        used, data = self.used, record.main.data
        left = {name: data[name] for name in data if name not in used and data[name] not in (None, "")}
        if text is None:
            left["text_missing"] = True
        return left


def item_fields(fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(field, its name in ItemRow) of the fields of an item that a recipe maps, key, question and strata apart."""
    return [(target, name) for target, name in _ITEM_FIELDS.items() if target in fields]


class Items:
    """The items of the records. What many records repeat word for word is handed on once."""

    def __init__(self, fields: Mapping[str, Getter], strata: Mapping[str, Getter]) -> None:
        self._key, self._question = fields.get("item"), fields.get("question")
        self._strata = tuple(strata.items())
        named = item_fields(fields)
        self._names, self._fields = tuple(name for _, name in named), [fields[target] for target, _ in named]
        self._context = self._names.index("context") if "context" in self._names else None
        self._recent: dict[str, tuple[object, ...]] = {}
        self._latest: str | None = None

    def of(self, record: Joined) -> tuple[str, ItemRow | None]:
        """The item's key, and the item unless it was handed on before. The key is the record's own, else one from
        question and context, else the line."""
        self._latest = None
        question = (self._question(record) if self._question is not None else None) or ""
        if self._question is not None and not question:
            raise Unfit("the question is missing")
        found = [get(record) for get in self._fields]
        content = (question, *found, *(get(record) for _, get in self._strata))
        key = self._key_of(None if self._key is None else self._key(record), record.main.row, content)
        if self._recent.get(key) == content:
            return key, None
        self._latest = key
        self._remember(key, content)
        return key, self._item(key, record.main.row, record.sources[None], content)

    def of_batch(
        self,
        rows: Sequence[int],
        source: int,
        keys: Sequence[str | None] | None,
        questions: Sequence[str | None] | None,
        fields: Sequence[Sequence[Any]],
        strata: Sequence[Sequence[Any]],
    ) -> tuple[list[str], tuple[tuple[int, ItemRow], ...]]:
        """The same of many records: their keys, and the items not handed on before with their positions.

        Raises Unfit before anything is remembered.
        """
        if questions is not None and not all(questions):
            raise Unfit("the question is missing")
        contents = list(zip(questions or repeat("", len(rows)), *fields, *strata, strict=True))
        if keys is not None and None not in keys:
            known = cast(list[str], keys)
        else:
            given = keys or repeat(None, len(rows))
            known = [self._key_of(key, row, content) for key, row, content in zip(given, rows, contents, strict=True)]
        recent, items = self._recent, []
        for position, (key, content) in enumerate(zip(known, contents, strict=True)):
            if recent.get(key) != content:
                self._remember(key, content)
                items.append((position, self._item(key, rows[position], source, content)))
        return known, tuple(items)

    def _remember(self, key: str, content: tuple[object, ...]) -> None:
        if len(self._recent) >= _REMEMBERED:
            self._recent.clear()
        self._recent[key] = content

    def _item(self, key: str, row: int, source: int, content: tuple[Any, ...]) -> ItemRow:
        question, *rest = content
        more = dict(zip(self._names, rest, strict=False))
        told = zip((name for name, _ in self._strata), rest[len(self._names) :], strict=True)
        strata = {name: text for name, text in told if text is not None}
        return ItemRow(key, row, question or TEXT_ALONE, strata=strata, source=source, **more)

    def forget(self) -> None:
        """The item that was handed on last was refused with its record."""
        if self._latest is not None:
            self._recent.pop(self._latest, None)

    def _key_of(self, key: str | None, row: int, content: tuple[Any, ...]) -> str:
        if self._key is None:
            context = content[1 + self._context] if self._context is not None else None
            return values.derived_key(content[0], context) if content[0] else f"row-{row}"
        if key is None:
            raise Unfit("the item's key is missing")
        return key


def _judge_label(judge: Rater, place: Mapping[str, Any], record: Joined) -> JudgeLabelRow | None:
    name, row = judge.name(record), judge.row(record)
    if name is None or row is None:
        return None
    parts = {part or "raw": get(record) for part, get in judge.parts.items()}
    parts["raw"] = parts.get("raw") or None
    return JudgeLabelRow(judge=name, row=row, source=record.sources[judge.join], **parts, **place)


def _human_label(coder: Rater, place: Mapping[str, Any], record: Joined, pi: float | None) -> HumanLabelRow | None:
    name, row = coder.name(record), coder.row(record)
    if name is None or row is None:
        return None
    parts = {part: get(record) for part, get in coder.parts.items()}
    return HumanLabelRow(
        coder=name,
        row=row,
        label=strip(parts.get("")),
        rating=parts.get("rating"),
        role=coder.role,
        note=parts.get("note"),
        utc=parts.get("time"),
        pi=pi,
        source=record.sources[coder.join],
        **place,
    )
