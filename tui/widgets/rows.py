"""Lines of pieces, each with a style: status line, decision bar, footer and lists are made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip

from tui import cells
from tui.pieces import Piece, Row
from tui.widgets.drawn import Drawn


class Rows(Drawn, can_focus=False):
    """A few lines, drawn as they are given."""

    class Clicked(Message):
        """A piece that stands for a key was clicked, or a row of a list (``sends`` is empty then)."""

        def __init__(self, rows: Rows, row: int, sends: str) -> None:
            super().__init__()
            self.rows, self.row, self.sends = rows, row, sends

    def __init__(self, *, ground: str = "side", id: str | None = None) -> None:
        super().__init__(ground=ground, id=id)
        self.rows: list[Row] = []

    def set_rows(self, rows: Iterable[Row], *, grow: bool = False) -> None:
        """Draw these lines from now on; ``grow``: in as much height as they need."""
        rows = list(rows)
        height = self.styles.height
        if grow and (height is None or height.value != len(rows)):
            self.styles.height = len(rows)
        if rows != self.rows:
            self.rows = rows
            self.refresh()

    def draw_line(self, y: int) -> Strip:
        row = self.rows[y] if y < len(self.rows) else Row()
        base = self.base + self._styles_of[row.ground] if row.ground else self.base
        strip = Strip(self._segments(row, self.size.width)).adjust_cell_length(self.size.width)
        return strip.apply_style(base)

    def _segments(self, row: Row, width: int) -> list[Segment]:
        right = [self.segment(item.text.text, item.style) for item in row.right]
        room = width - sum(cells.width(segment.text) for segment in right)
        left, used = [], 0
        for item in row.left:
            text = cells.fit(item.text.text, room - used)
            used += cells.width(text)
            left.append(self.segment(text, item.style))
        gap = [Segment(" " * (room - used))] if right and room > used else []
        return left + gap + right

    def on_click(self, event: events.Click) -> None:
        if event.y < len(self.rows):
            sends = _at(self.rows[event.y], event.x, self.size.width)
            self.post_message(self.Clicked(self, event.y, sends))


def _at(row: Row, x: int, width: int) -> str:
    """What a click at column ``x`` stands for."""
    for pieces, start in ((row.left, 0), (row.right, width - _total(row.right))):
        for item in pieces:
            size = cells.width(item.text.text)
            if start <= x < start + size and item.sends:
                return item.sends
            start += size
    return ""


def _total(pieces: Sequence[Piece]) -> int:
    return sum(cells.width(item.text.text) for item in pieces)
