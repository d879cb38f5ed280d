"""Whether the annotations are what the events come to."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from db.annotations import events_of, stored_row
from db.fold import fold, queue_state
from db.lineage import is_stale

_STORED = """
    SELECT assignment_id, label, rating, note, flags, skip_reason, skip_words, skip_count, detail, protocol_version,
           blindness, origin, active_ms, stale, log_id, seq, utc
    FROM annotations WHERE assignment_id = ?"""


def broken_folds(connection: sqlite3.Connection) -> Iterator[str | None]:
    """Fold every assignment's events anew: one entry each, None where the stored row and the queue state agree."""
    for number, uid, state in connection.execute("SELECT id, uid, state FROM assignments ORDER BY id").fetchall():
        yield _problem(connection, number, uid, state)


def _problem(connection: sqlite3.Connection, number: int, uid: str, state: int) -> str | None:
    folded = fold(events_of(connection, number))
    stored = connection.execute(_STORED, (number,)).fetchone()
    if folded is None:
        return None if stored is None and state == 0 else f"assignment {uid}: it has a state without any event"
    stale = folded.answered and is_stale(connection, number, folded.label, folded.protocol_version)
    if stored != stored_row(number, folded, stale):
        return f"assignment {uid}: the annotation is not what its events come to"
    if state != queue_state(folded, stale):
        return f"assignment {uid}: its place in the queue is not what its events come to"
    return None
