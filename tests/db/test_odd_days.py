"""What a file and a machine do to a study: a clock that goes back, a disk that is read-only, two who write one log."""

from __future__ import annotations

import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest
from builder import protocol, small_study

import db.clock
from annotate.__main__ import run
from annotate.protocols import load_protocol
from db.coding import CodingSession
from db.faults import Fenced
from db.history import log_events
from db.merge import merge_copy
from db.records import Act, Protocol
from db.study import open_study
from db.verify import verify


def set_clock(monkeypatch: pytest.MonkeyPatch, year: int) -> None:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime(year, 1, 2, 3, 4, 5, tzinfo=UTC)

    monkeypatch.setattr(db.clock, "datetime", Clock)


def code(path: Path, label: str, number: int = 1, codebook: Protocol | None = None) -> None:
    with CodingSession.open(path, "A", codebook or protocol()) as session:
        for _ in range(number):
            item = session.next()
            assert item
            session.save(Act("label", item.assignment, label=label))


def test_a_clock_that_goes_back_changes_the_times_shown_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = small_study(tmp_path / "s.db", "A", "B")
    set_clock(monkeypatch, 2030)
    code(path, "WRONG", 2)
    other = Path(shutil.copy(path, tmp_path / "copy.db"))
    set_clock(monkeypatch, 1999)
    code(other, "HEDGE")
    with CodingSession.open(other, "A", protocol()) as session:
        undone = session.undo()
        assert undone is not None and undone.annotation is not None and undone.annotation.label is None
        session.save(Act("label", undone.annotation.assignment, label="ABSTAIN"))
    set_clock(monkeypatch, 1970)
    with open_study(path) as study, open_study(other) as copy:
        assert merge_copy(study, copy).added == 3
        events = list(log_events(study, coder="A"))
        assert [event.kind for event in events] == ["label", "label", "label", "undo", "label"]
        assert [str(event.utc)[:4] for event in events] == ["2030", "2030", "1999", "1999", "1999"]
        labels = study.connection.execute("SELECT label FROM annotations ORDER BY assignment_id").fetchall()
        assert sorted(labels) == [("ABSTAIN",), ("WRONG",), ("WRONG",)]
        assert verify(study).holds


def test_two_writers_of_one_log_never_both_write_a_row(tmp_path: Path) -> None:
    """One session takes over from another; then two raw connections try the same number, past all our locks."""
    path = small_study(tmp_path / "s.db", "A")
    with CodingSession.open(path, "A", protocol()) as first:
        item = first.next()
        assert item
        with CodingSession.open(path, "A", protocol(), take_over=True) as second:
            second.save(Act("label", item.assignment, label="WRONG"))
            for attempt in (lambda: first.save(Act("label", item.assignment, label="HEDGE")), first.undo):
                with pytest.raises(Fenced, match="not saved") as caught:
                    attempt()
                assert caught.value.hint
    with open_study(path) as one, open_study(path) as other:
        same = (
            "INSERT INTO events SELECT log_id, seq + 1, kind, assignment_id, unit, body, protocol_version,"
            " tool_version, utc, active_ms, fence, origin, blindness, hash FROM events"
            " WHERE kind = 'label' ORDER BY seq DESC LIMIT 1"
        )
        one.connection.execute(same)
        again = same.replace("seq + 1", "seq").replace("INSERT INTO", "INSERT OR REPLACE INTO")
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            other.connection.execute(again)
        assert not verify(other).holds  # a row past the program has no right hash, and is found


COMMANDS = (
    ["status", "S"],
    ["verify", "S"],
    ["coverage", "S"],
    ["log", "S", "q1"],
    ["backup", "S"],
    ["code", "S", "--coder", "A", "--plain"],
    ["recall", "S", "--coder", "A"],
    ["merge", "S", "S"],
    ["repair", "S", "--to", "NEW"],
)


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
@pytest.mark.parametrize("damage", ["cut", "scribbled", "schema", "table"])
def test_every_command_says_in_a_line_what_is_wrong_with_a_damaged_file(
    arguments: list[str], damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    codebook = load_protocol("correctness")
    path = small_study(tmp_path / "s.db", "A", items=20, codebook=codebook)
    code(path, "WRONG", 30, codebook)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        del content[len(content) // 3 :]
    elif damage == "scribbled":
        content[4096:] = b"\xa5" * (len(content) - 4096)
    elif damage == "schema":
        content[100:4000] = b"\xf5" * 3900
    else:
        at = content.index(b"Answer 7 of")
        content[at - at % 4096 : at - at % 4096 + 4096] = b"\x0a" * 4096
    path.write_bytes(content)
    ended = run([{"S": str(path), "NEW": str(tmp_path / "new.db")}.get(each, each) for each in arguments])
    printed = capsys.readouterr()
    assert ended in (0, 1, 2), printed.err
    assert "Traceback" not in printed.err and "fault in annotate" not in printed.err
    if ended == 2:
        *notices, line = printed.err.splitlines()
        assert "annotate repair" in line or "annotate backup" in line
        assert all(notice.endswith("…") for notice in notices)
