"""Label Studio, JSON: tasks with the annotations of several people and the predictions of models.

A choice is a label, a rating or number in 0 to 100 a rating, a text area a note. Annotations marked as ground truth
are final labels; cancelled ones are skips, which are blanks here. Predictions are judges, named by model version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from annotate.importers.base import Request, Rows
from annotate.importers.conversation import turns
from annotate.importers.each import each_record
from annotate.importers.fit import Unfit
from annotate.importers.people import LABELS_HELP, label_names
from annotate.importers.records import ReadOptions, Record, read_records
from annotate.importers.shape import maybe, need
from annotate.importers.tally import Tally
from annotate.importers.tasks import FIELDS_HELP, TaskFields, task_rows, transcript
from db.records import HumanLabelRow, ImportRow, JudgeLabelRow

_LABEL_KINDS = ("choices", "taxonomy", "pairwise")
_RATING_KINDS = ("rating", "number")


class LabelStudioImporter:
    name = "label_studio"
    title = "Label Studio (JSON export)"
    protocol = ""
    options: Mapping[str, str] = {
        **FIELDS_HELP,
        "labels": LABELS_HELP,
        "control": "the control (from_name) whose choice is the label, where there are several",
    }

    def recognises(self, path: Path, start: bytes) -> bool:
        if path.is_dir():
            return False
        task = b'"data"' in start or b'"was_cancelled"' in start or b'"completed_by"' in start
        return start.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] == b"[" and task and b'"annotations"' in start

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Rows:
        read = _Reader(request)
        for source, path in enumerate(tally.paths):
            build = partial(read.task, source)
            yield from each_record(read_records(path, ReadOptions(kind="json")), tally, source, build)
        if read.without:
            tally.notes.append(f"{read.without} annotations hold no label: they are counted as blank")
        if read.cancelled:
            tally.notes.append(f"{read.cancelled} annotations were cancelled (skipped): they are counted as blank")


class _Reader:
    def __init__(self, request: Request) -> None:
        self._fields, self._labels = TaskFields.of(request), label_names(request)
        self._control = request.option("control")
        self.without = self.cancelled = 0

    def task(self, source: int, record: Record) -> Iterator[ImportRow]:
        data = dict(need(record.data, "data", dict))
        annotations = need(record.data, "annotations", list)
        if chat := _chat(annotations):
            data["response"] = chat
        key = str(need(record.data, "id", int, str))
        item, response = task_rows(data, self._fields, key=key, row=record.row, source=source)
        yield item
        yield response
        place = {"item": item.key, "model": response.model, "condition": response.condition, "repeat": response.repeat}
        place |= {"row": record.row, "source": source}
        for prediction in maybe(record.data, "predictions", list) or []:
            yield self._prediction(prediction, place)
        for annotation in annotations:
            yield self._annotation(annotation, place)

    def _annotation(self, annotation: Any, place: Mapping[str, Any]) -> HumanLabelRow:
        if not isinstance(annotation, Mapping):
            raise Unfit("an annotation is no object")
        cancelled = bool(annotation.get("was_cancelled"))
        found = self._result(need(annotation, "result", list))
        blank = found["label"] is None and found["rating"] is None
        self.cancelled += cancelled
        self.without += blank and not cancelled
        seconds = maybe(annotation, "lead_time", int, float)
        label = found["label"]
        return HumanLabelRow(
            coder=_person(need(annotation, "completed_by", dict, int, str)),
            label=None if label is None or cancelled else self._labels.get(label, label),
            rating=None if cancelled else found["rating"],
            note=found["note"],
            role="adjudicator" if annotation.get("ground_truth") else "coder",
            utc=maybe(annotation, "created_at", str),
            active_ms=round(seconds * 1000) if seconds is not None else None,
            **place,
        )

    def _prediction(self, prediction: Any, place: Mapping[str, Any]) -> JudgeLabelRow:
        if not isinstance(prediction, Mapping):
            raise Unfit("a prediction is no object")
        found = self._result(need(prediction, "result", list))
        rating = found["rating"]
        score = maybe(prediction, "score", int, float) if rating is None else rating
        name = str(prediction.get("model_version") or "prediction")
        return JudgeLabelRow(
            judge=name,
            raw=found["label"],
            score=None if score is None else float(score),
            rationale=found["note"],
            **place,
        )

    def _result(self, result: Sequence[Any]) -> dict[str, Any]:
        """label, rating and note of one result."""
        found: dict[str, Any] = {"label": None, "rating": None, "note": None}
        for region in result:
            kind, value = need(region, "type", str), need(region, "value", dict)
            wanted = not self._control or region.get("from_name") == self._control
            if kind in _LABEL_KINDS and wanted:
                found["label"] = _only(found["label"], _choice(kind, value))
            elif kind in _RATING_KINDS:
                found["rating"] = _whole(need(value, kind, int, float))
            elif kind == "textarea":
                text = need(value, "text", list, str)
                found["note"] = text if isinstance(text, str) else "\n".join(map(str, text))
        return found


def _choice(kind: str, value: Mapping[str, Any]) -> str:
    chosen = need(value, "selected" if kind == "pairwise" else kind, list, str)
    if isinstance(chosen, str):
        return chosen.strip()
    if len(chosen) != 1:
        raise Unfit(f"{len(chosen)} choices in one annotation, expected one label")
    return " > ".join(map(str, chosen[0])) if isinstance(chosen[0], list) else str(chosen[0]).strip()


def _only(before: str | None, label: str) -> str:
    if before is not None and before != label:
        raise Unfit("two controls hold a choice: name the one that is the label with the option control")
    return label


def _whole(value: float) -> int:
    if value != int(value):
        raise Unfit(f"the rating {value} is no whole number")
    return int(value)


def _person(completed_by: Any) -> str:
    """The e-mail address where there is one, else the id: both tell people apart, and the study shows neither."""
    if isinstance(completed_by, Mapping):
        return str(completed_by.get("email") or need(completed_by, "id", int, str))
    return str(completed_by)


def _chat(annotations: Sequence[Any]) -> str | None:
    """The conversation that an annotator had, where the task is a chat."""
    results = [a.get("result") for a in annotations if isinstance(a, Mapping)]
    messages = [
        region["value"]["chatmessage"]
        for result in results
        if isinstance(result, list)
        for region in result
        if isinstance(region, Mapping)
        and region.get("type") == "chatmessage"
        and isinstance(region.get("value"), Mapping)
        and "chatmessage" in region["value"]
    ]
    return transcript(turns(messages)) if messages else None


IMPORTER = LabelStudioImporter()
