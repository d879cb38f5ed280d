"""The study file: schema, migrations and queries. The only place that knows SQL.

Names are loaded when they are first used: the coding screen must not pay for imports and exports.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from db.assigning import assign
    from db.backups import back_up
    from db.coding import CodingSession
    from db.corpus import corpus_cells
    from db.imports import import_rows
    from db.labels import label_rows, unit_rows
    from db.sampling import draw, strata_counts
    from db.study import Study, create_study, open_study

__all__ = [
    "CodingSession",
    "Study",
    "assign",
    "back_up",
    "corpus_cells",
    "create_study",
    "draw",
    "import_rows",
    "label_rows",
    "open_study",
    "strata_counts",
    "unit_rows",
]

_HOME = {
    "CodingSession": "coding",
    "Study": "study",
    "assign": "assigning",
    "back_up": "backups",
    "corpus_cells": "corpus",
    "create_study": "study",
    "draw": "sampling",
    "import_rows": "imports",
    "label_rows": "labels",
    "open_study": "study",
    "strata_counts": "sampling",
    "unit_rows": "labels",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
