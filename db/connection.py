"""Opening a study file safely, and transactions that do not fail when twenty coders save at once.

Only ``sqlite3`` is used here: this is the first thing that the coding screen imports.
"""

from __future__ import annotations

import os
import random
import sqlite3
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from db.faults import BusyStudy, IsPack, NewerStudy, NotAStudy, ReadOnlyStudy, StudyError, gone, translate
from db.places import check_place

APPLICATION_ID = 0x414E4E4F  # "ANNO"
PACK_ID = 0x414E504B  # "ANPK": a pack has a study's tables, and is none
ENCRYPTED = b"age-encryption.org/"  # how an encrypted pack begins
LATEST = 1  # the number of the last migration; a test holds it equal to db.migrations
BUSY_SECONDS = 30.0
RETRY_SECONDS = (0.001, 0.015)
_OLDEST_SQLITE = (3, 38, 0)  # STRICT tables and JSON without a build option


class StudyConnection(sqlite3.Connection):
    """A connection that knows its file, so that an error can name it and a removed file is noticed."""

    path: Path
    identity: tuple[int, int]
    read_only: bool
    is_writing: bool = False


def connect(path: Path, *, read_only: bool = False, application: int = APPLICATION_ID) -> StudyConnection:
    """Open an existing study of the present or an earlier version; migrating it is ``db.schema.migrate``'s part.

    ``application``: what the file must say that it is, a study or a pack.
    Raises StudyMissing, NotAStudy, IsPack, NewerStudy, DamagedStudy, ReadOnlyStudy or UnsafePlace.
    """
    check_file(path)
    check_place(path)
    connection = open_connection(path, "ro" if read_only else "rw")
    try:
        check_identity(connection, application)
        set_pragmas(connection, one_file=application == PACK_ID)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        connection.close()
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_NOTADB:
            if is_encrypted(path):
                raise IsPack(f"{path}: is an encrypted pack, not a study.", PACK_HINT) from error
            hint = f"If it was one, run 'annotate repair {path} --to NEW.db'; 'annotate init' makes a new study."
            raise NotAStudy(f"{path}: is not a study file.", hint) from error
        raise translate(error, path) from error
    except BaseException:
        connection.close()
        raise
    return connection


def open_connection(path: Path, mode: str) -> StudyConnection:
    """A bare connection in autocommit mode: transactions are begun by name, never by the driver."""
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise StudyError(f"SQLite {sqlite3.sqlite_version} is too old: 3.38 or later is needed.", "Use a newer Python.")
    uri = f"file:{quote(str(path))}?mode={mode}"
    if mode == "ro" and not os.access(path.parent, os.W_OK) and not wal_of(path).exists():
        uri += "&immutable=1"  # a read-only folder has no room for the shared-memory file, and nobody can write here
    try:
        connection = sqlite3.connect(
            uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False, factory=StudyConnection
        )
    except sqlite3.Error as error:
        raise translate(error, path) from error
    connection.path = path
    connection.identity = _identity(path)
    connection.read_only = mode == "ro"
    return connection


def wal_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def check_file(path: Path) -> None:
    """Raise unless ``path`` is a file that can be read and is not empty.

    It is never opened here but by SQLite: to close a file drops every lock that this process holds on it (POSIX), and
    another process would then take itself for the last user and delete the log that ours still writes to.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        raise gone(path) from None
    except OSError as error:
        raise ReadOnlyStudy(f"{path}: cannot be read ({error.strerror}).", "Check its permissions.") from error
    if stat.S_ISDIR(found.st_mode):
        raise NotAStudy(f"{path}: is a folder.", "Name the study file in it.")
    if not stat.S_ISREG(found.st_mode):
        raise NotAStudy(f"{path}: is no file.", "Name a study file.")
    if not os.access(path, os.R_OK):
        raise ReadOnlyStudy(f"{path}: cannot be read (permission denied).", "Check its permissions.")
    if not found.st_size:
        raise _no_study(path, "is empty")


def _no_study(path: Path, seen: str) -> NotAStudy:
    return NotAStudy(f"{path}: {seen}.", "'annotate init' makes a new study; 'annotate import' reads data into one.")


PACK_HINT = "'annotate code' codes it; 'annotate merge STUDY.db PACK' takes in what was coded in it."


def is_encrypted(path: Path) -> bool:
    """Whether a file that SQLite does not know begins as an encrypted pack does."""
    return _start(path, len(ENCRYPTED)) == ENCRYPTED


def is_pack(path: Path) -> bool:
    """Whether a file begins as a pack does, encrypted or not. Only where this process has no connection to it yet."""
    start = _start(path, 72)
    return start.startswith(ENCRYPTED) or (start.startswith(b"SQLite format 3\0") and start[68:] == PACK_ID.to_bytes(4))


def _start(path: Path, length: int) -> bytes:
    """The first bytes of a file; nothing of what is no file, for a pipe would keep its reader waiting."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(length)
    except OSError:
        return b""


