"""Lines of pieces, each with a style: status line, decision bar, footer and lists are made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui import cells
from tui.pieces import Piece, Row


class Rows(Widget, can_focus=False):
    """A few lines, drawn as they are given."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rows--strong",
        "rows--quiet",
        "rows--mode",
        "rows--key",
        "rows--label",
        "rows--given",
        "rows--good",
        "rows--bad",
        "rows--loud",
        "rows--input",
        "rows--cursor",
        "rows--chosen",
        "rows--filled",
        "rows--empty",
    }

    @dataclass
    class Clicked(Message):
        """A piece that stands for a key was clicked, or a row of a list (``sends`` is empty then)."""

        rows: Rows
        row: int
        sends: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: list[Row] = []

    def set_rows(self, rows: Iterable[Row], *, grow: bool = False) -> None:
        """Draw these lines from now on; ``grow``: in as much height as they need."""
        rows = list(rows)
        if grow and len(rows) != len(self.rows):
            self.styles.height = len(rows)
        if rows != self.rows:
            self.rows = rows
            self.refresh()

    def render_line(self, y: int) -> Strip:
        base = self.rich_style
        row = self.rows[y] if y < len(self.rows) else Row()
        strip = Strip(self._segments(row, self.size.width)).extend_cell_length(self.size.width)
        if row.chosen:
            strip = strip.apply_style(self._style("chosen") or base)
        return strip.crop(0, self.size.width).apply_style(base)

    def _segments(self, row: Row, width: int) -> list[Segment]:
        right = [Segment(item.text.text, self._style(item.style)) for item in row.right]
        room = width - sum(cells.width(segment.text) for segment in right)
        left, used = [], 0
        for item in row.left:
            text = cells.fit(item.text.text, room - used)
            used += cells.width(text)
            left.append(Segment(text, self._style(item.style)))
        gap = [Segment(" " * (room - used))] if right and room > used else []
        return left + gap + right

    def _style(self, name: str) -> RichStyle | None:
        return self.get_component_rich_style(f"rows--{name}", partial=True) if name else None

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
