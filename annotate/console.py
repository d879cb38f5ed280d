"""stdout is data, stderr is talk: tables and JSON out, notices and progress to the side."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

PLAIN = "annotate.plain"
"""Where a command's context keeps that --plain was asked for."""


UNWRAPPED = 1_000_000


def visible(text: str) -> str:
    """Make control characters, terminal escapes and bidirectional overrides of study text visible."""
    from tui.safetext import safe

    return str(safe(text))


def typed(word: object) -> str:
    """A path or a name as it is typed in a shell, quoted where it must be."""
    if os.name == "nt":
        import subprocess

        return subprocess.list2cmdline([str(word)])
    return shlex.quote(str(word))


def out() -> Console:
    """The console for results: no markup, so that study text is never read as styling. Plain: no style, no wrapping."""
    from rich.console import Console

    if speaks_plainly():
        return Console(markup=False, highlight=False, emoji=False, width=UNWRAPPED, color_system=None)
    width = None if sys.stdout.isatty() else 120
    return Console(markup=False, highlight=False, emoji=False, width=width)


def emit_json(value: Any) -> None:
    """Print one JSON document: UTF-8, keys in the order given, no NaN (an undefined number is null with its reason)."""
    print(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2))


def notice(text: str) -> None:
    """Say something that is not a result."""
    print(visible(text), file=sys.stderr)


def speaks_plainly() -> bool:
    """Whether results come line by line, for screen readers: asked for with --plain, preferred, or a dumb terminal."""
    import click

    from tui.preferences import wants_plain

    context = click.get_current_context(silent=True)
    return wants_plain(context.meta.get(PLAIN) if context else None)


def rewrites() -> bool:
    """Whether progress may be one line of stderr that is written over: in a terminal, and not for a screen reader."""
    return sys.stderr.isatty() and not speaks_plainly()


def plain_rows(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table as one line a row, every value after its column's name."""
    for row in rows:
        print("; ".join(f"{column}: {cell}" if column else cell for column, cell in zip(columns, row, strict=True)))


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Iterable[int] = ()) -> None:
    """Print a plain table; the columns numbered in ``right`` are right-aligned."""
    if speaks_plainly():
        print(f"{title}:" if title else "", end="\n" if title else "")
        plain_rows(columns, ([visible(str(cell)) for cell in row] for row in rows))
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    numbers = set(right)
    grid = Table(box=SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        grid.add_column(column, justify="right" if index in numbers else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(visible(str(cell))) for cell in row))
    console = out()
    if title:
        console.print(Text(title, style="bold"))
    console.print(grid)
