"""Runs the fenced blocks of a page, in order, in one folder: commands, transcripts, Python, TOML, JSON."""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from tests.docs import commands
from tests.docs.pages import REPOSITORY, Block

RUN = ("sh", "console", "python", "pycon")
PROGRESS = re.compile(r"^\w+ing\b.*(: [\d,]+( of [\d,]+)? \w+|….*)$")
"""What a slow machine says of how far it is."""


class Runner:
    """One reader at one keyboard: a folder with the sample data, and what Python remembers between blocks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "docs"}
        if not (folder / "samples").exists():
            (folder / "samples").symlink_to(REPOSITORY / "samples")

    def run(self, block: Block) -> None:
        """Run or read one block; raises AssertionError with its place where it does not do what the page says."""
        try:
            if "file" in block.marks:
                path = self.folder / block.marks["file"]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text + "\n", encoding="utf-8")
                self.read(block)
            elif "not run" in block.marks:
                assert len(block.marks["not run"]) > 10, "say why it is not run"
                self.read(block)
            elif block.language in RUN:
                getattr(self, f"_{block.language}")(block)
            else:
                self.read(block)
        except AssertionError as error:
            raise AssertionError(f"{block.place}: {error}") from None

    def read(self, block: Block) -> None:
        """Check a block without running it: as what it says it is, and every command line of annotate in it."""
        if block.language in ("python", "pycon"):
            compile(
                doctest.script_from_examples(block.text) if ">>> " in block.text else block.text, block.place, "exec"
            )
        elif block.language == "toml":
            read_toml(block)
        elif block.language == "json":
            json.loads(block.text)
        else:
            for line in annotate_lines(block):
                commands.parse(line)

    def _sh(self, block: Block) -> None:
        for line in commands.command_lines(block.text):
            if commands.opens_a_screen(line):
                commands.parse(line)
                continue
            ran = commands.execute(line, self.folder)
            assert ran.code == int(block.marks.get("exit", 0)), f"{line}\nended with {ran.code}:\n{ran.out}"

    def _console(self, block: Block) -> None:
        for line, expected in transcript(block.text):
            ran = commands.execute(line, self.folder)
            assert ran.code == int(block.marks.get("exit", 0)), f"{line}\nended with {ran.code}:\n{ran.out}"
            assert matches(expected, ran.out), f"{line}\nprinted\n{ran.out}\nand not\n{expected}"

    def _python(self, block: Block) -> None:
        with self._inside():
            exec(compile(block.text, block.place, "exec"), self.names)

    def _pycon(self, block: Block) -> None:
        test = doctest.DocTestParser().get_doctest(block.text, self.names, block.place, str(block.page), block.line)
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        out = io.StringIO()
        with self._inside():
            doctest.DocTestRunner(optionflags=flags, verbose=False).run(test, out=out.write, clear_globs=False)
        self.names.update(test.globs)
        assert not out.getvalue(), out.getvalue()

    @contextlib.contextmanager
    def _inside(self) -> Iterator[None]:
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            here = mock.patch.dict(os.environ, commands.environment(self.folder))
            with here, contextlib.redirect_stdout(io.StringIO()):
                yield
        finally:
            os.chdir(before)


def annotate_lines(block: Block) -> list[str]:
    """The command lines of annotate in a block, whatever else stands there."""
    lines = [line.removeprefix("$ ").strip() for line in commands.command_lines(block.text)]
    found = [line[line.index("annotate ") :] for line in lines if re.match(r"(\S*/)?annotate [a-z-]", line)]
    return [line for line in found if "[OPTIONS]" not in line and " COMMAND" not in line]


def transcript(text: str) -> list[tuple[str, str]]:
    """(command, what it prints) of a `console` block."""
    found: list[tuple[str, list[str]]] = []
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            assert found, "a console block starts with a line '$ command'"
            found[-1][1].append(line)
    return [(command, "\n".join(lines)) for command, lines in found]


def matches(expected: str, printed: str) -> bool:
    """Whether the output is what the page shows: … stands for anything, blank lines and runs of blanks do not count."""
    if not expected.strip():
        return True
    pattern = "\n".join(_line(line) for line in _squeezed(expected))
    pattern = pattern.replace("\0\n", "(?:.*\n)*").replace("\n\0", "(?:\n.*)*").replace("\0", "(?s:.*)")
    lines = [line for line in _squeezed(printed) if not PROGRESS.match(line)]
    return re.fullmatch(pattern, "\n".join(lines)) is not None


def _line(line: str) -> str:
    return "\0" if line == "…" else ".*".join(re.escape(part) for part in line.split("…"))


def _squeezed(text: str) -> list[str]:
    lines = (re.sub(r"─+", "─", " ".join(line.split())) for line in text.splitlines())
    return [line for line in lines if line and line != "─"]


def read_toml(block: Block) -> None:
    """Read TOML as what the mark says it is: a protocol, a recipe, or any TOML."""
    from annotate.protocols.parse import parse_protocol
    from annotate.recipes.parse import parse_recipe

    kind = block.marks.get("toml", "any")
    if kind == "protocol":
        parse_protocol(block.text, block.place)
    elif kind == "recipe":
        parse_recipe(block.text, block.place)
    else:
        assert kind == "any", kind
        tomllib.loads(block.text)
