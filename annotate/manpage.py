"""The manual page, made of the commands' own help: ``python -m annotate.manpage`` prints it as roff (man macros)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from annotate import __version__
from annotate.cli import COMMANDS, cli

FILES = """The study is one SQLite file, with its drafts, backups and crash logs in a folder beside it: study.d for
study.db. Preferences and keys of a coder lie in annotate/ under $XDG_CONFIG_HOME (~/.config)."""
CODES = (
    ("0", "done"),
    ("1", "the answer is no"),
    ("2", "bad input"),
    ("70", "a fault in annotate"),
    ("130", "stopped"),
)


def page() -> Iterator[str]:
    """The page, line by line."""
    yield f'.TH ANNOTATE 1 "" "annotate {__version__}" "User Commands"'
    yield from (".SH NAME", "annotate \\- check an LLM judge against people")
    yield from (".SH SYNOPSIS", ".B annotate", r".I COMMAND \fR[\fIOPTIONS\fR] [\fIARGUMENTS\fR]")
    yield from (".SH DESCRIPTION", *_prose(cli.help or ""))
    yield ".SH COMMANDS"
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        yield from _command(command, f"annotate {name}")
    yield from (".SH EXIT STATUS",)
    for code, meaning in CODES:
        yield from (".TP", f".B {code}", _safe(meaning))
    yield from (".SH FILES", *_prose(FILES))


def _command(command: click.Command, path: str) -> Iterator[str]:
    context = click.Context(command, info_name=path, max_content_width=100)
    usage = " ".join(piece for piece in command.collect_usage_pieces(context))
    yield from (f'.SS "{_safe(path)} {_safe(usage)}"', *_prose(command.help or ""))
    for parameter in command.params:
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record and not getattr(parameter, "hidden", False):
            yield from (".TP", f".B {_safe(record[0])}", _safe(" ".join(record[1].split())))
    yield from _examples(command.epilog or "")
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _command(inner, f"{path} {name}")


def _examples(epilog: str) -> Iterator[str]:
    lines = [line.strip() for line in epilog.replace("\b", "").splitlines() if line.strip()]
    if lines:
        yield from (".PP", _safe(lines[0]), ".PP", ".nf", ".RS", *(_safe(line) for line in lines[1:]), ".RE", ".fi")


def _prose(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text.replace("\b", "").strip()):
        yield from (".PP", _safe(" ".join(paragraph.split())))


def _safe(text: str) -> str:
    """``text`` so that roff reads it as text: no escape, no request, hyphens that can be copied."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    text = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in text)
    return f"\\&{text}" if text.startswith((".", "'")) else text


if __name__ == "__main__":
    print("\n".join(page()))
