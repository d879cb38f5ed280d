"""Prodigy, JSONL: binary text classification (accept or reject one label) and choices, of one or several annotators.

Binary: an accepted task carries its label, a rejected one "not LABEL", an ignored one none. Choices: the one that was
accepted. The option ``labels`` gives them the protocol's names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from annotate.importers.base import Request, Rows
from annotate.importers.each import each_record
from annotate.importers.fit import Unfit
from annotate.importers.people import CODER_HELP, LABELS_HELP, Responses, label_names
from annotate.importers.records import ReadOptions, Record, read_records
from annotate.importers.shape import maybe, need
from annotate.importers.tally import Tally
from annotate.importers.tasks import FIELDS_HELP, TaskFields, task_rows
from db.records import HumanLabelRow, ImportRow

ANSWERS = ("accept", "reject", "ignore")
_OWN = ("_input_hash", "_task_hash", "_session_id", "_annotator_id", "_timestamp", "_view_id", "_is_binary")
_TAKEN = (*_OWN, "label", "answer", "accept", "options", "config", "priority", "score", "spans", "tokens", "comment")


class ProdigyImporter:
    name = "prodigy"
    title = "Prodigy (JSONL from db-out)"
    protocol = ""
    options: Mapping[str, str] = {**FIELDS_HELP, "labels": LABELS_HELP, "coder": CODER_HELP}

    def recognises(self, path: Path, start: bytes) -> bool:
        return not path.is_dir() and b'"_task_hash"' in start and b'"answer"' in start

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Rows:
        labels, fields, responses = label_names(request), TaskFields.of(request), Responses()
        for source, path in enumerate(tally.paths):
            build = partial(_task, fields, labels, request.option("coder", "prodigy"), responses, source)
            yield from each_record(read_records(path, ReadOptions(kind="jsonl")), tally, source, build)


def _task(
    fields: TaskFields, labels: Mapping[str, str], coder: str, responses: Responses, source: int, record: Record
) -> Iterator[ImportRow]:
    data: Mapping[str, Any] = record.data
    label = _label(data)
    key = str(need(data, "_input_hash", int))
    shown = {name: value for name, value in data.items() if name not in _TAKEN}
    item, response = task_rows(shown, fields, key=key, row=record.row, source=source)
    place, new = responses.place(response)
    if new is not None:
        yield item
        yield new
    when = maybe(data, "_timestamp", int, float)
    yield HumanLabelRow(
        coder=str(data.get("_annotator_id") or data.get("_session_id") or coder),
        label=labels.get(label, label) if label is not None else None,
        note=maybe(data, "comment", str),
        utc=datetime.fromtimestamp(when, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if when
        else None,
        **place,
    )


def _label(data: Mapping[str, Any]) -> str | None:
    """The label that the answer comes to, None for an ignored task."""
    answer = need(data, "answer", str)
    if answer not in ANSWERS:
        raise Unfit(f"the answer is {answer!r}, expected {', '.join(ANSWERS)}")
    if answer == "ignore":
        return None
    if "options" in data or isinstance(data.get("accept"), list):
        chosen = need(data, "accept", list)
        if answer == "reject" or not chosen:
            return None
        if len(chosen) > 1:
            raise Unfit(f"{len(chosen)} options were accepted, expected one label")
        return str(chosen[0])
    label = str(need(data, "label", str, int))
    return label if answer == "accept" else f"not {label}"


IMPORTER = ProdigyImporter()
