"""When the next call may start: rate limits are one gate for all workers, and a breaker stops a run that only fails."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass

LONGEST_OBEYED = 900.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How much failing a run takes. Times in seconds.

    ``attempts`` a response for passing faults, ``rate_attempts`` for rate limits; the breaker opens after ``in_a_row``
    failed calls without one that succeeded, then tries one call after ``cool_down`` (doubling), ``probes`` times.
    """

    attempts: int = 6
    rate_attempts: int = 30
    in_a_row: int = 10
    cool_down: float = 5.0
    probes: int = 5


class Stop:
    """Set once, with the reason; whoever waits wakes up."""

    def __init__(self) -> None:
        self.reason = ""
        self.interrupted = False
        self._event = asyncio.Event()

    def __bool__(self) -> bool:
        return self._event.is_set()

    def set(self, reason: str, *, interrupted: bool = False) -> None:
        if not self:
            self.reason, self.interrupted = reason, interrupted
            self._event.set()

    async def sleep(self, seconds: float) -> None:
        """Sleep, but not longer than until the run is stopped."""
        if seconds <= 0 or self:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return


class Gate:
    """Closed until a time; ``per_second`` spaces calls out beyond that."""

    def __init__(self, stop: Stop, chance: random.Random, per_second: float | None = None) -> None:
        self._stop, self._chance = stop, chance
        self._opens = 0.0
        self._spread = 0.0
        self._gap = 1.0 / per_second if per_second else 0.0
        self._slot = 0.0

    def close_for(self, seconds: float) -> None:
        """No call starts before ``seconds`` are over; then they start spread over a quarter of that (1 s at most)."""
        opens = time.monotonic() + seconds
        if opens > self._opens:
            self._opens, self._spread = opens, min(1.0, seconds / 4)

    async def passed(self) -> None:
        """Return when a call may start, or when the run is stopped."""
        while not self._stop and (wait := self._opens - time.monotonic()) > 0:
            await self._stop.sleep(wait + self._chance.uniform(0.001, self._spread + 0.002))
        if self._gap:
            now = time.monotonic()
            self._slot = max(self._slot + self._gap, now)
            await self._stop.sleep(self._slot - now)
            if self._opens > time.monotonic():
                await self.passed()


class Breaker:
    """Opens after many failures in a row, lets one call through at a time, and stops the run when those fail too."""

    def __init__(self, stop: Stop, patience: Patience, in_a_row: int) -> None:
        self._stop, self._patience, self._limit = stop, patience, in_a_row
        self._row = 0
        self._probes = 0
        self._probing = False
        self._until = 0.0
        self._last = ""

    @property
    def open(self) -> bool:
        return self._row >= self._limit

    async def passed(self) -> bool:
        """Wait until a call may go; True where that call is the probe of an open breaker."""
        while self.open and not self._stop:
            wait = self._until - time.monotonic()
            if wait <= 0 and not self._probing:
                self._probing = True
                return True
            await self._stop.sleep(max(0.02, min(wait, 1.0)))
        return False

    def succeeded(self) -> None:
        self._row = self._probes = 0
        self._probing = False

    def failed(self, what: str, *, probe: bool) -> None:
        """Count a failure; those of calls that were under way when the breaker opened count for nothing."""
        if probe:
            self._probing = False
            self._probes += 1
            self._cool(what)
        elif not self.open:
            self._row += 1
            if self.open:
                self._cool(what)

    def let_go(self) -> None:
        """A probe that ended without an answer of the endpoint's."""
        self._probing = False

    def _cool(self, what: str) -> None:
        if self._probes >= self._patience.probes:
            self._stop.set(f"every call fails ({what})")
        self._until = time.monotonic() + self._patience.cool_down * 2.0**self._probes
