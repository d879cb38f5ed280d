"""Progress on stderr for anything over a second: rewritten in a terminal, a line now and then elsewhere or if plain."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Self

from annotate.console import rewrites

FIRST_SECONDS = 1.0
TERMINAL_SECONDS = 0.1
FILE_SECONDS = 10.0


class Progress:
    """``with Progress("Reading", total=1000) as progress: progress(17)``: 17 of 1,000 done so far."""

    def __init__(self, what: str, total: int | None = None, *, unit: str = "rows") -> None:
        self._what, self._total, self._unit = what, total, unit
        self._terminal = rewrites()
        self._next = time.monotonic() + FIRST_SECONDS
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def __call__(self, done: int, total: int | None = None) -> None:
        """Say how far it is, when it is time to say it."""
        now = time.monotonic()
        if now < self._next:
            return
        self._total = total or self._total
        self._next = now + (TERMINAL_SECONDS if self._terminal else FILE_SECONDS)
        self._shown = True
        of = f" of {self._total:,}" if self._total else ""
        text = f"{self._what}: {done:,}{of} {self._unit}"
        sys.stderr.write(f"\r{text}\x1b[K" if self._terminal else f"{text}\n")
        sys.stderr.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown and self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class Waiting:
    """``with Waiting("Computing score impact"):``: says after a second that something is going on, and for how long."""

    _pauses = (1.0, 3600.0)
    """Seconds between two lines: where a terminal rewrites them, and elsewhere."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._terminal = rewrites()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._talk, daemon=True)

    def __enter__(self) -> Self:
        self._start = time.monotonic()
        self._thread.start()
        return self

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._start

    def _text(self) -> str:
        return f"{self._what}: {self._seconds:.0f} s" if self._terminal else f"{self._what} …"

    def _talk(self) -> None:
        wait = FIRST_SECONDS
        while not self._over.wait(wait):
            wait = self._pauses[0 if self._terminal else 1]
            text = self._text()
            sys.stderr.write(f"\r{text}\x1b[K" if self._terminal else f"{text}\n")
            sys.stderr.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        if self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
