"""How often an address may try a link that is none."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

WINDOW: Final = 60.0
WRONG: Final = 10
REMEMBERED: Final = 1000


class Guesses:
    """At most ``wrong`` failures of one address in ``window`` seconds; then it waits until the oldest is forgotten."""

    def __init__(
        self, *, wrong: int = WRONG, window: float = WINDOW, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._wrong, self._window, self._clock = wrong, window, clock
        self._failed: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Seconds until ``address`` may try again; 0 at once."""
        failed = self._failed.get(address)
        if failed is None:
            return 0.0
        now = self._clock()
        while failed and now - failed[0] >= self._window:
            failed.popleft()
        return self._window - (now - failed[0]) if len(failed) >= self._wrong else 0.0

    def failed(self, address: str) -> None:
        times = self._failed.setdefault(address, deque(maxlen=self._wrong))
        times.append(self._clock())
        self._failed.move_to_end(address)
        while len(self._failed) > REMEMBERED:
            self._failed.popitem(last=False)
