"""doccano: a line for each label, with the annotator's name; units that nobody labelled have an empty list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from annotate.exporters.base import Unit, Written, place_of, texts_of
from annotate.exporters.files import write_lines
from annotate.exporters.prodigy import number
from db.records import Protocol as Codebook


class DoccanoExporter:
    name = "doccano"
    title = "doccano texts with labels (JSONL)"
    suffix = ".jsonl"

    def write(self, units: Iterable[Unit], path: Path, *, protocol: Codebook, blind: bool = False) -> Written:
        counted = [0, 0]
        write_lines(path, _lines(units, blind, counted))
        return Written(counted[0], counted[1], 0)


def _lines(units: Iterable[Unit], blind: bool, counted: list[int]) -> Iterator[dict[str, Any]]:
    for unit in units:
        counted[0] += 1
        text = {"id": number(unit) + 2**31, "text": unit.response.text, **place_of(unit, blind=blind), **texts_of(unit)}
        for row in unit.people:
            counted[1] += 1
            comments = [row.note] if row.note else []
            label = [] if row.label is None else [row.label]
            yield {**text, "label": label, "Comments": comments, "annotator": row.coder}
        if not unit.people:
            yield {**text, "label": []}


EXPORTER = DoccanoExporter()
