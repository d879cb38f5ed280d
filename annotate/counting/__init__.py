"""Counting responses where they lie: Parquet, JSONL, CSV or a table, through DuckDB or Spark, into a table of cells.

Only the counting happens in the engine, from an expression that is written once (ibis). `shapes` says what the columns
mean, `expression` turns them into facts, `run` counts, `cell_file` keeps what was counted, `drawing` takes a sample.
Names load on first use, and an engine only when it is opened.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotate.counting.cell_file import CellTable as CellTable
    from annotate.counting.cell_file import read_cells as read_cells
    from annotate.counting.cell_file import write_cells as write_cells
    from annotate.counting.engines import open_engine as open_engine
    from annotate.counting.run import CountRequest as CountRequest
    from annotate.counting.run import count_source as count_source

_HOME = {
    "CellTable": "cell_file",
    "CountRequest": "run",
    "count_source": "run",
    "open_engine": "engines",
    "read_cells": "cell_file",
    "write_cells": "cell_file",
}

__all__ = ["CellTable", "CountRequest", "count_source", "open_engine", "read_cells", "write_cells"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
