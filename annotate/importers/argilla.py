"""Argilla, JSON or JSONL: records with fields, suggestions (judges) and the responses of several people.

Reads what argilla 2 writes (responses under the question's name) and the older list of responses with values.
Responses that were discarded or are drafts are blanks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from annotate.importers.base import Request, Rows
from annotate.importers.each import each_record
from annotate.importers.fit import Unfit
from annotate.importers.people import LABELS_HELP, label_names
from annotate.importers.records import Record, read_records
from annotate.importers.shape import maybe, need
from annotate.importers.tally import Tally
from annotate.importers.tasks import FIELDS_HELP, TaskFields, task_rows
from annotate.recipes.transforms import as_text
from db.records import HumanLabelRow, ImportRow, JudgeLabelRow


class ArgillaImporter:
    name = "argilla"
    title = "Argilla (records as JSON or JSONL)"
    protocol = ""
    options: Mapping[str, str] = {
        **FIELDS_HELP,
        "labels": LABELS_HELP,
        "question_name": "the question whose answer is the label, where there are several",
    }

    def recognises(self, path: Path, start: bytes) -> bool:
        marks = (b'"fields"', b'"responses"', b'"suggestions"')
        return not path.is_dir() and all(mark in start for mark in marks)

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Rows:
        for source, path in enumerate(tally.paths):
            build = partial(_record, request, label_names(request), source)
            yield from each_record(read_records(path), tally, source, build)


def _record(request: Request, labels: Mapping[str, str], source: int, record: Record) -> Iterator[ImportRow]:
    data: Mapping[str, Any] = record.data
    key = str(need(data, "id", str, int))
    shown = {**(maybe(data, "metadata", dict) or {}), **need(data, "fields", dict)}
    item, response = task_rows(shown, TaskFields.of(request), key=key, row=record.row, source=source)
    yield item
    yield response
    place: dict[str, Any] = {"item": item.key, "model": response.model, "condition": response.condition}
    place |= {"repeat": response.repeat, "row": record.row, "source": source}
    answers = _answers(need(data, "responses", dict, list))
    question = _question(request.option("question_name"), answers, _suggestions(maybe(data, "suggestions", dict, list)))
    for name, value, score, agent in _suggestions(maybe(data, "suggestions", dict, list)):
        if name == question:
            yield JudgeLabelRow(judge=agent or "suggestion", raw=as_text(value), score=_number(score), **place)
    for name, value, person, submitted in answers:
        if name == question:
            label = _label(value) if submitted else None
            rating = (
                int(label) if label is not None and isinstance(value, int) and not isinstance(value, bool) else None
            )
            text = None if label is None or rating is not None else labels.get(label, label)
            yield HumanLabelRow(coder=person, label=text, rating=rating, **place)


def _answers(responses: Any) -> list[tuple[str, Any, str, bool]]:
    """(question, value, person, submitted) of every response."""
    found = []
    if isinstance(responses, Mapping):
        for name, given in responses.items():
            for entry in given if isinstance(given, list) else [given]:
                found.append((name, need(entry, "value"), _person(entry), _submitted(entry)))
        return found
    for entry in responses:
        for name, given in (maybe(entry, "values", dict) or {}).items():
            value = need(given, "value") if isinstance(given, Mapping) else given
            found.append((name, value, _person(entry), _submitted(entry)))
    return found


def _suggestions(suggestions: Any) -> list[tuple[str, Any, Any, str]]:
    """(question, value, score, agent) of every suggestion."""
    if isinstance(suggestions, Mapping):
        return [(n, need(s, "value"), s.get("score"), str(s.get("agent") or "")) for n, s in suggestions.items()]
    return [
        (need(s, "question_name", str), need(s, "value"), s.get("score"), str(s.get("agent") or ""))
        for s in suggestions or []
    ]


def _question(named: str, answers: Sequence[tuple[Any, ...]], suggestions: Sequence[tuple[Any, ...]]) -> str:
    names = sorted({str(entry[0]) for entry in (*answers, *suggestions)})
    if named or len(names) < 2:
        return named or (names[0] if names else "")
    raise Unfit(f"answers to {', '.join(names)}: name the one that is the label with the option question_name")


def _person(entry: Mapping[str, Any]) -> str:
    return str(need(entry, "user_id", str, int))


def _submitted(entry: Mapping[str, Any]) -> bool:
    return str(entry.get("status") or "submitted") == "submitted"


def _label(value: Any) -> str | None:
    if isinstance(value, list) and len(value) != 1:
        raise Unfit(f"{len(value)} labels in one response, expected one")
    return as_text(value[0] if isinstance(value, list) else value)


def _number(score: Any) -> float | None:
    return float(score) if isinstance(score, int | float) else None


IMPORTER = ArgillaImporter()
