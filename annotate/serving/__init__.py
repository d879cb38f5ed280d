"""The coding desk in a browser: `annotate serve`. On top of textual-serve, with what it lacks.

One process a session runs the desk; this package decides who may open one, starts it without a shell, and passes on
keys and what is drawn. aiohttp and textual-serve (the extra [web]) are imported when a server starts, not before.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotate.serving.running import Link, run_server
    from annotate.serving.settings import Settings

__all__ = ["Link", "Settings", "run_server"]

_HOME = {"Link": "running", "Settings": "settings", "run_server": "running"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
