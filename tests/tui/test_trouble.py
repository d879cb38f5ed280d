"""What goes wrong at a desk: saves that fail, a codebook that changes, an error in the program, a killed session."""

from __future__ import annotations

import sqlite3
import stat

import pytest

from annotate.protocols import parse_protocol
from db.coding import CodingSession
from db.faults import SessionTaken
from db.study import open_study
from tests.tui.conftest import acts, events, several, write_study
from tests.tui.seat import seated
from tests.tui.terminal import Terminal
from tui.modes import Mode

FAIL = "CREATE TRIGGER fail BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'the disk is on fire'); END"


def sql(path, statement):
    with sqlite3.connect(path, timeout=30) as connection:
        connection.execute(statement)
    connection.close()


async def test_a_failed_save_is_shown_and_nothing_is_skipped(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        sql(study[0], FAIL)
        await seat.press("a")
        assert (seat.mode, seat.position) == (Mode.FAILED, 1)
        assert "✗ not saved" in seat.text()
        assert "on fire" in seat.text()
        await seat.press("h")
        assert seat.mode is Mode.FAILED
        await seat.press("enter")
        assert seat.mode is Mode.FAILED
        sql(study[0], "DROP TRIGGER fail")
        await seat.press("enter")
        assert (seat.mode, seat.position) == (Mode.LABEL, 2)
        assert "✓ saved" in seat.text()
    assert acts(study[0]) == [("label", 1, "ABSTAIN", None)]


async def test_a_failed_save_can_be_dropped(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        sql(study[0], FAIL)
        await seat.press("a")
        await seat.press("escape")
        assert (seat.mode, seat.position) == (Mode.LABEL, 1)
        sql(study[0], "DROP TRIGGER fail")
        await seat.press("h")
    assert acts(study[0]) == [("label", 1, "HEDGE", None)]


async def test_a_failed_note_is_kept_as_a_draft(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        sql(study[0], FAIL)
        await seat.press("n", *"ab", "enter")
        assert seat.mode is Mode.FAILED
        await seat.press("escape", "n")
        assert seat.controller.state.line.text == "ab"


async def test_what_the_record_refuses_is_said_and_the_item_stays(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        sql(study[0], "UPDATE rounds SET state = 'closed'")
        await seat.press("a")
        assert (seat.mode, seat.position) == (Mode.LABEL, 1)
        assert "round is closed" in seat.text()


async def test_a_codebook_that_changes_meanwhile_is_confirmed_before_the_next_label(make_study):
    study = make_study(3)
    path, old = study
    toml = old.toml.replace("declines to offer an answer", "DECLINES EVERYTHING")
    new = parse_protocol("min_dwell_ms = 0\n" + toml, "ehq")
    async with seated(study, read_protocol=parse_protocol) as seat:
        await seat.press("h")
        _adopt(path, new)
        await seat.press("h")
        assert seat.mode is Mode.PROTOCOL
        assert "DECLINES EVERYTHING" in seat.text()
        await seat.press("a")
        assert seat.mode is Mode.PROTOCOL
        await seat.press("enter")
        assert (seat.mode, seat.position) == (Mode.LABEL, 2)
        assert "DECLINES EVERYTHING" in seat.text(), "the codebook beside the item is the new one"
        await seat.press("w")
    assert [(event["kind"], event["position"]) for event in events(path)[1:]] == [
        ("label", 1),
        ("confirm", None),
        ("label", 2),
    ]


def _adopt(path, protocol):
    with open_study(path) as study:
        from db.clock import utc_now
        from db.connection import writing

        with writing(study.connection) as connection:
            connection.execute(
                "INSERT INTO protocols (version, name, digest, toml, change, created_utc)"
                " VALUES (2, ?, ?, ?, 'editorial', ?)",
                (protocol.name, protocol.digest, protocol.toml, utc_now()),
            )


async def test_an_error_of_the_program_ends_the_screen_and_is_not_printed(make_study, monkeypatch, capsys):
    from tui.crash import report_crash

    study = make_study([{"text": "SECRET-TEXT"}])
    with pytest.raises(ZeroDivisionError):
        async with seated(study) as seat:
            secret = seat.controller.item.text
            monkeypatch.setattr(seat.app.screen, "hush", lambda: secret and 1 // 0)
            await seat.pilot.press("a")
            await seat.pilot.pause()
    assert seat.app.failure is not None
    out = capsys.readouterr()
    assert "SECRET-TEXT" not in out.out + out.err
    with open_study(study[0]) as opened:
        error = report_crash(seat.app.failure, opened.side)
    log = next(opened.side.glob("crash-*.log"))
    assert str(log) in str(error)
    assert "ZeroDivisionError" in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_crash_leaves_a_clean_terminal_and_a_log(tmp_path):
    path = write_study(tmp_path / "study.db", _ehq(), [{"text": "SECRET-TEXT"}])
    with Terminal(path, "ada", "--crash") as terminal:
        terminal.wait_for("SECRET-TEXT")
        terminal.keys("h")
        assert terminal.end() == 1
    after = terminal.output.partition(b"\x1b[?1049l")[2]
    assert b"Traceback" not in terminal.output
    assert b"SECRET-TEXT" not in after
    assert b"because of an error in the program (KeyError)" in after
    log = next((tmp_path / "study.d").glob("crash-*.log"))
    assert str(log) in " ".join(after.decode().split())
    assert "KeyError: 'SECRET-TEXT'" in log.read_text()


def test_a_killed_session_loses_no_label_and_no_word_of_a_note(tmp_path):
    path = write_study(tmp_path / "study.db", _ehq(), several(3))
    with Terminal(path, "ada") as terminal:
        terminal.wait_for("Nine Arch")
        terminal.keys("h")
        terminal.wait_for("1 done")
        terminal.keys("nhalf a thought")
        terminal.wait_for("thought")
        terminal.read(0.3)
        terminal.kill()
    assert acts(path) == [("label", 1, "HEDGE", None)]
    with Terminal(path, "ada") as terminal:
        terminal.wait_for("unsent note")
        terminal.keys("n\r")
        terminal.wait_for("✎ note")
        terminal.keys("\x03\r")
        assert terminal.end() == 0
    assert events(path)[-1]["note"] == "half a thought"


def test_a_second_session_of_the_same_coder_is_refused(tmp_path):
    protocol = _ehq()
    path = write_study(tmp_path / "study.db", protocol, several(3))
    with Terminal(path, "ada") as terminal:
        terminal.wait_for("Nine Arch")
        with pytest.raises(SessionTaken):
            CodingSession.open(path, "ada", protocol)
        with Terminal(path, "ada") as second:
            assert second.end() == 1
        assert b"Traceback" not in second.output


@pytest.mark.parametrize(
    ("environment", "told"),
    [({"TERM": "dumb"}, "--plain")],
)
def test_a_terminal_that_cannot_show_the_screen_is_refused(tmp_path, environment, told):
    path = write_study(tmp_path / "study.db", _ehq(), several(1))
    with Terminal(path, "ada", **environment) as terminal:
        assert terminal.end() == 2
    assert told in terminal.output.decode()
    assert b"\x1b" not in terminal.output


def _ehq():
    from annotate.protocols import load_protocol

    return load_protocol("ehq")
