"""The real program in a real terminal that is killed, hung up, stopped or taken over, and a file that goes away.

What the screen said was saved is there afterwards, nothing is there twice, and the message says what to do.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from db.history import log_events
from db.labels import label_rows
from db.study import open_study
from db.verify import verify
from tests.end_to_end.conftest import Cli

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")]

REPOSITORY = Path(__file__).resolve().parents[2]
UNITS, KILLS, PATIENCE = 120, 25, 60.0
PROTOCOL = """
title = "Right or wrong"
version = 1
min_dwell_ms = 0
instructions = "Read, then label."
skip_reasons = ["unclear"]
[[label]]
name = "RIGHT"
key = "r"
definition = "It is right."
[[label]]
name = "WRONG"
key = "w"
definition = "It is wrong."
"""


class Window:
    """A tmux server of its own with one window that runs ``annotate code`` on the study."""

    def __init__(self, folder: Path, study: Path, *options: str, name: str = "tmux") -> None:
        self._socket = folder / name
        command = [sys.executable, "-m", "annotate", "code", str(study), "--coder", "Ada", *options]
        environment = f"env -u COLUMNS -u LINES -u NO_COLOR PYTHONPATH={REPOSITORY} TEXTUAL_ANIMATIONS=none"
        line = f"{environment} {' '.join(command)}; echo ended $?; exec sleep 600"
        self.tmux(
            "-f", os.devnull, "new-session", "-d", "-x", "100", "-y", "30", "-c", str(folder), f"bash -c '{line}'"
        )
        self.shell = int(self.tmux("display-message", "-p", "#{pane_pid}"))

    def tmux(self, *arguments: str) -> str:
        command = ["tmux", "-S", str(self._socket), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30).stdout

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def until(self, *texts: str) -> str:
        """Wait until the screen shows one of the texts."""
        end = time.monotonic() + PATIENCE
        while not any(text in (shown := self.screen()) for text in texts):
            if time.monotonic() > end:
                pytest.fail(f"never saw {texts}; the screen is\n{self.screen()}")
            time.sleep(0.05)
        return shown

    def program(self) -> int:
        """The process of the program: the descendant of the window's shell that is Python."""
        for pid in _descendants(self.shell):
            if Path(f"/proc/{pid}/exe").resolve() == Path(sys.executable).resolve():
                return pid
        pytest.fail(f"the program is not running:\n{self.screen()}")

    def signal(self, number: signal.Signals) -> int:
        pid = self.program()
        os.kill(pid, number)
        return pid

    def close(self) -> None:
        self.tmux("kill-server")


def _descendants(pid: int) -> Iterator[int]:
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split():
        yield int(child)
        yield from _descendants(int(child))


