"""The coder's queue as a list that is fetched page by page around the cursor, however long it is."""

from __future__ import annotations

from collections.abc import Callable

from db.records import QueueEntry
from tui.requests import Page

PAGE = 100
"""Lines fetched at a time."""
NEAR = 10
"""Rows from an end of what is there at which more is fetched."""


class QueueList:
    """``entries``: the lines fetched so far, in order and without gaps."""

    def __init__(self, submit: Callable[[Page], None]) -> None:
        self.submit = submit
        self.entries: list[QueueEntry] = []
        self._all = False
        self._waiting = False

    def open(self, position: int) -> None:
        """Begin anew with the lines around ``position``."""
        self.entries, self._all = [], False
        self._fetch(Page(position - PAGE // 2, PAGE))

    def add(self, entries: tuple[QueueEntry, ...], before: bool) -> int:
        """Take in a page; returns by how many rows what was there has moved down."""
        self._waiting = False
        if before:
            fresh = [entry for entry in entries if entry.position < self.entries[0].position]
            self.entries[:0] = fresh
            return len(fresh)
        last = self.entries[-1].position if self.entries else 0
        self.entries += [entry for entry in entries if entry.position > last]
        self._all = not entries
        return 0

    def near(self, row: int) -> None:
        """The cursor is on ``row``: fetch what comes next to it."""
        if not self.entries or self._waiting:
            return
        first, last = self.entries[0].position, self.entries[-1].position
        if row >= len(self.entries) - NEAR and not self._all:
            self._fetch(Page(last, PAGE))
        elif row < NEAR and first > 1:
            self._fetch(Page(first - 1 - PAGE, min(PAGE, first - 1), before=True))

    def row_of(self, position: int) -> int:
        """The row of an item, 0 where it is not there."""
        return next((row for row, entry in enumerate(self.entries) if entry.position == position), 0)

    def _fetch(self, page: Page) -> None:
        self._waiting = True
        self.submit(page)
