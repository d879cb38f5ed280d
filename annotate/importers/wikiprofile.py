"""Graded responses of WikiProfile (Empty Shelves or Lost Keys): facts, six question types, with and without thinking.

One record a response, in any table format: fact, question_type, question, gold, model, thinking, repeat, response,
and what the graders said: ``label``, or a column ``label_NAME`` or ``grader_NAME`` for each of them (the latter whole
is the judge's name); ``coder_NAME`` for people. An item is a fact asked in one way; its strata name fact and type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from annotate.importers.aliases import Columns
from annotate.importers.base import Request, Rows
from annotate.importers.each import each_record
from annotate.importers.fit import Unfit
from annotate.importers.records import Record, read_records
from annotate.importers.tally import Tally
from annotate.recipes import values
from annotate.recipes.transforms import as_text, strip
from db.records import HumanLabelRow, ImportRow, ItemRow, JudgeLabelRow, ResponseRow

QUESTION_TYPES = ("completion", "contextual", "direct", "direct natural", "reverse", "reverse natural")
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "fact": ("fact", "fact_id"),
    "question_type": ("question_type",),
    "question": ("question", "prompt"),
    "context": ("context",),
    "gold": ("gold", "gold_answer", "answer"),
    "model": ("model",),
    "thinking": ("thinking",),
    "repeat": ("repeat", "sample"),
    "response": ("response", "output"),
    "failure": ("failure", "error"),
    "label": ("label",),
}
_NEEDED = ("fact", "question_type", "question", "gold", "model", "thinking", "response")
_GRADER, _RATERS = "grader_", {"label_": "judge", "coder_": "coder"}


class WikiProfileImporter:
    name = "wikiprofile"
    title = "graded responses of WikiProfile"
    protocol = "wikiprofile"
    options: Mapping[str, str] = {"judge": "the name of the grader in the column 'label'"}

    def recognises(self, path: Path, start: bytes) -> bool:
        marks = (b"fact", b"question_type", b"thinking")
        return not path.is_dir() and all(mark in start.split(b"\n", 1)[0] for mark in marks)

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Rows:
        judge = request.option("judge", "grader")
        for source, path in enumerate(tally.paths):
            columns = Columns(tally.names[source], _FIELDS, _NEEDED)
            yield from each_record(read_records(path), tally, source, partial(_record, columns, source, judge))


def _record(columns: Columns, source: int, judge: str, record: Record) -> Iterator[ImportRow]:
    data = record.data
    columns.check(data)
    fact, kind = columns.text(data, "fact"), columns.text(data, "question_type").replace("_", " ").lower()
    if kind not in QUESTION_TYPES:
        raise Unfit(f"question_type is {kind!r}, expected one of {', '.join(QUESTION_TYPES)}")
    item = f"{fact}/{kind}"
    yield ItemRow(
        key=item,
        row=record.row,
        question=columns.text(data, "question"),
        context=values.text_or_none(columns.get(data, "context")),
        gold=values.texts("")(columns.get(data, "gold")),
        strata={"fact": fact, "question_type": kind},
        source=source,
    )
    thinking = values.yes_no("thinking")(columns.get(data, "thinking"))
    if thinking is None:
        raise Unfit("thinking is missing")
    place: dict[str, Any] = {"item": item, "model": columns.text(data, "model"), "row": record.row, "source": source}
    place["condition"] = "thinking" if thinking else "no thinking"
    place["repeat"] = values.whole("repeat")(columns.get(data, "repeat"))
    yield ResponseRow(
        text=as_text(columns.get(data, "response")) or "",
        failure=strip(columns.get(data, "failure")),
        extra={name: value for name, value in columns.rest(data).items() if _rater(name) is None},
        **place,
    )
    yield from _labels(data, judge, place)


def _labels(data: Mapping[str, Any], judge: str, place: Mapping[str, Any]) -> Iterator[ImportRow]:
    if "label" in data:
        yield JudgeLabelRow(judge=judge, raw=strip(data["label"]), **place)
    for column, value in data.items():
        match _rater(column):
            case ("judge", name):
                yield JudgeLabelRow(judge=name, raw=strip(value), **place)
            case ("coder", name):
                yield HumanLabelRow(coder=name, label=strip(value), **place)


def _rater(column: str) -> tuple[str, str] | None:
    """('judge', name) or ('coder', name) for a column with a rater's labels."""
    if column.startswith(_GRADER):
        return "judge", column
    for prefix, kind in _RATERS.items():
        if column.startswith(prefix) and len(column) > len(prefix):
            return kind, column.removeprefix(prefix)
    return None


IMPORTER = WikiProfileImporter()
