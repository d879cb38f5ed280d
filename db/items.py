"""The item that is shown, made from the columns that every query of it begins with."""

from __future__ import annotations

import json

from db.records import CodingItem

ITEM_COLUMNS = "i.question, i.context, i.gold, i.rationale, i.options, r.text, r.text_b, r.reason, r.choice"

Columns = tuple[str, str | None, str, str | None, str, str, str | None, str | None, str | None]


def coding_item(
    uid: str,
    position: int,
    columns: Columns,
    *,
    impossible: tuple[str, ...] = (),
    swapped: bool = False,
    answer: str | None = None,
) -> CodingItem:
    """``columns``: the values of ``ITEM_COLUMNS``; ``uid``: the random id under which it is shown."""
    question, context, gold, rationale, options, text, text_b, reason, choice = columns
    return CodingItem(
        assignment=uid,
        unit=uid,
        position=position,
        question=question,
        context=context,
        gold=tuple(json.loads(gold)),
        rationale=rationale,
        options=tuple(json.loads(options)),
        text=text,
        text_b=text_b,
        reason=reason,
        choice=choice,
        impossible=impossible,
        sides_swapped=swapped,
        answer=answer,
    )
