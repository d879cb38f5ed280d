"""Releasing in parts: assignments that were held back enter the queues a batch at a time, in each coder's order."""

from __future__ import annotations

import secrets
import sqlite3
from dataclasses import dataclass

from db.clock import utc_now
from db.connection import writing
from db.faults import Refused
from db.ids import RandomBytes
from db.lead import record
from db.study import Study


@dataclass(frozen=True, slots=True)
class Held:
    """What a coder has that is not released yet."""

    coder: str
    round: str
    assignments: int


# Not in the queue, and neither withdrawn nor leased to a pack nor part of the lead's own desk.
_HELD = """
    FROM assignments a JOIN batches b ON b.id = a.batch_id JOIN rounds d ON d.name = a.round
    JOIN coders c ON c.id = a.coder_id
    WHERE a.in_queue = 0 AND a.withdrawn_utc IS NULL AND a.state < 2 AND d.state = 'open' AND a.role <> 'adjudicator'
      AND json_extract(b.parameters, '$.review') IS NULL
      AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.assignment_id = a.id AND l.ended_utc IS NULL)"""


def held_back(study: Study) -> tuple[Held, ...]:
    """By coder and round, what waits to be released."""
    rows = study.connection.execute(
        f"SELECT coalesce(c.name, c.pseudonym), a.round, count(*) {_HELD} GROUP BY c.id, a.round ORDER BY c.id, a.round"
    )
    return tuple(Held(*row) for row in rows)


def release_next(
    study: Study,
    number: int | None = None,
    *,
    round_name: str | None = None,
    due_utc: str | None = None,
    random_bytes: RandomBytes = secrets.token_bytes,
) -> tuple[Held, ...]:
    """Put the next ``number`` assignments of each coder (None: all) into the queues; say how many each got.

    Everybody gets them in the order that was dealt when they were assigned, so that what is released first is a random
    part of the sample. Raises Refused where nothing is held back.
    """
    with writing(study.connection) as connection:
        which = "" if round_name is None else " AND a.round = :round"
        rows = connection.execute(
            f"SELECT id, coder, round, coder_id, batch_id FROM (SELECT a.id, coalesce(c.name, c.pseudonym) AS coder,"
            f" a.round, a.coder_id, a.batch_id, a.position,"
            f" row_number() OVER (PARTITION BY a.coder_id ORDER BY a.position) AS place {_HELD}{which})"
            " WHERE :number IS NULL OR place <= :number ORDER BY coder_id, position",
            {"round": round_name, "number": number},
        ).fetchall()
        if not rows:
            raise Refused("Nothing is held back.", "'annotate assign --hold' assigns without releasing.")
        connection.executemany("UPDATE assignments SET in_queue = 1 WHERE id = ?", [(row[0],) for row in rows])
        _mark_batches(connection, {row[4] for row in rows}, due_utc)
        for coder in {row[3] for row in rows}:
            connection.execute("UPDATE coders SET queue_version = queue_version + 1 WHERE id = ?", (coder,))
        body = {"assignments": len(rows), "batches": sorted({row[4] for row in rows}), "due": due_utc}
        record(connection, "release", body, random_bytes=random_bytes)
        counted: dict[tuple[str, str], int] = {}
        for _, coder, name, _, _ in rows:
            counted[coder, name] = counted.get((coder, name), 0) + 1
        return tuple(Held(coder, name, count) for (coder, name), count in counted.items())


def _mark_batches(connection: sqlite3.Connection, batches: set[int], due_utc: str | None) -> None:
    """A batch counts as released when nothing of it is held back any more; the date is that of the newest release."""
    for batch in batches:
        left = connection.execute(f"SELECT 1 {_HELD} AND a.batch_id = ? LIMIT 1", (batch,)).fetchone()
        if left is None:
            connection.execute("UPDATE batches SET released_utc = ? WHERE id = ?", (utc_now(), batch))
        connection.execute("UPDATE batches SET due_utc = ? WHERE id = ?", (due_utc, batch))
