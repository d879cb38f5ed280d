"""What the key machine asks for: plain records, carried out by the screen."""

from __future__ import annotations

from dataclasses import dataclass

from tui.modes import Mode


@dataclass(frozen=True, slots=True)
class Commit:
    """Save a label, a rating or both, with the note that an impossible label needs; then go on."""

    label: str | None
    rating: int | None
    note: str | None


@dataclass(frozen=True, slots=True)
class SaveNote:
    """Save a note (empty: remove it)."""

    text: str


@dataclass(frozen=True, slots=True)
class Draft:
    """Keep an unsent note."""

    text: str


@dataclass(frozen=True, slots=True)
class Flag:
    """Set the flag, or take it off."""

    name: str


@dataclass(frozen=True, slots=True)
class Skip:
    """Skip the item for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Run:
    """Carry out the action of this name."""

    action: str


@dataclass(frozen=True, slots=True)
class Opened:
    """A panel opens in this mode."""

    mode: Mode


@dataclass(frozen=True, slots=True)
class GoTo:
    """Show the item of this number."""

    number: int


@dataclass(frozen=True, slots=True)
class Pick:
    """Show the item in this row of the list."""

    row: int


@dataclass(frozen=True, slots=True)
class Find:
    """Mark ``text`` in the item; ``turn`` 1 or -1 goes to the next or the previous place."""

    text: str
    turn: int


@dataclass(frozen=True, slots=True)
class Unseen:
    """A label was pressed before this many lines of the response had been on the screen: say so, once."""

    lines: int


@dataclass(frozen=True, slots=True)
class Notice:
    """A quiet line: a key was refused, or something was taken back."""

    text: str


@dataclass(frozen=True, slots=True)
class ConfirmProtocol:
    """The coder has read what changed in the codebook."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Save again what could not be saved."""


@dataclass(frozen=True, slots=True)
class Drop:
    """Give up what could not be saved."""


@dataclass(frozen=True, slots=True)
class Leave:
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
