"""Rounds and batches: what the lead opens, closes, releases and reopens. Each act is logged."""

from __future__ import annotations

import secrets
import sqlite3
from dataclasses import dataclass
from typing import Literal

from db.clock import utc_now
from db.connection import writing
from db.faults import Refused
from db.ids import RandomBytes
from db.lead import record
from db.records import RoundKind
from db.study import Study

RoundState = Literal["open", "closed"]


@dataclass(frozen=True, slots=True)
class Round:
    """A round with its assignments in it that are not withdrawn, and how many of them are done.

    Those of a review are its verdicts: they come into being one by one.
    """

    name: str
    kind: RoundKind | Literal["review"]
    state: RoundState
    assignments: int
    done: int


def list_rounds(study: Study) -> tuple[Round, ...]:
    rows = study.connection.execute(
        "SELECT r.name, CASE WHEN EXISTS (SELECT 1 FROM batches w WHERE w.round = r.name"
        " AND json_extract(w.parameters, '$.review') IS NOT NULL) THEN 'review' ELSE r.kind END,"
        " r.state, count(a.id), coalesce(sum(a.state = 2), 0) FROM rounds r"
        " LEFT JOIN assignments a ON a.round = r.name AND a.withdrawn_utc IS NULL GROUP BY r.name ORDER BY r.name"
    )
    return tuple(Round(*row) for row in rows)


def set_round_state(
    study: Study, name: str, state: RoundState, *, random_bytes: RandomBytes = secrets.token_bytes
) -> None:
    """Close a round (nothing in it can be labelled or changed; a flag can be set) or open it again."""
    with writing(study.connection) as connection:
        changed = connection.execute("UPDATE rounds SET state = ? WHERE name = ?", (state, name)).rowcount
        if not changed:
            known = (
                ", ".join(row[0] for row in connection.execute("SELECT name FROM rounds ORDER BY name")) or "none yet"
            )
            raise Refused(f"There is no round {name!r} (there is: {known}).")
        _queues_changed(connection, "round = ?", name)
        record(connection, "round", {"round": name, "state": state}, random_bytes=random_bytes)


def release(study: Study, batch: int, *, random_bytes: RandomBytes = secrets.token_bytes) -> int:
    """Put a batch into its coders' queues; return how many assignments that are (0: it was released before)."""
    with writing(study.connection) as connection:
        changed = connection.execute(
            "UPDATE batches SET released_utc = ? WHERE id = ? AND released_utc IS NULL", (utc_now(), batch)
        ).rowcount
        if not changed:
            if connection.execute("SELECT 1 FROM batches WHERE id = ?", (batch,)).fetchone() is None:
                raise Refused(f"There is no batch {batch}.")
            return 0
        number = connection.execute(
            "UPDATE assignments SET in_queue = 1 WHERE batch_id = ? AND withdrawn_utc IS NULL", (batch,)
        ).rowcount
        _queues_changed(connection, "batch_id = ?", batch)
        record(connection, "release", {"batch": batch}, random_bytes=random_bytes)
        return number


def reopen_unit(study: Study, unit: str, *, random_bytes: RandomBytes = secrets.token_bytes) -> None:
    """Let the coders of an adjudicated unit change it again; the final label stands aside until it is given anew."""
    with writing(study.connection) as connection:
        found = connection.execute(
            "SELECT u.id, a.id, n.log_id, n.seq, a.uid FROM units u JOIN assignments a ON a.unit_id = u.id"
            " JOIN annotations n ON n.assignment_id = a.id WHERE u.public_id = ? AND a.role = 'adjudicator'"
            " AND (n.label IS NOT NULL OR n.rating IS NOT NULL)",
            (unit,),
        ).fetchall()
        if not found:
            raise Refused(f"{unit} is no adjudicated unit.")
        for unit_id, assignment_id, log, seq, uid in found:
            body = {"adjudication": uid, "seq": seq}
            log_id, at = record(connection, "reopen", body, unit=unit, random_bytes=random_bytes)
            connection.execute(
                "INSERT INTO reopenings (unit_id, assignment_id, adjudicated_log, adjudicated_seq, log_id, seq)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (unit_id, assignment_id, log, seq, log_id, at),
            )


def _queues_changed(connection: sqlite3.Connection, where: str, value: object) -> None:
    connection.execute(
        "UPDATE coders SET queue_version = queue_version + 1"
        f" WHERE id IN (SELECT coder_id FROM assignments WHERE {where})",
        (value,),
    )
