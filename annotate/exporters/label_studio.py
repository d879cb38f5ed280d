"""Label Studio: tasks as JSON, people's labels as annotations, judges' as predictions; and the labelling interface.

The label is a choice, a rating a number, a note a text area. A final label is an annotation marked as ground truth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from annotate.exporters.base import Unit, Written, place_of, texts_of
from annotate.exporters.files import write_array
from db.records import HumanLabelRow, JudgeLabelRow
from db.records import Protocol as Codebook

TO = "response"


class LabelStudioExporter:
    name = "label_studio"
    title = "Label Studio tasks (JSON)"
    suffix = ".json"

    def write(self, units: Iterable[Unit], path: Path, *, protocol: Codebook, blind: bool = False) -> Written:
        count = _Count()
        write_array(path, count.tasks(units, protocol, blind))
        return Written(count.units, count.people, count.judges)


class _Count:
    """Numbers tasks, annotations and people as they are written."""

    def __init__(self) -> None:
        self.units = self.people = self.judges = 0
        self._coders: dict[str, int] = {}

    def tasks(self, units: Iterable[Unit], protocol: Codebook, blind: bool) -> Iterator[dict[str, Any]]:
        for unit in units:
            self.units += 1
            # Label Studio's converter sorts by time and cannot compare one with none: all of a task, or no one.
            timed = all(row.utc is not None for row in unit.people)
            yield {
                "id": self.units,
                "data": {**place_of(unit, blind=blind), **texts_of(unit)},
                "annotations": [self._annotation(row, protocol, timed) for row in unit.people],
                "predictions": [] if blind else [self._prediction(row, protocol) for row in unit.judges],
            }

    def _annotation(self, row: HumanLabelRow, protocol: Codebook, timed: bool) -> dict[str, Any]:
        self.people += 1
        number = self._coders.setdefault(row.coder, len(self._coders) + 1)
        found: dict[str, Any] = {
            "id": self.people,
            "completed_by": {"id": number, "email": row.coder, "first_name": "", "last_name": ""},
            "result": list(_result(row.label, row.rating, row.note, protocol)),
            "was_cancelled": row.label is None and row.rating is None,
            "ground_truth": row.role == "adjudicator",
        }
        if timed:
            found["created_at"] = row.utc
        if row.active_ms is not None:
            found["lead_time"] = row.active_ms / 1000
        return found

    def _prediction(self, row: JudgeLabelRow, protocol: Codebook) -> dict[str, Any]:
        self.judges += 1
        result = list(_result(row.raw, None, row.rationale, protocol))
        found = {"id": self.judges, "model_version": row.judge, "result": result}
        return found if row.score is None else {**found, "score": row.score}


def _result(label: str | None, rating: int | None, note: str | None, protocol: Codebook) -> Iterator[dict[str, Any]]:
    name = protocol.rating.name if protocol.rating is not None else "rating"
    if label is not None:
        yield _region("label", "choices", {"choices": [label]})
    if rating is not None:
        yield _region(name, "number", {"number": rating})
    if note:
        yield _region("note", "textarea", {"text": [note]})


def _region(control: str, kind: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": control, "from_name": control, "to_name": TO, "type": kind, "value": value, "origin": "manual"}


def interface(protocol: Codebook) -> str:
    """The labelling interface for such tasks, as XML: paste it into a project's settings."""
    choices = "".join(
        f"\n    <Choice value={quoteattr(r.name)} hotkey={quoteattr(r.key)} hint={quoteattr(r.title)}/>"
        for r in protocol.labels
    )
    lines = [
        "<View>",
        '  <Header value="Question"/>\n  <Text name="question" value="$question"/>',
        f'  <Header value="Response"/>\n  <Text name="{TO}" value="$response"/>',
    ]
    if choices:
        lines.append(f'  <Choices name="label" toName="{TO}" choice="single" showInline="true">{choices}\n  </Choices>')
    if protocol.rating is not None:
        rating = protocol.rating
        bounds = f'min="{rating.low}" max="{rating.high}" step="{rating.step}"'
        lines.append(f'  <Number name={quoteattr(rating.name)} toName="{TO}" {bounds}/>')
    lines.append(f'  <TextArea name="note" toName="{TO}" maxSubmissions="1" editable="true"/>\n</View>')
    return "\n".join(lines) + "\n"


EXPORTER = LabelStudioExporter()
