"""The real program in a real terminal: label ten, undo two, add a note, kill -9, start again, finish, report.

Nothing is lost, nothing doubled; and strace sees a synchronous write for every label, which kill -9 alone cannot show.
"""

from __future__ import annotations

import os
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
from tests.end_to_end.conftest import Cli

pytestmark = pytest.mark.slow
REPOSITORY = Path(__file__).resolve().parents[2]
UNITS = 14
PATIENCE = 60.0


class Terminal:
    """A tmux server of its own with one window of 120 x 40 cells."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._starts = 0

    @property
    def _socket(self) -> Path:
        return self._folder / f"tmux{self._starts}"

    def tmux(self, *arguments: str) -> str:
        command = ["tmux", "-S", str(self._socket), "-f", os.devnull, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def start(self, command: str, cwd: Path) -> None:
        self._starts += 1  # a socket of its own: a server that is just ending would take the new session with it
        self.tmux("new-session", "-d", "-x", "120", "-y", "40", "-c", str(cwd), f"{command}; sleep 600")

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def until(self, text: str) -> str:
        """Wait until the screen shows ``text``."""
        end = time.monotonic() + PATIENCE
        while text not in (shown := self.screen()):
            if time.monotonic() > end:
                pytest.fail(f"never saw {text!r}; the screen is\n{shown}")
            time.sleep(0.05)
        return shown

    def kill_program(self) -> None:
        """kill -9 of the Python process in the window, found among the children of the window's own shell."""
        shell = int(self.tmux("display-message", "-p", "#{pane_pid}"))
        for pid in _descendants(shell):
            if b"annotate" in Path(f"/proc/{pid}/cmdline").read_bytes() and _is_python(pid):
                os.kill(pid, signal.SIGKILL)
                return
        pytest.fail("the program is not running")

    def close(self) -> None:
        subprocess.run(["tmux", "-S", str(self._socket), "kill-server"], capture_output=True, check=False)


def _descendants(pid: int) -> Iterator[int]:
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split():
        yield int(child)
        yield from _descendants(int(child))


def _is_python(pid: int) -> bool:
    return Path(f"/proc/{pid}/exe").resolve() == Path(sys.executable).resolve()


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    for tool in ("tmux", "strace"):
        if shutil.which(tool) is None:
            if os.environ.get("CI") == "true":
                pytest.fail(f"needs {tool}")
            pytest.skip(f"needs {tool}")
    found = Terminal(tmp_path)
    yield found
    found.close()


@pytest.fixture
def study(cli: Cli, ehq_study: Path) -> Path:
    cli("sample", ehq_study, "--n", UNITS, "--by", "", "--seed", 3, "--anyway")
    cli("assign", ehq_study, "--coders", "Ada", "--seed", 3)
    return ehq_study


def command(study: Path, trace: Path | None = None) -> str:
    code = f"{sys.executable} -m annotate code {study} --coder Ada"
    return code if trace is None else f"strace -f -e trace=fdatasync,fsync -o {trace} {code}"


def label(terminal: Terminal, key: str, done: int) -> None:
    """Press a label key and wait until it is saved. A press that comes too early is refused: press again."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        time.sleep(0.5)
        terminal.press(key)
        wait = time.monotonic() + 10
        while time.monotonic() < wait:
            shown = terminal.screen()
            if f"{done} done" in shown:
                return
            if "only just appeared" in shown:
                break
            time.sleep(0.05)
    pytest.fail(f"{key} was not saved as number {done}; the screen is\n{terminal.screen()}")


def test_label_undo_note_kill_and_finish(terminal: Terminal, study: Path, cli: Cli, tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    environment = f"-u COLUMNS -u LINES PYTHONPATH={REPOSITORY} TEXTUAL_ANIMATIONS=none"
    terminal.start(f"env {environment} {command(study, trace)}", tmp_path)
    terminal.until("0 done")
    for done in range(1, 11):
        label(terminal, "wa"[done % 2], done)
    for done in (9, 8):
        terminal.press("u")
        terminal.until(f"{done} done")
    terminal.press("n")
    time.sleep(0.3)
    terminal.press("-l", "seen twice")
    terminal.press("Enter")
    terminal.until("saved")
    time.sleep(0.5)
    terminal.kill_program()
    assert sum("fdatasync(" in line or "fsync(" in line for line in trace.read_text().splitlines()) >= 13
    check_after_kill(study)

    terminal.close()
    terminal.start(f"env {environment} {command(study)}", tmp_path)
    terminal.until("8 done")
    for done in range(9, UNITS + 1):
        label(terminal, "w", done)
    terminal.until("0 left")
    terminal.press("C-c")
    time.sleep(0.5)
    terminal.press("y")
    terminal.until("Items coded: 6")
    check_finished(study)
    cli("report", study, "--out", tmp_path / "report", "--draws", 1000)
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert f"{UNITS} of 480 responses were drawn" in text
    assert "Everything holds" in cli("verify", study).out


def check_after_kill(study: Path) -> None:
    """Ten labels, two undos and a note are in the log; eight labels stand."""
    with open_study(study) as opened:
        kinds = [event.kind for event in log_events(opened, coder="Ada")]
        rows = list(label_rows(opened))
    assert [kinds.count(kind) for kind in ("label", "undo", "note")] == [10, 2, 1]
    assert sum(row.label is not None for row in rows) == 8
    assert [row.note for row in rows if row.note] == ["seen twice"]


def check_finished(study: Path) -> None:
    """Every unit has one label; nothing was lost and nothing doubled."""
    with open_study(study) as opened:
        rows = list(label_rows(opened))
        kinds = [event.kind for event in log_events(opened, coder="Ada")]
    assert len(rows) == len({row.unit for row in rows}) == UNITS
    assert all(row.label is not None for row in rows)
    assert kinds.count("label") == 10 + UNITS - 8
    assert [row.note for row in rows if row.note] == ["seen twice"]