def gone(pid: int) -> bool:
    """Whether the process has ended with all of its threads, within a little while."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if len(list(Path(f"/proc/{pid}/task").iterdir())) == 1 and state_of(pid) == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]


@pytest.fixture
def study(cli: Cli, tmp_path: Path) -> Path:
    path, protocol, table = tmp_path / "study.db", tmp_path / "p.toml", tmp_path / "run.csv"
    protocol.write_text(PROTOCOL, encoding="utf-8")
    rows = "\n".join(f"q{n},Question {n}?,42,m,Answer {n}" for n in range(UNITS))
    table.write_text(f"item,question,gold,model,response\n{rows}\n", encoding="utf-8")
    columns = "item=item,question=question,gold=gold,model=model,response=response"
    cli("init", path, "--protocol", protocol)
    cli("import", path, table, "--map", columns)
    cli("sample", path, "--n", UNITS, "--by", "", "--anyway")
    cli("assign", path, "--coders", "Ada")
    return path


def done_on(screen: str) -> int:
    """How many labels the screen says are saved."""
    found = re.search(r"(\d+) done", screen)
    return int(found[1]) if found else 0


def standing(study: Path) -> int:
    """How many labels stand; the record holds and no unit is there twice."""
    with open_study(study) as opened:
        proved = verify(opened)
        assert proved.holds, [check for check in proved.checks if check.broken]
        rows = list(label_rows(opened))
        assert len({row.unit for row in rows}) == len(rows) == UNITS
        return sum(row.label is not None for row in rows)


def open_window(folder: Path, study: Path, *options: str, name: str = "tmux") -> Window:
    window = Window(folder, study, *options, name=name)
    window.until(" done", "ended")
    return window


def test_twenty_five_kills_lose_nothing_that_the_screen_called_saved(study: Path, tmp_path: Path) -> None:
    chance = random.Random(25)
    saved = 0
    for number in range(KILLS):
        window = open_window(tmp_path, study, name=f"tmux{number}")
        assert done_on(window.screen()) == saved, window.screen()
        window.press(*(chance.choice("rw") for _ in range(chance.randint(1, 6))))
        if chance.random() < 0.3:
            window.press("u")
        time.sleep(chance.random() * 0.3)
        seen = window.screen()
        pid = window.signal(signal.SIGKILL)
        window.close()
        assert gone(pid)
        left = standing(study)
        with open_study(study) as opened:
            undone = sum(event.kind == "undo" for event in log_events(opened, coder="Ada"))
        assert left >= done_on(seen) - 1, seen  # an undo may have been saved after the screen was read
        assert left >= done_on(seen) or undone
        saved = left
    assert saved > KILLS


def test_a_terminal_that_vanishes_ends_the_session_and_the_next_goes_on(study: Path, tmp_path: Path) -> None:
    """The window is closed: its processes get SIGHUP and lose their terminal. An unsent note is kept too."""
    window = open_window(tmp_path, study, name="one")
    window.press("r")
    window.until("1 done")
    window.press("n")
    time.sleep(0.5)
    window.press("-l", "half a thought")
    window.until("half a thought")
    time.sleep(1.0)
    pid = window.program()
    window.close()
    assert gone(pid)
    assert standing(study) == 1
    again = open_window(tmp_path, study, name="two")
    assert done_on(again.screen()) == 1 and "another session" not in again.screen()
    again.press("n")
    again.until("half a thought")
    again.close()


def test_hangup_alone_ends_the_program(study: Path, tmp_path: Path) -> None:
    window = open_window(tmp_path, study)
    window.press("r", "w")
    window.until("2 done")
    assert gone(window.signal(signal.SIGHUP))
    assert standing(study) == 2
    window.close()


def test_stopped_and_continued_it_goes_on_where_it_was(study: Path, tmp_path: Path) -> None:
    """SIGTSTP and SIGCONT, as Ctrl+Z and fg send them from outside: the session keeps its lock and its place."""
    window = open_window(tmp_path, study)
    window.press("r")
    window.until("1 done")
    pid = window.signal(signal.SIGTSTP)
    end = time.monotonic() + PATIENCE
    while state_of(pid) != "T":
        assert time.monotonic() < end, "it never stopped"
        time.sleep(0.05)
    other = open_window(tmp_path, study, name="other")
    assert "already coding this study in another session" in other.screen()
    assert "--take-over" in other.screen()
    other.close()
    os.kill(pid, signal.SIGCONT)
    time.sleep(1.0)
    window.press("w")
    window.until("2 done")
    assert standing(study) == 2
    window.close()


def test_a_session_that_was_taken_over_saves_nothing_more_and_says_so(study: Path, tmp_path: Path) -> None:
    window = open_window(tmp_path, study, name="first")
    window.press("r")
    window.until("1 done")
    second = open_window(tmp_path, study, "--take-over", name="second")
    second.press("w")
    second.until("2 done")
    window.press("w")
    shown = window.until("took over", "not saved")
    assert "1 done" in shown or "took over" in shown
    assert standing(study) == 2
    with open_study(study) as opened:
        kinds = [event.kind for event in log_events(opened, coder="Ada")]
    assert kinds == ["label", "takeover", "label"]
    window.close()
    second.close()


def test_a_file_that_is_removed_while_it_is_open_is_told_at_once(study: Path, tmp_path: Path) -> None:
    window = open_window(tmp_path, study)
    window.press("r")
    window.until("1 done")
    away = study.rename(tmp_path / "away.db")
    window.press("w")
    shown = window.until("no such file", "not saved", "NOT SAVED")
    assert "2 done" not in shown
    away.rename(study)
    window.close()
    assert standing(study) == 1
