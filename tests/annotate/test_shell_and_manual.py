"""What a shell completes, and the manual page: both made of the commands themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from annotate.__main__ import run
from annotate.cli import COMMANDS
from annotate.manpage import page
from tests.conftest import REPOSITORY


def completed(words: str) -> list[str]:
    """What bash is offered after ``words``, in a process of its own, as a shell asks for it."""
    number = len(words.split()) - (not words.endswith(" "))
    asked = {"_ANNOTATE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(number)}
    code = "import sys; sys.path.insert(0, sys.argv.pop()); from annotate.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, str(REPOSITORY)],
        env=os.environ | asked,
        capture_output=True,
        text=True,
        check=False,
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_commands_options_and_choices_are_completed() -> None:
    assert completed("annotate st") == ["status"]
    assert completed("annotate ") == list(COMMANDS)
    assert completed("annotate sample --alloc") == ["--allocation"]
    assert "sqrt" in completed("annotate sample s.db --allocation ")
    assert completed("annotate protocol up") == ["update"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert f"_ANNOTATE_COMPLETE={shell}_complete" in script
    if program := shutil.which(shell):
        assert (
            subprocess.run([program, "-n"], input=script, text=True, capture_output=True, check=False).returncode == 0
        )


def test_the_manual_page_is_current() -> None:
    assert (REPOSITORY / "docs" / "man" / "annotate.1").read_text("utf-8").rstrip("\n") == "\n".join(page())


def test_the_manual_page_names_every_command_and_reads_without_a_warning() -> None:
    text = "\n".join(page())
    assert [name for name in COMMANDS if f'.SS "annotate {name} ' not in text] == []
    if groff := shutil.which("groff"):
        done = subprocess.run(
            [groff, "-man", "-Tutf8", "-ww", "-z"], input=text, text=True, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
