"""Check an LLM judge against people: import a run, draw a sample, code it, and see what changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = ["__version__", "open_study"]

if TYPE_CHECKING:
    from annotate.notebook import open_study


def __getattr__(name: str) -> Any:
    if name == "open_study":
        from annotate.notebook import open_study

        return open_study
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
