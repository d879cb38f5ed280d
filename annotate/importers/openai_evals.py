"""Logs of OpenAI evals (JSONL of events): what was sampled, and what the match, grader or metrics said of it.

Events of one sample belong together: ``sampling`` gives question and response, ``match`` the judge ``match``, and
``metrics`` a judge for each text or number in it. A sample whose events are never completed by a response is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotate.importers.base import Request, Rows
from annotate.importers.conversation import asked, turns
from annotate.importers.each import each_record
from annotate.importers.fit import Unfit
from annotate.importers.judged import judge_rows
from annotate.importers.records import ReadOptions, Record, read_records
from annotate.importers.shape import need
from annotate.importers.tally import Tally
from annotate.recipes.transforms import as_text
from annotate.recipes.values import texts
from db.records import ImportRow, ItemRow, Reject, ResponseRow

_FRAMES = ("spec", "final_report")


class OpenAiEvalsImporter:
    name = "openai_evals"
    title = "logs of OpenAI evals (JSONL)"
    protocol = ""
    options: Mapping[str, str] = {"model": "the model, where the log's spec does not name it"}

    def recognises(self, path: Path, start: bytes) -> bool:
        event = b'"run_id"' in start and b'"sample_id"' in start and b'"event_id"' in start
        return not path.is_dir() and event

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Rows:
        for source, path in enumerate(tally.paths):
            log = _Log(request.option("model"), source)
            yield from each_record(_events(path, log, tally), tally, source, log.event)
            for sample, row in log.unanswered():
                yield tally.reject(source, row, f"sample {sample!r} has events, but no response was sampled")


def _events(path: Path, log: _Log, tally: Tally) -> Iterator[Record | Reject]:
    """The events; the frame around them (spec, final report) is no event."""
    for found in read_records(path, ReadOptions(kind="jsonl")):
        frame = next((name for name in _FRAMES if isinstance(found, Record) and name in found.data), None)
        if frame is None:
            yield found
        elif frame == "spec" and isinstance(found, Record):
            log.spec(found.data["spec"])
        else:
            tally.notes.append(f"{path.name}: line {found.row} is the run's final report, not an event")


class _Log:
    """The state of one log: which samples have been answered, and verdicts that came before their answer."""

    def __init__(self, model: str, source: int) -> None:
        self._model, self._source, self._eval = model, source, "eval"
        self._repeats: dict[str, int] = {}
        self._early: dict[str, list[tuple[int, str, Mapping[str, Any]]]] = {}

    def spec(self, spec: Any) -> None:
        if isinstance(spec, Mapping):
            named = [str(name) for name in spec.get("completion_fns") or []]
            self._model = self._model or ", ".join(named) or str(spec.get("model_name") or "")
            self._eval = str(spec.get("base_eval") or spec.get("eval_name") or "eval")

    def event(self, record: Record) -> Iterator[ImportRow]:
        sample = str(need(record.data, "sample_id", str, int))
        kind, data = need(record.data, "type", str), need(record.data, "data", dict, list, str)
        if kind == "sampling":
            yield from self._sampled(sample, record.row, need(record.data, "data", dict))
        elif kind in ("match", "metrics"):
            if sample in self._repeats:
                yield from self._verdict(sample, record.row, kind, data)
            else:
                self._early.setdefault(sample, []).append((record.row, kind, data))

    def unanswered(self) -> list[tuple[str, int]]:
        return [(sample, events[0][0]) for sample, events in self._early.items()]

    def _sampled(self, sample: str, row: int, data: Mapping[str, Any]) -> Iterator[ImportRow]:
        key = f"{self._eval}/{sample}"
        found = _prompt(need(data, "prompt", str, list))
        sampled = need(data, "sampled", str, list)
        expected = [d.get("expected") for _, kind, d in self._early.get(sample, []) if kind == "match"]
        gold = texts("")(data.get("expected") or (expected[0] if expected else None))
        if sample not in self._repeats:
            yield ItemRow(key, row, found[0], context=found[1], gold=gold, source=self._source)
        for text in [sampled] if isinstance(sampled, str) else sampled:
            self._repeats[sample] = self._repeats.get(sample, 0) + 1
            yield ResponseRow(text=as_text(text) or "", **self._place(sample, row))
        for early_row, kind, early in self._early.pop(sample, []):
            yield from self._verdict(sample, early_row, kind, early)

    def _verdict(self, sample: str, row: int, kind: str, data: Any) -> Iterator[ImportRow]:
        place = self._place(sample, row)
        if kind == "match":
            correct = need(data, "correct", bool)
            reply = as_text(data.get("sampled") if data.get("picked") is None else data["picked"])
            yield from judge_rows("match", correct, place, reply=reply)
            return
        for name, value in data.items():
            if isinstance(value, str | int | float | bool):
                yield from judge_rows(str(name), value, place)

    def _place(self, sample: str, row: int) -> dict[str, Any]:
        item = f"{self._eval}/{sample}"
        return {"item": item, "model": self._model, "repeat": self._repeats[sample], "row": row, "source": self._source}


def _prompt(prompt: Any) -> tuple[str, str | None]:
    if isinstance(prompt, str):
        return prompt, None
    listed = turns(prompt)
    if not listed:
        raise Unfit("'prompt' holds no message")
    if not any(turn.role == "user" for turn in listed):
        return "\n\n".join(turn.text for turn in listed), None
    found = asked(listed)
    return found.question, found.context


IMPORTER = OpenAiEvalsImporter()
