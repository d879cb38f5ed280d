"""Every command in the plain mode, by transcript: a study from making to repair, on what claims to be a terminal.

A command that is added to the table must be added to the walk: the first test says so. Nothing that is printed draws,
moves the cursor, rewrites a line, or stands in columns, whether ``--plain`` asks for it, the stored preference or
TERM=dumb.
"""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from annotate.__main__ import run
from annotate.cli import COMMANDS, cli
from annotate.progress import Progress, Waiting
from annotate.sample_files import sample
from db.study import open_study

DRAWING = re.compile("[\u2500-\u259f\u2800-\u28ff]")
COLUMNS = re.compile(r"\S {3,}\S")
# What is not talk but a file on standard output, in a form of its own.
FILES = {"schema", "completion"}
ITEMS, RECORDS = sample("ehq-run", "EHQ-120.json.gz"), sample("ehq-run", "records.jsonl.gz")
SIMULATED = sample("ehq-run", "simulated_coders.csv")

# (command, arguments, what is typed). The files are those of the folder that the walk takes place in.
WALK: tuple[tuple[str, str, str], ...] = (
    ("demo", "--dir demo", "h\nq\ny\n"),
    ("init", "s.db --protocol ehq", ""),
    ("import", f"s.db --items {ITEMS} --records {RECORDS}", ""),
    ("count", f"{RECORDS} --protocol ehq --out cells.json", ""),
    ("judge", "s.db", ""),
    ("judge", "s.db --judge contains --rule contains", ""),
    ("judge", "s.db", ""),
    ("sample", "s.db --n 12 --seed 42 --by category", ""),
    ("assign", "s.db --coders Ada,Ben --overlap 1", ""),
    ("freeze", "s.db", ""),
    ("train", "s.db --coders Ada --from known.csv", ""),
    ("train", "s.db", ""),
    ("check", "s.db --coders Ben --from checks.csv", ""),
    ("check", "s.db", ""),
    ("release", "s.db --list", ""),
    ("release", "s.db", ""),
    ("pack", "s.db --coder Ben --out ben.pack", ""),
    ("recall", "s.db", ""),
    ("code", "ben.pack", "h\nw\nq\ny\n"),
    ("merge", "s.db ben.pack", ""),
    ("recall", "s.db --coder Ben", ""),
    ("code", "s.db --coder Ada", "help\nrules\nn who knows\nf\nh\nhelp\nw\na\ns 1\nsummary\nh\nh\nh\nh\nh\nq\ny\n"),
    ("code", "s.db --coder Ben", "w\nw\nw\nw\nw\nw\nw\nw\nw\nq\ny\n"),
    ("serve", "s.db --port 0", "interrupt"),
    ("status", "s.db", ""),
    ("dashboard", "s.db --no-live", ""),
    ("questions", "s.db", ""),
    ("reassign", "s.db --from Ada --to Cyd", ""),
    ("rounds", "s.db", ""),
    ("discuss", "s.db", ""),
    ("adjudicate", "s.db --by Lea", "help\nh\n1\nq\ny\n"),
    ("agreement", "s.db", ""),
    ("impact", "s.db --draws 1000", ""),
    ("report", "s.db --out report", ""),
    ("reproduce", "report", ""),
    ("compare", "report report", ""),
    ("export", "s.db --out labels.csv", ""),
    ("coverage", "s.db", ""),
    ("log", "s.db --coder Ada", ""),
    ("verify", "s.db", ""),
    ("backup", "s.db --to copy.db", ""),
    ("repair", "s.db --to repaired.db", ""),
    ("protocol list", "", ""),
    ("protocol show", "alignment", ""),
    ("protocol check", "ehq", ""),
    ("protocol diff", "s.db changed/ehq.toml", ""),
    ("schema", "status", ""),
    ("completion", "bash", ""),
    ("doctor", "", ""),
)


