"""What a scorer said, as judge labels: its value kept as text, and as a number where it is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotate.recipes.transforms import as_text
from db.records import JudgeLabelRow


def judge_rows(
    judge: str,
    value: object,
    place: Mapping[str, Any],
    *,
    rationale: object = None,
    reply: object = None,
) -> Iterator[JudgeLabelRow]:
    """One label; a value that is an object gives one for each of its entries, named ``judge/entry``."""
    if isinstance(value, Mapping):
        for name, entry in value.items():
            yield from judge_rows(f"{judge}/{name}", entry, place, rationale=rationale, reply=reply)
        return
    yield JudgeLabelRow(
        judge=judge,
        raw=as_text(value),
        score=float(value) if isinstance(value, int | float) else None,
        rationale=as_text(rationale),
        reply=as_text(reply),
        **place,
    )
