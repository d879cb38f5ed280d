"""The command palette: the actions of the registry, found by any of their words."""

from __future__ import annotations

from tui.actions import ACTIONS, Action
from tui.modes import Mode


def found(text: str, mode: Mode) -> list[Action]:
    """The actions that can be carried out in ``mode`` and in which every typed word begins a word."""
    typed = text.casefold().split()
    offered = [action for action in ACTIONS if mode in action.modes and action.name != "palette"]
    return [action for action in offered if _matches(typed, f"{action.title} {action.help}".casefold().split())]


def _matches(typed: list[str], words: list[str]) -> bool:
    return all(any(word.startswith(piece) for word in words) for piece in typed)
