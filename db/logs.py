"""Logs and what is appended to them. Everything here runs inside the transaction of the caller."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Mapping
from typing import Any, NamedTuple

from db.canonical import canonical_json
from db.chain import EventRow, genesis, row_hash
from db.clock import utc_now
from db.ids import RandomBytes, new_id
from db.version import TOOL_VERSION

UNKNOWN = "unknown"


class Log(NamedTuple):
    """A log of this file: its number here, its random id, whose it is, and where it was written."""

    id: int
    uid: str
    coder_id: int
    place: str
    genesis: str


class NewEvent(NamedTuple):
    """What is to be appended; sequence, hash and version of the program are added on the way."""

    kind: str
    body: Mapping[str, Any] = {}
    assignment_id: int | None = None
    assignment: str | None = None
    unit: str | None = None
    blindness: str = UNKNOWN
    origin: str = ""
    active_ms: int | None = None
    utc: str | None = None


def find_log(connection: sqlite3.Connection, coder_id: int, place: str) -> Log | None:
    row = connection.execute(
        "SELECT id, uid, coder_id, place, genesis FROM logs WHERE coder_id = ? AND place = ?", (coder_id, place)
    ).fetchone()
    return None if row is None else Log(*row)


def ensure_log(
    connection: sqlite3.Connection, coder_id: int, place: str, random_bytes: RandomBytes = secrets.token_bytes
) -> Log:
    """The coder's log at this place; a new one starts under the codebook in force, which counts as confirmed."""
    found = find_log(connection, coder_id, place)
    if found is not None:
        return found
    study, coder = connection.execute(
        "SELECT study.uid, coders.uid FROM study, coders WHERE coders.id = ?", (coder_id,)
    ).fetchone()
    version, digest = current_protocol(connection)
    uid = new_id(random_bytes)
    start = genesis(study, coder, uid, digest)
    cursor = connection.execute(
        "INSERT INTO logs (uid, coder_id, place, protocol_digest, genesis, confirmed_version, created_utc)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (uid, coder_id, place, digest, start, version, utc_now()),
    )
    return Log(int(cursor.lastrowid or 0), uid, coder_id, place, start)


def current_protocol(connection: sqlite3.Connection) -> tuple[int, str]:
    """Version and digest of the codebook in force."""
    row = connection.execute("SELECT version, digest FROM protocols ORDER BY version DESC LIMIT 1").fetchone()
    return int(row[0]), str(row[1])


def head(connection: sqlite3.Connection, log: Log) -> tuple[int, str]:
    """Sequence number and hash of the last row; 0 and the genesis where there is none."""
    row = connection.execute(
        "SELECT seq, hash FROM events WHERE log_id = ? ORDER BY seq DESC LIMIT 1", (log.id,)
    ).fetchone()
    return (0, log.genesis) if row is None else (int(row[0]), str(row[1]))


def append(connection: sqlite3.Connection, log: Log, event: NewEvent, *, fence: int, protocol: int) -> int:
    """Append one event and return its sequence number."""
    return Appender(connection, log, fence=fence, protocol=protocol).append(event)


class Appender:
    """Appends many events to one log within one transaction."""

    def __init__(self, connection: sqlite3.Connection, log: Log, *, fence: int, protocol: int) -> None:
        self._connection, self._log = connection, log
        self._fence, self._protocol = fence, protocol
        self._seq, self._hash = head(connection, log)

    def append(self, event: NewEvent) -> int:
        self._connection.execute(INSERT_EVENT, self.row(event))
        return self._seq

    def row(self, event: NewEvent) -> tuple[Any, ...]:
        """The next row of the log, for INSERT_EVENT; whoever takes it must insert it."""
        self._seq += 1
        hashed = EventRow(
            log=self._log.uid,
            seq=self._seq,
            kind=event.kind,
            assignment=event.assignment,
            unit=event.unit,
            protocol=self._protocol,
            tool=TOOL_VERSION,
            utc=event.utc,
            active_ms=event.active_ms,
            fence=self._fence,
            origin=event.origin,
            blindness=event.blindness,
            body=event.body,
        )
        self._hash = row_hash(self._hash, hashed)
        return (
            self._log.id,
            self._seq,
            event.kind,
            event.assignment_id,
            event.unit,
            canonical_json(event.body),
            self._protocol,
            TOOL_VERSION,
            event.utc,
            event.active_ms,
            self._fence,
            event.origin,
            event.blindness,
            self._hash,
        )


INSERT_EVENT = """
    INSERT INTO events (log_id, seq, kind, assignment_id, unit, body, protocol_version, tool_version, utc, active_ms,
                        fence, origin, blindness, hash)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
