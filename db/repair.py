"""Repair: what can be recovered from a damaged study goes into a new file, and what was lost is named.

Rows come from the damaged file; what it does not give is filled in from the newest sound backup beside it. Annotations
are never copied: they are the fold of the events. The damaged file itself is only read.
"""

from __future__ import annotations

import json
import secrets
import shutil
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from db.annotations import refold
from db.backups import private_file
from db.blindness import unmask
from db.canonical import sha256_text
from db.clock import utc_now
from db.connection import LATEST, StudyConnection, open_connection, writing
from db.damaged import backups_of, copied, empty_study, open_damaged
from db.erasure import erase_texts, redact_item, redact_response
from db.errors import AnnotateError
from db.faults import DamagedStudy, StudyError, gone, translate
from db.ids import RandomBytes
from db.lead import record
from db.logs import Log
from db.places import check_place
from db.repair_logs import LogRepair, Moved, repair_log
from db.salvage import Key, Legible, Row, Table, legible, tables_of
from db.study import open_study, real_path
from db.texts import text_digest
from db.verify import Verified, verify

_FOLDED = frozenset({"annotations", "unmaskings", "reopenings", "events", "migrations"})
_SHOWN = 20


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


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair came to. ``schema``: the file's own list of tables was gone. ``proved``: what ``verify`` says."""

    target: Path
    backup: Path | None
    schema: bool
    tables: tuple[TableRepair, ...]
    logs: tuple[LogRepair, ...]
    proved: Verified

    @property
    def complete(self) -> bool:
        """True where nothing was lost and every row stands where it stood."""
        return all(table.lost == 0 for table in self.tables) and not any(log.lost or log.moved for log in self.logs)


@dataclass(slots=True)
class _Source:
    """One file that rows come from."""

    connection: sqlite3.Connection
    tables: dict[str, Legible] = field(default_factory=dict)


def repair(path: str | Path, target: str | Path, *, random_bytes: RandomBytes = secrets.token_bytes) -> Repaired:
    """Recover what can be recovered of ``path`` into the new file ``target``.

    Raises StudyError where the target exists or cannot be made, DamagedStudy where neither the file nor a backup tells
    what study it was. It never changes ``path``.
    """
    source, new = real_path(path), real_path(target)
    if not source.is_file():
        raise gone(source)
    if new.exists():
        raise StudyError(f"{new}: there is already a file of that name.", "Name another one.")
    check_place(new)
    if not new.parent.is_dir():
        raise StudyError(f"{new.parent}: there is no such folder.", "Make it first, or name another one.")
    with tempfile.TemporaryDirectory(prefix=f".{new.name}.", dir=new.parent) as name:
        folder = Path(name)
        built = folder / "repaired.db"
        try:
            job = _read(source, folder, built, random_bytes)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise translate(error, source) from error
        private_file(new)
        built.replace(new)
    with open_study(new) as study:
        proved = verify(study)
    return Repaired(new, job.backup, job.grafted, tuple(job.reports), tuple(job.logs), proved)


def _read(path: Path, folder: Path, built: Path, random_bytes: RandomBytes) -> _Repair:
    connection, grafted = open_damaged(copied(path, folder), folder)
    backup = next((each for each in backups_of(path) if _sound(each)), None)
    sources = [] if connection is None else [_Source(connection)]
    if backup is not None:
        shutil.copyfile(backup, folder / "backup.db")
        sources.append(_Source(open_connection(folder / "backup.db", "rw")))
    try:
        with closing(empty_study(built, _version(sources))) as made:
            job = _Repair(made, sources, random_bytes, path)
            job.backup, job.grafted = backup, grafted
            job.run()
            made.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return job
    finally:
        for each in sources:
            each.connection.close()


