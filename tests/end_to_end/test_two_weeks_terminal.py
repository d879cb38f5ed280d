"""A whole study driven through the screens of real terminals (tmux), in one run."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Cli
from tests.end_to_end.test_real_terminal import PATIENCE, REPOSITORY, Terminal
from tests.end_to_end.two_weeks import DONE_LEFT, KEYS, LEFT, PLACE, right_label, same_summary, two_weeks

pytestmark = pytest.mark.slow
MODE = re.compile(r"^ {1,3}(LABEL|DONE) ", re.MULTILINE)
CODED = re.compile(r"Items coded: (\d+)")
CASE_DONE = "Nothing is left to decide"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("needs tmux")
        pytest.skip("needs tmux")
    found = Terminal(tmp_path)
    yield found
    found.close()


class Tmux:
    """The screens in a terminal of 120 x 40; every program is left by its own keys."""

    def __init__(self, path: Path, terminal: Terminal) -> None:
        self._path, self._terminal = path, terminal

    async def code(self, coder: str, most: int | None) -> list[str]:
        self._open("code", "--coder", coder)
        shown = self._seen("done ·")
        if "CHANGED" in shown:
            assert "HEDGE" in shown
            time.sleep(0.5)
            self._terminal.press("Enter")
            shown = self._seen("LABEL")
        told: list[str] = []
        while _item_waits(shown) and (most is None or len(told) < most):
            shown = self._label(coder, shown)
            told.append(shown)
        summary = self._leave()
        coded = int(CODED.search(summary).group(1))  # type: ignore[union-attr]
        same_summary(coded, len(told), int(LEFT.search(summary).group(1)), shown)  # type: ignore[union-attr]
        return told

    def _label(self, coder: str, shown: str) -> str:
        """The key of what is to be said, again where it came too early; the screen once it is saved."""
        before = _counted(shown)
        key = KEYS[right_label(self._path, coder, int(PLACE.search(shown).group(1)))]  # type: ignore[union-attr]
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            time.sleep(0.4)  # a key within 300 ms of the paint is refused
            self._terminal.press(key)
            again = time.monotonic() + 5
            while time.monotonic() < again:
                shown = self._terminal.screen()
                counted = DONE_LEFT.search(shown) and _counted(shown) != before
                if counted and "✓ saved" in shown and MODE.search(shown):
                    return shown
                if "only just appeared" in shown:
                    break
                time.sleep(0.05)
        pytest.fail(f"{key} was not saved; the screen is\n{shown}")

    async def ask(self, coder: str, words: str) -> None:
        self._open("code", "--coder", coder)
        self._seen("LABEL")
        time.sleep(0.5)
        self._terminal.press("n")
        self._seen("NOTE")
        self._terminal.press("-l", words)
        self._terminal.press("Enter")
        self._seen("LABEL")
        self._seen("✓ saved")
        time.sleep(0.3)
        self._terminal.press("f")
        self._seen("FLAG")
        self._terminal.press("d")
        self._seen("1 flagged")
        self._leave()

    async def header(self, coder: str) -> str:
        self._open("code", "--coder", coder)
        shown = self._seen("done ·")
        self._leave()
        return shown

    async def decide(self, *options: str, keys: tuple[str, str], undo: bool = False) -> list[str]:
        self._open("adjudicate", "--by", "Lea", *options)
        shown = self._seen("DECIDE")
        screens = [shown]
        while CASE_DONE not in shown:
            for _ in range(2 if undo else 1):
                shown = self._decide(screens[-1], keys)
                if undo:
                    self._terminal.press("u")
                    self._seen("Taken back.")
                    undo = False
            screens.append(shown)
        self._terminal.press("q")
        self._seen("Leave?")
        self._terminal.press("Enter")
        self._seen(" decided, 0 left.")
        self._terminal.close()
        return screens

    def _decide(self, before: str, keys: tuple[str, str]) -> str:
        label, reason = keys
        self._terminal.press(label)
        self._seen("REASON")
        self._terminal.press(reason)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            shown = self._terminal.screen()
            if CASE_DONE in shown or ("DECIDE" in shown and _decided(shown) != _decided(before)):
                return shown
            time.sleep(0.05)
        pytest.fail(f"{label}, {reason} was not saved; the screen is\n{self._terminal.screen()}")

    async def board(self, text: str) -> str:
        self._open("dashboard", "--no-live")
        shown = self._seen(text)
        self._terminal.press("q")
        time.sleep(0.3)
        self._terminal.close()
        return shown

    def _open(self, command: str, *options: str) -> None:
        environment = f"env -u COLUMNS -u LINES PYTHONPATH={REPOSITORY} TEXTUAL_ANIMATIONS=none"
        program = f"{sys.executable} -m annotate {command} {self._path} {' '.join(options)}"
        self._terminal.start(f"{environment} {program}", REPOSITORY)

    def _seen(self, text: str) -> str:
        return self._terminal.until(text)

    def _leave(self) -> str:
        """The summary."""
        time.sleep(0.3)
        self._terminal.press("C-c")
        self._seen("LEAVE?")
        self._terminal.press("y")
        summary = self._seen("Left:")
        self._terminal.close()
        return summary


def _item_waits(shown: str) -> bool:
    mode = MODE.search(shown)
    return mode is not None and mode.group(1) == "LABEL"


def _counted(shown: str) -> tuple[str, ...]:
    found = DONE_LEFT.search(shown)
    return () if found is None else found.groups()


def _decided(shown: str) -> str:
    return shown.split(" decided")[0].rsplit(" ", 1)[-1]


async def test_a_whole_study_in_real_terminals(ehq_study: Path, cli: Cli, terminal: Terminal, tmp_path: Path) -> None:
    await two_weeks(ehq_study, cli, Tmux(ehq_study, terminal), tmp_path)
