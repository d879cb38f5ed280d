"""A panel of study text that draws only the lines in view: a megabyte costs no more than a sentence."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui import cells
from tui.document import Document, Span, Style, cut
from tui.wrapping import Line, wrap

SLICE = 0.008
"""Seconds of wrapping at a time, so that keys never wait for it."""


class TextPanel(ScrollView, can_focus=False):
    """A document with a name in its gutter; wraps as far as it is looked at, and the rest bit by bit.

    ``used``: the panel that the scrolling keys move; it is marked in words' place by a sign, not by colour alone.
    """

    WIDEST: ClassVar[int] = 100
    """Cells of a line of text at most: longer lines are hard to read."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "panel--title",
        "panel--used",
        "panel--gutter",
        "panel--bar",
        "panel--strong",
        "panel--quiet",
        "panel--key",
        "panel--label",
        "panel--match",
        "panel--here",
        "panel--shared",
        "panel--own",
    }

    @dataclass
    class Used(Message):
        """The panel was clicked."""

        panel: TextPanel

    def __init__(self, title: str = "", *, gutter: int = 0, bar: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.title = title
        self.gutter_width = gutter
        self.bar = bar
        self.used = False
        self.document = Document()
        self._marks: tuple[Span, ...] = ()
        self._mark_starts: list[int] = []
        self._span_starts: list[int] = []
        self._starts: list[int] = []
        self._lines: list[Line] = []
        self._rest: Iterator[Line] | None = None
        self._width = 0
        self._seen = 0
        self._more_is_due = False

    # --- what it holds --------------------------------------------------------------------------

    def show(self, document: Document, *, keep_place: bool = False) -> None:
        """Hold another document, from its top."""
        self.document = document
        self._span_starts = [span.start for span in document.spans]
        self.mark(())
        if not keep_place:
            self._seen = 0
            self.go_to(0)
        self._rewrap()

    def mark(self, spans: Sequence[Span]) -> None:
        """Mark places, over the document's own styles."""
        self._marks = tuple(spans)
        self._mark_starts = [span.start for span in self._marks]
        self.refresh()

    def set_used(self, used: bool) -> None:
        if used != self.used:
            self.used = used
            self.refresh()

    def go_to(self, line: int) -> None:
        """Put ``line`` at the top, at once."""
        self.scroll_to(y=line, animate=False, immediate=True, force=True)

    def set_gutter(self, gutter: int) -> None:
        if gutter != self.gutter_width:
            self.gutter_width = gutter
            self._rewrap()

    # --- lines ----------------------------------------------------------------------------------

    def text_width(self, width: int) -> int:
        """Cells for text in a panel of ``width`` cells: the gutter, and a column for the scroll bar, are taken off."""
        return max(min(width - self.gutter_width - 2, self.WIDEST), 2)

    def needed(self, width: int, limit: int) -> int:
        """How many lines the document fills at ``width``, counted up to ``limit``."""
        if self.text_width(width) == self._width:
            self.ensure(limit)
            return min(len(self._lines), limit)
        return sum(1 for _ in islice(wrap(self.document.text, self.text_width(width), self.document.indents), limit))

    @property
    def complete(self) -> bool:
        """Every line is known."""
        return self._rest is None

    @property
    def lines_below(self) -> int:
        """Lines under the lowest one that was ever on the screen; 0 where the end was seen."""
        self._note_seen()
        if self._seen >= len(self.document.text.rstrip()):
            return 0
        return max(len(self._lines) - bisect_right(self._starts, self._seen), 1)

    def line_of(self, offset: int) -> int:
        """The line that holds the character at ``offset``."""
        while self._rest is not None and (not self._lines or self._lines[-1][0] <= offset):
            self.ensure(len(self._lines) + 200)
        return max(bisect_right(self._starts, offset) - 1, 0)

    def reveal(self, offset: int) -> None:
        """Scroll so that the character at ``offset`` is in view, with some lines around it."""
        line, top, height = self.line_of(offset), round(self.scroll_y), max(self.size.height, 1)
        if not top <= line < top + height:
            self.go_to(max(line - height // 3, 0))

    def _rewrap(self) -> None:
        self._width = self.text_width(self.size.width) if self.size.width else 0
        self._lines, self._starts, self._rest = [], [], None
        if self._width:
            self._rest = wrap(self.document.text, self._width, self.document.indents)
            self.ensure(round(self.scroll_y) + 2 * max(self.size.height, 20))
        self.refresh()

    def ensure(self, count: int | None) -> None:
        """Wrap until ``count`` lines are known (None: all), and set the height to what is known."""
        if self._rest is not None and (count is None or len(self._lines) < count):
            wanted = None if count is None else count - len(self._lines)
            self._add(list(islice(self._rest, wanted)), wanted)
        if self._rest is not None and not self._more_is_due:
            self._more_is_due = True
            self.set_timer(0.02, self._more)

    def _add(self, lines: list[Line], wanted: int | None) -> None:
        self._lines += lines
        self._starts += [line[0] for line in lines]
        if wanted is None or len(lines) < wanted:
            self._rest = None
        self.virtual_size = Size(self._width, len(self._lines))

    def _more(self) -> None:
        """Wrap on for a few milliseconds, then let keys through."""
        self._more_is_due = False
        until = perf_counter() + SLICE
        while self._rest is not None and perf_counter() < until:
            self._add(list(islice(self._rest, 100)), 100)
        self.ensure(0)

    def _note_seen(self) -> None:
        lowest = min(round(self.scroll_y) + self.size.height, len(self._lines)) - 1
        if lowest >= 0 and self.size.height:
            self._seen = max(self._seen, self._lines[lowest][1])

    # --- drawing --------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        line = round(self.scroll_y) + y
        if line >= len(self._lines):
            self.ensure(line + self.size.height)
        self._note_seen()
        base = self.rich_style
        pieces = [*self._gutter(y), *self._text(line)] if line < len(self._lines) else self._gutter(y)
        return Strip(pieces).extend_cell_length(self.size.width, base).crop(0, self.size.width).apply_style(base)

    def _text(self, line: int) -> list[Segment]:
        start, end, indent = self._lines[line]
        spans = _within(self.document.spans, self._span_starts, start, end)
        spans += _within(self._marks, self._mark_starts, start, end)
        pieces = [Segment(" " * indent)] if indent else []
        return pieces + [
            Segment(self.document.text[left:right], self._style(style)) for left, right, style in cut(spans, start, end)
        ]

    def _style(self, style: Style | None) -> RichStyle | None:
        return None if style is None else self.get_component_rich_style(f"panel--{style}", partial=True)

    def _gutter(self, y: int) -> list[Segment]:
        """Name and sign in the first line, what is hidden under it, and in the last line how much is below."""
        if not self.gutter_width:
            return []
        words, style = self._gutter_words(y)
        sign = "▸" if self.used and y == 0 else " "
        text = f"{sign}{cells.fit(words, self.gutter_width - 3)}"
        space = " " * (self.gutter_width - 2 - cells.width(text))
        bar = Segment("┃ ", self._component("bar")) if self.bar else Segment("  ")
        return [Segment(text + space, self._component(style)), bar]

    def _gutter_words(self, y: int) -> tuple[str, str]:
        if y == 0:
            return self.title, "used" if self.used else "title"
        below = len(self._lines) - round(self.scroll_y) - self.size.height
        if y == self.size.height - 1 and below > 0:
            return f"↓ {below:,}{'' if self.complete else '+'}", "gutter"
        if y == 1 and self.document.hidden:
            return f"{self.document.hidden:,} hidden", "gutter"
        return "", "gutter"

    def _component(self, name: str) -> RichStyle:
        return self.get_component_rich_style(f"panel--{name}", partial=True)

    # --- events ---------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        if self.text_width(self.size.width) != self._width:
            self._rewrap()

    def on_click(self, event: events.Click) -> None:
        self.post_message(self.Used(self))


def _within(spans: tuple[Span, ...], starts: list[int], start: int, end: int) -> tuple[Span, ...]:
    """The spans that touch a line; ``spans`` are in order and do not overlap, ``starts`` are their starts."""
    return spans[max(bisect_right(starts, start) - 1, 0) : bisect_right(starts, end)]
