"""The options and arguments that commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def study_argument(command: Command) -> Command:
    """The study file that a command works on."""
    return click.argument("study", metavar="STUDY.db", type=click.Path(dir_okay=False, path_type=Path))(command)


def json_option(command: Command) -> Command:
    """Results for machines: one JSON document on stdout."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document for machines.")(command)


def plain_option(command: Command) -> Command:
    """Results line by line. A command that does not ask for it gets it nevertheless: see ``with_plain``."""
    text = "Line by line, without drawing: for screen readers."
    return click.option("--plain", is_flag=True, expose_value=False, callback=_remember_plain, help=text)(command)


def _remember_plain(context: click.Context, _: click.Parameter, value: bool) -> bool:
    if value:
        context.meta["annotate.plain"] = True
    return value


def with_plain(command: click.Command) -> click.Command:
    """The command, and each one under it, with ``--plain``: nobody who needs it has to remember who knows it."""
    if isinstance(command, click.Group):
        for part in command.commands.values():
            with_plain(part)
    own = next((each for each in command.params if "--plain" in each.opts), None)
    if own is None:
        plain_option(command)
    elif own.callback is None:
        own.callback = _remember_plain
    return command


def theme_option(command: Command) -> Command:
    """The colours of a screen."""
    from tui.preferences import THEMES

    text = "Colours of the screen. [default: as preferred, else dark]"
    return click.option("--theme", type=click.Choice(THEMES), help=text)(command)


def seed_option(command: Command) -> Command:
    """The seed of a random draw; the same seed gives the same draw on any machine."""
    text = "Seed of the draw: the same seed draws the same on any machine."
    return click.option("--seed", default="1", show_default=True, metavar="TEXT", help=text)(command)


def by_option(command: Command) -> Command:
    """Fields to break numbers down by."""
    text = "Break down by these fields, as category. [default: as the protocol says]"
    return click.option("--by", default=None, metavar="FIELD,…", help=text)(command)


def judge_option(command: Command) -> Command:
    """The judges that are meant."""
    text = "Only this judge; may be repeated. [default: all]"
    return click.option("--judge", "judges", multiple=True, metavar="NAME", help=text)(command)


def names(value: str) -> tuple[str, ...]:
    """The names of a comma-separated list, in order, each once."""
    return tuple(dict.fromkeys(part.strip() for part in value.split(",") if part.strip()))


def example(*lines: str) -> str:
    """The examples at the end of a command's help."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)
