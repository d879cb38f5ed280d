"""The texts and facts of a study as they were imported, for those who may see all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from db.connection import reading
from db.study import Study


@dataclass(frozen=True, slots=True)
class ItemContent:
    """One question as it was imported; ``redacted`` says that its texts were erased since."""

    key: str
    question: str
    context: str | None
    gold: tuple[str, ...]
    rationale: str | None
    options: tuple[str, ...]
    answer_key: str | None
    strata: Mapping[str, Any]
    extra: Mapping[str, Any]
    redacted: bool


@dataclass(frozen=True, slots=True)
class ResponseContent:
    """One response; ``unit`` is the random id under which it is coded, None where it is not."""

    item: str
    model: str
    condition: str
    repeat: int
    unit: str | None
    text: str
    text_b: str | None
    model_b: str | None
    reason: str | None
    choice: str | None
    confidence: int | None
    confidence_grid: int | None
    searched: bool | None
    failure: str | None
    extra: Mapping[str, Any]
    redacted: bool


def item_contents(study: Study) -> Iterator[ItemContent]:
    """Every item, sorted by key."""
    connection = study.connection
    with reading(connection):
        for row in connection.execute(
            "SELECT key, question, context, gold, rationale, options, answer_key, strata, extra, redacted_utc"
            " FROM items ORDER BY key"
        ):
            key, question, context, gold, rationale, options, answer, strata, extra, redacted = row
            yield ItemContent(
                key,
                question,
                context,
                tuple(json.loads(gold)),
                rationale,
                tuple(json.loads(options)),
                answer,
                json.loads(strata),
                json.loads(extra),
                redacted is not None,
            )


def response_contents(study: Study) -> Iterator[ResponseContent]:
    """Every response, sorted by its record key."""
    connection = study.connection
    with reading(connection):
        for row in connection.execute(
            "SELECT i.key, r.model, r.condition, r.repeat, u.public_id, r.text, r.text_b, r.model_b, r.reason,"
            " r.choice, r.confidence, r.confidence_grid, r.searched, r.failure, r.extra,"
            " coalesce(r.redacted_utc, i.redacted_utc)"
            " FROM responses r JOIN items i ON i.id = r.item_id LEFT JOIN units u ON u.response_id = r.id"
            " ORDER BY i.key, r.model, r.condition, r.repeat"
        ):
            *facts, searched, failure, extra, redacted = row
            flag = None if searched is None else bool(searched)
            yield ResponseContent(*facts, flag, failure, json.loads(extra), redacted is not None)  # type: ignore[call-arg]
