"""Logs of inspect_ai, ``.eval`` (a zip) and ``.json``: samples, their epochs, and what each scorer said.

The item is task and sample id, the repeat the epoch, each scorer a judge with its explanation. Written for log
versions 1 and 2; the log is read as it lies on disk, inspect_ai need not be installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from annotate.importers.archive import Archive, open_archive
from annotate.importers.base import Request, Rows
from annotate.importers.conversation import asked, content_text, turns
from annotate.importers.each import each_record
from annotate.importers.fit import Unfit
from annotate.importers.judged import judge_rows
from annotate.importers.records import Record
from annotate.importers.shape import maybe, missing, need, parse_document, read_document
from annotate.importers.sources import SourceError
from annotate.importers.tally import Tally
from annotate.recipes.transforms import as_text
from db.records import ImportRow, ItemRow, ResponseRow

_SAMPLE = re.compile(r"samples/.+_epoch_\d+\.json")
_EXPECTED = "a log of inspect_ai"
_TAKEN = ("id", "epoch", "input", "target", "choices", "output", "scores", "score", "messages", "events", "attachments")
_HEAVY = ("transcript", "store", "timelines")


class InspectImporter:
    name = "inspect_ai"
    title = "logs of inspect_ai (.eval, .json)"
    protocol = ""
    options: Mapping[str, str] = {"condition": "a name for the run, where one model has several"}

    def recognises(self, path: Path, start: bytes) -> bool:
        if path.is_dir():
            return False
        if start.startswith(b"PK\x03\x04"):
            return b"header.json" in start or b"_journal/start.json" in start or path.suffix == ".eval"
        marks = (b'"eval"', b'"status"', b'"task"')
        return start.lstrip(b"\xef\xbb\xbf \r\n").startswith(b"{") and all(mark in start for mark in marks)

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Rows:
        for source, path in enumerate(tally.paths):
            if path.suffix == ".eval":
                with open_archive(path) as archive:
                    header = _header(path, archive)
                    yield from self._samples(request, tally, source, header, _packed(archive))
            else:
                log = read_document(path)
                yield from self._samples(request, tally, source, log, _listed(path, log))

    def _samples(self, request: Request, tally: Tally, source: int, log: Any, samples: Iterator[Record]) -> Rows:
        run = _Run(tally.paths[source], log, request.option("condition"), source)
        yield from each_record(samples, tally, source, partial(_sample, run))
        if not tally.read[source]:
            tally.notes.append(f"{tally.names[source]}: the log holds no samples (status {run.status})")


class _Run:
    """What the head of a log says of all its samples."""

    def __init__(self, path: Path, log: Any, condition: str, source: int) -> None:
        spec = log.get("eval") if isinstance(log, Mapping) else None
        if not isinstance(spec, Mapping):
            missing(path, "eval", log, _EXPECTED)
        for key in ("task", "model"):
            if not isinstance(spec.get(key), str):
                missing(path, key, spec, f"{_EXPECTED} with eval.{key}")
        self.task, self.model, self.condition, self.source = spec["task"], spec["model"], condition, source
        self.status = str(log.get("status", "unknown"))


def _header(path: Path, archive: Archive) -> Any:
    """The head of the log; a run that did not end has only the one with which it began."""
    for name in ("header.json", "_journal/start.json"):
        if name in archive.names:
            return parse_document(archive.read(name), f"{path}: {name}")
    raise SourceError(
        f"{path}: has neither header.json nor _journal/start.json; expected {_EXPECTED}.", "Is it the right file?"
    )


def _packed(archive: Archive) -> Iterator[Record]:
    names = sorted((name for name in archive.names if _SAMPLE.fullmatch(name)), key=_natural)
    for number, name in enumerate(names, start=1):
        yield _record(number, parse_document(archive.read(name), name))


def _natural(name: str) -> list[tuple[int, str]]:
    """samples/2_… before samples/10_…."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _listed(path: Path, log: Any) -> Iterator[Record]:
    samples = log.get("samples", []) if isinstance(log, Mapping) else []
    if "samples" not in log and log.get("status") == "success" and (log.get("results") or {}).get("completed_samples"):
        near = [key for key in log if key not in ("version", "status", "eval", "plan", "results", "stats", "error")]
        if near:
            missing(path, "samples", log, f"{_EXPECTED} with its samples")
    if not isinstance(samples, list):
        missing(path, "samples", log, f"{_EXPECTED} with a list of samples")
    for number, sample in enumerate(samples, start=1):
        yield _record(number, sample)