def check_identity(connection: StudyConnection, application: int = APPLICATION_ID) -> None:
    """Raise unless the file says that it is a study (or a pack) of a version that this program knows."""
    found = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if found != application:
        if found == PACK_ID:
            raise IsPack(f"{connection.path}: is a pack, not a study.", PACK_HINT)
        if application == PACK_ID and found == APPLICATION_ID:
            raise NotAStudy(f"{connection.path}: is a study, not a pack.", "'annotate pack' makes packs of it.")
        raise NotAStudy(f"{connection.path}: is an SQLite file, but not a study.", "'annotate init' makes a new study.")
    if version > LATEST:
        raise NewerStudy(
            f"{connection.path}: was written by a newer version (format {version}; this one knows {LATEST}).",
            "Upgrade annotate-judge, in the way that it was installed.",
        )


def set_pragmas(connection: StudyConnection, *, one_file: bool = False) -> None:
    """WAL and FULL: a saved label survives power loss. recursive_triggers: else INSERT OR REPLACE deletes unnoticed.

    ``one_file``: a rollback journal, so that the file is whole between any two acts and can be sent as it lies; EXTRA,
    because an act is then durable only when the journal is gone from the folder.
    """
    if not connection.read_only:
        wanted = "delete" if one_file else "wal"
        mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
        if mode != wanted:
            connection.execute(f"PRAGMA journal_mode = {wanted}")
    connection.execute(f"PRAGMA synchronous = {'EXTRA' if one_file else 'FULL'}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA recursive_triggers = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    if sys.platform == "darwin":
        connection.execute("PRAGMA fullfsync = ON")
        connection.execute("PRAGMA checkpoint_fullfsync = ON")


@contextmanager
def writing(connection: StudyConnection) -> Iterator[StudyConnection]:
    """One transaction that holds the write lock from its start, and is durable when the block ends.

    Inside another one it simply joins it. Raises BusyStudy after 30 s, StudyMissing when the file was removed or
    replaced meanwhile, DiskFull, DamagedStudy or ReadOnlyStudy; nothing is changed then. Inside a ``reading`` block it
    raises RuntimeError: what was written there would be rolled back with it.
    """
    if connection.in_transaction:
        if not connection.is_writing:
            raise RuntimeError("a write inside a block that reads (or while its rows are still being read)")
        yield connection
        return
    begin_immediate(connection)
    connection.is_writing = True
    try:
        _check_still_there(connection)
        yield connection
        connection.execute("COMMIT")
    except BaseException as error:
        roll_back(connection)
        if isinstance(error, sqlite3.Error | UnicodeDecodeError):
            raise translate(error, connection.path) from error
        raise
    finally:
        connection.is_writing = False


@contextmanager
def reading(connection: StudyConnection) -> Iterator[StudyConnection]:
    """One consistent view of the study, whatever is written meanwhile."""
    if connection.in_transaction:
        yield connection
        return
    try:
        connection.execute("BEGIN")
        yield connection
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise translate(error, connection.path) from error
    finally:
        roll_back(connection)


def begin_immediate(connection: StudyConnection, seconds: float = BUSY_SECONDS) -> None:
    """BEGIN IMMEDIATE with short random pauses: SQLite's own growing ones let one of fifty writers starve."""
    deadline = time.monotonic() + seconds
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise translate(error, connection.path) from error
                if time.monotonic() > deadline:
                    raise BusyStudy(
                        f"{connection.path}: another process has been writing for {seconds:.0f} s; nothing was saved.",
                        "Try again when it is done.",
                    ) from error
            time.sleep(random.uniform(*RETRY_SECONDS))
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")


def roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _identity(path: Path) -> tuple[int, int]:
    try:
        seen = path.stat()
    except OSError:
        raise gone(path) from None
    return seen.st_dev, seen.st_ino


def _check_still_there(connection: StudyConnection) -> None:
    """A removed file can still be written to, and what is written is lost."""
    if _identity(connection.path) != connection.identity:
        raise StudyError(
            f"{connection.path}: was replaced by another file while it was open; nothing was saved.", "Open it again."
        )
