"""Repair: what can be recovered from a damaged study goes into a new file, and what was lost is named.

Rows come from the damaged file; what it does not give is filled in from the newest sound backup beside it. Annotations
are never copied: they are the fold of the events. The damaged file itself is only read.
"""

from __future__ import annotations

import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from db.annotations import refold
from db.backups import private_file
from db.connection import LATEST, StudyConnection, is_pack, open_connection, writing
from db.damaged import backups_of, copied, empty_study, open_damaged
from db.errors import AnnotateError
from db.faults import PACK_AGAIN, IsPack, StudyError, gone, translate
from db.ids import RandomBytes
from db.lead import record
from db.places import check_place
from db.repair_logs import LogRepair
from db.repair_record import Record
from db.repair_tables import FOLDED, Source, TableRepair, Tables
from db.salvage import tables_of
from db.study import open_study, real_path
from db.verify import Verified, verify

__all__ = ["LogRepair", "Repaired", "TableRepair", "repair"]


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


def repair(path: str | Path, target: str | Path, *, random_bytes: RandomBytes = secrets.token_bytes) -> Repaired:
    """Recover what can be recovered of ``path`` into the new file ``target``.

    Raises StudyError where the target exists or cannot be made, DamagedStudy where neither the file nor a backup tells
    what study it was. It never changes ``path``.
    """
    source, new = real_path(path), real_path(target)
    if not source.is_file():
        raise gone(source)
    if is_pack(source):
        raise IsPack(f"{source}: is a pack, not a study; packs are not repaired.", PACK_AGAIN)
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


@dataclass(frozen=True, slots=True)
class _Job:
    """What was read, and where the rest came from."""

    backup: Path | None
    grafted: bool
    reports: list[TableRepair]
    logs: list[LogRepair]


def _read(path: Path, folder: Path, built: Path, random_bytes: RandomBytes) -> _Job:
    damaged, grafted = open_damaged(copied(path, folder), folder)
    backup = next((each for each in backups_of(path) if _sound(each)), None)
    sources = [] if damaged is None else [Source(damaged)]
    if backup is not None:
        shutil.copyfile(backup, folder / "backup.db")
        sources.append(Source(open_connection(folder / "backup.db", "rw")))
    try:
        with closing(empty_study(built, _version(sources))) as made:
            tables = Tables(made, sources, has_damaged=damaged is not None)
            log = Record(made, tables, random_bytes, path)
            _fill(made, tables, log, random_bytes)
            made.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return _Job(backup, grafted, tables.reports, log.logs)
    finally:
        for each in sources:
            each.connection.close()


def _fill(connection: StudyConnection, tables: Tables, log: Record, random_bytes: RandomBytes) -> None:
    """Fill the new file in one transaction: tables, logs, traces, erasures, then the fold."""
    named = {table.name: table for table in tables_of(connection)}
    connection.execute("PRAGMA foreign_keys = OFF")  # each reference is checked on its way in
    with writing(connection):
        leased = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'events_leased'").fetchone()[0]
        connection.execute("DROP TRIGGER events_leased")  # what a pack has leased now was written here before
        tables.want(list(named.values()))
        for table in named.values():
            if table.name not in FOLDED:
                tables.take(table)
        log.take_logs(named)
        log.take_traces(named)
        log.erase_again()
        connection.execute("UPDATE assignments SET state = 0")
        for (assignment,) in connection.execute(_CODED).fetchall():
            refold(connection, assignment)
        connection.execute(leased)
        told = {"moved": sum(each.moved for each in log.logs), "lost": sum(len(each.lost) for each in log.logs)}
        record(connection, "repair", told, random_bytes=random_bytes)
    connection.execute("PRAGMA foreign_keys = ON")


def _sound(backup: Path) -> bool:
    try:
        with open_study(backup, read_only=True) as study:
            return bool(study.connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except (AnnotateError, sqlite3.Error, ValueError, UnicodeDecodeError):
        return False


def _version(sources: Iterable[Source]) -> int:
    """The format of the first file that says one; a repaired file of an earlier version is migrated when opened."""
    for source in sources:
        found = int(source.connection.execute("PRAGMA user_version").fetchone()[0])
        if 1 <= found <= LATEST:
            return found
    return LATEST


_CODED = "SELECT DISTINCT assignment_id FROM events WHERE assignment_id IS NOT NULL ORDER BY 1"
