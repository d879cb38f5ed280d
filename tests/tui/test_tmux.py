"""Whole sessions in a real terminal emulator (tmux): the screen, and the plain mode."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import time

import pytest

from annotate.protocols import load_protocol
from tests.tui.conftest import acts, events, several, write_study
from tests.tui.terminal import LAUNCH

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux"),
]


class Tmux:
    """One pane of a server of its own."""

    def __init__(self, folder, *arguments, size=(80, 24), term="xterm-256color"):
        self.socket = str(folder / "tmux")
        command = shlex.join(
            [
                "env",
                "-u",
                "COLUMNS",
                "-u",
                "LINES",
                f"XDG_CONFIG_HOME={folder}",
                sys.executable,
                str(LAUNCH),
                *map(str, arguments),
            ]
        )
        self.run(
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            str(size[0]),
            "-y",
            str(size[1]),
            f"{command}; echo ended $?; sleep 60",
        )

    def run(self, *arguments):
        done = subprocess.run(
            ["tmux", "-S", self.socket, *arguments], capture_output=True, text=True, timeout=30, check=False
        )
        return done.stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.run("kill-server")

    def text(self):
        return self.run("capture-pane", "-p")

    def width(self, line):
        """The cells that tmux counts for ``line``."""
        self.run("set-option", "-g", "@line", line)
        return int(self.run("display-message", "-p", "#{w:@line}"))

    def wait_for(self, words, seconds=30):
        until = time.monotonic() + seconds
        while words not in (text := self.text()):
            if time.monotonic() > until:
                raise AssertionError(f"{words!r} never came:\n{text}")
            time.sleep(0.05)
        return text

    def keys(self, *names):
        self.run("send-keys", *names)

    def type(self, text):
        self.run("send-keys", "-l", text)


def test_a_whole_session_on_the_screen(tmp_path):
    path = write_study(tmp_path / "study.db", load_protocol("ehq"), several(6))
    with Tmux(tmp_path, path, "ada") as tmux:
        tmux.wait_for("item 1 of 6")
        tmux.keys("h")
        tmux.wait_for("item 2 of 6")
        tmux.keys("c")
        tmux.wait_for("should not occur here")
        tmux.type("it does exist")
        tmux.keys("Enter")
        tmux.wait_for("item 3 of 6")
        tmux.keys("s")
        tmux.wait_for("needs expertise that I lack")
        tmux.keys("2")
        tmux.wait_for("item 4 of 6")
        tmux.keys("f", "d")
        tmux.wait_for("⚑ to discuss")
        tmux.keys("?")
        tmux.wait_for("EHQ: what did the response do")
        tmux.keys("Escape")
        tmux.wait_for("item 4 of 6")
        tmux.run("resize-window", "-x", "120", "-y", "40")
        tmux.wait_for("declines to offer an answer")
        tmux.run("resize-window", "-x", "80", "-y", "24")
        time.sleep(0.5)
        tmux.keys("a")
        tmux.wait_for("item 5 of 6")
        tmux.keys("u")
        tmux.wait_for("Undone: label")
        tmux.keys("w")
        tmux.wait_for("item 5 of 6")
        tmux.keys("w")
        tmux.wait_for("item 6 of 6")
        tmux.keys("h")
        tmux.wait_for("item 3 of 6")
        tmux.keys("a")
        tmux.wait_for("All 6 items are done")
        tmux.keys("C-c")
        tmux.wait_for("Leave the desk?")
        tmux.keys("Enter")
        assert "ended 0" in tmux.wait_for("ended")
    labels = [act for act in acts(path) if act[0] == "label"]
    assert labels == [
        ("label", 1, "HEDGE", None),
        ("label", 2, "CORRECT", None),
        ("label", 4, "ABSTAIN", None),
        ("label", 4, "WRONG", None),
        ("label", 5, "WRONG", None),
        ("label", 6, "HEDGE", None),
        ("label", 3, "ABSTAIN", None),
    ]
    assert [event["kind"] for event in events(path) if event["kind"] == "undo"] == ["undo"]


def test_a_held_key_in_a_real_terminal(tmp_path):
    path = write_study(tmp_path / "study.db", load_protocol("ehq"), several(6))
    with Tmux(tmp_path, path, "ada", "--dwell", "300") as tmux:
        tmux.wait_for("item 1 of 6")
        time.sleep(0.5)
        for _ in range(30):
            tmux.keys("h")
        tmux.wait_for("Not taken")
        time.sleep(0.5)
        tmux.keys("C-c", "Enter")
        tmux.wait_for("ended")
    assert acts(path) == [("label", 1, "HEDGE", None)]


def test_a_whole_session_in_plain_mode(tmp_path):
    path = write_study(tmp_path / "study.db", load_protocol("alignment"), [{"reason": "since"}] * 3)
    with Tmux(tmp_path, path, "ada", "--plain") as tmux:
        tmux.wait_for("item: 1 of 3")
        tmux.type("c")
        tmux.keys("Enter")
        tmux.wait_for("0 to 100")
        tmux.type("70")
        tmux.keys("Enter")
        tmux.wait_for("saved: item 1, CORRECT, rating 70")
        tmux.keys("C-c")
        tmux.wait_for("leave? y or n:")
        tmux.type("n")
        tmux.keys("Enter")
        tmux.type("h")
        tmux.keys("Enter")
        tmux.wait_for("saved: item 2, HEDGE")
        tmux.type("q")
        tmux.keys("Enter")
        tmux.type("y")
        tmux.keys("Enter")
        assert "ended 0" in tmux.wait_for("ended")
    assert acts(path) == [("label", 1, "CORRECT", 70), ("label", 2, "HEDGE", None)]


WIDE = {
    "cjk": "日本語のテキストです。" * 12,
    "emoji": "🙂 👍🏽 👨‍👩‍👧 ⚠️ 1️⃣ 🇩🇪 " * 12,
    "combining": "e\u0301a\u0308o\u0302 " * 40,
    "hebrew": "שלום עולם " * 30,
    "arabic": "مرحبا بالعالم " * 30,
    "devanagari": "नमस्ते दुनिया " * 20,
    "thai": "สวัสดีชาวโลก " * 20,
    "hangul": "안녕하세요 세계 " * 20,
}


@pytest.mark.parametrize("script", WIDE)
def test_columns_do_not_drift(tmp_path, script):
    """By tmux's own count every line is as wide as the window, whatever script stands before its last column."""
    path = write_study(tmp_path / "study.db", load_protocol("ehq"), [{"text": WIDE[script], "gold": ["g"]}])
    with Tmux(tmp_path, path, "ada", size=(120, 24)) as tmux:
        tmux.wait_for("declines to offer")
        time.sleep(0.3)
        lines = [line for line in tmux.text().splitlines() if "┃ " in line[:16]]
        widths = [tmux.width(line) for line in lines]
    assert len(lines) >= 2
    assert all(line[-1] in "┃│" for line in lines)
    assert widths == [120] * len(lines)
