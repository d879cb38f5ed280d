"""A sheet of disagreements for a meeting: items with what was said, nobody named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotate.console import visible
from annotate.studies import study_protocol
from db.cases import coder_opinions, people_queue, unit_item
from db.connection import reading
from db.study import Study


def disagreements(study: Study) -> list[dict[str, Any]]:
    """Every undecided disagreement: item, response, gold, and the opinions under letters."""
    protocol = study_protocol(study)
    with reading(study.connection) as connection:
        queue = people_queue(connection, protocol)
        found = []
        for unit in queue.units:
            if unit in queue.done:
                continue
            number, _, item = unit_item(connection, unit)
            said = coder_opinions(connection, unit, number, names=False)
            found.append(
                {
                    "unit": unit,
                    "why": queue.why[unit],
                    "question": item.question,
                    "response": item.text,
                    "reason": item.reason,
                    "gold": list(item.gold),
                    "opinions": [
                        {"who": o.who, "label": o.label, "rating": o.rating, "note": o.words, "skipped": o.skipped}
                        for o in said
                    ],
                }
            )
        return found


def sheet(study: Study) -> Iterator[str]:
    """The sheet as Markdown; study text stands in indented blocks, so that it can open no markup."""
    rows = disagreements(study)
    yield f"# Disagreements to discuss ({len(rows):,})"
    yield ""
    yield "Coders are under letters that mean somebody else in each case."
    for number, row in enumerate(rows, 1):
        yield ""
        yield f"## {number}. {row['unit']}: {row['why']}"
        yield from _block("Question", row["question"])
        yield from _block("Response", row["response"])
        if row["reason"]:
            yield from _block("Stated reason", row["reason"])
        if row["gold"]:
            yield from _block("Gold", "\n".join(row["gold"]))
        for said in row["opinions"]:
            yield from _block(said["who"], _said(said))


def _said(said: dict[str, Any]) -> str:
    told = [part for part in (said["label"], None if said["rating"] is None else str(said["rating"])) if part]
    told = told or [f"skipped: {said['skipped']}"]
    return " ".join(told) + (f"\n{said['note']}" if said["note"] else "")


def _block(title: str, text: str) -> Iterator[str]:
    yield ""
    yield f"{title}:"
    yield ""
    for line in visible(text).split("\n"):
        yield f"    {line}"
