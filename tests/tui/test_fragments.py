"""Escape sequences that Textual does not know mean nothing on any screen: no label, no decision, no leaving."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from annotate.protocols import load_protocol
from db.labels import label_rows
from db.study import open_study
from tests.tui.conftest import acts, several, write_study
from tests.tui.terminal import Terminal
from tests.tui.test_adjudication_screen import two_coders

SEQUENCES = [
    "\x1b[99;1h",
    "\x1b[?62;22c",
    "\x1b[27;9;97~",
    "\x1b[a",
    "\x1bOa",
    "\x1ba",
    "\x1bOq",
    "\x1b[8;40;120t",
    "\x1b[97;5x",
    "\x1b[5;2q",
]


def send(terminal):
    for sequence in SEQUENCES:
        terminal.keys(sequence)
        terminal.read(0.2)


@pytest.fixture
def adjudicated(tmp_path):
    return two_coders(tmp_path / "study.db", replace(load_protocol("ehq"), impossible=()))


def annotate(*words):
    return (sys.executable, "-m", "annotate", *map(str, words))


def test_coding(tmp_path):
    study = write_study(tmp_path / "study.db", load_protocol("ehq"), several(12))
    with Terminal(study, "ada") as terminal:
        terminal.wait_for("Nine Arch")
        send(terminal)
        terminal.keys("w")
        terminal.wait_for("1 done")
        terminal.keys("\x03\r")
        assert terminal.end() == 0
    assert acts(study) == [("label", 1, "WRONG", None)]


def test_adjudication(adjudicated):
    with Terminal(command=annotate("adjudicate", adjudicated, "--by", "Lea")) as terminal:
        terminal.wait_for("case 1 of 3")
        send(terminal)
        terminal.keys("h")
        terminal.wait_for("REASON")
        send(terminal)
        terminal.keys("1")
        terminal.wait_for("1 decided")
        terminal.keys("q\r")
        assert terminal.end() == 0
    with open_study(adjudicated) as study:
        assert [row.label for row in label_rows(study) if row.role == "adjudicator"] == ["HEDGE"]


def test_dashboard(adjudicated):
    with Terminal(command=annotate("dashboard", adjudicated)) as terminal:
        terminal.wait_for("disagreements to decide")
        send(terminal)
        terminal.keys("\t")
        terminal.read(0.3)
        terminal.keys("q")
        assert terminal.end() == 0
