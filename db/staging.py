"""The rows of an import beside the study until all of them have been read, so that nothing holds the write lock long.

Staged rows lie in a file of their own in ``STUDY.d``, attached as ``staging``; memory does not grow with them.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from db.backups import private_file
from db.block_check import judge_columns, response_columns
from db.connection import StudyConnection, roll_back
from db.faults import translate
from db.places import private_folder
from db.records import HumanLabelRow, ImportRow, ItemRow, JudgeLabelRow, Reject, ResponseRow
from db.row_block import RowBlock
from db.rowcheck import CHECKS, BadRow, Checker

CHUNK = 4000
LISTED_REJECTS = 1000
ITEMS, RESPONSES, JUDGE_LABELS, HUMAN_LABELS = "items", "responses", "judge labels", "human labels"
KINDS: dict[type, str] = {
    ItemRow: ITEMS,
    ResponseRow: RESPONSES,
    JudgeLabelRow: JUDGE_LABELS,
    HumanLabelRow: HUMAN_LABELS,
}

# n is the place in the stream. link is the response that a label followed in the stream, where it was the same one.
_KEY = "item TEXT, model TEXT, condition TEXT, repeat INTEGER"
TABLES = {
    ITEMS: (
        "items",
        "n INTEGER PRIMARY KEY, source INTEGER, row INTEGER, key TEXT, question TEXT, context TEXT, gold TEXT,"
        " rationale TEXT, options TEXT, answer_key TEXT, strata TEXT, extra TEXT, digest TEXT",
    ),
    RESPONSES: (
        "responses",
        f"n INTEGER PRIMARY KEY, source INTEGER, row INTEGER, {_KEY}, text TEXT, text_b TEXT, model_b TEXT,"
        " reason TEXT, choice TEXT, confidence INTEGER, grid INTEGER, usable INTEGER, searched INTEGER, failure TEXT,"
        " extra TEXT, digest TEXT",
    ),
    JUDGE_LABELS: (
        "judge_labels",
        f"n INTEGER PRIMARY KEY, link INTEGER, source INTEGER, row INTEGER, judge TEXT, {_KEY}, judge_repeat INTEGER,"
        " raw TEXT, raw_key TEXT, score REAL, rationale TEXT, reply TEXT",
    ),
    HUMAN_LABELS: (
        "human_labels",
        f"n INTEGER PRIMARY KEY, link INTEGER, source INTEGER, row INTEGER, coder TEXT, {_KEY}, label TEXT,"
        " rating INTEGER, role TEXT, note TEXT, utc TEXT, active_ms INTEGER, pi REAL",
    ),
}

_KEY_NAMES = ("item", "model", "condition")
# What a column holds that a block does not name; anything else is NULL. (Of a block's labels, item, model and condition
# are NULL: they are those of the response that link names, see ``db.import_judges``.)
_USUAL: Mapping[str, Mapping[str, str]] = {
    RESPONSES: {"model": "''", "condition": "''", "usable": "1", "extra": "'{}'"},
    JUDGE_LABELS: {"judge_repeat": "1"},
}
_PAGE = 32768  # what is written once and read once, in order, needs few and large pages
Streamed = ImportRow | RowBlock | Reject


@dataclass(slots=True)
class Read:
    """What the stream held: rows per kind (read = staged + repeated + rejected), and what was refused on the way."""

    rows: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS.values(), 0))
    staged: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS.values(), 0))
    repeated: int = 0
    rejected: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS.values(), 0))
    unreadable: int = 0
    linked: bool = True  # every label followed its response, and names that response's repeat or none
    rejects: list[Reject] = field(default_factory=list)
    replaced: int = 0
    judges: dict[str, None] = field(default_factory=dict)
    """The judges of the staged labels, in the order of their first."""

    @property
    def refused(self) -> int:
        return self.unreadable + sum(self.rejected.values())

    def reject(self, reject: Reject) -> None:
        """Keep a reject. All are counted, and as many are listed as a person would read."""
        if len(self.rejects) < LISTED_REJECTS:
            self.rejects.append(reject)


@contextmanager
def staging(connection: StudyConnection, folder: Path) -> Iterator[None]:
    """Attach an empty staging file for the length of the block; it is gone afterwards."""
    path = private_folder(folder) / f"import-{os.getpid()}-{secrets.token_hex(4)}.staging"
    private_file(path)
    connection.execute("ATTACH ? AS staging", (str(path),))
    try:
        try:
            _prepare(connection)
        except sqlite3.Error as error:
            raise translate(error, connection.path) from error
        yield
    finally:
        roll_back(connection)  # a full disk can end the reading inside one, and then nothing can be detached
        with suppress(Exception):
            connection.execute("DETACH staging")
        path.unlink(missing_ok=True)


def _prepare(connection: StudyConnection) -> None:
    """Make the empty tables."""
    connection.execute(f"PRAGMA staging.page_size = {_PAGE}")
    connection.execute("PRAGMA staging.journal_mode = OFF")
    connection.execute("PRAGMA staging.synchronous = OFF")
    connection.execute("PRAGMA staging.cache_size = -16000")
    for name, columns in TABLES.values():
        connection.execute(f"CREATE TABLE staging.{name} ({columns})")
    connection.execute("CREATE TABLE staging.sources (position INTEGER PRIMARY KEY, id INTEGER, sha256 TEXT)")
    connection.execute("CREATE TABLE staging.refused_responses (n INTEGER PRIMARY KEY)")


class _RecentItems:
    """The items that the stream held lately, up to a bound of their text: tables repeat one in each of their rows."""

    def __init__(self, most: int = 16_000_000) -> None:
        self._rows: dict[str, ItemRow] = {}
        self._size, self._most = 0, most

    def repeats(self, row: ItemRow) -> bool:
        """True where the stream held this item before with the same content."""
        known = self._rows.get(row.key)
        if known is not None and _same_item(known, row):
            return True
        self._size += len(row.question) + len(row.context or "") + len(row.rationale or "") + 200
        if self._size > self._most:
            self._rows.clear()
            self._size = 0
        self._rows[row.key] = row
        return False


def _same_item(one: ItemRow, other: ItemRow) -> bool:
    return (
        one.question == other.question
        and one.context == other.context
        and one.gold == other.gold
        and one.rationale == other.rationale
        and one.options == other.options
        and one.answer_key == other.answer_key
        and one.strata == other.strata
        and one.extra == other.extra
    )


class Stager:
    """Reads a stream of rows into the staging tables."""

    def __init__(self, connection: StudyConnection, names: tuple[str, ...], stop: bool) -> None:
        self.read = Read()
        self._connection, self._names, self._stop = connection, names, stop
        self._checker = Checker()
        self._buffers: dict[str, list[tuple[Any, ...]]] = {kind: [] for kind in TABLES}
        self._insert = {kind: _insert_sql(*table) for kind, table in TABLES.items()}
        self._items = _RecentItems()
        self._last: tuple[str, str, str, int] | None = None
        self._last_repeat: int | None = None

    def take(self, rows: Iterable[Streamed], progress: Callable[[int, int | None], None] | None) -> Read:
        """Stage the whole stream (where rejects stop the import, up to as many of them as are listed)."""
        number, due = 0, CHUNK
        for row in rows:
            if isinstance(row, RowBlock):
                self._take_block(row)
                number += len(row)
            else:
                self._take_one(row)
                number += 1
            if number >= due:
                due = number + CHUNK
                self._flush()
                if progress is not None:
                    progress(number, None)
                if self._stop and self.read.refused >= LISTED_REJECTS:
                    break
        self._flush()
        self.read.replaced = self._checker.replaced
        return self.read

    def _take_block(self, block: RowBlock) -> None:
        """Stage a block by columns, or row by row where something in it needs a look."""
        responses = response_columns(block, self._checker)
        judges = [judge_columns(judge) for judge in block.judges]
        if responses is None or not block.rows or any(judge is None for judge in judges):
            for row in block.single():
                self._take_one(row)
            return
        for _, item in block.items:
            self._take_one(item)
        self._flush()
        count, each = len(block.rows), len(judges)
        first, label = self._numbers(RESPONSES, count), self._numbers(JUDGE_LABELS, count * each)
        key, model, condition = (block.key[name][-1] if name in block.key else "" for name in _KEY_NAMES)
        self._last = (key, model, condition, first + count - 1)
        self._last_repeat = block.key["repeat"][-1] if "repeat" in block.key else None
        rows, place = _places(block)
        self._write(RESPONSES, count, {**rows, **responses}, {**place, "n": f"{first} + ?1"})
        repeats = {"repeat": block.key["repeat"]} if "repeat" in block.key else {}
        for number, (judge, columns) in enumerate(zip(block.judges, judges, strict=True), label):
            told = {"n": f"{number} + {each} * ?1", "link": f"{first} + ?1", "judge": _quoted(judge.judge)}
            self.read.judges[judge.judge] = None
            self._write(JUDGE_LABELS, count, {**rows, **repeats, **(columns or {})}, {**place, **told})

    def _numbers(self, kind: str, count: int) -> int:
        """The first of so many new places in the stream."""
        first = self.read.staged[kind] + 1
        self.read.staged[kind] += count
        self.read.rows[kind] += count
        return first

    def _write(self, kind: str, count: int, columns: Mapping[str, Sequence[Any]], told: Mapping[str, str]) -> None:
        """Write ``count`` rows: the values of ``columns``, and as SQL what is ``told`` (?1: the row's place, from 0).

        Columns that neither names have their usual value. A value is bound once though two columns hold it.
        """
        bound = {id(values): values for values in columns.values()}
        number = {which: at for at, which in enumerate(bound, 2)}
        usual = {name: value for name, value in _USUAL[kind].items() if name not in columns and name not in told}
        values = {name: f"?{number[id(column)]}" for name, column in columns.items()} | usual | dict(told)
        sql = f"INSERT INTO staging.{TABLES[kind][0]} ({', '.join(values)}) VALUES ({', '.join(values.values())})"
        self._connection.execute("BEGIN")
        self._connection.executemany(sql, zip(range(count), *bound.values(), strict=True))
        self._connection.execute("COMMIT")

    def _take_one(self, row: ImportRow | Reject) -> None:
        kind = KINDS.get(type(row))
        if kind is None:
            self._unreadable(row)
            return
        read = self.read
        read.rows[kind] += 1
        if kind is ITEMS and self._items.repeats(cast(ItemRow, row)):
            read.repeated += 1
            return
        try:
            values = CHECKS[type(row)](self._checker, row)
        except BadRow as bad:
            read.rejected[kind] += 1
            read.reject(Reject(self._name(row), getattr(row, "row", 0), str(bad)))
            return
        read.staged[kind] += 1
        if kind == RESPONSES:
            self._last = (*values[2:5], read.staged[kind])
            self._last_repeat = values[5]
            values = (read.staged[kind], *values)
        elif kind == ITEMS:
            values = (read.staged[kind], *values)
        else:
            last = self._last
            link = last[3] if last is not None and last[:3] == values[3:6] else None
            if kind == JUDGE_LABELS:
                read.judges[values[2]] = None
            read.linked = read.linked and link is not None and values[6] in (None, self._last_repeat)
            values = (read.staged[kind], link, *values)
        self._buffers[kind].append(values)

    def _unreadable(self, row: object) -> None:
        if not isinstance(row, Reject):
            raise TypeError(f"a row of an import cannot be {type(row).__name__}")
        self.read.unreadable += 1
        self.read.reject(row)

    def _name(self, row: object) -> str:
        source = getattr(row, "source", 0)
        return self._names[source] if 0 <= source < len(self._names) else ""

    def _flush(self) -> None:
        self._connection.execute("BEGIN")
        for kind, buffer in self._buffers.items():
            if buffer:
                self._connection.executemany(self._insert[kind], buffer)
                buffer.clear()
        self._connection.execute("COMMIT")


def _insert_sql(name: str, columns: str) -> str:
    return f"INSERT INTO staging.{name} VALUES ({', '.join('?' * (columns.count(',') + 1))})"


def _places(block: RowBlock) -> tuple[dict[str, Sequence[int]], dict[str, str]]:
    """Where the rows of a block come from: columns of values, and columns as SQL."""
    source = {"source": str(block.source)}
    if isinstance(block.rows, range) and block.rows.step == 1:
        return {}, {**source, "row": f"{block.rows.start} + ?1"}
    return {"row": block.rows}, source


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
