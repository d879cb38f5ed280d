"""Counted cells as columns: levels in the order of their values, a code per cell, and the counts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from db.canonical import canonical_json

IntArray = npt.NDArray[np.int64]
CodeArray = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class CellColumns:
    """Distinct rows, sorted as a study sorts them (None, then numbers, then text), with the number that have each.

    levels: per column its distinct values, sorted. codes: (cells,) positions in them. counts: (cells,) above 0.
    """

    levels: Mapping[str, tuple[Any, ...]]
    codes: Mapping[str, CodeArray]
    counts: IntArray

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.levels)

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def values(self, name: str) -> list[Any]:
        """The value of each cell in one column."""
        levels = self.levels[name]
        return [levels[code] for code in self.codes[name].tolist()]

    def of(self, names: Sequence[str]) -> CellColumns:
        """Counted by fewer columns (or in another order); a name that is asked for twice is there once."""
        chosen = tuple(dict.fromkeys(names))
        levels = {name: self.levels[name] for name in chosen}
        return _merged(levels, {name: self.codes[name] for name in chosen}, self.counts)

    def having(self, keep: npt.NDArray[np.bool_]) -> CellColumns:
        """Only the cells where ``keep``."""
        return _merged(self.levels, {name: codes[keep] for name, codes in self.codes.items()}, self.counts[keep])

    def with_column(self, name: str, source: Sequence[str], value: Callable[..., Any]) -> CellColumns:
        """One column more (or in place of one), a function of the values of others."""
        base = self.of(source)
        columns = [base.values(each) for each in base.names]
        rows = zip(*columns, strict=True) if columns else iter([()] * len(base))
        found = {row: value(*row) for row in rows}
        own = [self.values(each) for each in base.names]
        mine = [found[row] for row in zip(*own, strict=True)] if own else [found.get(())] * len(self)
        levels, codes = encoded(mine)
        every = {each: self.codes[each] for each in self.names if each != name} | {name: codes}
        kept = {each: self.levels[each] for each in self.names if each != name} | {name: levels}
        return CellColumns(kept, every, self.counts)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The cells as tuples."""
        return zip(*(self.values(name) for name in self.names), strict=True)

    def digest(self) -> str:
        """SHA-256 over each column's name and levels (canonical JSON) and codes, and the counts (little-endian)."""
        found = hashlib.sha256()
        for name in self.names:
            found.update(canonical_json([name, list(self.levels[name])]).encode() + b"\n")
            found.update(self.codes[name].astype("<i4").tobytes())
        found.update(self.counts.astype("<i8").tobytes())
        return found.hexdigest()


def of_columns(columns: Mapping[str, Sequence[Any]], counts: Sequence[int] | IntArray) -> CellColumns:
    """Cells from plain columns and counts; equal rows are put together, rows of no count left out."""
    made = {name: encoded(column) for name, column in columns.items()}
    levels, codes = {name: each[0] for name, each in made.items()}, {name: each[1] for name, each in made.items()}
    return _merged(levels, codes, np.asarray(counts, np.int64))


def of_arrow(table: Any, names: Mapping[str, str], count: str) -> CellColumns:
    """Cells from an arrow table. ``names``: of each column in the cells, the one in the table."""
    levels, codes = {}, {}
    for name, column in names.items():
        coded = table.column(column).combine_chunks().dictionary_encode(null_encoding="encode")
        if hasattr(coded, "combine_chunks"):
            coded = coded.combine_chunks()
        values = [_plain(value) for value in coded.dictionary.to_pylist()]
        levels[name], place = _sorted_levels(values)
        codes[name] = place[np.asarray(coded.indices, np.int64)] if values else np.zeros(0, np.int32)
    return _merged(levels, codes, np.asarray(table.column(count), np.int64))


def encoded(column: Sequence[Any]) -> tuple[tuple[Any, ...], CodeArray]:
    """Levels in their order, and the code of each entry."""
    seen: dict[Any, int] = {}
    raw = np.fromiter((seen.setdefault(value, len(seen)) for value in column), np.int64, len(column))
    levels, place = _sorted_levels(list(seen))
    return levels, place[raw] if len(seen) else raw.astype(np.int32)


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


def _sorted_levels(values: Sequence[Any]) -> tuple[tuple[Any, ...], CodeArray]:
    order = sorted(range(len(values)), key=lambda at: _sortable(values[at]))
    place = np.zeros(len(values), np.int32)
    place[order] = np.arange(len(values), dtype=np.int32)
    return tuple(values[at] for at in order), place


def _sortable(value: Any) -> tuple[int, Any]:
    return (0, 0) if value is None else (2, value) if isinstance(value, str) else (1, value)


def _merged(levels: Mapping[str, tuple[Any, ...]], codes: Mapping[str, CodeArray], counts: IntArray) -> CellColumns:
    """Sort by the columns in turn, add up equal rows, leave out levels that no cell has."""
    if not codes:
        total = counts.sum(keepdims=True) if len(counts) else counts
        return CellColumns({}, {}, total[total > 0])
    columns = list(codes.values())
    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    new = np.zeros(len(order), np.bool_)
    new[:1] = True
    for column in ordered:
        new[1:] |= column[1:] != column[:-1]
    starts = np.flatnonzero(new)
    sums = np.add.reduceat(counts[order], starts) if len(starts) else counts[:0]
    used = sums != 0
    kept_levels, kept_codes = {}, {}
    for name, column in zip(codes, ordered, strict=True):
        kept_levels[name], kept_codes[name] = _trimmed(levels[name], column[starts][used])
    return CellColumns(kept_levels, kept_codes, sums[used].astype(np.int64))


def _trimmed(levels: tuple[Any, ...], codes: CodeArray) -> tuple[tuple[Any, ...], CodeArray]:
    used = np.zeros(len(levels), np.bool_)
    used[codes] = True
    if used.all():
        return levels, codes.astype(np.int32)
    place = np.cumsum(used) - 1
    return tuple(level for level, there in zip(levels, used.tolist(), strict=True) if there), place[codes].astype(
        np.int32
    )
