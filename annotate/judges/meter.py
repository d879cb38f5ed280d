"""What a run has done so far, and the one line that says so."""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import dataclass

from annotate.console import rewrites

TERMINAL_SECONDS = 0.25
FILE_SECONDS = 10.0
RATE_WINDOW = 15.0


@dataclass(slots=True)
class Meter:
    """Counts of one run. ``done`` replies stored, of which ``odd`` are no label; ``failed`` failures stored."""

    total: int
    done: int = 0
    odd: int = 0
    failed: int = 0
    attempts: int = 0
    limited: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None

    def add_tokens(self, prompt: int | None, completion: int | None, cost: float | None) -> None:
        self.prompt_tokens += prompt or 0
        self.completion_tokens += completion or 0
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost

    @property
    def settled(self) -> int:
        return self.done + self.failed


def progress_line(meter: Meter, rate: float) -> str:
    """``312 of 3,000 done, 2 failed, 1 no label | 151.2/s | 412k tokens | $1.23 | 0:18 left``."""
    parts = [
        f"{meter.done:,} of {meter.total:,} done, {meter.failed:,} failed, {meter.odd:,} no label",
        f"{rate:.1f}/s",
    ]
    parts.append(f"{_short(meter.prompt_tokens + meter.completion_tokens)} tokens")
    parts.append(
        "cost unknown" if meter.cost is None else f"${meter.cost:,.4f}" if meter.cost < 1 else f"${meter.cost:,.2f}"
    )
    left = meter.total - meter.settled
    parts.append(f"{_clock(left / rate)} left" if rate > 0 else "time left unknown")
    return " | ".join(parts)


def _short(number: int) -> str:
    if number < 10_000:
        return f"{number:,}"
    return f"{number / 1e3:,.0f}k" if number < 10_000_000 else f"{number / 1e6:,.1f}M"


def _clock(seconds: float) -> str:
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"


class Display:
    """Writes the line to stderr: rewritten in a terminal, a plain line now and then elsewhere."""

    def __init__(self, meter: Meter, *, every: float | None = None) -> None:
        self._meter = meter
        self._terminal = rewrites()
        self._every = every or (TERMINAL_SECONDS if self._terminal else FILE_SECONDS)
        self._marks: list[tuple[float, int]] = [(time.monotonic(), 0)]
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Display:
        self._task = asyncio.create_task(self._tick())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self._meter.total:
            self._write(last=True)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            self._write()

    def _rate(self) -> float:
        """Settled calls a second over the last fifteen seconds."""
        now = time.monotonic()
        self._marks.append((now, self._meter.settled))
        while len(self._marks) > 2 and now - self._marks[1][0] > RATE_WINDOW:
            del self._marks[0]
        then, settled = self._marks[0]
        return (self._meter.settled - settled) / (now - then) if now > then else 0.0

    def _write(self, *, last: bool = False) -> None:
        line = progress_line(self._meter, self._rate())
        sys.stderr.write(f"\r{line}\x1b[K{chr(10) if last else ''}" if self._terminal else f"{line}\n")
        sys.stderr.flush()
