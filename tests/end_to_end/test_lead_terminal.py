"""The lead's screens in a real terminal: two cases decided, one taken back, the dashboard beside it, nothing lost."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from annotate.protocols import load_protocol
from db.labels import label_rows
from db.study import open_study
from tests.end_to_end.test_real_terminal import REPOSITORY, Terminal
from tests.tui.test_adjudication_screen import two_coders

pytestmark = pytest.mark.slow


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    found = Terminal(tmp_path)
    yield found
    found.tmux("kill-server")


def command(*words: str) -> str:
    return f"cd {REPOSITORY} && {sys.executable} -m annotate {' '.join(words)}"


def test_adjudication_in_a_real_terminal(tmp_path: Path, terminal: Terminal) -> None:
    path = two_coders(tmp_path / "study.db", replace(load_protocol("ehq"), impossible=()))
    terminal.start(command("adjudicate", str(path), "--by", "Lea"), tmp_path)
    shown = terminal.until("case 1 of 3")
    assert "coder A" in shown and "coder B" in shown
    terminal.press("h")
    terminal.until("REASON")
    terminal.press("1")
    terminal.until("1 decided")
    terminal.press("w", "4")
    terminal.until("2 decided")
    terminal.press("u")
    terminal.until("Taken back.")
    terminal.press("n")
    terminal.until("NOTE")
    terminal.press("i", "t", "Space", "i", "s", "Enter")
    terminal.press("a")
    terminal.until("REASON")
    terminal.press("2")
    terminal.until("2 decided")
    terminal.press("q")
    terminal.until("Leave?")
    terminal.press("Enter")
    terminal.until("2 decided, 1 left.")
    with open_study(path) as study:
        finals = [(r.label, r.detail["class"], r.note) for r in label_rows(study) if r.role == "adjudicator"]
    assert finals == [("HEDGE", "slip", None), ("ABSTAIN", "codebook", "it is")]


def test_the_dashboard_in_a_real_terminal(tmp_path: Path, terminal: Terminal) -> None:
    path = two_coders(tmp_path / "study.db", replace(load_protocol("ehq"), impossible=()))
    terminal.start(command("dashboard", str(path)), tmp_path)
    shown = terminal.until("disagreements to decide  3")
    assert "ada, main  6 of 6" in shown
    terminal.until("Agreement")
    terminal.press("r")
    terminal.press("q")


def test_a_kill_loses_no_decision(tmp_path: Path, terminal: Terminal) -> None:
    path = two_coders(tmp_path / "study.db", replace(load_protocol("ehq"), impossible=()))
    terminal.start(command("adjudicate", str(path), "--by", "Lea"), tmp_path)
    terminal.until("case 1 of 3")
    terminal.press("h")
    terminal.until("REASON")
    terminal.press("1")
    terminal.until("1 decided")
    terminal.kill_program()
    with open_study(path) as study:
        assert [r.label for r in label_rows(study) if r.role == "adjudicator"] == ["HEDGE"]
