"""Active time: the gaps between what a coder does, each capped, so that an idle desk does not count as coding."""

from __future__ import annotations

LEAST_CAP = 60.0
"""Seconds that a gap counts for at most, or the time to read the text if that is longer."""
WORDS_PER_SECOND = 150 / 60


class Activity:
    """A running count of active seconds for one item; every key, scroll and mouse event calls :meth:`touch`."""

    def __init__(self) -> None:
        self.cap = LEAST_CAP
        self.last: float | None = None
        self.seconds = 0.0

    def begin(self, words: int, now: float) -> None:
        """A new item of ``words`` words is on the screen."""
        self.cap = max(LEAST_CAP, words / WORDS_PER_SECOND)
        self.last = now
        self.seconds = 0.0

    def touch(self, now: float) -> None:
        """Something was done at ``now`` seconds of a clock that never goes back."""
        if self.last is not None:
            self.seconds += min(max(now - self.last, 0.0), self.cap)
        self.last = now

    def take(self, now: float) -> int:
        """The active milliseconds up to now; the count begins anew, so that no time is given to two acts."""
        self.touch(now)
        taken, self.seconds = round(self.seconds * 1000), 0.0
        return taken
