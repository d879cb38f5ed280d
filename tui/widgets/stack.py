"""Panes one under the other in one widget: a new item is one repaint, and no layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from tui.layout import Need, share
from tui.pane import Pane
from tui.widgets.drawn import Drawn

MOST_LINES = 400
"""Lines of a pane that are counted to share out the height."""
WHEEL = 3
"""Lines a turn of the wheel."""


class Place(NamedTuple):
    """Where a pane stands: rows ``y`` to ``y + pane.height``."""

    pane: Pane
    y: int


class Stack(Drawn, can_focus=False):
    """Draws panes and shares its height among them. ``judged`` panes stand out; ``padding_top`` rows stay free."""

    class Used(Message):
        """A pane was clicked."""

        def __init__(self, pane: Pane) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self, *, ground: str = "ground", id: str | None = None, left: int = 1, top: int = 1) -> None:
        super().__init__(ground=ground, id=id)
        self._left, self._most_top = left, top
        self._panes: tuple[Pane, ...] = ()
        self._judged: frozenset[Pane] = frozenset()
        self._places: list[Place] = []
        self._fitted: Size | None = None
        self._more_is_due = False

    # --- what it holds --------------------------------------------------------------------------

    def show(self, panes: Sequence[Pane], judged: Sequence[Pane] = ()) -> None:
        """Draw these panes from now on."""
        self._panes, self._judged = tuple(panes), frozenset(judged)
        self.fit_panes()

    def fit_panes(self) -> None:
        """Share the height out anew: a pane holds something else, or another one is in use."""
        if self._share_out():
            self.refresh()

    def _share_out(self) -> bool:
        """False while the widget has no size."""
        width, height = self.size
        if not width or not height:
            return False
        self._fitted = self.size
        for pane in self._panes:
            pane.set_width(width - self._left)
        top = self._most_top if height >= 20 else 0
        needs = [Need(pane.needed(MOST_LINES), pane in self._judged, pane.used) for pane in self._panes]
        room = height - top
        tight = sum(need.lines + 1 for need in needs) - 1 > room
        gaps = [self._gap(tight, above, below) for above, below in zip(self._panes, self._panes[1:], strict=False)]
        self._place(share(needs, room - sum(gaps)), gaps, top)
        self._wrap_later()
        return True

    def _gap(self, tight: bool, above: Pane, below: Pane) -> int:
        """A row between all panes where everything fits, else only around what is judged."""
        return 0 if tight and above not in self._judged and below not in self._judged else 1

    def _place(self, heights: list[int], gaps: list[int], top: int) -> None:
        self._places = []
        for pane, height, gap in zip(self._panes, heights, [*gaps, 0], strict=False):
            pane.height = max(min(height, self.size.height - top), 0)
            self._places.append(Place(pane, top))
            pane.go_to(pane.top)
            top += height + gap

    # --- scrolling ------------------------------------------------------------------------------

    def scroll_pane(self, pane: Pane, line: int) -> None:
        """Put ``line`` of ``pane`` at its top."""
        pane.go_to(line)
        self.repaint(pane)

    def repaint(self, pane: Pane) -> None:
        """Draw one pane again."""
        place = next((place for place in self._places if place.pane is pane), None)
        if place is not None:
            self.refresh(Region(0, place.y, self.size.width, max(pane.height, 1)))

    def _wrap_later(self) -> None:
        if not self._more_is_due and any(not pane.complete for pane in self._panes):
            self._more_is_due = True
            self.set_timer(0.02, self._wrap_more)

    def _wrap_more(self) -> None:
        self._more_is_due = False
        for pane in self._panes:
            if not pane.complete:
                pane.more()
                self.repaint(pane)
                break
        self._wrap_later()

    # --- drawing --------------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        """A new size is met here and not on the event, which comes a frame later: the first frame shows the item."""
        if self._fitted != self.size:
            self._share_out()
        return super().render_lines(crop)

    def draw_line(self, y: int) -> Strip:
        place = next((place for place in self._places if place.y <= y < place.y + place.pane.height), None)
        if place is None:
            return Strip.blank(self.size.width, self.base)
        pane, row = place.pane, y - place.y
        pieces = [self._margin(pane, row), *(self.segment(text, name) for text, name in pane.row(row))]
        strip = Strip(pieces).adjust_cell_length(self.size.width - 1)
        base = self.base + self._styles_of["judged"] if pane in self._judged else self.base
        return Strip([*strip, self._rail(pane, row)]).apply_style(base)

    def _margin(self, pane: Pane, row: int) -> Segment:
        """What stands left of a pane: the sign that keys scroll it, where it has no gutter to show that in."""
        if pane.used and not pane.gutter and row == 0 and self._left:
            return self.segment("▸".ljust(self._left), "used")
        return Segment(" " * self._left)

    def _rail(self, pane: Pane, row: int) -> Segment:
        """The scroll bar's cell: thick where the thumb is, thin elsewhere, nothing where all is in view."""
        thumb = pane.thumb(row)
        return Segment(" ") if thumb is None else self.segment("┃", "thumb") if thumb else self.segment("│", "rail")

    # --- events ---------------------------------------------------------------------------------

    def _at(self, y: int) -> Pane | None:
        return next((place.pane for place in self._places if place.y <= y < place.y + place.pane.height), None)

    def on_resize(self, event: events.Resize) -> None:
        if self._fitted != self.size:
            self.fit_panes()

    def on_click(self, event: events.Click) -> None:
        pane = self._at(event.y)
        if pane is not None:
            self.post_message(self.Used(pane))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, -WHEEL)

    def _wheel(self, event: events.MouseEvent, lines: int) -> None:
        event.stop()
        pane = self._at(event.y)
        if pane is not None:
            self.scroll_pane(pane, pane.top + lines)
