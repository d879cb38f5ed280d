"""What `annotate export --format study_rows` wrote: items, responses and labels, a line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from annotate.importers.base import Request, Rows
from annotate.importers.each import each_record
from annotate.importers.fit import Unfit
from annotate.importers.records import ReadOptions, Record, read_records
from annotate.importers.tally import Tally
from db.records import HumanLabelRow, ImportRow, ItemRow, JudgeLabelRow, ResponseRow

FORM = "annotate rows "
_KINDS: Mapping[str, type[Any]] = {
    "item": ItemRow,
    "response": ResponseRow,
    "human label": HumanLabelRow,
    "judge label": JudgeLabelRow,
}
_SEVERAL = ("gold", "options")


class StudyRowsImporter:
    name = "study_rows"
    title = "rows that annotate exported (JSON Lines)"
    protocol = ""
    options: Mapping[str, str] = {}

    def recognises(self, path: Path, start: bytes) -> bool:
        return not path.is_dir() and start.startswith(f'{{"form": "{FORM}'.encode())

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Rows:
        for source, path in enumerate(tally.paths):
            records = read_records(path, ReadOptions(kind="jsonl"))
            yield from each_record(records, tally, source, partial(_row, source))


def _row(source: int, record: Record) -> Iterator[ImportRow]:
    values = dict(record.data)
    if "form" in values:
        return
    kind = values.pop("kind", None)
    made = _KINDS.get(kind) if isinstance(kind, str) else None
    if made is None:
        raise Unfit(f"the kind is {kind!r}, expected {', '.join(_KINDS)}")
    unknown = set(values) - {field.name for field in fields(made)}
    if unknown:
        raise Unfit(f"there is no field {min(unknown)!r} of {kind}")
    for name in _SEVERAL:
        if isinstance(several := values.get(name), list):
            values[name] = tuple(several)
    if made is HumanLabelRow:
        values.setdefault("label", None)
    try:
        yield made(**values, row=record.row, source=source)
    except TypeError as error:
        raise Unfit(f"a field of {kind} is missing ({error})") from None


IMPORTER = StudyRowsImporter()
