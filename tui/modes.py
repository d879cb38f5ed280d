"""The modes of the desk: at any moment a key has one meaning, and the mode's name is on the screen."""

from __future__ import annotations

from enum import Enum


class Mode(Enum):
    """``value`` is the word that the screen shows."""

    LABEL = "LABEL"
    RATE = "RATE"
    """A protocol without labels: the rating is all that is asked."""
    RATING = "RATING"
    """A label is chosen and waits for its rating."""
    NOTE = "NOTE"
    SKIP = "SKIP"
    REASON = "REASON"
    """The reason of a skip in the coder's own words."""
    FLAG = "FLAG"
    SEARCH = "SEARCH"
    GO = "GO TO"
    PALETTE = "COMMAND"
    HELP = "CODEBOOK"
    SUMMARY = "SUMMARY"
    LEAVE = "LEAVE?"
    PROTOCOL = "CHANGED"
    SAVING = "SAVING"
    FAILED = "NOT SAVED"
    DONE = "DONE"


CODING = frozenset({Mode.LABEL, Mode.RATE})
"""An item is shown and waits for what the protocol asks."""

TYPING = frozenset({Mode.NOTE, Mode.REASON, Mode.SEARCH, Mode.PALETTE})
"""Printable keys are text."""

SHEETS = frozenset({Mode.HELP, Mode.SUMMARY, Mode.PROTOCOL})
"""A page covers the item."""