class Claims(io.StringIO):
    """Says of itself that it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def known_files(folder: Path) -> None:
    """Known labels for training and checks, of responses outside the sample; and a codebook that differs."""
    with open_study(folder / "s.db") as study:
        rows = study.connection.execute(
            "SELECT i.key, r.model FROM responses r JOIN items i ON i.id = r.item_id"
            " WHERE r.id NOT IN (SELECT response_id FROM units) ORDER BY r.id LIMIT 4"
        ).fetchall()
        text = study.protocol_toml
    for name, part in (("known.csv", rows[:2]), ("checks.csv", rows[2:])):
        lines = "".join(f"{item},{model},HEDGE,so it is\n" for item, model in part)
        (folder / name).write_text(f"item,model,label,explanation\n{lines}")
    (folder / "changed").mkdir()
    (folder / "changed" / "ehq.toml").write_text(
        text.replace("declines to offer", "does not give", 1), encoding="utf-8"
    )


def walk(folder: Path, plain: tuple[str, ...]) -> dict[str, str]:
    """Command to all that its calls printed, on both streams."""
    said: dict[str, str] = {}
    kept = Path.cwd(), sys.stdin, sys.stdout, sys.stderr, os.get_terminal_size
    os.chdir(folder)
    os.get_terminal_size = lambda *_: os.terminal_size((100, 30))
    try:
        for command, arguments, typed in WALK:
            if command == "train" and not Path("known.csv").exists():
                known_files(folder)
            timer = threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT))
            if typed == "interrupt":
                timer.start()
            sys.stdin, sys.stdout = Claims(typed), Claims()
            sys.stderr = sys.stdout
            try:
                with warnings.catch_warnings(action="ignore"):  # of libraries
                    code = run([*command.split(), *plain, *arguments.split()])
            finally:
                timer.cancel()
            found = sys.stdout.getvalue()
            assert code in (0, 1, 130), (command, found)
            name = command.split()[0]
            said[name] = said.get(name, "") + found
    finally:
        os.chdir(kept[0])
        sys.stdin, sys.stdout, sys.stderr, os.get_terminal_size = kept[1:]
    return said


@pytest.fixture(scope="module")
def transcripts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The walk with ``--plain``, in a terminal that could do more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield walk(tmp_path_factory.mktemp("walk"), ("--plain",))


def test_the_walk_calls_every_command() -> None:
    assert {command.split()[0] for command, _, _ in WALK} == set(COMMANDS)


def faults(said: str, *, columns: bool = True) -> list[str]:
    """The lines that a screen reader would stumble over."""
    return [
        line
        for line in said.split("\n")
        if "\x1b" in line or "\r" in line or DRAWING.search(line) or (columns and COLUMNS.search(line))
    ]


def test_every_command_and_each_of_its_parts_takes_the_option() -> None:
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        parts = list(command.commands.values()) if isinstance(command, click.Group) else []
        for part in (command, *parts):
            assert [option for each in part.params for option in each.opts].count("--plain") == 1, part.name


@pytest.mark.parametrize("plain", [True, False])
def test_progress_rewrites_no_line(plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb" if plain else "xterm")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")
    monkeypatch.setattr("annotate.progress.FIRST_SECONDS", 0.0)
    monkeypatch.setattr("sys.stderr", said := Claims())
    with Progress("Reading", 3) as progress:
        progress(2)
    with Waiting("Computing"):
        time.sleep(0.1)
    if plain:
        assert said.getvalue() == "Reading: 2 of 3 rows\nComputing …\n"
    else:
        assert "\rReading: 2 of 3 rows" in said.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("name", list(COMMANDS))
def test_plain(name: str, transcripts: dict[str, str]) -> None:
    assert transcripts[name].strip()
    assert faults(transcripts[name], columns=name not in FILES) == []


@pytest.mark.slow
def test_the_report_of_the_walk_is_reproduced(transcripts: dict[str, str]) -> None:
    """One coder of it was replaced and one has labelled nothing yet."""
    assert "Every number matches" in transcripts["reproduce"]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["preference", "dumb"])
def test_without_being_asked(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    monkeypatch.setenv("TERM", "dumb" if how == "dumb" else "xterm-256color")
    if how == "preference":
        (config / "annotate").mkdir(parents=True)
        (config / "annotate" / "preferences.toml").write_text("plain = true\n")
    (tmp_path / "walk").mkdir()
    said = walk(tmp_path / "walk", ())
    assert set(said) == set(COMMANDS)
    found = {name: faults(text, columns=name not in FILES) for name, text in said.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}
