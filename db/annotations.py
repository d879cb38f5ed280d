"""The fold as it is kept: one row an assignment, made anew from the events by the transaction of each event."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from db.acts import mirrored
from db.canonical import canonical_json
from db.fold import Folded, FoldEvent, fold, in_order, queue_state
from db.lineage import is_stale
from db.records import Annotation

_EVENTS = """
    SELECT log_id, seq, kind, body, protocol_version, blindness, origin, utc, active_ms
    FROM events WHERE assignment_id = ? ORDER BY log_id, seq"""
_STORE = """
    INSERT INTO annotations (assignment_id, label, rating, note, flags, skip_reason, skip_words, skip_count, detail,
                             protocol_version, blindness, origin, active_ms, stale, log_id, seq, utc)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (assignment_id) DO UPDATE SET
        label = excluded.label, rating = excluded.rating, note = excluded.note, flags = excluded.flags,
        skip_reason = excluded.skip_reason, skip_words = excluded.skip_words, skip_count = excluded.skip_count,
        detail = excluded.detail, protocol_version = excluded.protocol_version, blindness = excluded.blindness,
        origin = excluded.origin, active_ms = excluded.active_ms, stale = excluded.stale, log_id = excluded.log_id,
        seq = excluded.seq, utc = excluded.utc"""
_READ = """
    SELECT a.uid, a.sides_swapped, n.label, n.rating, t.text, n.flags, coalesce(n.skip_reason, s.text), n.skip_count,
           n.protocol_version, n.stale
    FROM assignments a
    LEFT JOIN annotations n ON n.assignment_id = a.id
    LEFT JOIN texts t ON t.digest = n.note
    LEFT JOIN texts s ON s.digest = n.skip_words
    WHERE a.id = ?"""


def events_of(connection: sqlite3.Connection, assignment_id: int) -> list[FoldEvent]:
    """The events of one assignment in the order in which they count."""
    found = [
        FoldEvent(log, seq, kind, _body(connection, assignment_id, body), version, blindness, origin, utc, active)
        for log, seq, kind, body, version, blindness, origin, utc, active in connection.execute(
            _EVENTS, (assignment_id,)
        )
    ]
    if len({event.log for event in found}) < 2:
        return found
    leases = connection.execute(
        "SELECT log_id, home_seq FROM leases WHERE assignment_id = ? ORDER BY id", (assignment_id,)
    ).fetchall()
    leased = {log for log, _ in leases}
    home = next((event.log for event in found if event.log not in leased), None)
    return in_order(found, home, leases)


def _body(connection: sqlite3.Connection, assignment_id: int, text: str) -> dict[str, Any]:
    """The body of an event. A label of a pair from a pack speaks of the sides as shown: only the study knows which."""
    body: dict[str, Any] = json.loads(text)
    if "sides" in body:
        row = connection.execute("SELECT sides_swapped FROM assignments WHERE id = ?", (assignment_id,)).fetchone()
        body["label"] = mirrored(body["label"], bool(row[0]))
    return body


def refold(connection: sqlite3.Connection, assignment_id: int) -> tuple[Folded, int]:
    """Make the kept row of an assignment anew from its events; return the state and its place in the queue."""
    folded = fold(events_of(connection, assignment_id))
    if folded is None:
        raise ValueError(f"assignment {assignment_id} has no events to fold")
    stale = folded.answered and is_stale(connection, assignment_id, folded.label, folded.protocol_version)
    connection.execute(_STORE, stored_row(assignment_id, folded, stale))
    state = queue_state(folded, stale)
    connection.execute("UPDATE assignments SET state = ?1 WHERE id = ?2 AND state <> ?1", (state, assignment_id))
    return folded, state


def stored_row(assignment_id: int, folded: Folded, stale: bool) -> tuple[object, ...]:
    """The row of the table ``annotations``, for its INSERT."""
    return (
        assignment_id,
        folded.label,
        folded.rating,
        folded.note,
        canonical_json(folded.flags),
        folded.skip_reason,
        folded.skip_words,
        folded.skip_count,
        canonical_json(folded.detail),
        folded.protocol_version,
        folded.blindness,
        folded.origin,
        folded.active_ms,
        int(stale),
        folded.log,
        folded.seq,
        folded.utc,
    )


def read_annotation(connection: sqlite3.Connection, assignment_id: int) -> Annotation:
    """The current annotation, its label in terms of the sides as they are shown."""
    row = connection.execute(_READ, (assignment_id,)).fetchone()
    uid, swapped, label, rating, note, flags, skip_reason, skip_count, version, stale = row
    return Annotation(
        assignment=uid,
        label=mirrored(label, bool(swapped)),
        rating=rating,
        note=note,
        flags=tuple(json.loads(flags)) if flags else (),
        skip_reason=skip_reason,
        skip_count=skip_count or 0,
        protocol_version=version,
        stale=bool(stale),
    )
