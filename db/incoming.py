"""Logs that were written elsewhere, as they come in: read from a copy of the study (or from what a pack brings)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from db.chain import EventRow
from db.connection import reading
from db.merge_decisions import Made, made_there
from db.study import Study

_LOGS = """
    SELECT l.id, l.uid, c.uid, l.place, l.protocol_digest FROM logs l JOIN coders c ON c.id = l.coder_id
    ORDER BY l.uid"""
_ROWS = """
    SELECT l.uid, e.seq, e.kind, a.uid, e.unit, e.protocol_version, e.tool_version, e.utc, e.active_ms, e.fence,
           e.origin, e.blindness, e.body, e.hash
    FROM events e JOIN logs l ON l.id = e.log_id LEFT JOIN assignments a ON a.id = e.assignment_id
    WHERE e.log_id = ? ORDER BY e.seq"""


@dataclass(frozen=True, slots=True)
class IncomingLog:
    """One log from its first row on: whose it is (random id), where it was written, and each row with its hash."""

    uid: str
    coder: str
    place: str
    protocol_digest: str
    rows: Sequence[tuple[EventRow, str]]


@dataclass(frozen=True, slots=True)
class Incoming:
    """What comes in. ``codebooks``: digest by version; ``texts``: digest -> (salt, text), text None where erased.

    ``made``: the assignments of adjudications and reviews, which come into being with the decision.
    """

    source: str
    study: str
    codebooks: Mapping[int, str]
    logs: Sequence[IncomingLog]
    texts: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    made: Mapping[str, Made] = field(default_factory=dict)


def read_logs(copy: Study) -> Incoming:
    """All logs of a copy of the study, in one consistent view."""
    connection = copy.connection
    with reading(connection):
        logs = connection.execute(_LOGS).fetchall()
        return Incoming(
            source=str(copy.path),
            study=copy.uid,
            codebooks=dict(connection.execute("SELECT version, digest FROM protocols").fetchall()),
            logs=[IncomingLog(*named, rows_of(connection, number)) for number, *named in logs],  # type: ignore[call-arg]
            texts={row[0]: (row[1], row[2]) for row in connection.execute("SELECT digest, salt, text FROM texts")},
            made=made_there(connection),
        )


def rows_of(connection: sqlite3.Connection, log: int) -> list[tuple[EventRow, str]]:
    """The rows of one log in their order, each with its stored hash."""
    rows = connection.execute(_ROWS, (log,))
    return [(EventRow(*row, json.loads(body)), stored) for *row, body, stored in rows]  # type: ignore[call-arg]
