"""doccano, JSONL: texts with labels, one file for each annotator (the file's name names them) or one for all.

In text classification each record has one label; more than one is refused. Where the labels are texts of their own
(sequence to sequence), ``seq2seq=yes`` takes the text as question and each label as a response to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from db.records import HumanLabelRow, ImportRow, ItemRow, ResponseRow

_TAKEN = ("id", "label", "labels", "Comments", "comments", "annotator", "username", "user")
_LABELS = ("label", "labels", "cats")


class DoccanoImporter:
    name = "doccano"
    title = "doccano (JSONL export)"
    protocol = ""
    options: Mapping[str, str] = {
        **FIELDS_HELP,
        "labels": LABELS_HELP,
        "coder": CODER_HELP,
        "seq2seq": "yes: labels are texts, responses to the record's text",
    }

    def recognises(self, path: Path, start: bytes) -> bool:
        first = start.split(b"\n", 1)[0]
        lines = first.lstrip(b"\xef\xbb\xbf ").startswith(b"{") and first.rstrip().endswith(b"}")
        labels = b'"label": [' in first or b'"label":[' in first or b'"labels": [' in first
        return not path.is_dir() and lines and labels and b'"text"' in first and b'"_task_hash"' not in first

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Rows:
        responses = Responses()
        several = len(tally.paths) > 1
        for source, path in enumerate(tally.paths):
            coder = request.option("coder") or (path.stem if several else "doccano")
            reader = _sequence if request.option("seq2seq").lower() in ("yes", "true", "1") else _classification
            build = partial(reader, TaskFields.of(request), label_names(request), coder, responses, source)
            yield from each_record(read_records(path, ReadOptions(kind="jsonl")), tally, source, build)


def _classification(
    fields: TaskFields, labels: Mapping[str, str], coder: str, responses: Responses, source: int, record: Record
) -> Iterator[ImportRow]:
    data: Mapping[str, Any] = record.data
    given = _given(data)
    if len(given) > 1:
        raise Unfit(f"{len(given)} labels on one text, expected one")
    need(data, fields.response or "text", str)
    shown = {name: value for name, value in data.items() if name not in _TAKEN}
    item, response = task_rows(shown, fields, key=_key(data), row=record.row, source=source)
    person = _person(data) or coder
    place, new = responses.place(response, "" if _key(data) else person)
    if new is not None:
        yield item
        yield new
    label = labels.get(given[0], given[0]) if given else None
    yield HumanLabelRow(coder=person, label=label, note=_comments(data), **place)


def _sequence(
    fields: TaskFields, labels: Mapping[str, str], coder: str, responses: Responses, source: int, record: Record
) -> Iterator[ImportRow]:
    text = need(record.data, "text", str)
    item = ItemRow(_key(record.data) or f"row-{record.row}", record.row, text, source=source)
    yield item
    for answer in _given(record.data):
        yield ResponseRow(item.key, record.row, answer, model=fields.model, source=source)


def _given(data: Mapping[str, Any]) -> list[str]:
    key = next((name for name in _LABELS if name in data), "label")
    value = need(data, key, list, str)
    return [value] if isinstance(value, str) else [str(label) for label in value]


def _key(data: Mapping[str, Any]) -> str | None:
    found = maybe(data, "id", int, str)
    return None if found is None else str(found)


def _person(data: Mapping[str, Any]) -> str | None:
    found = next((data[name] for name in ("annotator", "username", "user") if data.get(name)), None)
    return None if found is None else str(found)


def _comments(data: Mapping[str, Any]) -> str | None:
    found = data.get("Comments") or data.get("comments")
    return "\n".join(map(str, found)) if isinstance(found, list) else found or None


IMPORTER = DoccanoImporter()
