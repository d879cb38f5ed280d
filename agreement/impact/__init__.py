"""Score impact: how scores and their ranking change when people's labels take the place of the judge's."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["Factor", "Records", "Sample"]

_HOME = {"Factor": "columns", "Records": "records", "Sample": "records"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
