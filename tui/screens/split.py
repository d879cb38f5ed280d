"""A screen of the lead's: a status line, two stacks of panes side by side, a bottom line; and the keys that scroll."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from tui.fragments import Fragments
from tui.pane import Pane
from tui.widgets.rows import Rows
from tui.widgets.stack import Stack

SCROLL: Final[Mapping[str, Callable[[Pane], int]]] = {
    "up": lambda pane: pane.top - 1,
    "down": lambda pane: pane.top + 1,
    "pageup": lambda pane: pane.top - max(pane.height - 1, 1),
    "pagedown": lambda pane: pane.top + max(pane.height - 1, 1),
    "space": lambda pane: pane.top + max(pane.height - 1, 1),
    "home": lambda pane: 0,
    "end": lambda pane: 10**9,
}
"""The line that a key puts at the top of the pane that is in use."""


class SplitScreen(Screen[None], inherit_bindings=False):
    """Keys go to the screen and to no widget."""

    AUTO_FOCUS: ClassVar[str | None] = ""
    ALLOW_SELECT: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self._status, self._bottom = Rows(id="status"), Rows(id="bottom")
        self._left, self._right = Stack(id="item"), Stack(id="codebook", ground="side", left=2)
        self._fragments = Fragments()

    def compose(self) -> ComposeResult:
        for widget in (self._status, self._left, self._right, self._bottom):
            widget.set_theme(self.look())  # here, because a frame may be drawn before the screen is mounted
        yield self._status
        with Container(id="desk"):
            yield self._left
            yield self._right
        yield self._bottom

    def look(self) -> str:
        """The name of the theme."""
        raise NotImplementedError
