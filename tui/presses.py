"""Textual's key events as the key machine wants them."""

from __future__ import annotations

from textual import events

from tui.keymachine import Press

_CHORDS = ("ctrl+", "alt+", "super+", "hyper+", "meta+")


def press_of(event: events.Key) -> Press:
    """Case ignored, characters by themselves, all others by name. A chord types nothing."""
    character = event.character if event.is_printable else None
    if character is None or event.key.startswith(_CHORDS):
        return Press(event.key)
    return Press("space" if character == " " else character.lower(), character)
