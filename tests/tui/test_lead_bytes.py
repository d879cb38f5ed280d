"""Hostile text on the lead's screens and in every command that shows study text, through a real pseudo-terminal."""

from __future__ import annotations

import sys

import pytest

from annotate.protocols import parse_protocol
from db.assigning import assign
from db.coding import CodingSession
from db.records import Act
from db.study import open_study
from tests.tui.hostile import CORPUS, FORBIDDEN
from tests.tui.terminal import Terminal
from tests.tui.test_terminal_bytes import _toml, hostile_study, storable, unknown

pytestmark = pytest.mark.slow

RAW = storable("\n".join(text for name, text in CORPUS.items() if name != "megabyte line"))
WORDS = RAW.replace("\0", "")[:3000]  # nobody types a NUL


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Two coders who differ, ask, skip and note; all that they and the study say is hostile, its title too."""
    folder = tmp_path_factory.mktemp("hostile")
    path, codebook = hostile_study(folder / "study.db", RAW)
    codebook = parse_protocol(_toml(RAW[:4000]), "hostile")
    (folder / "hostile.toml").write_text(codebook.toml, encoding="utf-8")
    with open_study(path) as opened:
        opened.connection.execute("UPDATE study SET title = ?", (WORDS,))
        units = [row[0] for row in opened.connection.execute("SELECT public_id FROM units ORDER BY id")]
        assign(opened, ["ben"], seed="1", order="file", again=True, units=units)
    for coder, label in (("ada", "YES"), ("ben", "NO")):
        with CodingSession.open(path, coder, codebook) as session:
            first, second = session.item(1), session.item(2)
            session.save(Act("flag", first.assignment, flag="discuss", note=f"why {WORDS}"))
            session.save(Act("label", first.assignment, label=label))
            session.save(Act("skip", second.assignment, reason=f"because {WORDS}"))
            session.save(Act("skip", second.assignment, reason=f"because {WORDS}"))
    return path


def annotate(*words):
    return (sys.executable, "-m", "annotate", *map(str, words))


def clean(output):
    assert [bad for bad in FORBIDDEN if bad in output] == []
    assert unknown(output) == []


def test_the_adjudication_screen(study):
    with Terminal(command=annotate("adjudicate", study, "--by", "Lea", "--all"), size=(120, 40)) as terminal:
        terminal.wait_for("case 1 of 2")
        for keys in ["\t", " ", "\x1b[F", "\t", " ", "\t", "\x1b[F", "\t", " ", "\x1b[F", "?", "?", "y", "\x1b", "n"]:
            terminal.keys(keys)
            terminal.read(0.2)
        terminal.keys("\x1b[200~pasted \x1b]52;c;AAAA\x07 \u202e text\x1b[201~")
        terminal.read(0.2)
        for keys in ["\r", "y", "1", "\x1b[D", "\x1b[C"]:
            terminal.keys(keys)
            terminal.read(0.4)
        terminal.keys("q\r")
        assert terminal.end() == 0
    assert b"why " in terminal.output and b"because " in terminal.output
    clean(terminal.output)


def test_adjudication_in_plain_mode(study):
    with Terminal(command=annotate("adjudicate", study, "--by", "Lea", "--plain", "--all")) as terminal:
        terminal.wait_for("why ")
        for line in ["help", "rules", "r", "note x", "yes", "1", "back", "q", "y"]:
            terminal.keys(line + "\n")
            terminal.read(0.3)
        terminal.read(0.5)
    clean(terminal.output)
    assert b"\x1b" not in terminal.output


def test_the_dashboard(study):
    with Terminal(command=annotate("dashboard", study, "--no-live"), size=(120, 40)) as terminal:
        terminal.wait_for("disagreements to decide")
        for keys in ["\x1b[B", " ", "\x1b[F", "\t", "\x1b[B"]:
            terminal.keys(keys)
            terminal.read(0.2)
        terminal.keys("q")
        assert terminal.end() == 0
    clean(terminal.output)


@pytest.mark.parametrize(
    "words",
    [
        ("dashboard", "STUDY", "--no-live", "--plain"),
        ("questions", "STUDY"),
        ("discuss", "STUDY"),
        ("status", "STUDY"),
        ("coverage", "STUDY"),
        ("log", "STUDY", "q1"),
        ("verify", "STUDY"),
        ("rounds", "STUDY"),
        ("protocol", "show", "TOML"),
        ("protocol", "check", "TOML"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("plain", [False, True])
def test_commands(study, words, plain):
    places = {"STUDY": study, "TOML": study.with_name("hostile.toml")}
    given = [places.get(word, word) for word in words]
    with Terminal(command=annotate(*given, *(["--plain"] if plain and "--plain" not in words else []))) as terminal:
        assert terminal.end() in (0, 1)
    assert terminal.output
    clean(terminal.output)
    if plain:
        assert b"\x1b" not in terminal.output
