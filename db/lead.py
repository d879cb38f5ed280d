"""The lead's own log: draws, assignments, rounds, reopenings and what was unmasked are events like any other."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Mapping
from typing import Any

from db.clock import utc_now
from db.ids import RandomBytes, new_id
from db.logs import NewEvent, append, current_protocol, ensure_log

LEAD = "lead"


def record(
    connection: sqlite3.Connection,
    kind: str,
    body: Mapping[str, Any],
    *,
    unit: str | None = None,
    random_bytes: RandomBytes = secrets.token_bytes,
) -> tuple[int, int]:
    """Append one act of the lead inside the open transaction; return (log number, sequence number).

    ``body`` holds ids, digests and numbers, never a name or study text, so that erasure leaves the chain whole.
    """
    place = connection.execute("SELECT place FROM study").fetchone()[0]
    log = ensure_log(connection, _lead_id(connection, random_bytes), place, random_bytes)
    version, _ = current_protocol(connection)
    fence = connection.execute("SELECT fence FROM logs WHERE id = ?", (log.id,)).fetchone()[0]
    event = NewEvent(kind, body, unit=unit, blindness="open", origin=LEAD, utc=utc_now())
    return log.id, append(connection, log, event, fence=fence, protocol=version)


def _lead_id(connection: sqlite3.Connection, random_bytes: RandomBytes) -> int:
    row = connection.execute("SELECT id FROM coders WHERE kind = 'lead' ORDER BY id LIMIT 1").fetchone()
    if row is not None:
        return int(row[0])
    cursor = connection.execute(
        "INSERT INTO coders (uid, pseudonym, name, kind, created_utc) VALUES (?, 'lead', NULL, 'lead', ?)",
        (new_id(random_bytes), utc_now()),
    )
    return int(cursor.lastrowid or 0)
