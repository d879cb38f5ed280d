"""The table of cells on disk: Parquet that any tool reads, with what was counted, from where, and a digest inside.

``columns`` of the file are the facts by which responses were counted, and ``count``. The key ``annotate`` of the file's
metadata holds JSON: ``schema``, ``protocol``, ``account`` and the rest of `CellTable`, ``run`` (source, engine, lists;
not in the digest) and ``digest``, SHA-256 of the canonical JSON of all but ``run``, with the cells' own digest in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotate.counting.sources import CELLS_KEY
from db.canonical import canonical_json, sha256_text
from db.errors import AnnotateError

if TYPE_CHECKING:
    from annotate.counting.cells import CellColumns

SCHEMA = "annotate-cells/1"
COUNT = "count"


class CellError(AnnotateError):
    """A file that is no table of cells, or not the one that is needed."""


@dataclass(frozen=True, slots=True)
class CellTable:
    """A corpus, counted. ``cells`` by model, condition, technical, the strata, judge:NAME, … as a study names facts.

    protocol: its name and digest. mappings: of each judge, the digest of how its labels were mapped.
    strata, judges: the fields and judges there are. account: ``read`` = ``counted`` + every count in ``left_out``
    (malformed records by kind, identical copies, conflicting records); ``not_labels`` by judge are among the counted.
    run: source, engine and versions, and the lists of what was left out; it differs from layout to layout.
    """

    cells: CellColumns
    protocol: Mapping[str, str]
    format: str
    strata: tuple[str, ...]
    judges: tuple[str, ...]
    mappings: Mapping[str, str]
    account: Mapping[str, Any]
    run: Mapping[str, Any] = field(default_factory=dict)

    def facts(self) -> dict[str, Any]:
        """Everything but the cells and the run, as plain JSON values."""
        return {
            "schema": SCHEMA,
            "protocol": dict(self.protocol),
            "format": self.format,
            "columns": list(self.cells.names),
            "strata": list(self.strata),
            "judges": list(self.judges),
            "mappings": dict(self.mappings),
            "account": self.account,
            "cells": self.cells.digest(),
        }

    @property
    def digest(self) -> str:
        """The same for the same responses, whatever engine counted them and in whatever files they lay."""
        return sha256_text(canonical_json(self.facts()))


def check_target(path: Path, *, source: str = "", force: bool = False) -> None:
    """Raise CellError where a table cannot be written: a file is there, and ``force`` was not said, or it is no cells.

    So that no slip of a name can replace the responses themselves, nor a table lie among the files of its ``source``.
    """
    if _among(path, source):
        message = f"{path}: lies among the files of {source}, which would then be counted with their own cells."
        raise CellError(message, "Name a file outside of it.")
    if not path.absolute().parent.is_dir():
        raise CellError(f"{path}: its folder is not there.", "Make it first.")
    if not path.exists():
        return
    if not force:
        raise CellError(f"{path}: is there already.", "--force writes over it.")
    if path.stat().st_size and not _is_cells(path):
        raise CellError(f"{path}: is no table of cells; --force writes over such only.", "Name another file.")


def _among(path: Path, source: str) -> bool:
    """Whether a folder or pattern would find the file."""
    if Path(source).is_dir() and source:
        return path.resolve().is_relative_to(Path(source).resolve())
    return has_magic(source) and path.absolute().match(str(Path(source).absolute()))


def _is_cells(path: Path) -> bool:
    import pyarrow.parquet as pq

    try:
        return CELLS_KEY in (pq.read_schema(path).metadata or {})  # type: ignore[no-untyped-call]
    except (OSError, ValueError):
        return False


def write_cells(table: CellTable, path: Path, *, force: bool = False) -> None:
    """Write the file, whole or not at all. Raises CellError where ``check_target`` does."""
    import pyarrow.parquet as pq

    from db.backups import private_file

    check_target(path, force=force)
    pa = _pyarrow()
    columns = {name: _arrow(table.cells, name) for name in table.cells.names}
    columns[COUNT] = pa.array(table.cells.counts, pa.int64())
    about = {**table.facts(), "run": table.run, "digest": table.digest}
    arrow = pa.table(columns).replace_schema_metadata({CELLS_KEY: json.dumps(about, ensure_ascii=False).encode()})
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    private_file(partial)
    try:
        pq.write_table(arrow, partial, compression="zstd")  # type: ignore[no-untyped-call]
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def read_cells(path: str | Path) -> CellTable:
    """A table that `write_cells` wrote. Raises CellError where it is none, or where it was changed since."""
    import pyarrow.parquet as pq
    from pyarrow.lib import ArrowException

    from annotate.counting.cells import of_arrow

    again = "Count again with annotate count."
    if not Path(path).is_file():
        raise CellError(f"{path}: there is no such file.", "annotate count SOURCE --protocol P --out FILE makes one.")
    try:
        arrow = pq.read_table(path, partitioning=None)  # type: ignore[no-untyped-call]
        about = json.loads((arrow.schema.metadata or {})[CELLS_KEY])
        names = {name: name for name in about["columns"]}
        table = CellTable(
            cells=of_arrow(arrow, names, COUNT),
            protocol=about["protocol"],
            format=about["format"],
            strata=tuple(about["strata"]),
            judges=tuple(about["judges"]),
            mappings=about["mappings"],
            account=about["account"],
            run=about["run"],
        )
    except (ArrowException, OSError, KeyError, ValueError, TypeError):
        raise CellError(f"{path}: is no table of cells that annotate count wrote.", again) from None
    if about.get("schema") != SCHEMA:
        raise CellError(f"{path}: has the form {about.get('schema')!r}, expected {SCHEMA}.", again)
    if table.digest != about.get("digest"):
        raise CellError(f"{path}: its digest does not fit what is in it: it was changed or cut off.", again)
    return table


def _pyarrow() -> Any:
    """The module, whose names no type checker is told of."""
    from importlib import import_module

    return import_module("pyarrow")


def _arrow(cells: CellColumns, name: str) -> Any:
    pa = _pyarrow()
    levels = cells.levels[name]
    kinds = {type(level) for level in levels if level is not None}
    kind = pa.float64() if float in kinds else pa.int64() if kinds == {int} else pa.string()
    return pa.array(levels, kind).take(pa.array(cells.codes[name]))
