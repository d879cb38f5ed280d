"""Command lines on a page: run in this process, or parsed by the program's own parser where running makes no sense."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from annotate.__main__ import run
from annotate.cli import cli
from tests.docs.pages import REPOSITORY

SHELL = re.compile(r"[|<>;&$`*~]")
"""What only a shell can run."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed to both streams, and its exit code."""

    code: int
    out: str


def command_lines(text: str) -> list[str]:
    """The commands of a `sh` block: continued lines joined, comments and blank lines left out."""
    joined = re.sub(r"\\\n\s*", " ", text)
    return [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def opens_a_screen(line: str) -> bool:
    """Whether the line needs a terminal, so that a test of pages can only parse it."""
    words = shlex.split(line, comments=True)
    quiet = {"--plain", "--json", "--list", "--unit"}
    return words[0] == "annotate" and words[1] in ("code", "dashboard", "adjudicate", "demo") and not quiet & set(words)


def execute(line: str, folder: Path) -> Ran:
    """Run one line in `folder`."""
    words = shlex.split(line, comments=True)
    if words[0] == "annotate" and not SHELL.search(line.replace("'", "")):
        return _in_process(words[1:], folder)
    return _in_shell(line, folder)


def _in_process(words: list[str], folder: Path) -> Ran:
    before, out = Path.cwd(), io.StringIO()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = run(words)
    finally:
        os.chdir(before)
    return Ran(code, out.getvalue())


def environment(folder: Path) -> dict[str, str]:
    """What a reader's shell has: `annotate` and `python` on the path, those of this checkout."""
    shims = folder / ".bin"
    shims.mkdir(exist_ok=True)
    for name, rest in (("annotate", " -m annotate"), ("python", "")):
        (shims / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{rest} "$@"\n', encoding="utf-8")
        (shims / name).chmod(0o755)
    return {"PATH": f"{shims}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(REPOSITORY)}


def _in_shell(line: str, folder: Path) -> Ran:
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=os.environ | environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
    )
    return Ran(done.returncode, done.stdout.decode("utf-8"))


def parse(line: str) -> None:
    """Parse an `annotate` command line as the program would. Raises AssertionError where it would be refused."""
    words = [word for word in _words(line) if word != "…"]
    command, context, rest = _resolve(words[1:])
    try:
        command.make_context(context.info_name, rest, parent=context.parent)
    except click.exceptions.Exit:
        pass
    except click.BadParameter as error:
        assert "does not exist" in error.format_message(), f"{line}: {error.format_message()}"
    except click.UsageError as error:
        raise AssertionError(f"{line}: {error.format_message()}") from None


def check_names(line: str) -> None:
    """Check that the command and the options in a piece of running text exist."""
    words = _words(line)
    command, _, rest = _resolve(words[1:])
    known = {option for each in _family(command) for parameter in each.params for option in parameter.opts}
    for word in rest:
        option = word.partition("=")[0]
        if re.fullmatch(r"--[a-z][a-z-]*", option):
            assert option in {*known, "--help"}, f"{line}: there is no option {option}"


def _family(command: click.Command) -> list[click.Command]:
    return [command, *command.commands.values()] if isinstance(command, click.Group) else [command]


def _words(line: str) -> list[str]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        raise AssertionError(f"{line}: {error}") from None
    stop = next((i for i, word in enumerate(words) if word in ("|", ">", "<", "&&", ";")), len(words))
    return words[:stop]


def _resolve(words: list[str]) -> tuple[click.Command, click.Context, list[str]]:
    command: click.Command = cli
    context = click.Context(cli, info_name="annotate")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        child = command.get_command(context, words[0])
        assert child is not None, f"there is no command {' '.join(words[:1])!r} in {context.command_path}"
        command, context, words = child, click.Context(child, info_name=words[0], parent=context), words[1:]
    return command, context, words
