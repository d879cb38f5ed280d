"""What can be wrong with a study file or with what is asked of it, in words that say what to do."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from db.errors import AnnotateError

PACK_AGAIN = "Ask for the file again; if it is lost, 'annotate recall' takes back what was in it."
DISK_FULL_BYTES = 16 * 1024 * 1024


class StudyError(AnnotateError):
    """A study file that cannot be used as asked."""


class StudyMissing(StudyError):
    """There is no such file (or it was removed while it was open)."""


class NotAStudy(StudyError):
    """A file that is no study."""


class IsPack(NotAStudy):
    """A pack where a study was expected: a coder's own file, which only some commands take."""


class NewerStudy(StudyError):
    """A study written by a later version of this program."""


class DamagedStudy(StudyError):
    """SQLite finds the file malformed."""


class ReadOnlyStudy(StudyError):
    """The file or its folder cannot be written."""


class BusyStudy(StudyError):
    """Another process held the write lock for longer than anyone should wait."""


class DiskFull(StudyError):
    """No room for what had to be written."""


class UnsafePlace(StudyError):
    """A network file system or a sync folder, on which SQLite's locks or log do not hold."""


class Refused(AnnotateError):
    """An act that the protocol, the round or the record does not allow."""

    exit_code = 1


class BadRequest(Refused):
    """What was asked for names something that is not there, or is not of the form that it must have."""

    exit_code = 2


class SessionTaken(Refused):
    """The same coder is at work in another session."""


class Fenced(Refused):
    """Another session took this coder's log over; nothing more can be saved from here."""


class ProtocolChanged(Refused):
    """The codebook changed since this session was opened, or since the coder last confirmed it."""


def translate(error: sqlite3.Error | UnicodeDecodeError, path: Path) -> AnnotateError:
    """The error that a person should read in place of SQLite's own (whose very words a damaged file can garble)."""
    if isinstance(error, UnicodeDecodeError):
        return damaged(path, "its list of tables is not legible")
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    if _no_room(path, primary):
        return DiskFull(f"{path}: the disk is full; the last act was not saved.", "Free some space, then save again.")
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(path, str(error))
    if primary == sqlite3.SQLITE_READONLY:
        if not path.exists():
            return gone(path)
        return ReadOnlyStudy(f"{path}: cannot be written.", "Make the file and its folder writable, or copy the study.")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BusyStudy(f"{path}: another process has been writing for too long; nothing was saved.", "Try again.")
    if primary == sqlite3.SQLITE_CANTOPEN:
        return gone(path) if not path.exists() else ReadOnlyStudy(f"{path}: cannot be opened ({error}).")
    if primary == sqlite3.SQLITE_IOERR and not path.exists():
        return gone(path)
    return StudyError(f"{path}: {error}.", "Run 'annotate verify' on the study.")


def damaged(path: Path, why: str) -> DamagedStudy:
    """The error for a malformed file: what SQLite says of it, and the two ways out."""
    why = " ".join(why.split())
    backups = f"{path.name.removesuffix('.db')}.d/backups"
    return DamagedStudy(
        f"{path}: the file is damaged ({why}).",
        f"Copy it away, then restore the newest file in {backups} or run 'annotate repair {path} --to NEW.db'.",
    )


def gone(path: Path) -> StudyMissing:
    return StudyMissing(f"{path}: there is no such file.", "Check the path; 'annotate init' makes a new study.")


def _no_room(path: Path, primary: int | None) -> bool:
    """True for SQLITE_FULL, and for an I/O error on a disk without space (SQLite then says only 'disk I/O error')."""
    if primary == sqlite3.SQLITE_FULL:
        return True
    if primary != sqlite3.SQLITE_IOERR:
        return False
    try:
        return shutil.disk_usage(path.parent).free < DISK_FULL_BYTES
    except OSError:
        return False
