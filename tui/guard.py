"""Held keys: no label falls on an item that nobody had time to see.

Terminals report no key release, only the same key again and again: first after the keyboard's initial delay (200 ms to
about a second), then every 20 to 120 ms. So a labelling key is

- refused within ``dwell`` seconds of the paint of the item (``min_dwell_ms`` of the protocol);
- refused where it belongs to a run of the same key;
- held back for :data:`RUN_GAP` where it repeats the key before it after a pause that could be the initial delay. If
  another of the same key follows in that time it was a held key, and neither counts; if not, it is let through.

With a dwell of 0 everything passes.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

RUN_GAP: Final = 0.15
"""Seconds: two events of one key closer than this may come from a held key."""
SHORTEST_DELAY: Final = 0.2
LONGEST_DELAY: Final = 1.1


class Verdict(Enum):
    PASS = "pass"
    EARLY = "early"
    HELD = "held"
    WAIT = "wait"


class Guard(NamedTuple):
    """``running``: the last events of ``key`` come from a held key; ``waiting``: the last one was held back."""

    dwell: float
    key: str = ""
    at: float = float("-inf")
    running: bool = False
    waiting: bool = False

    def seen(self, key: str, at: float) -> Guard:
        """After an event of ``key`` at ``at`` seconds, whatever it does."""
        same = key == self.key
        gap = at - self.at
        running = same and gap <= RUN_GAP and (self.running or self.waiting)
        return Guard(self.dwell, key, at, running)

    def judge(self, key: str, at: float, painted: float | None) -> tuple[Guard, Verdict]:
        """What becomes of a labelling key pressed at ``at`` on an item painted at ``painted`` (None: not yet)."""
        after = self.seen(key, at)
        if not self.dwell:
            return after, Verdict.PASS
        if after.running:
            return after, Verdict.HELD
        if painted is None or at - painted < self.dwell:
            # A key held across an item's paint goes on running into the next one.
            return after._replace(running=key == self.key and at - self.at <= LONGEST_DELAY), Verdict.EARLY
        if key == self.key and SHORTEST_DELAY <= at - self.at <= LONGEST_DELAY:
            return after._replace(waiting=True), Verdict.WAIT
        return after, Verdict.PASS
