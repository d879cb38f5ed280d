# ruff: noqa: F811 (fixtures of another file are named by the tests that take them)
"""A coder elsewhere, in a real terminal: pack, label ten, undo, kill -9, go on, send back, merge; and the same under a
passphrase that is typed. The counts of the study agree with what the coder did."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import pytest

from db.labels import label_rows
from db.pack_read import read_pack
from db.study import open_study
from tests.end_to_end.conftest import Cli
from tests.end_to_end.test_real_terminal import REPOSITORY, UNITS, Terminal, label, study, terminal  # noqa: F401

pytestmark = pytest.mark.slow
PYTHON = f"env -u COLUMNS -u LINES PYTHONPATH={REPOSITORY} TEXTUAL_ANIMATIONS=none"
WORDS = "correct horse battery"


def start(terminal: Terminal, folder: Path, command: str, *, before: str = "") -> None:
    terminal.start(f"{PYTHON} {before} {sys.executable} -m annotate {command}", folder)


def leave(terminal: Terminal) -> None:
    terminal.press("C-c")
    terminal.until("Leave the desk?")
    terminal.press("Enter")
    terminal.until("Items coded:")


def test_pack_code_ten_kill_go_on_and_merge(
    terminal: Terminal,
    study: Path,
    cli: Cli,
    tmp_path: Path,
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    cli("pack", study, "--coder", "Ada", "--out", tmp_path / "ada.pack")
    path = Path(shutil.move(tmp_path / "ada.pack", elsewhere / "ada.pack"))
    trace = tmp_path / "trace.txt"
    start(terminal, elsewhere, "code ada.pack", before=f"strace -f -e trace=fdatasync,fsync -o {trace}")
    terminal.until("0 done")
    for done in range(1, 11):
        label(terminal, "wa"[done % 2], done)
    terminal.press("u")
    terminal.until("9 done")
    terminal.press("n")
    time.sleep(0.3)
    terminal.press("-l", "seen elsewhere")
    terminal.press("Enter")
    terminal.until("saved")
    time.sleep(0.5)
    terminal.kill_program()
    assert sum("sync(" in line for line in trace.read_text().splitlines()) >= 12
    terminal.close()
    kinds = [row.kind for row, _ in read_pack(path).rows]
    assert [kinds.count(kind) for kind in ("label", "undo", "note")] == [10, 1, 1]

    start(terminal, elsewhere, "code ada.pack")
    terminal.until("9 done")
    label(terminal, "w", 10)
    leave(terminal)
    assert sorted(each.name for each in elsewhere.iterdir()) == ["ada.pack", "ada.pack.d"]
    back = Path(shutil.copy(path, tmp_path / "ada.pack"))
    cli("merge", study, back)
    assert counted(cli, study) == (10, UNITS)
    with open_study(study) as opened:
        rows = [row for row in label_rows(opened) if row.label is not None]
    assert len(rows) == len({row.unit for row in rows}) == 10
    assert {row.blindness for row in rows} == {"sealed"}
    assert [row.note for row in rows if row.note] == ["seen elsewhere"]
    assert "Everything holds" in cli("verify", study).out


def counted(cli: Cli, study: Path) -> tuple[int, int]:
    """Labels that are there and labels that are meant, by two commands."""
    status = cli("status", study, "--json").json
    coverage = cli("coverage", study, "--json", code=None).json
    (main,) = status["coverage"]
    assert [each["done"] for each in status["coders"]] == [main["labels"]]
    short = [each for each in coverage["units"] if each["labels"] < each["meant"]] if "units" in coverage else None
    assert short is None or len(short) == main["meant"] - main["labels"]
    return main["labels"], main["meant"]


def typed(terminal: Terminal, prompt: str) -> None:
    """Answer a prompt with the passphrase, which the terminal does not show."""
    terminal.until(prompt)
    time.sleep(0.3)
    terminal.press("-l", WORDS)
    terminal.press("Enter")


def lies_open(folder: Path, words: bytes) -> list[str]:
    """The files that hold these words."""
    return [str(each) for each in folder.rglob("*") if each.is_file() and words in each.read_bytes()]


def test_a_pack_under_a_passphrase_that_is_typed(
    terminal: Terminal,
    study: Path,
    cli: Cli,
    tmp_path: Path,
) -> None:
    pytest.importorskip("pyrage", reason="needs the extra [passphrase]")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    start(terminal, tmp_path, f"pack {study} --coder Ada --out elsewhere/ada.pack --passphrase")
    typed(terminal, "New passphrase of ada.pack:")
    typed(terminal, "The same again")
    shown = terminal.until("encrypted")
    assert WORDS not in shown
    terminal.close()
    with open_study(study) as opened:
        (text,) = opened.connection.execute("SELECT question FROM items ORDER BY id LIMIT 1").fetchone()
    words = text[:25].encode()
    assert lies_open(tmp_path, words) and not lies_open(elsewhere, words)

    start(terminal, elsewhere, "code ada.pack")
    typed(terminal, "Passphrase of ada.pack:")
    terminal.until("0 done")
    for done in range(1, 4):
        label(terminal, "w", done)
    assert lies_open(elsewhere, b"SQLite format 3")  # the working copy, while it is coded
    terminal.kill_program()
    terminal.close()
    assert lies_open(elsewhere, b"SQLite format 3")

    start(terminal, elsewhere, "code ada.pack")
    typed(terminal, "Passphrase of ada.pack:")
    terminal.until("3 done")
    label(terminal, "a", 4)
    terminal.close()  # the window is closed: the program hears of it, and encrypts before it ends
    end = time.monotonic() + 30
    while (left := lies_open(elsewhere, b"SQLite format 3")) and time.monotonic() < end:
        time.sleep(0.2)
    assert not left

    start(terminal, elsewhere, "code ada.pack")
    typed(terminal, "Passphrase of ada.pack:")
    terminal.until("4 done")
    terminal.press("n")
    time.sleep(0.3)
    terminal.press("-l", "not sent yet")  # a note that is being typed when the coder leaves
    terminal.press("Escape")
    time.sleep(0.3)
    leave(terminal)
    time.sleep(1)
    terminal.close()
    for secret in (words, b"SQLite format 3", b"not sent yet"):
        assert not lies_open(elsewhere, secret)

    start(terminal, tmp_path, f"merge {study} elsewhere/ada.pack")
    typed(terminal, "Passphrase of elsewhere/ada.pack:")
    terminal.until("acts taken in")
    assert counted(cli, study) == (4, UNITS)
    assert "Everything holds" in cli("verify", study).out
