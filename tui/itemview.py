"""The panes of the item on the screen: which is in use, what is found in them, what is marked."""

from __future__ import annotations

from collections.abc import Iterator

from db.records import CodingItem
from tui.document import Span, places
from tui.pane import Pane
from tui.parts import Part, parts

GUTTER = 13
"""Cells of the column in which the names of the parts stand."""


class ItemView:
    """``panes``: by the name of their part, in reading order."""

    def __init__(self) -> None:
        self.panes: dict[str, Pane] = {}
        self.parts: dict[str, Part] = {}
        self.used = ""
        self._found: list[tuple[str, int, int]] = []
        self._here = -1

    def show(self, item: CodingItem | None) -> None:
        """Hold another item; what is judged is in use."""
        self.parts = {} if item is None else {part.name: part for part in parts(item)}
        self.panes = {name: self._pane(part) for name, part in self.parts.items()}
        self._found, self._here = [], -1
        self.use("response")

    def _pane(self, part: Part) -> Pane:
        pane = Pane(part.title, gutter=GUTTER, bar=part.judged)
        pane.show(part.document)
        return pane

    @property
    def judged(self) -> list[Pane]:
        return [self.panes[name] for name, part in self.parts.items() if part.judged]

    @property
    def pane(self) -> Pane | None:
        """The pane in use."""
        return self.panes.get(self.used)

    @property
    def unseen(self) -> int:
        """Lines of what is judged that were never in view."""
        return sum(pane.unseen for pane in self.judged)

    def use(self, name: str) -> None:
        self.used = name
        for other, pane in self.panes.items():
            pane.used = other == name

    def use_pane(self, pane: Pane) -> None:
        self.use(next((name for name, known in self.panes.items() if known is pane), self.used))

    def turn(self, by: int) -> None:
        """Use the next pane, or the one before."""
        names = list(self.panes)
        if names:
            self.use(names[(names.index(self.used) + by) % len(names)])

    def find(self, text: str, turn: int) -> Pane | None:
        """Mark every place of ``text``; go to the first, next or previous. Returns the pane that it is in."""
        if not turn:
            self._found = [(name, *place) for name, part in self.parts.items() for place in places(part.document, text)]
            self._here = 0 if self._found else -1
        elif self._found:
            self._here = (self._here + turn) % len(self._found)
        for name, pane in self.panes.items():
            pane.mark(list(self._marks(name)))
        if self._here < 0:
            return None
        name, start, _ = self._found[self._here]
        self.use(name)
        self.panes[name].reveal(start)
        return self.panes[name]

    @property
    def found(self) -> str:
        """``2 of 5``, or that there is nothing."""
        return f"{self._here + 1:,} of {len(self._found):,}" if self._found else "not found"

    def highlight(self, on: bool) -> None:
        """Mark what response and gold answer share, or no longer."""
        from tui.differences import differences

        said, wanted = differences(self.parts["response"].document, self.parts["gold"].document)
        self.panes["response"].mark(said if on else ())
        self.panes["gold"].mark(wanted if on else ())

    def _marks(self, name: str) -> Iterator[Span]:
        for number, (where, start, end) in enumerate(self._found):
            if where == name:
                yield Span(start, end, "here" if number == self._here else "match")
