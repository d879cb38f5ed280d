"""NO_COLOR, and terminals of sixteen colours and fewer: every screen keeps to the terminal's own."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from annotate.protocols import load_protocol
from tests.tui.terminal import Terminal
from tests.tui.test_adjudication_screen import two_coders

FEW = [{"NO_COLOR": "1"}, {"TERM": "xterm", "COLORTERM": ""}, {"TERM": "linux", "COLORTERM": ""}]
SCREENS = {
    "code": (("--coder", "ada"), "6 items are done", "\x03\r"),
    "adjudicate": (("--by", "Lea"), "case 1 of 3", "q\r"),
    "dashboard": (("--no-live",), "disagreements to decide", "q"),
}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return two_coders(tmp_path_factory.mktemp("few") / "study.db", replace(load_protocol("ehq"), impossible=()))


@pytest.mark.parametrize("few", FEW, ids=["NO_COLOR", "xterm", "linux"])
@pytest.mark.parametrize("screen", SCREENS)
def test_no_colour_of_a_theme_is_sent(study, screen, few):
    options, shown, leave = SCREENS[screen]
    command = (sys.executable, "-m", "annotate", screen, str(study), *options)
    with Terminal(command=command, **few) as terminal:
        terminal.wait_for(shown)
        terminal.keys(leave)
        assert terminal.end() == 0
    assert b"38;2;" not in terminal.output
    assert b"38;5;" not in terminal.output


@pytest.mark.parametrize("screen", SCREENS)
def test_an_unknown_theme_is_refused_with_the_names_of_those_there_are(screen):
    with Terminal(command=(sys.executable, "-m", "annotate", screen, "x.db", "--theme", "pink")) as terminal:
        assert terminal.end() == 2
    assert b"'pink' is not one of 'dark', 'light', 'high-contrast'" in terminal.output
