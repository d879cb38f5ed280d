"""A command or a Python callable of the user's as a judge, over JSON lines."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from annotate.judges.process import Run, run_command
from annotate.judges.prompts import data_fields
from db.errors import AnnotateError
from db.judging import StoredReply, Subject

FAILED_IN_A_ROW = 3


class CommandRule:
    """``argv`` gets a line a subject and prints ``{"id": …, "label": …, "score": …, "rationale": …}`` for each.

    A subject without an answer is asked once more alone, so that one that crashes the command takes no other with it;
    after three such failures in a row the rest of a chunk fails with them.
    """

    version = ""
    raw_labels: tuple[str, ...] = ()

    def __init__(
        self, argv: Sequence[str], *, kind: str, timeout: float, labels: Sequence[str], source: object
    ) -> None:
        self.kind = kind
        self._argv, self._timeout, self._labels, self._source = tuple(argv), timeout, tuple(labels), source

    @property
    def origin(self) -> Mapping[str, object]:
        return {
            "command": list(self._argv) if self.kind == "command" else self._argv[-1],
            "source_sha256": self._source,
        }

    def cannot_judge(self, subject: Subject) -> str:
        if subject.redacted:
            return "redacted"
        return "technical failure" if subject.technical else ""

    def judge(self, subjects: Sequence[Subject], repeat: int) -> Sequence[StoredReply]:
        found, trouble = self._ask(subjects, repeat)
        in_a_row = 0
        for subject in subjects if len(subjects) > 1 else ():
            if subject.response_id in found or in_a_row >= FAILED_IN_A_ROW:
                continue
            alone, trouble = self._ask([subject], repeat)
            found.update(alone)
            in_a_row = 0 if alone else in_a_row + 1
            found.setdefault(subject.response_id, _failed(subject, repeat, trouble))
        return [found.get(s.response_id) or _failed(s, repeat, trouble) for s in subjects]

    def _ask(self, subjects: Sequence[Subject], repeat: int) -> tuple[dict[int, StoredReply], str]:
        lines = [json.dumps(self._line(subject), ensure_ascii=True) for subject in subjects]
        run = run_command(self._argv, lines, self._timeout)
        return read_answers(run, {str(s.response_id): s.response_id for s in subjects}, repeat)

    def _line(self, subject: Subject) -> dict[str, object]:
        fields = data_fields(subject)
        lists = {"gold": list(subject.gold), "options": list(subject.options), "strata": dict(subject.strata)}
        return {"id": str(subject.response_id), "item": subject.item, **fields, **lists, "labels": list(self._labels)}


def _failed(subject: Subject, repeat: int, trouble: str) -> StoredReply:
    return StoredReply(subject.response_id, repeat, failure=f"command: {trouble or 'no answer'}", retry=True)


def read_answers(run: Run, ids: Mapping[str, int], repeat: int) -> tuple[dict[int, StoredReply], str]:
    """The answers by response, and what was wrong besides; an id that is answered twice differently has no answer."""
    found: dict[int, StoredReply] = {}
    trouble = run.trouble
    twice: set[int] = set()
    for line in run.lines:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        response = ids.get(str(value.get("id"))) if isinstance(value, dict) else None
        if response is None or not isinstance(value, dict):
            trouble = trouble or f"printed a line that is no answer: {line[:80]}"
            continue
        row = _row(value, line, response, repeat)
        if response in found and found[response] != row:
            twice.add(response)
        found[response] = row
    for response in twice:
        found[response] = StoredReply(response, repeat, failure="command: two different answers", retry=True)
    return found, trouble


def _row(value: Mapping[str, object], line: str, response: int, repeat: int) -> StoredReply:
    label, score, rationale = value.get("label"), value.get("score"), value.get("rationale")
    said = rationale if isinstance(rationale, str) else None
    if isinstance(value.get("error"), str):
        return StoredReply(response, repeat, reply=line, failure=f"command: {value['error']}"[:500], retry=True)
    number = float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None
    wrong = (label is not None and not isinstance(label, str)) or (score is not None and not _usable(number))
    if wrong or (label is None and number is None):
        return StoredReply(response, repeat, reply=line, failure="command: neither a label nor a score")
    raw = label if isinstance(label, str) else json.dumps(score)
    return StoredReply(response, repeat, raw=raw, score=number, rationale=said, reply=line)


def _usable(number: float | None) -> bool:
    return number is not None and math.isfinite(number)


def command_rule(text: str, timeout: float, labels: Sequence[str]) -> CommandRule:
    """The rule of ``--command``: split as a shell would, but run without one."""
    try:
        argv = shlex.split(text)
    except ValueError as error:
        raise AnnotateError(f"--command: {error}.", "Check its quotation marks.") from None
    if not argv:
        raise AnnotateError("--command is empty.", "Write --command 'python my_judge.py'.")
    _refuse_secrets(argv)
    return CommandRule(argv, kind="command", timeout=timeout, labels=labels, source=_digests(argv))


def callable_rule(where: str, timeout: float, labels: Sequence[str]) -> CommandRule:
    """The rule of ``--callable MODULE:FUNCTION`` or ``FILE.py:FUNCTION``; it runs in a child process like a command."""
    module, found, function = where.rpartition(":")
    if not found or not module or not function.isidentifier():
        raise AnnotateError(
            f"--callable {where!r}: expected MODULE:FUNCTION or FILE.py:FUNCTION.", "Write judge.py:grade."
        )
    if module.endswith(".py") and not Path(module).is_file():
        raise AnnotateError(f"--callable {where!r}: there is no file {module}.", "Check the path.")
    argv = (sys.executable, "-m", "annotate.judges.child", where)
    return CommandRule(argv, kind="callable", timeout=timeout, labels=labels, source=_digests([module]))


def _digests(argv: Sequence[str]) -> dict[str, str]:
    """SHA-256 of every file that the command names, so that changed code is another judge."""
    return {part: hashlib.sha256(Path(part).read_bytes()).hexdigest() for part in argv if Path(part).is_file()}


def _refuse_secrets(argv: Sequence[str]) -> None:
    """A key on a command line is seen by everyone in the process list, and would be stored with the judge."""
    for name, value in os.environ.items():
        secret = name.upper().endswith(("_KEY", "_TOKEN", "_SECRET", "PASSWORD"))
        if secret and len(value) >= 8 and any(value in part for part in argv):
            raise AnnotateError(
                f"--command holds the value of {name}.", "Let the command read it from its environment."
            )
