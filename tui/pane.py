"""A stretch of text in a frame of some lines; it draws itself as pieces with names of styles, and knows no widget.

Text is wrapped as far as it is looked at, so that a megabyte costs no more than a sentence.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from time import perf_counter
from typing import Final

from tui import cells
from tui.document import Document, Span, cut
from tui.wrapping import Line, wrap

WIDEST: Final = 100
"""Cells of a line of text at most: longer lines are hard to read."""
SLICE: Final = 0.008
"""Seconds of wrapping at a time, so that keys never wait for it."""
AHEAD: Final = 200
"""Lines that are wrapped at once where more are needed."""

Piece = tuple[str, str]
"""Text, and the name of its style (empty: the text's own)."""


class Pane:
    """``top`` is the first line in view, ``height`` the number of lines in view, ``used`` whether keys scroll it."""

    def __init__(self, title: str = "", *, gutter: int = 0, bar: bool = False) -> None:
        self.title, self.gutter, self.bar = title, gutter, bar
        self.document = Document()
        self.used = False
        self.top, self.height, self.cells = 0, 0, 0
        self._marks: tuple[Span, ...] = ()
        self._mark_starts: list[int] = []
        self._span_starts: list[int] = []
        self._lines: list[Line] = []
        self._starts: list[int] = []
        self._rest: Iterator[Line] | None = None
        self._seen = 0

    # --- what it holds --------------------------------------------------------------------------

    def show(self, document: Document) -> None:
        """Hold another document, from its top."""
        self.document, self.top, self._seen = document, 0, 0
        self._span_starts = [span.start for span in document.spans]
        self.mark(())
        self._rewrap()

    def mark(self, spans: Sequence[Span]) -> None:
        """Mark places, over the document's own styles. ``spans`` are in order and do not overlap."""
        self._marks = tuple(spans)
        self._mark_starts = [span.start for span in self._marks]

    @property
    def marks(self) -> tuple[Span, ...]:
        return self._marks

    # --- lines ----------------------------------------------------------------------------------

    def set_width(self, width: int) -> None:
        """Fit ``width`` cells, of which the gutter and a column for the scroll bar are taken off."""
        wanted = max(min(width - self.gutter - 2, WIDEST), 2)
        if wanted != self.cells:
            first = self._lines[self.top][0] if self.top < len(self._lines) else 0
            self.cells = wanted
            self._rewrap()
            self.top = self.line_of(first) if first else 0

    def needed(self, limit: int) -> int:
        """How many lines the document fills, counted up to ``limit``."""
        self.ensure(limit)
        return min(len(self._lines), limit)

    @property
    def complete(self) -> bool:
        """Every line is known."""
        return self._rest is None

    @property
    def known(self) -> int:
        """The number of lines known so far."""
        return len(self._lines)

    def ensure(self, count: int | None) -> None:
        """Wrap until ``count`` lines are known; None: all."""
        if self._rest is not None and (count is None or len(self._lines) < count):
            self._add(None if count is None else count - len(self._lines))

    def more(self) -> bool:
        """Wrap on for a few milliseconds; True where there is still more."""
        until = perf_counter() + SLICE
        while self._rest is not None and perf_counter() < until:
            self._add(AHEAD)
        return self._rest is not None

    def line_of(self, offset: int) -> int:
        """The line that holds the character at ``offset``."""
        while self._rest is not None and (not self._lines or self._lines[-1][0] <= offset):
            self._add(AHEAD)
        return max(bisect_right(self._starts, offset) - 1, 0)

    def _rewrap(self) -> None:
        self._lines, self._starts, self._rest = [], [], None
        if self.cells:
            self._rest = wrap(self.document.text, self.cells, self.document.indents)

    def _add(self, wanted: int | None) -> None:
        assert self._rest is not None
        lines = list(islice(self._rest, wanted))
        self._lines += lines
        self._starts += [line[0] for line in lines]
        if wanted is None or len(lines) < wanted:
            self._rest = None

    # --- where it is ----------------------------------------------------------------------------

    def go_to(self, line: int) -> None:
        """Put ``line`` at the top, as far as the text reaches."""
        self.ensure(line + 2 * self.height)
        self.top = max(min(line, len(self._lines) - self.height), 0)
        self.note_seen()

    def reveal(self, offset: int) -> None:
        """Scroll so that the character at ``offset`` is in view, with some lines above it."""
        line = self.line_of(offset)
        if not self.top <= line < self.top + self.height:
            self.go_to(line - self.height // 3)

    def note_seen(self) -> None:
        """What is in view now has been seen."""
        self.ensure(self.top + self.height + AHEAD)
        lowest = min(self.top + self.height, len(self._lines)) - 1
        if self.height and lowest >= 0:
            self._seen = max(self._seen, self._lines[lowest][1])

    @property
    def unseen(self) -> int:
        """Lines under the lowest one that was ever in view; 0 where the end was seen."""
        end = len(self.document.text.rstrip())
        if self._seen >= end:
            return 0
        return max(bisect_left(self._starts, end) - bisect_left(self._starts, self._seen), 1)

    # --- drawing --------------------------------------------------------------------------------

    def row(self, y: int) -> list[Piece]:
        """The row ``y`` of the frame, gutter first."""
        line = self.top + y
        self.ensure(line + 1)
        return [*self._gutter_pieces(y), *(self._text(line) if line < len(self._lines) else [])]

    def thumb(self, y: int) -> bool | None:
        """Whether the scroll bar's thumb covers row ``y``; None where everything is in view."""
        total = len(self._lines)
        if total <= self.height:
            return None
        size = max(self.height * self.height // total, 1)
        start = round(self.top * (self.height - size) / max(total - self.height, 1))
        return start <= y < start + size

    def _text(self, line: int) -> list[Piece]:
        start, end, indent = self._lines[line]
        spans = _within(self.document.spans, self._span_starts, start, end)
        spans += _within(self._marks, self._mark_starts, start, end)
        pieces: list[Piece] = [
            (self.document.text[left:right], style or "") for left, right, style in cut(spans, start, end)
        ]
        return [(" " * indent, ""), *pieces] if indent else pieces

    def _gutter_pieces(self, y: int) -> list[Piece]:
        """Name and sign in the first row, what is hidden under it, and in the last row how much is below."""
        if not self.gutter:
            return []
        words, style = self._gutter_words(y)
        sign = "▸" if self.used and y == 0 else " "
        text = f"{sign}{cells.fit(words, self.gutter - 3)}"
        space = " " * (self.gutter - 2 - cells.width(text))
        return [(text + space, style), ("┃ " if self.bar else "  ", "bar")]

    def _gutter_words(self, y: int) -> Piece:
        if y == 0:
            return self.title, "used" if self.used else "title"
        below = len(self._lines) - self.top - self.height
        if y == self.height - 1 and below > 0:
            return f"↓ {below:,}{'' if self.complete else '+'}", "gutter"
        if y == 1 and self.document.hidden:
            return f"{self.document.hidden:,} hidden", "gutter"
        return "", "gutter"


def _within(spans: tuple[Span, ...], starts: list[int], start: int, end: int) -> tuple[Span, ...]:
    """The spans that touch a line; ``spans`` are in order and do not overlap, ``starts`` are their starts."""
    return spans[max(bisect_right(starts, start) - 1, 0) : bisect_right(starts, end)]
