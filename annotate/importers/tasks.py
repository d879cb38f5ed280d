"""Texts of annotation tools: which of a task's own fields is the response, which the question, and so on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.importers.base import Request
from annotate.importers.conversation import Turn, exchange, turns
from annotate.importers.fit import Unfit
from annotate.recipes.rows import TEXT_ALONE
from annotate.recipes.transforms import as_text
from annotate.recipes.values import derived_key, texts, whole
from db.records import ItemRow, ResponseRow

FIELDS_HELP = {
    "response": "the field that holds the text that was labelled",
    "question": "the field that holds the question",
    "model": "the field that names the model",
}
_RESPONSE = ("response", "answer", "output", "completion", "model_output", "prediction", "text")
_QUESTION = ("question", "prompt", "instruction", "input", "query", "scenario_prompt")
_GOLD = ("gold", "reference", "target", "expected")
_CONTEXT = ("context", "document")
_OWN = ("item", "condition", "repeat", "rationale", "reason")
"""Fields that annotate's own exports carry, so that their labels find the same responses again."""


@dataclass(frozen=True, slots=True)
class TaskFields:
    """The fields that were named, '' where they are to be found."""

    response: str = ""
    question: str = ""
    model: str = ""

    @classmethod
    def of(cls, request: Request) -> TaskFields:
        return cls(*(request.option(name) for name in ("response", "question", "model")))


def task_rows(
    data: Mapping[str, Any], fields: TaskFields, *, key: str | None, row: int, source: int
) -> tuple[ItemRow, ResponseRow]:
    """The item and the response of one task. Without a question the text itself is what is shown and judged."""
    response = _text(data, fields.response, _RESPONSE)
    question = _text(data, fields.question, _QUESTION)
    if response is None and (messages := _conversation(data)) is not None:
        question, response = _from_messages(messages, question)
    if response is None:
        response = "\n".join(
            f"{name}: {as_text(value)}" for name, value in data.items() if value not in (None, "", [], {})
        )
    if not response:
        raise Unfit("the task holds no text")
    model = as_text(data.get(fields.model or "model")) or ""
    item = ItemRow(
        key=as_text(data.get("item")) or key or derived_key(question or response, None),
        row=row,
        question=question or TEXT_ALONE,
        context=_text(data, "", _CONTEXT),
        gold=texts("")(next((data[name] for name in _GOLD if data.get(name)), None)),
        rationale=as_text(data.get("rationale")) or None,
        source=source,
    )
    used = {fields.response, fields.question, fields.model or "model", *_GOLD, *_CONTEXT, *_OWN}
    return item, ResponseRow(
        item=item.key,
        row=row,
        text=response,
        model=model.strip(),
        condition=as_text(data.get("condition")) or "",
        repeat=whole("repeat")(data.get("repeat")),
        reason=as_text(data.get("reason")) or None,
        extra={name: value for name, value in data.items() if name not in used and value not in (response, question)},
        source=source,
    )


def _text(data: Mapping[str, Any], named: str, usual: Sequence[str]) -> str | None:
    """The named field (Unfit where it is not there), else the first usual one that holds text."""
    if named:
        if named not in data:
            raise Unfit(f"there is no field {named!r} (there are {', '.join(data)})")
        return as_text(data[named])
    return next((data[name] for name in usual if isinstance(data.get(name), str) and data[name]), None)


def _conversation(data: Mapping[str, Any]) -> list[Turn] | None:
    for name in ("messages", "conversations", "input_chat"):
        if isinstance(data.get(name), list) and data[name]:
            return turns(data[name])
    return None


def _from_messages(messages: list[Turn], question: str | None) -> tuple[str | None, str]:
    try:
        found = exchange(messages)
        return question or found.question, found.response or ""
    except Unfit:
        return question, transcript(messages)


def transcript(messages: Sequence[Turn]) -> str:
    """A conversation as one text, a paragraph a message."""
    return "\n\n".join(f"{turn.role}: {turn.text}" for turn in messages)
