"""The coding desk: the Textual application in which people label, and its plain twin. Talks to db only.

Names are loaded when they are first used, so that the plain mode and safe text do not pay for the screen.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tui.preferences import Preferences, load_preferences, save_preferences, wants_plain
    from tui.run import run_coding
    from tui.safetext import SafeText, safe
    from tui.summary import SessionSummary

__all__ = [
    "Preferences",
    "SafeText",
    "SessionSummary",
    "load_preferences",
    "run_coding",
    "safe",
    "save_preferences",
    "wants_plain",
]

_HOME = {
    "Preferences": "preferences",
    "SafeText": "safetext",
    "SessionSummary": "summary",
    "load_preferences": "preferences",
    "run_coding": "run",
    "safe": "safetext",
    "save_preferences": "preferences",
    "wants_plain": "preferences",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
