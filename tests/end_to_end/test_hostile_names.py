"""Hostile names of items, models, judges, strata and studies: no command sends them to the terminal as they are.

Texts of items and responses are in tests/tui; these are the words that tables and sentences are made of.
"""

from __future__ import annotations

import csv
import io
import re
import sys
import warnings
from pathlib import Path

import pytest

from annotate.__main__ import run
from tests.end_to_end.test_plain_everywhere import Claims
from tests.tui.hostile import FORBIDDEN
from tests.tui.test_terminal_bytes import unknown

pytestmark = pytest.mark.slow

EVIL = "\x1b]0;owned\x07\x1b[2J\u202eevil\x9b31m[b]"
LABELS = ("ABSTAIN", "HEDGE", "CORRECT", "WRONG")
# What rich and the line of progress send: styles, and the clearing of a line that is written over.
OWN = re.compile(r"\x1b\[[0-9;]*m|\r\x1b\[K|\r")
RESPONSES = "item=item,model=model,question=question,gold=gold,category=stratum.category,text=response"
IMPORT = ("import", "s.db")
STEPS = (
    ("init", "s.db", "--protocol", "ehq", "--title", EVIL),
    (*IMPORT, "responses.csv", "--map", RESPONSES, "--dry-run"),
    (*IMPORT, "responses.csv", "--map", RESPONSES),
    (*IMPORT, "judge.csv", "--map", "item=item,model=model,judge=judge,label=judge_label"),
    (*IMPORT, "people.csv", "--map", "item=item,model=model,coder=coder,label=label"),
    (*IMPORT, "odd.csv"),
    (*IMPORT, "odd.csv", "--map", f"{EVIL}=item"),
    ("judge", "s.db"),
    ("sample", "s.db", "--n", "12", "--by", "category"),
    ("sample", "s.db", "--n", "12", "--by", EVIL),
    ("assign", "s.db", "--coders", f"Cyd{EVIL}"),
    ("assign", "s.db", "--coders", "Cyd,Dan", "--overlap", "1", "--again"),
    ("freeze", "s.db"),
    ("status", "s.db"),
    ("coverage", "s.db"),
    ("dashboard", "s.db", "--plain"),
    ("log", "s.db"),
    ("log", "s.db", f"q1{EVIL}"),
    ("agreement", "s.db", "--by", "category"),
    ("impact", "s.db", "--draws", "1000", "--by", "category"),
    ("verify", "s.db"),
    ("rounds", "s.db"),
    ("discuss", "s.db"),
    ("adjudicate", "s.db", "--by", "Lea", "--list"),
    ("adjudicate", "s.db", "--by", "Lea", "--between", f"gpt{EVIL},x"),
    ("train", "s.db", "--coders", "Cyd", "--from", f"Ada{EVIL}"),
    ("export", "s.db", "--format", EVIL, "--out", "x"),
    ("protocol", "show", EVIL),
    ("code", "s.db", "--coder", EVIL, "--plain"),
    ("status", EVIL),
)


def table(path: Path, head: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of responses, judge labels and labels of people, hostile wherever a word can be."""
    folder = tmp_path_factory.mktemp("hostile")
    keys = [(f"q{i}{EVIL}", f"m{i % 2}{EVIL}") for i in range(40)]
    table(
        folder / "responses.csv",
        ("item", "model", "question", "gold", "category", "text"),
        [(*key, EVIL, EVIL, f"c{i % 4 // 2}{EVIL}", f"{i} {EVIL}") for i, key in enumerate(keys)],
    )
    said = [LABELS[i % 4] if i % 5 else EVIL for i in range(40)]
    table(
        folder / "judge.csv",
        ("item", "model", "judge", "label"),
        [(*key, f"gpt{EVIL}", label) for key, label in zip(keys, said, strict=True)],
    )
    table(
        folder / "people.csv",
        ("item", "model", "coder", "label"),
        [(*key, who, LABELS[(i + n * (i % 3 == 0)) % 4]) for i, key in enumerate(keys) for n, who in enumerate("AB")],
    )
    table(folder / "odd.csv", (f"item{EVIL}", EVIL), [("1", "2")])
    return folder


@pytest.mark.parametrize("plain", [False, True])
def test_no_name_reaches_the_terminal_as_it_is(folder: Path, plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")
    Path("s.db").unlink(missing_ok=True)
    found = {}
    for step in STEPS:
        monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))
        monkeypatch.setattr(sys, "stdout", said := Claims())
        monkeypatch.setattr(sys, "stderr", said)
        with warnings.catch_warnings(action="ignore"):
            code = run([*step, *(["--plain"] if plain and "--plain" not in step else [])])
        sent = OWN.sub("", said.getvalue()).encode("utf-8", "surrogatepass")
        bad = [each for each in FORBIDDEN if each in sent] + unknown(sent)
        if bad or code == 70 or (plain and "\x1b" in said.getvalue()):
            found[step] = (code, bad, said.getvalue()[-300:])
    assert found == {}
