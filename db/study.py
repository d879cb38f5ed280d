"""A study file: making one, opening one, and what it says of itself."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any

from db.backups import private_file
from db.canonical import canonical_json
from db.clock import utc_now
from db.connection import StudyConnection, connect, open_connection, set_pragmas, writing
from db.faults import StudyError, translate
from db.ids import RandomBytes, new_id
from db.places import check_place, side_folder
from db.records import Protocol
from db.schema import migrate
from db.version import TOOL_VERSION


class Study:
    """An open study. Each thread that uses it gets a connection of its own; ``close`` closes them all."""

    def __init__(self, path: Path, connection: StudyConnection, *, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self._local = threading.local()
        self._local.connection = connection
        self._all = [connection]
        self._lock = threading.Lock()
        row = self.connection.execute("SELECT uid, title, place, created_utc, secret FROM study").fetchone()
        if row is None:
            self.close()
            raise StudyError(f"{path}: holds no study.", "Its creation was cut short: delete it and make it anew.")
        self.uid: str = row[0]
        self.title: str = row[1]
        self.place: str = row[2]
        self.created_utc: str = row[3]
        self.secret: bytes = row[4]

    @property
    def connection(self) -> StudyConnection:
        """The connection of the calling thread."""
        found: StudyConnection | None = getattr(self._local, "connection", None)
        if found is None:
            found = connect(self.path, read_only=self.read_only)
            self._local.connection = found
            with self._lock:
                self._all.append(found)
        return found

    @property
    def side(self) -> Path:
        """The folder beside the study: locks, unsent notes, backups, crash logs."""
        return side_folder(self.path)

    @property
    def settings(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.connection.execute("SELECT settings FROM study").fetchone()[0])
        return found

    def set_settings(self, changes: Mapping[str, Any]) -> None:
        """Store the given settings beside the others; None removes one."""
        with writing(self.connection) as connection:
            merged = {k: v for k, v in {**self.settings, **changes}.items() if v is not None}
            connection.execute("UPDATE study SET settings = ?", (canonical_json(merged),))

    @property
    def protocol_version(self) -> int:
        """The number of the codebook in force, counted from 1 in this study."""
        return int(self.connection.execute("SELECT max(version) FROM protocols").fetchone()[0])

    @property
    def protocol_toml(self) -> str:
        return self._current("toml")

    @property
    def protocol_digest(self) -> str:
        return self._current("digest")

    @property
    def protocol_name(self) -> str:
        return self._current("name")

    def _current(self, column: str) -> str:
        row = self.connection.execute(f"SELECT {column} FROM protocols ORDER BY version DESC LIMIT 1").fetchone()
        return str(row[0])

    def close(self) -> None:
        with self._lock:
            while self._all:
                self._all.pop().close()
        self._local = threading.local()

    def __enter__(self) -> Study:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_study(path: str | Path, *, read_only: bool = False) -> Study:
    """Open a study, brought to the present version first (after a backup). Raises StudyError and its kinds."""
    real = real_path(path)
    connection = connect(real, read_only=read_only)
    try:
        migrate(connection)
        return Study(real, connection, read_only=read_only)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        connection.close()
        raise translate(error, real) from error
    except BaseException:
        connection.close()
        raise


def create_study(
    path: str | Path,
    protocol: Protocol,
    *,
    title: str = "",
    settings: Mapping[str, Any] | None = None,
    random_bytes: RandomBytes = secrets.token_bytes,
) -> Study:
    """Make a new study file, readable by its owner only, and open it.

    It is built under another name and gets its own when it is whole, so that a study file is never half made.
    Raises StudyError where ``path`` exists or cannot be made, UnsafePlace on a network file system or sync folder.
    """
    real = real_path(path)
    if real.exists():
        raise StudyError(f"{real}: there is already a file of that name.", "Name another one, or delete it first.")
    if not real.parent.is_dir():
        raise StudyError(f"{real.parent}: there is no such folder.", "Make it first, or name another one.")
    check_place(real)
    partial = real.with_name(f".{real.name}.{os.getpid()}.{threading.get_ident()}.part")
    private_file(partial)
    try:
        _build(partial, protocol, title, settings or {}, random_bytes)
        _take_name(partial, real)
    except sqlite3.Error as error:
        raise translate(error, real) from error
    finally:
        partial.unlink(missing_ok=True)
    return open_study(real)


def real_path(path: str | Path) -> Path:
    """The file itself, so that two names of one study share locks and side files."""
    return Path(path).expanduser().resolve()


def _build(
    partial: Path, protocol: Protocol, title: str, settings: Mapping[str, Any], random_bytes: RandomBytes
) -> None:
    with closing(open_connection(partial, "rw")) as connection:
        connection.execute("PRAGMA auto_vacuum = NONE")
        set_pragmas(connection)
        migrate(connection)
        now = utc_now()
        with writing(connection):
            connection.execute(
                "INSERT INTO study (id, uid, title, created_utc, tool_version, place, secret, settings)"
                " VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
                (
                    new_id(random_bytes, 20),
                    title,
                    now,
                    TOOL_VERSION,
                    new_id(random_bytes),
                    random_bytes(32),
                    canonical_json(settings),
                ),
            )
            connection.execute(
                "INSERT INTO protocols (version, name, digest, toml, change, created_utc)"
                " VALUES (1, ?, ?, ?, 'initial', ?)",
                (protocol.name, protocol.digest, protocol.toml, now),
            )


def _take_name(partial: Path, real: Path) -> None:
    """Give the finished file its name, never over another one."""
    try:
        os.link(partial, real)
    except FileExistsError:
        raise StudyError(f"{real}: there is already a file of that name.", "Name another one.") from None
    except OSError:  # a file system without hard links
        private_file(real)
        partial.replace(real)
