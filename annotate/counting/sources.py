"""What SOURCE names: files found by folder or pattern, in groups of one kind with the same columns, or a table."""

from __future__ import annotations

import csv
import glob
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from annotate.importers.records import KINDS
from annotate.importers.sources import SourceError, bare_suffix, detect_encoding, open_bytes, open_text

READABLE = {suffix: kind for suffix, kind in KINDS.items() if kind != "json" and suffix != ".txt"}
SUFFIXES = ", ".join(READABLE)
CELLS_KEY = b"annotate"
"""Under which the metadata of a table of cells hold what it is."""
_PEEKED = 200


@dataclass(frozen=True, slots=True)
class Group:
    """Files of one kind (parquet, jsonl, csv) that have the same columns. ``types``: of Parquet columns, by name.

    ``rows``: how many rows they say they hold; None where only reading tells.
    """

    kind: str
    files: tuple[Path, ...]
    columns: tuple[str, ...]
    types: tuple[str, ...] = ()
    delimiter: str = ","
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a source, sorted by path, and those of its folder that are of no readable kind."""

    name: str
    groups: tuple[Group, ...]
    left: tuple[Path, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(sorted(path for group in self.groups for path in group.files))

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that some file has, in the order of the first that has it."""
        return tuple(dict.fromkeys(name for group in self.groups for name in group.columns))


def find_files(source: str) -> Files | None:
    """The files that a path, folder or pattern names; None where it looks like the name of a table instead.

    Raises SourceError where a folder or pattern holds no readable file, or one cannot be read.
    """
    path = Path(source)
    if path.is_dir():
        every = [each for each in path.rglob("*") if each.is_file()]
        found = [each for each in every if not _hidden(each.relative_to(path))]
    elif path.is_file():
        found = [path]
    elif glob.has_magic(source):
        found = [each for each in map(Path, glob.iglob(source, recursive=True)) if each.is_file()]  # noqa: PTH207
    else:
        return None
    readable = sorted(each.resolve() for each in found if bare_suffix(each) in READABLE)
    if not readable:
        what = "no file matches this pattern" if glob.has_magic(source) and not path.exists() else "no file to count"
        raise SourceError(f"{source}: {what}.", f"Files that can be counted end in {SUFFIXES} (or these and .gz).")
    left = tuple(sorted(each for each in found if bare_suffix(each) not in READABLE))
    return Files(source, _grouped(readable), left)


def _hidden(relative: Path) -> bool:
    """Files that engines leave beside the data (_SUCCESS, .crc) and hidden ones."""
    return any(part.startswith((".", "_")) for part in relative.parts)


def _grouped(paths: Sequence[Path]) -> tuple[Group, ...]:
    groups: dict[tuple[Any, ...], list[tuple[Path, int | None]]] = {}
    for path in paths:
        kind = READABLE[bare_suffix(path)]
        key, rows = _HEADS[kind](path)
        groups.setdefault((kind, *key), []).append((path, rows))
    return tuple(_group(key, found) for key, found in groups.items())


def _group(key: tuple[Any, ...], found: Sequence[tuple[Path, int | None]]) -> Group:
    kind, columns, types, delimiter = key
    rows = [number for _, number in found]
    known = None if any(number is None for number in rows) else sum(number or 0 for number in rows)
    files = tuple(path for path, _ in found)
    if kind == "jsonl":
        columns = _keys(files)
    return Group(kind, files, columns, types, delimiter, known)


def _parquet_head(path: Path) -> tuple[tuple[Any, ...], int | None]:
    import pyarrow.parquet as pq
    from pyarrow.lib import ArrowInvalid

    if path.suffix == ".gz":
        raise SourceError(f"{path}: Parquet inside gzip cannot be read.", "Unpack it: Parquet is packed already.")
    try:
        with pq.ParquetFile(path) as file:  # type: ignore[no-untyped-call]
            schema, rows = file.schema_arrow, int(file.metadata.num_rows)
            cells = CELLS_KEY in (file.metadata.metadata or {})
    except (ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        raise SourceError(f"{path}: not readable as Parquet ({reason}).", "Write or copy it again.") from None
    if cells:
        message = f"{path}: is a table of cells that annotate count wrote, and holds no responses."
        raise SourceError(message, "Keep it outside of what is counted.")
    return (tuple(schema.names), tuple(map(str, schema.types)), ""), rows


def _csv_head(path: Path) -> tuple[tuple[Any, ...], int | None]:
    from annotate.importers.csv_records import find_delimiter

    if detect_encoding(path) == "utf-16":
        raise SourceError(f"{path}: is UTF-16, and engines read UTF-8.", "Convert it: iconv -f utf-16 -t utf-8.")
    delimiter = find_delimiter(path)
    with open_text(path) as text:
        header = next(csv.reader(text, delimiter=delimiter), None)
    if not header:
        raise SourceError(f"{path}: the file is empty.", "Its first line should name the columns.")
    names = tuple(name.strip() for name in header)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SourceError(f"{path}, line 1: the column {twice!r} is there twice.", "Rename one of them.")
    return (names, (), delimiter), None


def _jsonl_head(path: Path) -> tuple[tuple[Any, ...], int | None]:
    _whole_gzip(path)
    return ((), (), ""), None


def _whole_gzip(path: Path) -> None:
    """Raise SourceError where a packed file does not even begin well; the engine finds where it breaks off."""
    with open_bytes(path) as file:
        file.read(1)


def _keys(files: Iterable[Path]) -> tuple[str, ...]:
    """The fields of the first records of the first files: what a guess and a hint can name."""
    found: dict[str, None] = {}
    for path in islice(files, 5):
        with open_bytes(path) as file:
            for line in islice(file, _PEEKED):
                try:
                    value = json.loads(line)
                except ValueError:
                    continue
                if isinstance(value, dict):
                    found |= dict.fromkeys(value)
    return tuple(found)


_HEADS = {"parquet": _parquet_head, "csv": _csv_head, "jsonl": _jsonl_head}