def _sound(backup: Path) -> bool:
    try:
        with open_study(backup, read_only=True) as study:
            return bool(study.connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except (AnnotateError, sqlite3.Error, ValueError, UnicodeDecodeError):
        return False


def _version(sources: Iterable[_Source]) -> int:
    """The format of the first file that says one; a repaired file of an earlier version is migrated when opened."""
    for source in sources:
        found = int(source.connection.execute("PRAGMA user_version").fetchone()[0])
        if 1 <= found <= LATEST:
            return found
    return LATEST


class _Repair:
    """One repair: the new file, what it is made of, and what is told of it."""

    def __init__(
        self, connection: StudyConnection, sources: list[_Source], random_bytes: RandomBytes, path: Path
    ) -> None:
        self.connection, self.sources, self.random_bytes, self.path = connection, sources, random_bytes, path
        self.backup: Path | None = None
        self.grafted = False
        self.reports: list[TableRepair] = []
        self.logs: list[LogRepair] = []
        self._keys: dict[tuple[str, str], set[Any]] = {}
        self._wanted: defaultdict[str, set[Any]] = defaultdict(set)
        self._moved = Moved()

    def run(self) -> None:
        connection = self.connection
        tables = tables_of(connection)
        connection.execute("PRAGMA foreign_keys = OFF")
        with writing(connection):
            leased = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'events_leased'").fetchone()[0]
            connection.execute("DROP TRIGGER events_leased")
            self._want(tables)
            for table in tables:
                if table.name not in _FOLDED:
                    self._table(table)
            self._logs({table.name: table for table in tables})
            self._traces({table.name: table for table in tables})
            self._erase_again()
            connection.execute("UPDATE assignments SET state = 0")
            for (assignment,) in connection.execute(_CODED).fetchall():
                refold(connection, assignment)
            connection.execute(leased)
            told = {"moved": sum(log.moved for log in self.logs), "lost": sum(len(log.lost) for log in self.logs)}
            record(connection, "repair", told, random_bytes=self.random_bytes)
        connection.execute("PRAGMA foreign_keys = ON")

    # --- tables ---------------------------------------------------------------------------------

    def _legible(self, table: Table) -> list[Legible]:
        for source in self.sources:
            if table.name not in source.tables:
                logs = source.tables.get("logs")
                groups = [key[0] for key in logs.rows] if table.name == "events" and logs else []
                source.tables[table.name] = legible(source.connection, table, groups)
        return [source.tables[table.name] for source in self.sources]

    def _want(self, tables: list[Table]) -> None:
        """What every row that can be read refers to: rows that must have been there."""
        for table in tables:
            for found in self._legible(table)[:1]:
                for column, parent, _ in _references(self.connection, table.name):
                    place = table.columns.index(column)
                    self._wanted[parent] |= {row[place] for row in found.rows.values() if row[place] is not None}

    def _table(self, table: Table) -> None:
        found = self._legible(table)
        references = [
            (table.columns.index(c), parent, to) for c, parent, to in _references(self.connection, table.name)
        ]
        counts = [0] * len(found)
        keys = {key for each in found for key in each.rows}
        put: set[Key] = set()
        for key in sorted(keys, key=lambda key: tuple((type(part).__name__, part) for part in key)):
            for number, each in enumerate(found):
                row = each.rows.get(key)
                if row is not None and self._is_sound(table, row, references) and self._insert(table, row):
                    counts[number] += 1
                    put.add(key)
                    break
        lost = self._lost(table, keys, put)
        if table.name == "protocols":
            self._codebooks(table, found, lost)
        whole = not found or found[0].whole or len(found) > 1
        unknown = not whole and not lost and not table.integer_key
        recovered = counts[0] if self._damaged_first else 0
        filled = sum(counts) - recovered
        shown = tuple(f"{table.name} {'/'.join(map(str, key))}" for key in sorted(lost, key=str)[:_SHOWN])
        self.reports.append(TableRepair(table.name, recovered, filled, None if unknown else len(lost), shown))

    @property
    def _damaged_first(self) -> bool:
        return len(self.sources) > (self.backup is not None)

    def _lost(self, table: Table, keys: set[Key], put: set[Key]) -> set[Key]:
        """Rows that were there and are not now: seen but unusable, referred to, or a number that is left out."""
        wanted = {(each,) for each in self._wanted[table.name]} if len(table.key) == 1 else set()
        if table.integer_key:
            last = max((key[0] for key in put), default=0)
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

    def _is_sound(self, table: Table, row: Row, references: list[tuple[int, str, str]]) -> bool:
        for place, parent, column in references:
            if row[place] is not None and parent not in _FOLDED and row[place] not in self._known(parent, column):
                return False
        values = dict(zip(table.columns, row, strict=True))
        if table.name == "protocols":
            return isinstance(values["toml"], str) and bool(sha256_text(values["toml"]) == values["digest"])
        if table.name == "texts" and values["text"] is not None:
            return bool(text_digest(values["salt"], values["text"]) == values["digest"])
        return True

    def _known(self, parent: str, column: str) -> set[Any]:
        return self._keys.setdefault((parent, column), self._read_keys(parent, column))

    def _read_keys(self, parent: str, column: str) -> set[Any]:
        return {row[0] for row in self.connection.execute(f'SELECT "{column}" FROM "{parent}"')}

    def _insert(self, table: Table, row: Row) -> bool:
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

    # --- the record -----------------------------------------------------------------------------

    def _logs(self, tables: Mapping[str, Table]) -> None:
        found = self._legible(tables["events"])
        empty = "SELECT 1 FROM study, protocols LIMIT 1"
        if self.connection.execute(empty).fetchone() is None:
            raise DamagedStudy(
                f"{self.path}: neither the file nor a backup beside it tells which study it was.",
                "Look for a copy of the study elsewhere ('annotate backup' made it).",
            )
        self._words(found)
        for log, pseudonym in self._known_logs():
            rows = [{key[1]: row for key, row in each.rows.items() if key[0] == log.id} for each in found]
            expected = self._expected(log.id)
            self.logs.append(
                repair_log(self.connection, log, pseudonym, rows, expected, self._moved, self.random_bytes)
            )

    def _known_logs(self) -> list[tuple[Log, str]]:
        rows = self.connection.execute(
            "SELECT l.id, l.uid, l.coder_id, l.place, l.genesis, c.pseudonym FROM logs l"
            " JOIN coders c ON c.id = l.coder_id ORDER BY l.id"
        ).fetchall()
        return [(Log(*row[:5]), row[5]) for row in rows]

    def _words(self, found: list[Legible]) -> None:
        """A note whose words were lost stands as an erased one, so that its row can be kept."""
        for each in found:
            for row in each.rows.values():
                with suppress(TypeError, ValueError, AttributeError):
                    body = json.loads(row[5])
                    for digest in (body.get("note"), body.get("words")):
                        if isinstance(digest, str):
                            self.connection.execute(
                                "INSERT INTO texts (digest, salt, text) VALUES (?, '', NULL) ON CONFLICT DO NOTHING",
                                (digest,),
                            )

    def _expected(self, log: int) -> dict[int, str]:
        """Rows of a log of which something else speaks: the index of the events, annotations, unmaskings."""
        expected: dict[int, str] = {}
        if not self._damaged_first:
            return expected
        damaged = self.sources[0].connection
        for sql in _SPOKEN_OF:
            with suppress(sqlite3.Error, UnicodeDecodeError):
                for seq, assignment in damaged.execute(sql, (log,)):
                    if isinstance(seq, int) and 0 < seq < 1 << 40:
                        expected.setdefault(seq, self._about(assignment))
        return expected

    def _about(self, assignment: int | None) -> str:
        row = self.connection.execute(
            "SELECT a.uid, u.public_id FROM assignments a JOIN units u ON u.id = a.unit_id WHERE a.id = ?",
            (assignment,),
        ).fetchone()
        return "" if row is None else f" (assignment {row[0]}, unit {row[1]})"

    def _traces(self, tables: Mapping[str, Table]) -> None:
        """Unmaskings and reopenings, at the places where their events stand now; unmaskings can be read off the log."""
        kept = {log.log: log.kept for log in self.logs}
        ends = {number: kept[uid] for number, uid in self.connection.execute("SELECT id, uid FROM logs") if uid in kept}
        for name in ("unmaskings", "reopenings"):
            table, put, lost = tables[name], 0, []
            rows = {key: row for each in reversed(self._legible(table)) for key, row in each.rows.items()}
            for key, row in sorted(rows.items()):
                values = dict(zip(table.columns, row, strict=True))
                place = (values["log_id"], values["seq"])
                stands = place if place[1] <= ends.get(place[0], 0) else self._moved.places.get(place)
                if stands is not None:
                    values["log_id"], values["seq"] = stands
                    _put(self.connection, table, tuple(values.values()))
                    put += 1
                else:
                    lost.append(f"{name} {key[0]}")
            self.reports.append(TableRepair(name, put, 0, len(lost), tuple(lost[:_SHOWN])))
        for log, seq, coder, unit, body in self.connection.execute(_UNMASKED).fetchall():
            account = json.loads(body).get("account")
            by = None if account else coder
            unmask(self.connection, log, seq, coder_id=by, account=account, unit_id=unit)

    def _erase_again(self) -> None:
        """What was forgotten or redacted stays so, also where a backup from before filled it in."""
        rows = self.connection.execute("SELECT kind, unit, body FROM events WHERE kind IN ('redact', 'forget')")
        for kind, unit, told in rows.fetchall():
            body = json.loads(told)
            if kind == "forget":
                erase_texts(
                    self.connection,
                    "e.log_id IN (SELECT l.id FROM logs l JOIN coders c ON c.id = l.coder_id WHERE c.uid = ?)",
                    (body["coder"],),
                )
                self.connection.execute(
                    "UPDATE coders SET name = NULL, forgotten_utc = coalesce(forgotten_utc, ?) WHERE uid = ?",
                    (utc_now(), body["coder"]),
                )
                continue
            erase_texts(self.connection, "e.unit = ?", (unit,))
            for response, item in self.connection.execute(_UNIT, (unit,)).fetchall():
                redact_response(self.connection, response)
                if body.get("item"):
                    redact_item(self.connection, item)


def _put(connection: sqlite3.Connection, table: Table, row: Row) -> None:
    columns, marks = ", ".join(f'"{name}"' for name in table.columns), ", ".join("?" * len(table.columns))
    connection.execute(f'INSERT INTO "{table.name}" ({columns}) VALUES ({marks})', row)


def _references(connection: sqlite3.Connection, table: str) -> list[tuple[str, str, str]]:
    """(column, table that it refers to, column there) of every reference by a single column."""
    rows = connection.execute(f'PRAGMA foreign_key_list("{table}")').fetchall()
    several = {row[0] for row in rows if row[1] > 0}
    return [(row[3], row[2], row[4]) for row in rows if row[0] not in several]


_CODED = "SELECT DISTINCT assignment_id FROM events WHERE assignment_id IS NOT NULL ORDER BY 1"
_UNIT = "SELECT u.response_id, r.item_id FROM units u JOIN responses r ON r.id = u.response_id WHERE u.public_id = ?"
_UNMASKED = """
    SELECT e.log_id, e.seq, l.coder_id, u.id, e.body FROM events e JOIN logs l ON l.id = e.log_id
    LEFT JOIN units u ON u.public_id = e.unit
    WHERE e.kind = 'unmask'
      AND NOT EXISTS (SELECT 1 FROM unmaskings m WHERE m.log_id = e.log_id AND m.seq = e.seq)"""
_SPOKEN_OF = (
    "SELECT seq, assignment_id FROM events INDEXED BY events_assignment WHERE log_id = ? AND assignment_id IS NOT NULL",
    "SELECT seq, assignment_id FROM annotations NOT INDEXED WHERE log_id = ?",
    "SELECT seq, NULL FROM unmaskings NOT INDEXED WHERE log_id = ?",
)
