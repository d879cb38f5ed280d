"""Prodigy: a line for each label, as a choice among the protocol's labels; hashes as Prodigy uses them, stable.

Units that nobody labelled become tasks without an answer, to be loaded as a source.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from annotate.exporters.base import Unit, Written, place_of, texts_of
from annotate.exporters.files import write_lines
from db.records import HumanLabelRow
from db.records import Protocol as Codebook


class ProdigyExporter:
    name = "prodigy"
    title = "Prodigy annotations (JSONL)"
    suffix = ".jsonl"

    def write(self, units: Iterable[Unit], path: Path, *, protocol: Codebook, blind: bool = False) -> Written:
        counted = [0, 0]
        write_lines(path, _lines(units, protocol, blind, counted))
        return Written(counted[0], counted[1], 0)


def _lines(units: Iterable[Unit], protocol: Codebook, blind: bool, counted: list[int]) -> Iterator[dict[str, Any]]:
    options = [{"id": label.name, "text": label.title} for label in protocol.labels]
    for unit in units:
        counted[0] += 1
        task = {"text": unit.response.text, **place_of(unit, blind=blind), **texts_of(unit), "options": options}
        task |= {"_input_hash": number(unit), "_task_hash": number(unit, protocol.digest), "_view_id": "choice"}
        for row in unit.people:
            counted[1] += 1
            yield {**task, **_answer(row)}
        if not unit.people:
            yield task


def _answer(row: HumanLabelRow) -> dict[str, Any]:
    found: dict[str, Any] = {
        "accept": [] if row.label is None else [row.label],
        "answer": "ignore" if row.label is None else "accept",
        "_annotator_id": row.coder,
        "_session_id": row.coder,
    }
    if row.utc is not None:
        found["_timestamp"] = int(datetime.fromisoformat(row.utc.replace("Z", "+00:00")).timestamp())
    if row.rating is not None:
        found["rating"] = row.rating
    if row.note:
        found["comment"] = row.note
    return found


def number(unit: Unit, *more: str) -> int:
    """A 32-bit number with sign that depends on the unit's key alone."""
    response = unit.response
    parts = (unit.item.key, response.model, response.condition, str(response.repeat or 1), *more)
    digest = hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big", signed=True)


EXPORTER = ProdigyExporter()
