"""One session a coder: who may write, what survives a kill, threads, and what is imported."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from acts import events, label
from builder import protocol

from db.coding import CodingSession
from db.connection import writing
from db.faults import Fenced, Refused, SessionTaken, StudyError
from db.records import Act
from db.study import open_study


def test_the_same_coder_twice_is_refused_or_taken_over_and_the_first_is_fenced(path: Path) -> None:
    first = CodingSession.open(path, "A", protocol())
    item = first.next()
    assert item
    label(first, 2)
    with pytest.raises(SessionTaken, match="A is already coding this study"):
        CodingSession.open(path, "A", protocol())
    with CodingSession.open(path, "B", protocol()) as other:
        assert other.next() is not None
    with CodingSession.open(path, "A", protocol(), take_over=True) as second:
        with pytest.raises(Fenced, match="took over"):
            first.save(Act("label", item.assignment, label="WRONG"))
        second.save(Act("label", item.assignment, label="HEDGE"))
        with pytest.raises(Fenced):
            first.undo()
        with pytest.raises(SessionTaken):
            CodingSession.open(path, "A", protocol())
        assert second.annotation(item.assignment).label == "HEDGE"
    first.close()
    assert [row[1] for row in events(path)][-2:] == ["takeover", "label"]
    CodingSession.open(path, "A", protocol()).close()


def test_a_dead_session_leaves_no_lock(path: Path) -> None:
    code = f"""
import os, sys
sys.path[:0] = {[str(p) for p in sys.path if p]!r}
from builder import protocol
from db.coding import CodingSession
from db.records import Act
session = CodingSession.open({str(path)!r}, "A", protocol())
session.save(Act("label", session.next().assignment, label="WRONG"))
os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    with CodingSession.open(path, "A", protocol()) as session:
        assert session.progress.done == 1


@pytest.mark.parametrize(
    ("who", "reason"), [("Z", "There is no coder 'Z' in this study .there is: A, B"), ("lead", "no coder")]
)
def test_who_is_not_a_coder_is_told_whom_there_is(path: Path, who: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        CodingSession.open(path, who, protocol())


def test_a_coder_goes_by_pseudonym_too(path: Path) -> None:
    with CodingSession.open(path, "coder-2", protocol()) as session:
        assert session.coder.name == "B"


def test_an_unsent_note_survives_and_a_sent_one_is_gone(path: Path) -> None:
    with CodingSession.open(path, "A", protocol()) as session:
        item = session.next()
        assert item
        session.set_draft(item.assignment, "half a sen")
        session.set_draft(item.assignment, "half a sentence é\ud800")
        session.study.close()  # as a kill would
    with CodingSession.open(path, "A", protocol()) as session:
        assert session.draft(item.assignment) == "half a sentence é\ud800"
        session.save(Act("note", item.assignment, note="a sentence"))
        assert session.draft(item.assignment) is None
        session.save(Act("note", item.assignment, note="pasted \ud800 and \0"))
        assert session.annotation(item.assignment).note == "pasted \ufffd and \ufffd"
        session.set_draft(item.assignment, "more")
        session.set_draft(item.assignment, "")
        assert session.draft(item.assignment) is None


def test_a_writer_thread_and_a_reader_thread_share_a_session(path: Path) -> None:
    with CodingSession.open(path, "A", protocol()) as session:
        items = [session.item(position) for position in range(1, 7)]
        done = threading.Event()
        failures: list[BaseException] = []

        def write() -> None:
            try:
                for item in items:
                    assert item
                    session.save(Act("label", item.assignment, label="WRONG"))
            except BaseException as error:
                failures.append(error)
            done.set()

        thread = threading.Thread(target=write)
        thread.start()
        while not done.is_set():
            session.next()
            assert session.progress.total == 6
        thread.join()
        assert failures == [] and session.progress.done == 6


def test_the_coding_path_imports_neither_sqlite_utils_nor_the_analysis(path: Path) -> None:
    code = f"""
import sys
sys.path[:0] = {[str(p) for p in sys.path if p]!r}
from builder import protocol
from db.coding import CodingSession
from db.records import Act
with CodingSession.open({str(path)!r}, "A", protocol()) as session:
    while (item := session.next()) is not None:
        session.save(Act("label", item.assignment, label="WRONG", note="n"))
    session.undo(), session.redo(), session.progress, session.queue_page()
heavy = {{"sqlite_utils", "numpy", "pandas", "scipy", "sklearn", "textual", "rich", "click"}}
print(sorted(heavy & set(sys.modules)))
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_no_name_and_no_text_is_in_the_log(path: Path) -> None:
    with CodingSession.open(path, "A", protocol()) as session:
        item = session.next()
        assert item
        session.save(Act("label", item.assignment, label="WRONG", note="Zanzibar"))
        session.save(Act("skip", item.assignment, reason="Timbuktu"))
    for row in events(path):
        assert not any(word in json.dumps(row) for word in ("Zanzibar", "Timbuktu", "Question", "Answer", "m1", '"A"'))


def test_a_note_that_cannot_be_kept_is_said_and_a_saved_act_stays_saved(path: Path) -> None:
    with CodingSession.open(path, "A", protocol()) as session:
        item = session.next()
        assert item
        folder = session.study.side / "drafts"
        folder.write_text("a file where the folder should be")
        with pytest.raises(StudyError, match="cannot be"):
            session.set_draft(item.assignment, "words")
        session.save(Act("note", item.assignment, note="words"))
        assert session.annotation(item.assignment).note == "words"


def test_the_count_does_not_wait_for_a_save_that_waits(path: Path) -> None:
    with CodingSession.open(path, "A", protocol()) as session, open_study(path) as other:
        item = session.next()
        assert item and session.progress.left == 6
        with writing(other.connection):
            thread = threading.Thread(target=session.save, args=(Act("label", item.assignment, label="WRONG"),))
            thread.start()
            time.sleep(0.1)
            start = time.monotonic()
            assert session.progress.left == 6 and session.next() == item
            assert time.monotonic() - start < 1
        thread.join()
        assert session.progress.left == 5
