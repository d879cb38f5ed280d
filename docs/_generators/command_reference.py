"""The command reference, from the commands themselves: what ``--help`` says, every option, the exit codes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from annotate.cli import cli

HEAD = """\
# Commands

Written by `python docs/generate.py` from the program; `annotate COMMAND --help` says the same. Every command takes
`-h` or `--help`. With `--json` a command prints one JSON document to stdout and nothing else there; notes and progress
go to stderr.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | done, and the answer is no: not verified, not complete, not drawn |
| 2 | bad input; one line on stderr says what, where and how to put it right; the study is as it was |
| 70 | a fault of the program; nothing that was saved is lost, and the line names a log |
| 130 | interrupted; what was saved is saved |
"""


def commands_page() -> str:
    """The whole page, as Markdown."""
    context = click.Context(cli, info_name="annotate")
    lines = [HEAD, "| command | what it does |", "|---|---|"]
    names = cli.list_commands(context)
    lines += [f"| [`{name}`](#annotate-{name}) | {_short(context, name)} |" for name in names]
    for name in names:
        command = cli.get_command(context, name)
        assert command is not None, name
        lines += ["", *_section(command, click.Context(command, info_name=name, parent=context), "##")]
    return "\n".join(lines) + "\n"


def _short(context: click.Context, name: str) -> str:
    command = cli.get_command(context, name)
    return (command.help or "").split("\n\n")[0].replace("\n", " ") if command else ""


def _section(command: click.Command, context: click.Context, level: str) -> Iterator[str]:
    yield f"{level} {context.command_path}"
    yield ""
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```text\n{context.command_path} {usage}\n```"
    for paragraph in (command.help or "").split("\n\n"):
        yield ""
        yield _escaped(" ".join(paragraph.split()))
    options = [row for parameter in command.get_params(context) for row in _option(parameter, context)]
    if options:
        yield ""
        yield "| option | what it does |"
        yield "|---|---|"
        yield from options
    yield from _examples(command)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None, name
            yield ""
            yield from _section(child, click.Context(child, info_name=name, parent=context), level + "#")


def _option(parameter: click.Parameter, context: click.Context) -> Iterator[str]:
    record = parameter.get_help_record(context)
    if record is not None and isinstance(parameter, click.Option) and "--help" not in parameter.opts:
        name, text = record
        name = re.sub(r"(INTEGER|FLOAT)( RANGE)?", "N", name).replace("|", " or ")  # the range stands in the text
        yield f"| `{name}` | {_escaped(' '.join(text.split()))} |"


def _examples(command: click.Command) -> Iterator[str]:
    lines = [line.strip() for line in (command.epilog or "").splitlines() if line.startswith("  ")]
    if lines:
        yield ""
        yield "<!-- not run: the file names are the reader's own -->"
        yield "```sh"
        yield from lines
        yield "```"


def _escaped(text: str) -> str:
    """Help text as Markdown: what it puts in backticks stays, options get them."""
    return "".join(f"`{part}`" if i % 2 else _prose(part) for i, part in enumerate(text.split("`")))


def _prose(text: str) -> str:
    plain = text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
    return re.sub(r"(?<![\w-])(--[a-z][a-z-]*)", r"`\1`", plain)
