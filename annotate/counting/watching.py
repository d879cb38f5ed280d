"""How far an engine is, on stderr, while it counts."""

from __future__ import annotations

from collections.abc import Callable

from annotate.progress import FILE_SECONDS, Waiting


class Watching(Waiting):
    """``with Watching("Counting", engine.done):``: how much is done, now and then; a terminal rewrites it."""

    _pauses = (0.5, FILE_SECONDS)

    def __init__(self, what: str, done: Callable[[], tuple[int, int] | None]) -> None:
        super().__init__(what)
        self._done = done

    def _text(self) -> str:
        return f"{self._what}: {self._seconds:.0f} s{self._share()}"

    def _share(self) -> str:
        try:
            found = self._done()
        except Exception:  # the engine may be on its way out: progress is never worth a fault
            return ""
        return "" if found is None else f", {found[0]:,} of {found[1]:,}{' %' if found[1] == 100 else ' tasks'}"
