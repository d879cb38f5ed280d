"""What the drawing widgets share: they draw whole lines from a table of styles, past Textual's style sheets.

A label must bring the next item within a few milliseconds; matching style rules against each stretch of text costs ten
times as much as drawing it.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tui.themes import styles


class Drawn(Widget, can_focus=False):
    """A widget that draws its lines itself, on the look named ``ground``."""

    def __init__(self, *, ground: str = "ground", id: str | None = None) -> None:
        super().__init__(id=id)
        self.ground = ground
        self._styles_of: Mapping[str, Style] = styles("dark")

    def set_theme(self, theme: str) -> None:
        """Draw in another theme from now on."""
        self._styles_of = styles(theme)
        self.refresh()

    @property
    def base(self) -> Style:
        """The style of what has none of its own."""
        return self._styles_of[self.ground]

    def segment(self, text: str, name: str) -> Segment:
        """A stretch of text in a look; empty: the ground's."""
        return Segment(text, self._styles_of[name] if name else None)

    def draw_line(self, y: int) -> Strip:
        """One line, as wide as the widget."""
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:
        return self.draw_line(y)

    def render_lines(self, crop: Region) -> list[Strip]:
        strips = [self.draw_line(y) for y in crop.line_range]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, _BLACK) for strip in strips]
        return [strip.crop(crop.x, crop.right) for strip in strips]


_BLACK = Color(0, 0, 0)
