"""The lead's page is true: its commands and options exist, its pictures are there, its numbers are the program's."""

from __future__ import annotations

import re
from pathlib import Path

import click

from annotate.board_counts import DRIFT_Z, HEAPED
from annotate.cli import cli
from db.cases import JUDGE_REASONS, REASONS, WHY_BETTER
from tui.screens.dashboard import COUNTS_EVERY, LIVE_EVERY

PAGE = Path(__file__).resolve().parents[2] / "docs" / "lead.md"
TEXT = PAGE.read_text(encoding="utf-8")


def options(name: str) -> set[str]:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None, name
    found = {option for parameter in command.params for option in parameter.opts}
    if isinstance(command, click.Group):
        for each in command.commands.values():
            found |= {option for parameter in each.params for option in parameter.opts}
    return found


def test_every_command_and_option_on_the_page_exists() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    lines = [line.split("#")[0] for block in blocks for line in block.splitlines()]
    lines += re.findall(r"`annotate ([^`]*)`", TEXT)
    assert len(lines) > 20
    for line in lines:
        words = line.removeprefix("annotate ").split()
        known = options(words[0])
        for option in re.findall(r"--[a-z-]+", line):
            assert option in known, line


def test_pictures_and_numbers_are_the_programs() -> None:
    for picture in re.findall(r"\]\((images/[^)]+)\)", TEXT):
        assert (PAGE.parent / picture).is_file()
    assert f"every {COUNTS_EVERY:.0f} seconds" in TEXT and LIVE_EVERY == 60
    assert f"|z| = {DRIFT_Z}" in TEXT and f"from {HEAPED:.0%}".replace("%", " %") in TEXT
    for words in (*REASONS.values(), *(w for k, w in WHY_BETTER.items() if k in ("strict", "lenient", "ambiguous"))):
        assert words in TEXT
    assert next(iter(JUDGE_REASONS)) == "judge"
