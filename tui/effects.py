"""What the key machine asks for: plain records, carried out by the screen.

Named tuples, here and in the other modules that the screen loads: a dataclass takes eight times as long to define, and
sixty of them would be a tenth of the time in which the desk opens.
"""

from __future__ import annotations

from typing import NamedTuple

from tui.modes import Mode


class Commit(NamedTuple):
    """Save a label, a rating or both, with the note that an impossible label needs; then go on."""

    label: str | None
    rating: int | None
    note: str | None


class SaveNote(NamedTuple):
    """Save a note (empty: remove it)."""

    text: str


class Draft(NamedTuple):
    """Keep an unsent note."""

    text: str


class Flag(NamedTuple):
    """Set the flag, or take it off."""

    name: str


class Skip(NamedTuple):
    """Skip the item for this reason."""

    reason: str


class Run(NamedTuple):
    """Carry out the action of this name."""

    action: str


class Opened(NamedTuple):
    """A panel opens in this mode."""

    mode: Mode


class GoTo(NamedTuple):
    """Show the item of this number."""

    number: int


class Pick(NamedTuple):
    """Show the item in this row of the list."""

    row: int


class Find(NamedTuple):
    """Mark ``text`` in the item; ``turn`` 1 or -1 goes to the next or the previous place."""

    text: str
    turn: int


class Unseen(NamedTuple):
    """A label was pressed before this many lines of the response had been on the screen: say so, once."""

    lines: int


class Notice(NamedTuple):
    """A quiet line: a key was refused, or something was taken back."""

    text: str


class ConfirmProtocol(NamedTuple):
    """The coder has read what changed in the codebook."""


class Retry(NamedTuple):
    """Save again what could not be saved."""


class Drop(NamedTuple):
    """Give up what could not be saved."""


class Leave(NamedTuple):
    """Close the desk."""


Effect = (
    Commit
    | SaveNote
    | Draft
    | Flag
    | Skip
    | Run
    | Opened
    | GoTo
    | Pick
    | Find
    | Unseen
    | Notice
    | ConfirmProtocol
    | Retry
    | Drop
    | Leave
)