def _record(number: int, sample: object) -> Record:
    return Record(number, sample if isinstance(sample, dict) else {"not a sample": sample})


def _sample(run: _Run, record: Record) -> Iterator[ImportRow]:
    data: Mapping[str, Any] = record.data
    attached = data.get("attachments") or {}
    question, context = _input(need(data, "input", str, list), attached)
    key = f"{run.task}/{need(data, 'id', str, int)}"
    choices = maybe(data, "choices", list) or []
    yield ItemRow(
        key=key,
        row=record.row,
        question=question,
        context=context,
        gold=_target(need(data, "target", str, list), choices),
        options=tuple(str(choice) for choice in choices),
        answer_key=str(data["target"]) if choices and isinstance(data["target"], str) else None,
        strata={"task": run.task},
        source=run.source,
    )
    place: dict[str, Any] = {"item": key, "model": run.model, "condition": run.condition, "row": record.row}
    place |= {"repeat": need(data, "epoch", int), "source": run.source}
    text, thought, failure = _output(need(data, "output", dict), data.get("error"), attached)
    extra = {
        name: value for name, value in data.items() if name not in (*_TAKEN, *_HEAVY) and value not in (None, {}, [])
    }
    yield ResponseRow(text=text, reason=thought or None, failure=failure, extra=extra, **place)
    for judge, score in _scores(data).items():
        if not isinstance(score, Mapping):
            raise Unfit(f"the score of {judge!r} is no object")
        value = need(score, "value", str, int, float, bool, dict, list)
        yield from judge_rows(
            judge, value, place, rationale=_resolved(score.get("explanation"), attached), reply=score.get("answer")
        )


def _scores(data: Mapping[str, Any]) -> Mapping[str, Any]:
    scores = maybe(data, "scores", dict)
    if scores is None and maybe(data, "score", dict):
        return {"score": data["score"]}
    if scores is None and get_close_matches("scores", data, n=1):
        need(data, "scores", dict)
    return scores or {}


def _input(value: Any, attached: Mapping[str, str]) -> tuple[str, str | None]:
    """(question, what came before it)."""
    if isinstance(value, str):
        return _resolved(value, attached) or "", None
    found = asked(turns([_message(message, attached) for message in value]))
    return found.question, found.context


def _message(message: Any, attached: Mapping[str, str]) -> Any:
    content = message.get("content") if isinstance(message, Mapping) else None
    return {**message, "content": _resolved(content, attached)} if isinstance(content, str) else message


def _resolved(text: Any, attached: Mapping[str, str]) -> Any:
    """Long texts are kept apart in the log, as attachment://…."""
    if isinstance(text, str) and text.startswith("attachment://"):
        return attached.get(text.removeprefix("attachment://"), text)
    return text


def _target(target: str | list[Any], choices: Sequence[Any]) -> tuple[str, ...]:
    """The gold answers; a letter stands for its choice."""
    targets = [str(entry) for entry in (target if isinstance(target, list) else [target])]
    letters = {chr(ord("A") + i): str(choice) for i, choice in enumerate(choices[:26])}
    return tuple(letters.get(entry, entry) for entry in targets if entry)


def _output(output: Mapping[str, Any], error: Any, attached: Mapping[str, str]) -> tuple[str, str, str | None]:
    """(response, what was thought, failure)."""
    choices = maybe(output, "choices", list) or []
    said, thought = "", ""
    if choices:
        message = need(choices[0] if isinstance(choices[0], Mapping) else {}, "message", dict)
        if "content" not in message:
            need(message, "content")
        said, thought = content_text(_resolved(message["content"], attached))
    problem = error.get("message") if isinstance(error, Mapping) else error
    return said, thought, as_text(problem or output.get("error")) or (None if choices else "no output")


IMPORTER = InspectImporter()
