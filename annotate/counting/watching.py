"""How far an engine is, on stderr, while it counts."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType

from annotate.console import rewrites
from annotate.progress import FILE_SECONDS, FIRST_SECONDS

TERMINAL_SECONDS = 0.5


class Watching:
    """``with Watching("Counting", engine.done):``: how much is done, now and then; a terminal rewrites it."""

    def __init__(self, what: str, done: Callable[[], tuple[int, int] | None]) -> None:
        self._what, self._done = what, done
        self._terminal = rewrites()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._talk, daemon=True)

    def __enter__(self) -> Watching:
        self._start = time.monotonic()
        self._thread.start()
        return self

    def _talk(self) -> None:
        wait = FIRST_SECONDS
        while not self._over.wait(wait):
            wait = TERMINAL_SECONDS if self._terminal else FILE_SECONDS
            text = f"{self._what}: {time.monotonic() - self._start:.0f} s{self._share()}"
            sys.stderr.write(f"\r{text}\x1b[K" if self._terminal else f"{text}\n")
            sys.stderr.flush()

    def _share(self) -> str:
        try:
            found = self._done()
        except Exception:  # the engine may be on its way out: progress is never worth a fault
            return ""
        return "" if found is None else f", {found[0]:,} of {found[1]:,}{' %' if found[1] == 100 else ' tasks'}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        if self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
