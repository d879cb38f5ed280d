"""Tables in a terminal of any width: numbers are never broken, names only between words, wide tables continue below.

Where a table does not fit, words wrap; where that is not enough, an interval goes under its value, headings are set in
several lines, and what is left over is continued in a second table with the same first column. A name that the row
above has too is not said again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from annotate.reports.document import Table

if TYPE_CHECKING:
    from rich.table import Table as Grid
    from rich.text import Text

PADDING = 3
LEAST_NAME, COMFORTABLE = 11, 24


def grids(block: Table, header: Sequence[Text], rows: Sequence[Sequence[Text]], width: int) -> list[Grid]:
    """The table as one grid that fits ``width``, or as several."""
    right = set(block.right)
    widths = [_width((head, *(row[at] for row in rows))) for at, head in enumerate(header)]
    wrapped = [size if at in right else min(size, COMFORTABLE) for at, size in enumerate(widths)]
    if sum(wrapped) + PADDING * len(wrapped) <= width:
        return [_grid(header, rows, right, range(len(header)))]
    stacked = [[_stacked(cell) if at in right else cell for at, cell in enumerate(row)] for row in rows]
    heads = [
        _narrow(head, _width(row[at] for row in stacked)) if at in right else head for at, head in enumerate(header)
    ]
    chosen = _chunks(heads, stacked, right, width)
    return [_grid(heads, stacked, right, columns) for columns in chosen]


def _grid(header: Sequence[Text], rows: Sequence[Sequence[Text]], right: set[int], columns: Sequence[int]) -> Grid:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Grid

    grid = Grid(box=SIMPLE_HEAD, pad_edge=False)
    for at in columns:
        number = at in right
        grid.add_column(header[at], justify="right" if number else "left", overflow="fold", no_wrap=number)
    before = None
    for row in rows:
        cells = [row[at] for at in columns]
        if 0 not in right and len(columns) > 1 and before == cells[0].plain:
            cells[0] = cells[0].blank_copy()
        else:
            before = cells[0].plain
        grid.add_row(*cells)
    return grid


def _width(texts: object) -> int:
    from rich.text import Text

    found = [max((line.cell_len for line in text.split("\n")), default=0) for text in texts if isinstance(text, Text)]  # type: ignore[attr-defined]
    return max(found, default=0)


def _stacked(cell: Text) -> Text:
    """A value with its interval below it."""
    at = cell.plain.find(" [")
    if at <= 0:
        return cell
    value, rest = cell.divide([at])
    return value.append("\n").append_text(rest[1:])


def _narrow(head: Text, width: int) -> Text:
    """A heading in as many lines as it needs to be no wider than its column, words whole."""
    words = head.plain.split(" ")
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return _like(head, "\n".join(lines))


def _like(text: Text, plain: str) -> Text:
    """The same text with line ends in the place of blanks, its styles where they were."""
    copy = text.copy()
    copy.plain = plain
    return copy


def _chunks(header: Sequence[Text], rows: Sequence[Sequence[Text]], right: set[int], width: int) -> list[list[int]]:
    """Columns of each grid: the first ones with names are repeated, the rest fills up the width."""
    fixed = [at for at in range(len(header)) if at not in right]
    names = [at for at in fixed if at < min(right, default=len(header))]
    needs = {at: _width((header[at], *(row[at] for row in rows))) for at in range(len(header))}
    for at in fixed:
        needs[at] = min(needs[at], LEAST_NAME)
    start = sum(needs[at] + PADDING for at in names)
    chunks, used = [list(names)], start
    for at in (at for at in range(len(header)) if at not in names):
        if used + needs[at] > width and len(chunks[-1]) > len(names):
            chunks.append(list(names))
            used = start
        chunks[-1].append(at)
        used += needs[at] + PADDING
    return chunks
