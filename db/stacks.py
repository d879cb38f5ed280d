"""Undo and redo without limit: which act each of them would take, read off the log."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field

from db.fold import UNDOABLE


@dataclass(slots=True)
class Stacks:
    """The acts of a log (by sequence number) that undo and redo would take next, last first."""

    done: list[int] = field(default_factory=list)
    undone: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, events: Iterable[tuple[int, str, int | None]]) -> Stacks:
        """From the (seq, kind, target) of a whole log in its order. Raises ValueError where the log is not possible."""
        stacks = cls()
        for seq, kind, target in events:
            stacks.add(seq, kind, target)
        return stacks

    @classmethod
    def of_log(cls, connection: sqlite3.Connection, log_id: int) -> Stacks:
        """From the events of a log as they stand. Raises ValueError where the log is not possible."""
        return cls.of(
            connection.execute(
                "SELECT seq, kind, json_extract(body, '$.target') FROM events WHERE log_id = ? ORDER BY seq", (log_id,)
            )
        )

    def add(self, seq: int, kind: str, target: int | None = None) -> None:
        """Take in one more event. A new act leaves nothing to redo."""
        if kind == "undo":
            self._move(self.done, self.undone, seq, kind, target)
        elif kind == "redo":
            self._move(self.undone, self.done, seq, kind, target)
        elif kind in UNDOABLE:
            self.done.append(seq)
            self.undone.clear()

    def _move(self, source: list[int], target: list[int], seq: int, kind: str, expected: int | None) -> None:
        if not source or source[-1] != expected:
            raise ValueError(f"event {seq}: {kind} of event {expected}, which is not the one in turn")
        target.append(source.pop())
