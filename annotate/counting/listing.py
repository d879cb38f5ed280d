"""Which records were left out: the first hundred of each kind with file and line, found by reading on the driver.

An engine reads files in parts and knows no lines. It says how many records of a file it left out; only such files are
read again, in the order of their names, and only until the list is full.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import commonpath
from pathlib import Path
from typing import Any

from annotate.counting.shapes import UNREADABLE, Shape
from annotate.importers.records import Record, read_records
from annotate.importers.sources import SourceError

FIRST = 100


def list_malformed(
    shape: Shape, by_file: Mapping[str, Mapping[str, int]], files: Sequence[Path]
) -> list[dict[str, Any]]:
    """``{"kind", "file", "line"}`` of the first of each kind. ``by_file``: kind to count, for each file.

    A file goes by its path below the folder that holds all ``files`` of the source.
    """
    root = Path(commonpath([str(path.parent) for path in files])) if files else Path()
    wanted = {kind for counts in by_file.values() for kind in counts}
    found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in sorted(wanted)}
    for file in sorted(by_file):
        open_ = {kind for kind in by_file[file] if len(found[kind]) < FIRST}
        left = {kind: by_file[file][kind] for kind in open_}
        if open_ and Path(file).is_file():
            _scan(shape, Path(file), Path(file).relative_to(root).as_posix(), left, found)
    return [entry for entries in found.values() for entry in entries]


def _scan(shape: Shape, path: Path, name: str, left: dict[str, int], found: dict[str, list[dict[str, Any]]]) -> None:
    """Read a file until all that the engine left out of it is found, or the lists are full."""
    try:
        for record in read_records(path):
            kind = shape.problem(record.data) if isinstance(record, Record) else UNREADABLE
            if kind is None or not left.get(kind):
                continue
            left[kind] -= 1
            if len(found[kind]) < FIRST:
                found[kind].append({"kind": kind, "file": name, "line": record.row})
            if all(not count or len(found[each]) >= FIRST for each, count in left.items()):
                return
    except SourceError:
        pass  # a file that breaks off: what was found before stays
    for kind, count in left.items():  # the engine takes loose quotes for broken, this reader does not
        found[kind] += [{"kind": kind, "file": name, "line": None}] * min(count, FIRST - len(found[kind]))
