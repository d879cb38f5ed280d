"""Potato: annotated_instances.jsonl of each annotator, in a folder that is named after them.

Give the folder annotation_output, or single files. One scheme's annotation is the label (``schema`` names it where
there are several); of a checkbox or radio scheme the option that was ticked, of a Likert scheme its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from annotate.importers.base import Request, Rows
from annotate.importers.each import each_record
from annotate.importers.fit import Unfit
from annotate.importers.people import LABELS_HELP, Responses, label_names
from annotate.importers.records import ReadOptions, Record, read_records
from annotate.importers.shape import maybe, need
from annotate.importers.sources import SourceError
from annotate.importers.tally import Tally
from annotate.recipes.rows import TEXT_ALONE
from db.records import HumanLabelRow, ImportRow, ItemRow, ResponseRow

FILE = "annotated_instances.jsonl"
_SPENT = re.compile(r"(\d+)d (\d+)h (\d+)m (\d+)s")


class PotatoImporter:
    name = "potato"
    title = "Potato (annotation_output)"
    protocol = ""
    options: Mapping[str, str] = {"labels": LABELS_HELP, "schema": "the annotation scheme that is the label"}

    def recognises(self, path: Path, start: bytes) -> bool:
        if path.is_dir():
            return bool(_files(path))
        return b'"label_annotations"' in start and b'"id"' in start

    def sources(self, request: Request) -> Sequence[Path]:
        found = [file for path in request.files for file in (_files(path) if path.is_dir() else [path])]
        if not found:
            raise SourceError(
                f"{request.files[0]}: there is no {FILE} in it.", "Give Potato's folder annotation_output."
            )
        return tuple(found)

    def rows(self, request: Request, tally: Tally) -> Rows:
        labels, responses = label_names(request), Responses()
        for source, path in enumerate(tally.paths):
            build = partial(_instance, request.option("schema"), labels, path.parent.name, responses, source)
            yield from each_record(read_records(path, ReadOptions(kind="jsonl")), tally, source, build)


def _files(folder: Path) -> list[Path]:
    return sorted([*folder.glob(FILE), *folder.glob(f"*/{FILE}")])


def _instance(
    schema: str, labels: Mapping[str, str], coder: str, responses: Responses, source: int, record: Record
) -> Iterator[ImportRow]:
    data: Mapping[str, Any] = record.data
    key, text = str(need(data, "id", str, int)), need(data, "displayed_text", str)
    label = _label(need(data, "label_annotations", dict), schema)
    place, new = responses.place(ResponseRow(key, record.row, text, source=source))
    if new is not None:
        yield ItemRow(key, record.row, TEXT_ALONE, source=source)
        yield new
    mapped = labels.get(label, label) if label is not None else None
    yield HumanLabelRow(coder=coder, label=mapped, active_ms=_spent(maybe(data, "behavioral_data", dict)), **place)


def _label(annotations: Mapping[str, Any], schema: str) -> str | None:
    if schema and schema not in annotations:
        return None
    if not schema and len(annotations) > 1:
        raise Unfit(f"the schemes {', '.join(annotations)}: name the one that is the label with the option schema")
    ticked = annotations.get(schema) if schema else next(iter(annotations.values()), None)
    if not ticked:
        return None
    if not isinstance(ticked, Mapping):
        return str(ticked)
    chosen = [(name, value) for name, value in ticked.items() if value not in (None, "", "false", False)]
    if len(chosen) > 1:
        raise Unfit(f"{len(chosen)} labels on one text, expected one")
    return None if not chosen else _named(*chosen[0])


def _named(name: str, value: Any) -> str:
    """A ticked option is its name; a scale's is the value."""
    return str(value) if name.startswith("scale_") or str(value).isdigit() else name


def _spent(behaviour: Mapping[str, Any] | None) -> int | None:
    found = _SPENT.search(str(behaviour.get("time_string", ""))) if behaviour else None
    if found is None:
        return None
    days, hours, minutes, seconds = map(int, found.groups())
    return 1000 * (((days * 24 + hours) * 60 + minutes) * 60 + seconds)


IMPORTER = PotatoImporter()
