"""Escape sequences that Textual does not know arrive as the keys that spell them: ``[``, some digits and a letter.

An unknown function key or a late answer of the terminal must not label an item: what follows an introducer without any
time between them is no typing. Where text is typed nothing is held back, for a slow connection delivers keys together.
"""

from __future__ import annotations

from typing import Final

GAP: Final = 0.005
"""Seconds: nobody types two keys closer than this, and the parts of a sequence always are."""
INTRODUCERS: Final = frozenset("[]O")


class Fragments:
    """Remembers the last key; ``inside`` a sequence everything is swallowed until there is a gap."""

    def __init__(self) -> None:
        self.last = ""
        self.at = float("-inf")
        self.inside = False

    def swallows(self, key: str, at: float) -> bool:
        """Whether this key is a part of a sequence that was not understood."""
        close = at - self.at <= GAP
        self.inside = close and (self.inside or self.last in INTRODUCERS)
        self.last, self.at = key, at
        return self.inside
