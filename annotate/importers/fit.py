"""The one way to say that a record cannot be imported, while the rest of its file can."""

from __future__ import annotations


class Unfit(Exception):
    """A record that cannot be imported; its text is the reason. What a record gave before it is not imported either."""
