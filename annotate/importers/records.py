"""One record after another out of CSV, TSV, JSON, JSONL and Parquet, each with its line, in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from annotate.importers.sources import SourceError, bare_suffix, head
from db.records import Reject


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file. ``row`` is the line on which it begins (Parquet: its number), counted from 1."""

    row: int
    data: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a table is read. ``columns`` replaces the names in its header line; '' and None are found out."""

    kind: str = ""
    delimiter: str = ""
    quoting: bool = True
    encoding: str = ""
    columns: tuple[str, ...] = ()


KINDS: Mapping[str, str] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
}
"""File suffix to the way of reading."""


def read_records(path: Path, options: ReadOptions | None = None) -> Iterator[Record | Reject]:
    """Every record of ``path``: a Record, or a Reject that says what is wrong with that one.

    Raises SourceError where the file as a whole cannot be read.
    """
    options = options or ReadOptions()
    return _readers()[options.kind or kind_of(path)](path, options)


def kind_of(path: Path) -> str:
    """csv, jsonl, json or parquet, by the content where it tells and by the suffix otherwise."""
    start = head(path, 4096)
    if start.startswith(b"PAR1"):
        return "parquet"
    known = KINDS.get(bare_suffix(path))
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if known in (None, "json", "jsonl") and text[:1] in (b"[", b"{"):
        return "json" if text[:1] == b"[" or not _is_lines(start) else "jsonl"
    if known is None:
        names = "CSV, TSV, JSON, JSONL and Parquet"
        raise SourceError(f"{path}: not recognised as a table.", f"Tables are {names}: rename it, or name its format.")
    return known


def _is_lines(start: bytes) -> bool:
    """True where the first line is a whole JSON value, so that the file is one value a line."""
    from annotate.importers.json_records import is_json

    line, _, rest = start.partition(b"\n")
    return is_json(line) and (not rest.strip() or rest.lstrip()[:1] in (b"{", b"["))


def _readers() -> Mapping[str, Callable[[Path, ReadOptions], Iterator[Record | Reject]]]:
    from annotate.importers import csv_records, json_records, parquet_records

    return {
        "csv": csv_records.read,
        "jsonl": json_records.read_lines,
        "json": json_records.read_array,
        "parquet": parquet_records.read,
    }
