"""Hostile text in every place that shows study text, through a real pseudo-terminal: none arrives uninterpreted."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from annotate.protocols import load_protocol, parse_protocol
from db.coding import CodingSession
from db.records import Act
from db.study import open_study
from tests.tui.conftest import shipped, write_study
from tests.tui.hostile import CORPUS, FORBIDDEN
from tests.tui.terminal import Terminal

# Everything that Textual itself may send: styles, cursor positions, modes of screen, mouse, paste and keyboard, the
# shape of the mouse pointer.
KNOWN = re.compile(
    rb"\x1b\[[0-9;]*m|\x1b\[[0-9;]*H|\x1b\[\?[0-9;]+[hl]|\x1b\[\?[0-9;]+\$p|\x1b\[[<>][0-9]*u|\x1b\]22;[a-z]*\x07|\x1b\[[0-9]*[ABCDJK]"
)


def storable(raw):
    """SQLite holds no lone surrogates: an importer has replaced them before."""
    return raw.encode("utf-8", "replace").decode("utf-8")


def hostile_study(path, raw):
    """A study in which every text that a coder sees holds ``raw``."""
    text = storable(raw)
    short = text[:4000]
    item = {
        "question": f"question {short} end",
        "context": f"context {text} end",
        "gold": [f"gold {short} end", short],
        "rationale": f"rationale {short} end",
        "options": [short, "other"],
        "text": f"response {text} end",
        "reason": f"reason {short} end",
        "choice": short,
    }
    codebook = replace(parse_protocol(_toml(short), "hostile"), min_dwell_ms=0)
    return write_study(path, codebook, [item, item]), codebook


def _toml(text):
    """A codebook whose words are hostile too."""
    quoted = json.dumps(text.replace("\x7f", "\u2421") or "-")
    quoted = re.sub(r"\\u(d[89a-f]..)", "x", quoted)
    label = f"title = {quoted}\ndefinition = {quoted}\nexamples = [{quoted}]\nedge_cases = [{quoted}]\n"
    return (
        f'title = {quoted}\ninstructions = {quoted}\nskip_reasons = [{quoted}, "other"]\n'
        f'[[label]]\nname = "YES"\nkey = "y"\n{label}[[label]]\nname = "NO"\nkey = "x"\n{label}'
    )


def unknown(output):
    """What is left of the bytes after all that Textual sends by itself."""
    rest = KNOWN.sub(b"", output)
    text = rest.decode("utf-8")
    return sorted({character for character in text if ord(character) < 0x20 and character not in "\r\n"}) + [
        character for character in text if 0x7F <= ord(character) < 0xA0 or character in BAD
    ]


BAD = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u200b\u2060\ufeff\u2028\u2029")


def test_the_stored_text_stays_byte_exact(tmp_path):
    raws = [storable(text) for text in CORPUS.values()]
    codebook = shipped("ehq")
    items = [{"question": raw, "context": raw, "gold": [raw], "rationale": raw, "text": raw} for raw in raws]
    path = write_study(tmp_path / "study.db", codebook, items)
    with CodingSession.open(path, "ada", codebook) as session:
        for number, raw in enumerate(raws, start=1):
            item = session.item(number)
            assert {item.question, item.context, item.gold[0], item.rationale, item.text} == {raw}
            note = raw.replace("\0", "") or "-"  # nobody types a NUL
            session.save(Act("note", item.assignment, note=note))
            assert session.annotation(item.assignment).note == note


def test_nothing_of_the_whole_corpus_reaches_the_terminal(tmp_path):
    everything = "\n".join(text for name, text in CORPUS.items() if name != "megabyte line")
    path, _ = hostile_study(tmp_path / "study.db", everything)
    _walk(path)


ALONE = [
    "megabyte line",
    "c1",
    "private mode",
    "dcs",
    "osc clipboard",
    "bidi override",
    "combining pile",
    "textual action",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", ALONE)
def test_one_at_a_time(tmp_path, name):
    path, _ = hostile_study(tmp_path / "study.db", CORPUS[name])
    _walk(path)


def _walk(path):
    """Show the item, scroll through every panel, and open everything that shows words of the study."""
    with Terminal(path, "ada", size=(120, 40)) as terminal:
        terminal.wait_for("question")
        for keys in ["\t", " ", " ", "\x1b[F", "\t", "\x1b[F", "\t", " ", "\t", "\x1b[F"]:
            terminal.keys(keys)
            terminal.read(0.1)
        for keys in ["?", "y", " ", "\x1b[F", "\x1b", "g", "\x1b", "s", "\x1b", "/evil", "\x1b", "\x04", "n"]:
            terminal.keys(keys)
            terminal.read(0.25)
        terminal.keys("\x1b[200~pasted \x1b]52;c;AAAA\x07 \u202e text\x1b[201~")
        terminal.read(0.3)
        terminal.keys("\r")
        terminal.read(0.5)
        terminal.keys("y")
        terminal.read(0.5)
        terminal.keys("y")
        terminal.read(0.5)
        terminal.keys("\x03\r")
        assert terminal.end() == 0
    assert [bad for bad in FORBIDDEN if bad in terminal.output] == []
    assert unknown(terminal.output) == []
    with open_study(path, read_only=True) as study:
        assert study.connection.execute("SELECT count(*) FROM events WHERE kind = 'label'").fetchone()[0] >= 1


def test_plain_mode_is_as_safe(tmp_path):
    everything = "\n".join(text for name, text in CORPUS.items() if name != "megabyte line")
    path, _ = hostile_study(tmp_path / "study.db", everything)
    with Terminal(path, "ada", "--plain") as terminal:
        terminal.wait_for("or help:")
        for line in [
            "help",
            "rules",
            "rules YES",
            "r context",
            "find evil",
            "compare",
            "n \u202e note",
            "s",
            "1",
            "y",
            "q",
            "y",
        ]:
            terminal.keys(line + "\n")
            terminal.read(0.2)
        assert terminal.end() == 0
    # The terminal echoes what was typed, in caret notation for control characters; only the note's own bidi comes so.
    output = terminal.output.replace("n \u202e note".encode(), b"")
    assert [bad for bad in FORBIDDEN if bad in output] == []
    assert b"\x1b" not in output
    assert unknown(output) == []


def test_an_ordinary_session_sends_only_what_textual_sends(tmp_path):
    path = write_study(tmp_path / "study.db", load_protocol("ehq"), [{"text": "plain"}] * 2)
    with Terminal(path, "ada") as terminal:
        terminal.wait_for("plain")
        terminal.keys("h\x03\r")
        assert terminal.end() == 0
    assert unknown(terminal.output) == []
