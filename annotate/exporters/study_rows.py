"""annotate's own form: a line for each item, response and label with everything that an import keeps (JSON Lines).

Importing it into a new study gives the same content: texts, strata, judges' raw outputs, people's labels, and the
probability with which each labelled response was drawn. Logs, rounds and blindness stay in the study file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from annotate.exporters.base import Unit, Written
from annotate.exporters.files import write_lines
from db.records import ImportRow
from db.records import Protocol as Codebook

FORM = "annotate rows 1"
_LEFT_OUT = ("row", "source")


class StudyRowsExporter:
    name = "study_rows"
    title = "everything that an import keeps (JSON Lines)"
    suffix = ".jsonl"

    def write(self, units: Iterable[Unit], path: Path, *, protocol: Codebook, blind: bool = False) -> Written:
        counted = [0, 0, 0]
        write_lines(path, _lines(units, protocol, blind, counted))
        return Written(*counted)


def _lines(units: Iterable[Unit], protocol: Codebook, blind: bool, counted: list[int]) -> Iterator[Mapping[str, Any]]:
    yield {"form": FORM, "protocol": protocol.name, "protocol_digest": protocol.digest}
    item: str | None = None
    for unit in units:
        if unit.item.key != item:
            item = unit.item.key
            yield _line("item", unit.item)
        counted[0] += 1
        response = _line("response", unit.response)
        yield {key: value for key, value in response.items() if not blind or key not in ("model", "model_b")}
        for row in unit.people:
            counted[1] += 1
            yield _line("human label", row)
        for judged in () if blind else unit.judges:
            counted[2] += 1
            yield _line("judge label", judged)


def _line(kind: str, row: ImportRow) -> dict[str, Any]:
    values = {
        key: value for key, value in asdict(row).items() if key not in _LEFT_OUT and value not in (None, "", (), {})
    }
    return {"kind": kind, **values}


EXPORTER = StudyRowsExporter()
