"""Faults done on purpose: the process is killed, or the disk is full, at every single write of a session.

strace counts the pwrite64 calls of SQLite and acts at the N-th. After each: what was acknowledged is there, nothing is
there twice, the file proves itself, and the next session goes on.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from builder import protocol, small_study

from db.coding import CodingSession
from db.records import Act
from db.study import open_study
from db.verify import verify

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")]

PATHS = f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}\n"
SESSION = """
import os
from builder import protocol
from db.coding import CodingSession
from db.errors import AnnotateError
from db.records import Act
def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())
with CodingSession.open({path!r}, "A", protocol()) as session:
    for step in range(3):
        item = session.next()
        try:
            session.save(Act("label", item.assignment, label="WRONG", note="a note"))
            say("label", item.assignment)
        except AnnotateError as error:
            say("refused", type(error).__name__)
    try:
        undone = session.undo()
        say("undo", undone.annotation.assignment)
    except AnnotateError as error:
        say("refused", type(error).__name__)
"""


def inject(path: Path, what: str) -> tuple[int, list[list[str]]]:
    """Run the session with a fault; return its exit status and what it acknowledged."""
    command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64", "-e", f"inject=pwrite64:{what}"]
    run = subprocess.run(
        [*command, sys.executable, "-c", PATHS + SESSION.format(path=str(path))],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return run.returncode, [line.split() for line in run.stdout.splitlines()]


def check(path: Path, told: list[list[str]]) -> None:
    """Everything acknowledged is there, at most one unacknowledged act more, and the study holds."""
    with open_study(path) as study:
        proved = verify(study)
        assert proved.holds, [each for each in proved.checks if each.broken]
        kinds = [
            row[0]
            for row in study.connection.execute(
                "SELECT e.kind FROM events e JOIN logs l ON l.id = e.log_id JOIN coders c ON c.id = l.coder_id"
                " WHERE c.name = 'A' ORDER BY e.seq"
            )
        ]
    acknowledged = [words[0] for words in told if words[0] != "refused"]
    assert kinds[: len(acknowledged)] == acknowledged
    assert len(kinds) - len(acknowledged) <= 1


def test_killed_at_every_write_nothing_acknowledged_is_missing(tmp_path: Path) -> None:
    whole = small_study(tmp_path / "whole.db", "A")
    for number in range(1, 400):
        path = tmp_path / f"s{number}.db"
        shutil.copy(whole, path)
        status, told = inject(path, f"signal=KILL:when={number}")
        check(path, told)
        with CodingSession.open(path, "A", protocol()) as session:
            item = session.next()
            assert item is not None
            session.save(Act("label", item.assignment, label="HEDGE"))
        check_again = verify_whole(path)
        assert check_again, number
        if status == 0:
            assert len(told) == 4 and number > 10
            return
    raise AssertionError("the session never came to its end")


def verify_whole(path: Path) -> bool:
    with open_study(path) as study:
        return verify(study).holds


@pytest.mark.parametrize("step", [1, 3, 7])
def test_a_full_disk_refuses_in_words_and_the_study_goes_on(tmp_path: Path, step: int) -> None:
    whole = small_study(tmp_path / "whole.db", "A")
    refused = 0
    for number in range(1, 200, step * 4):
        path = tmp_path / f"s{step}-{number}.db"
        shutil.copy(whole, path)
        status, told = inject(path, f"error=ENOSPC:when={number}+{step}")
        assert all(words[1] in {"DiskFull", "StudyError"} for words in told if words[0] == "refused"), told
        refused += sum(words[0] == "refused" for words in told)
        check(path, told)
        if status == 0 and len(told) == 4 and not any(words[0] == "refused" for words in told):
            break
        with CodingSession.open(path, "A", protocol()) as session:
            item = session.next()
            assert item is not None
            session.save(Act("label", item.assignment, label="HEDGE"))
        assert verify_whole(path)
    assert refused > 0
