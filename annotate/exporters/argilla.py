"""Argilla: records as JSON with fields, suggestions (judges) and responses (people), as its ``to_json`` writes them.

Argilla knows its users by UUID; here each is derived from the coder's name, and the names stand in the metadata.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from annotate.exporters.base import Unit, Written, place_of, texts_of
from annotate.exporters.files import write_array
from annotate.exporters.prodigy import number
from db.records import Protocol as Codebook

_SPACE = uuid.UUID("6f1d6d4e-7a57-4b7e-9c1e-0a3a6f0c2b11")


class ArgillaExporter:
    name = "argilla"
    title = "Argilla records (JSON)"
    suffix = ".json"

    def write(self, units: Iterable[Unit], path: Path, *, protocol: Codebook, blind: bool = False) -> Written:
        counted = [0, 0, 0]
        write_array(path, _records(units, blind, counted))
        return Written(*counted)


def _records(units: Iterable[Unit], blind: bool, counted: list[int]) -> Iterator[dict[str, Any]]:
    for unit in units:
        counted[0] += 1
        counted[1] += len(unit.people)
        judge = next((row for row in unit.judges if row.raw), None)
        suggestions: Mapping[str, Any] = {}
        if judge is not None and not blind:
            counted[2] += 1
            suggestions = {"label": {"value": judge.raw, "score": judge.score, "agent": judge.judge}}
        fields = {
            name: "\n".join(value) if isinstance(value, list) else value for name, value in texts_of(unit).items()
        }
        names = {f"coder_{user_id(row.coder)}": row.coder for row in unit.people}
        yield {
            "id": str(number(unit) + 2**31),
            "fields": fields,
            "metadata": {**place_of(unit, blind=blind), **names},
            "suggestions": suggestions,
            "responses": _responses(unit),
            "vectors": {},
            "status": "completed" if unit.people else "pending",
        }


def _responses(unit: Unit) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in unit.people:
        for name, value in (("label", row.label), ("rating", row.rating)):
            if value is not None:
                found.setdefault(name, []).append(
                    {"value": value, "user_id": user_id(row.coder), "status": "submitted"}
                )
    return found


def user_id(coder: str) -> str:
    """The UUID that stands for a coder."""
    return str(uuid.uuid5(_SPACE, coder))


EXPORTER = ArgillaExporter()
