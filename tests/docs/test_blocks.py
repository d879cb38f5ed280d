"""Every fenced block of every page is run, or read by the program's own parsers; commands named in the text exist."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.commands import check_names
from tests.docs.pages import REPOSITORY, blocks, pages, prose
from tests.docs.runner import Runner, matches

TUTORIAL = REPOSITORY / "docs" / "tutorial.md"
PAGES = [pytest.param(page, id=str(page.relative_to(REPOSITORY))) for page in pages()]


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_do_what_it_says(page: Path, reader: Callable[[Path], Runner]) -> None:
    runner = reader(page)
    for block in blocks(page):
        runner.run(block)


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_options_in_the_text_exist(page: Path) -> None:
    for code in re.findall(r"`(annotate [a-z][^`]*)`", prose(page)):
        check_names(code.replace("\n", " "))


def test_most_of_the_tutorial_is_run() -> None:
    found = blocks(TUTORIAL)
    assert sum("not run" in block.marks for block in found) <= 1
    assert sum(block.language == "console" for block in found) >= 8


def test_transcripts_are_compared_and_not_merely_run() -> None:
    assert matches("Drawn: 120 of … responses\n…\nend", "Drawn: 120 of 480 responses\nx\ny\nend\n")
    assert matches("a   b\n────", "a b\n──────────\n")
    assert matches("done", "Judging by mine: 480 of 480 responses\nComputing score impact … 12 s\ndone")
    assert not matches("Drawn: 120", "Drawn: 121")
    assert not matches("a\n…", "b\nc")
    assert not matches("a\n…\nd", "a\nb\nc")
