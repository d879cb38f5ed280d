"""The study file: schema, migrations and queries. The only place that knows SQL.

Names are loaded when they are first used: the coding screen must not pay for imports and exports.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from db.study import Study, create_study, open_study

__all__ = ["Study", "create_study", "open_study"]

_HOME = {"Study": "study", "create_study": "study", "open_study": "study"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
