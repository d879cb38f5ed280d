"""What a session came to: items, pace and time."""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

BREAK_EVERY: Final = 50 * 60.0
"""Active seconds after which a break is suggested."""
BREAK: Final = "50 minutes at work. A short break keeps labels good."
BREAK_IS: Final = 5 * 60.0
"""Seconds without a key that count as a break."""
TAKEN_BACK: Final = ""
"""Stands for no label at all; no label is called so."""


class SessionSummary(NamedTuple):
    """``coded``: acts that gave a label or a rating; ``items``: items that still have one at the end, ``by_label`` each
    under its last label; times in seconds.

    ``left`` is the number of items still to do, ``finished`` whether none was.
    """

    coder: str
    coded: int
    items: int
    skipped: int
    notes: int
    flags: int
    undone: int
    by_label: tuple[tuple[str, int], ...]
    active_seconds: float
    elapsed_seconds: float
    left: int
    total: int

    @property
    def finished(self) -> bool:
        return self.left == 0

    @property
    def seconds_an_item(self) -> float | None:
        """Active seconds for each coded item; None where none was coded."""
        return self.active_seconds / self.items if self.items else None

    def lines(self) -> list[tuple[str, str]]:
        """(name, value) pairs for a person."""
        pace = self.seconds_an_item
        labels = ", ".join(f"{name} {count}" for name, count in self.by_label)
        found = [
            ("Items coded", f"{self.items:,}" + (f" ({labels})" if labels else "")),
            ("Skipped", f"{self.skipped:,}"),
            ("Notes, flags", f"{self.notes:,}, {self.flags:,}"),
            ("Undone", f"{self.undone:,}"),
            (
                "Time at work",
                f"{duration(self.active_seconds)} (of {duration(self.elapsed_seconds)}; pauses not counted)",
            ),
            ("Pace", "no item was coded yet" if pace is None else f"{pace:.0f} s an item"),
            ("Left", f"{self.left:,} of {self.total:,}"),
        ]
        if pace is not None and self.left:
            found.append(("At this pace", f"{duration(pace * self.left)} to go"))
        return found


class Tally:
    """Counts a session as it goes. ``active``: seconds at work; ``at_work``: those since the last break."""

    def __init__(self, started: float, active: float = 0.0) -> None:
        self.started, self.active = started, active
        self.coded = self.skipped = self.notes = self.flags = self.undone = 0
        self._said = bytearray()
        """For each position in the queue what this session left there: 0 nothing, else the number of its label."""
        self._labels: list[str | None] = []
        self.last: float | None = None
        self.at_work = 0.0
        self.tired = False
        """A break was suggested and not taken since."""

    def add(self, kind: str, position: int | None, label: str | None) -> None:
        """Count one saved act. ``position``: of its item in the queue; ``label``: the item's label after it."""
        given = kind in ("label", "rating")
        if position is not None and (given or (kind in ("undo", "redo") and self._here(position))):
            self._leave(position, label, given)
        self.coded += given and position is not None
        self.skipped += kind == "skip"
        self.notes += kind == "note"
        self.flags += kind == "flag"
        self.undone += kind == "undo"

    def _here(self, position: int) -> bool:
        """Whether this session has labelled the item, or has taken that back."""
        return position < len(self._said) and self._said[position] > 0

    def _leave(self, position: int, label: str | None, given: bool) -> None:
        self._said.extend(bytes(max(0, position + 1 - len(self._said))))
        kept = label if label is not None or given else TAKEN_BACK
        if kept not in self._labels:
            self._labels.append(kept)
        self._said[position] = self._labels.index(kept) + 1

    def break_due(self, now: float) -> bool:
        """Call at every key; True once each time that a break is due."""
        gap = 0.0 if self.last is None else now - self.last
        self.last = now
        self.tired = self.tired and gap < BREAK_IS
        self.at_work = 0.0 if gap >= BREAK_IS else self.at_work + gap
        if self.at_work < BREAK_EVERY:
            return False
        self.at_work = 0.0
        self.tired = True
        return True

    def _counts(self) -> Counter[str | None]:
        """How many items stand under each label that this session gave; None for a rating alone."""
        found = Counter({label: self._said.count(number) for number, label in enumerate(self._labels, 1)})
        del found[TAKEN_BACK]
        return +found

    def summary(self, coder: str, now: float, left: int, total: int) -> SessionSummary:
        counts = self._counts()
        return SessionSummary(
            coder=coder,
            coded=self.coded,
            items=counts.total(),
            skipped=self.skipped,
            notes=self.notes,
            flags=self.flags,
            undone=self.undone,
            by_label=tuple((label, count) for label, count in counts.most_common() if label is not None),
            active_seconds=self.active,
            elapsed_seconds=now - self.started,
            left=left,
            total=total,
        )


def duration(seconds: float) -> str:
    """``45 s``, ``12 min``, ``3 h 05 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
