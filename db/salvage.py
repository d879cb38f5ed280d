"""Reading what is still legible of a damaged file, table by table and, where a scan breaks off, row by row."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = tuple[Any, ...]
Key = tuple[Any, ...]
PROBES = 20_000  # queries spent on the illegible part of one table before the rest of it counts as lost


@dataclass(slots=True)
class Legible:
    """The rows of one table by primary key; ``whole``: the scan went through from the first to the last."""

    rows: dict[Key, Row] = field(default_factory=dict)
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """A table as the schema has it: its columns, and the places of its primary key among them."""

    name: str
    columns: tuple[str, ...]
    key: tuple[int, ...]
    integer_key: bool
    kinds: tuple[tuple[type, ...], ...]

    def key_of(self, row: Row) -> Key:
        return tuple(row[place] for place in self.key)

    def fits(self, row: Row) -> bool:
        """Whether each value is of its column's type: what is read off a damaged page may be anything."""
        return all(type(value) in kinds for value, kinds in zip(row, self.kinds, strict=True))

    @property
    def key_names(self) -> str:
        return ", ".join(f'"{self.columns[place]}"' for place in self.key)

    @property
    def select(self) -> str:
        columns = ", ".join(f'"{name}"' for name in self.columns)
        return f'SELECT {columns} FROM "{self.name}" NOT INDEXED'


def tables_of(connection: sqlite3.Connection) -> list[Table]:
    """The tables of a sound study, each after those that it refers to."""
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid").fetchall()
    return [_table(connection, name) for (name,) in names if not name.startswith("sqlite_")]


def _table(connection: sqlite3.Connection, name: str) -> Table:
    info = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
    key = tuple(column[0] for column in sorted(info, key=lambda column: column[5]) if column[5])
    integer = len(key) == 1 and info[key[0]][2].upper() == "INTEGER"
    kinds = tuple(_kinds(column[2], nullable=not (column[3] or column[5])) for column in info)
    return Table(name, tuple(column[1] for column in info), key, integer, kinds)


def _kinds(declared: str, *, nullable: bool) -> tuple[type, ...]:
    kind = {"INTEGER": int, "REAL": float, "BLOB": bytes}.get(declared.upper(), str)
    return (kind, type(None)) if nullable else (kind,)


def legible(connection: sqlite3.Connection, table: Table, groups: Sequence[int] = ()) -> Legible:
    """All rows that can be read. ``groups``: known first parts of the key, where it has an integer second part."""
    found = Legible()
    if _scan(connection, table, found, "") and found.whole:
        return found
    found.whole = False
    order = table.key_names
    _scan(connection, table, found, f" ORDER BY {order}")
    _scan(connection, table, found, " ORDER BY " + order.replace(",", " DESC,") + " DESC")
    if table.integer_key:
        _probe(connection, table, found, (), [key[0] for key in found.rows])
    for group in groups:
        _probe(connection, table, found, (group,), [key[1] for key in found.rows if key[0] == group])
    return found


def _scan(connection: sqlite3.Connection, table: Table, found: Legible, order: str) -> bool:
    """Read on until the end (True) or the first thing that cannot be read (False)."""
    try:
        for row in connection.execute(table.select + order):
            if table.fits(row):
                found.rows.setdefault(table.key_of(row), row)
            else:
                found.whole = False
    except (sqlite3.Error, UnicodeDecodeError, OverflowError):
        return False
    return True


def _probe(connection: sqlite3.Connection, table: Table, found: Legible, prefix: Key, known: Sequence[int]) -> None:
    """Read the ranges of keys between what is known, halving each that cannot be read as a whole."""
    top = max(known, default=0) * 2 + 4096
    names = [f'"{table.columns[place]}"' for place in table.key]
    where = " AND ".join([f"{name} = ?" for name in names[: len(prefix)]] + [f"{names[-1]} BETWEEN ? AND ?"])
    sql = f"{table.select} WHERE {where}"
    probes = 0
    ranges = list(_gaps(sorted(set(known)), top))
    while ranges and probes < PROBES:
        low, high = ranges.pop()
        probes += 1
        try:
            for row in connection.execute(sql, (*prefix, low, high)):
                if table.fits(row):
                    found.rows.setdefault(table.key_of(row), row)
        except (sqlite3.Error, UnicodeDecodeError, OverflowError):
            if low < high:
                middle = (low + high) // 2
                ranges += [(middle + 1, high), (low, middle)]


def _gaps(known: Sequence[int], top: int) -> Iterator[tuple[int, int]]:
    previous = 0
    for number in known:
        if number > previous + 1:
            yield previous + 1, number - 1
        previous = number
    yield previous + 1, max(top, previous + 1)
