"""Records many at a time, by columns: what lies in columns (Parquet) is not turned into records first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotate.importers.records import ReadOptions, Record, kind_of, read_records
from db.records import Reject

_BATCH = 4096


@dataclass(frozen=True, slots=True)
class ColumnBatch:
    """Rows of a file that has columns."""

    rows: Sequence[int]
    columns: dict[str, list[object]]

    def column(self, name: str) -> list[object]:
        found = self.columns.get(name)
        return [None] * len(self.rows) if found is None else found

    def holds(self, name: str) -> bool:
        return name in self.columns

    def record(self, position: int) -> Record:
        return Record(self.rows[position], {name: values[position] for name, values in self.columns.items()})

    def left(self, used: frozenset[str]) -> list[dict[str, object]] | None:
        """What is in each row besides the columns ``used``; None where that is nothing."""
        names = [name for name in self.columns if name not in used]
        if not names:
            return None
        rows = zip(*(self.columns[name] for name in names), strict=True)
        return [{n: v for n, v in zip(names, row, strict=True) if v not in (None, "")} for row in rows]


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """Records that were read one by one."""

    rows: Sequence[int]
    data: Sequence[Mapping[str, object]]

    def column(self, name: str) -> list[object]:
        return [data.get(name) for data in self.data]

    def holds(self, name: str) -> bool:
        return any(name in data for data in self.data)

    def record(self, position: int) -> Record:
        return Record(self.rows[position], self.data[position])

    def left(self, used: frozenset[str]) -> list[dict[str, object]] | None:
        """What is in each record besides the columns ``used``; None where that is nothing."""
        if all(used.issuperset(data) for data in self.data):
            return None
        return [
            {name: value for name, value in data.items() if name not in used and value not in (None, "")}
            for data in self.data
        ]


Batch = ColumnBatch | RecordBatch


def read_batches(path: Path, options: ReadOptions) -> Iterator[Batch | Reject]:
    """Every record of ``path`` in file order, and a Reject where one cannot be read; raises SourceError."""
    if (options.kind or kind_of(path)) == "parquet":
        from annotate.importers.parquet_records import read_columns

        for rows, columns in read_columns(path, options, _BATCH):
            yield ColumnBatch(rows, columns)
        return
    numbers: list[int] = []
    held: list[Mapping[str, object]] = []
    for row, found in _numbered(path, options):
        if not isinstance(found, Reject):
            numbers.append(row)
            held.append(found)
        if held and (len(held) == _BATCH or isinstance(found, Reject)):
            yield RecordBatch(numbers, held)
            numbers, held = [], []
        if isinstance(found, Reject):
            yield found
    if held:
        yield RecordBatch(numbers, held)


def _numbered(path: Path, options: ReadOptions) -> Iterator[tuple[int, Mapping[str, object] | Reject]]:
    """(line, record) of a file that is read record by record."""
    if (options.kind or kind_of(path)) == "jsonl":
        from annotate.importers.json_records import numbered_lines

        yield from numbered_lines(path, options)
        return
    for found in read_records(path, options):
        yield found.row, found.data if isinstance(found, Record) else found
