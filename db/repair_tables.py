"""The tables of a repaired study: each row from the first source that has it sound, and what is missing, by key."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from db.canonical import sha256_text
from db.clock import utc_now
from db.connection import StudyConnection
from db.salvage import Key, Legible, Row, Table, legible
from db.texts import text_digest

TRACES = ("unmaskings", "reopenings", "answers")
FOLDED = frozenset({"annotations", "events", "migrations", *TRACES})
SHOWN = 20
_BEYOND = 1_000_000


@dataclass(frozen=True, slots=True)
class TableRepair:
    """One table: rows ``recovered`` from the file and ``filled`` from the backup, and how many are ``lost``.

    ``lost`` None: some rows could not be read, and nothing tells how many there were. ``names``: the first lost ones.
    """

    name: str
    recovered: int
    filled: int
    lost: int | None
    names: tuple[str, ...]


@dataclass(slots=True)
class Source:
    """One file that rows come from."""

    connection: sqlite3.Connection
    tables: dict[str, Legible] = field(default_factory=dict)


class Tables:
    """The new file and where its rows come from; ``has_damaged``: the first source is the damaged file itself."""

    def __init__(self, connection: StudyConnection, sources: list[Source], *, has_damaged: bool) -> None:
        self.connection, self.sources, self.damaged_first = connection, sources, has_damaged
        self.reports: list[TableRepair] = []
        self._keys: dict[tuple[str, str], set[Any]] = {}
        self._wanted: defaultdict[str, set[Any]] = defaultdict(set)

    def legible_in(self, table: Table) -> list[Legible]:
        """What each source gives of the table, read once."""
        for source in self.sources:
            if table.name not in source.tables:
                logs = source.tables.get("logs")
                groups = [key[0] for key in logs.rows] if table.name == "events" and logs else []
                source.tables[table.name] = legible(source.connection, table, groups)
        return [source.tables[table.name] for source in self.sources]

    def want(self, tables: list[Table]) -> None:
        """What every row that can be read refers to: rows that must have been there."""
        for table in tables:
            for found in self.legible_in(table)[:1]:
                for column, parent, _ in _references(self.connection, table.name):
                    place = table.columns.index(column)
                    self._wanted[parent] |= {row[place] for row in found.rows.values() if row[place] is not None}

    def take(self, table: Table) -> None:
        """Put every row that can be had into the new table, and report on it."""
        found = self.legible_in(table)
        references = self.referring(table)
        counts = [0] * len(found)
        keys = {key for each in found for key in each.rows}
        put: set[Key] = set()
        for key in sorted(keys, key=lambda key: tuple((type(part).__name__, part) for part in key)):
            for number, each in enumerate(found):
                row = each.rows.get(key)
                if row is not None and self.is_sound(table, row, references) and self.insert(table, row):
                    counts[number] += 1
                    put.add(key)
                    break
        lost = self._lost(table, keys, put)
        if table.name == "protocols":
            self._codebooks(table, found, lost)
        whole = not found or found[0].whole or len(found) > 1
        unknown = not whole and not lost and not table.integer_key
        recovered = counts[0] if self.damaged_first else 0
        filled = sum(counts) - recovered
        shown = tuple(f"{table.name} {'/'.join(map(str, key))}" for key in sorted(lost, key=str)[:SHOWN])
        self.reports.append(TableRepair(table.name, recovered, filled, None if unknown else len(lost), shown))

    def _lost(self, table: Table, keys: set[Key], put: set[Key]) -> set[Key]:
        """Rows that were there and are not now: seen but unusable, referred to, or a number that is left out."""
        wanted = {(each,) for each in self._wanted[table.name]} if len(table.key) == 1 else set()
        if table.integer_key:
            # a flipped bit can make a number of any size: what lies below such a one was never there
            last = min(max((key[0] for key in put), default=0), 4 * len(put) + _BEYOND)
            wanted = {key for key in wanted if 0 < key[0] < 1 << 40} | {(number,) for number in range(1, last + 1)}
            more = self._said(table.name) - len(put | wanted)
            wanted |= {(max(last, 0, *(key[0] for key in wanted)) + n,) for n in range(1, more + 1)}
        return (keys | wanted) - put

    def _said(self, name: str) -> int:
        """How many rows of a table the imports said that they brought."""
        kind = {"items": "items", "responses": "responses", "judge_labels": "judge labels"}.get(name)
        if kind is None:
            return 0
        rows = self.connection.execute("SELECT counts FROM imports").fetchall()
        return sum(int(json.loads(counts).get(kind, {}).get("imported", 0)) for (counts,) in rows)

    def is_sound(self, table: Table, row: Row, references: list[tuple[int, str, str]]) -> bool:
        for place, parent, column in references:
            if row[place] is not None and parent not in FOLDED and row[place] not in self._known(parent, column):
                return False
        values = dict(zip(table.columns, row, strict=True))
        if table.name == "protocols":
            return isinstance(values["toml"], str) and bool(sha256_text(values["toml"]) == values["digest"])
        if table.name == "texts" and values["text"] is not None:
            return bool(text_digest(values["salt"], values["text"]) == values["digest"])
        return True

    def referring(self, table: Table) -> list[tuple[int, str, str]]:
        """Where a row of the table refers to another: (place among its columns, table, column there)."""
        named = _references(self.connection, table.name)
        return [(table.columns.index(column), parent, to) for column, parent, to in named]

    def _known(self, parent: str, column: str) -> set[Any]:
        return self._keys.setdefault((parent, column), self._read_keys(parent, column))

    def _read_keys(self, parent: str, column: str) -> set[Any]:
        return {row[0] for row in self.connection.execute(f'SELECT "{column}" FROM "{parent}"')}

    def insert(self, table: Table, row: Row) -> bool:
        try:
            _put(self.connection, table, row)
        except (sqlite3.Error, OverflowError, UnicodeEncodeError):
            return False
        for (parent, column), known in self._keys.items():
            if parent == table.name:
                known.add(row[table.columns.index(column)])
        return True

    def _codebooks(self, table: Table, found: list[Legible], lost: set[Key]) -> None:
        """A codebook whose text was lost keeps its place under its digest, for the labels that were given under it."""
        digests = self._digests()
        for (version,) in sorted(key for key in lost if key[0] in {1, *digests} or any(key in e.rows for e in found)):
            row = next((each.rows[version,] for each in found if (version,) in each.rows), None)
            name, toml = (row[1], row[3]) if row is not None else ("(lost)", "")
            digest = row[2] if row is not None else digests.get(version, f"lost-{version}")
            change = "initial" if version == 1 else "substantive"
            _put(self.connection, table, (version, name, digest, toml, change, "{}", utc_now()))

    def _digests(self) -> dict[int, str]:
        """The digests of codebooks by version, as the logs tell them."""
        found: dict[int, str] = {}
        begun: list[str] = []
        for source in self.sources:
            for row in source.tables["events"].rows.values():
                with suppress(TypeError, ValueError, KeyError):
                    if row[2] == "protocol":
                        body = json.loads(row[5])
                        found[int(body["version"])] = str(body["digest"])
            begun += [row[4] for row in source.tables["logs"].rows.values()]
        first = [digest for digest in begun if digest not in found.values()]
        return found | ({1: max(set(first), key=first.count)} if first else {})


def _put(connection: sqlite3.Connection, table: Table, row: Row) -> None:
    columns, marks = ", ".join(f'"{name}"' for name in table.columns), ", ".join("?" * len(table.columns))
    connection.execute(f'INSERT INTO "{table.name}" ({columns}) VALUES ({marks})', row)


def _references(connection: sqlite3.Connection, table: str) -> list[tuple[str, str, str]]:
    """(column, table that it refers to, column there) of every reference by a single column."""
    rows = connection.execute(f'PRAGMA foreign_key_list("{table}")').fetchall()
    several = {row[0] for row in rows if row[1] > 0}
    return [(row[3], row[2], row[4]) for row in rows if row[0] not in several]
