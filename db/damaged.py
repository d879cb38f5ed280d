"""A damaged file made readable as far as that goes: on a copy, under a sound study's schema where its own is gone."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from db.connection import APPLICATION_ID, LATEST, StudyConnection, open_connection, set_pragmas, wal_of
from db.places import side_folder
from db.schema import migrate

PAGE = 4096
_INTERIOR = 5
_HEADER = 100


def copied(path: Path, folder: Path) -> Path:
    """A copy of the file and of its write-ahead log in ``folder``; what is repaired is never touched.

    Closing a file drops every lock that this process holds on it: the study must not be open in this process.
    """
    copy = folder / "damaged.db"
    shutil.copyfile(path, copy)
    if wal_of(path).exists():
        shutil.copyfile(wal_of(path), wal_of(copy))
    return copy


def empty_study(path: Path, version: int = LATEST) -> StudyConnection:
    """A new file of that version without any row, open; a study's tables always lie on the same first pages."""
    path.touch(mode=0o600)
    connection = open_connection(path, "rw")
    connection.execute("PRAGMA auto_vacuum = NONE")
    set_pragmas(connection)
    migrate(connection, version)
    return connection


def open_damaged(copy: Path, folder: Path) -> tuple[sqlite3.Connection | None, bool]:
    """A connection to the copy, and whether its schema had to be taken from a sound study; None: nothing is legible."""
    connection = _readable(copy)
    if connection is not None:
        return connection, False
    with closing(empty_study(folder / "sound.db")) as sound:
        sound.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    _graft(copy, (folder / "sound.db").read_bytes())
    return _readable(copy), True


def _readable(copy: Path) -> sqlite3.Connection | None:
    """A connection, if the file's own list of tables can be read to its end and is that of a study."""
    connection = sqlite3.connect(copy, isolation_level=None)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE sql IS NOT NULL")}
        if connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID and "events" in names:
            return connection
    except (sqlite3.Error, UnicodeDecodeError):
        pass
    connection.close()
    return None


def _graft(copy: Path, sound: bytes) -> None:
    """Write the pages that hold the schema of a sound study over those of the copy, and the size that the copy has."""
    content = bytearray(copy.read_bytes())
    content.extend(b"\0" * (-len(content) % PAGE))
    for number in _schema_pages(sound, 1):
        start = (number - 1) * PAGE
        if start < len(content):
            content[start : start + PAGE] = sound[start : start + PAGE]
    content[28:32] = (len(content) // PAGE).to_bytes(4, "big")
    content[32:40] = bytes(8)  # no list of free pages
    content[92:96] = content[24:28]  # the size above is valid
    copy.write_bytes(content)


def _schema_pages(sound: bytes, number: int) -> list[int]:
    """The pages of the tree that begins at this page: a page names its children by their numbers."""
    start = (number - 1) * PAGE
    head = start + (_HEADER if number == 1 else 0)
    if sound[head] != _INTERIOR:
        return [number]
    cells = int.from_bytes(sound[head + 3 : head + 5], "big")
    pointers = [int.from_bytes(sound[head + 12 + 2 * n : head + 14 + 2 * n], "big") for n in range(cells)]
    children = [int.from_bytes(sound[start + at : start + at + 4], "big") for at in pointers]
    children.append(int.from_bytes(sound[head + 8 : head + 12], "big"))
    return [number, *(page for child in children for page in _schema_pages(sound, child))]


def backups_of(path: Path) -> list[Path]:
    """The backups beside the study, newest first."""
    folder = side_folder(path, create=False) / "backups"
    found = folder.glob("*.db") if folder.is_dir() else ()
    return sorted(found, key=lambda each: each.name, reverse=True)
