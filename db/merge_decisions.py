"""Decisions and verdicts that were given in a copy of the study: their assignments came into being there.

A final label or a verdict has no assignment before it is given. What a copy brings is made here under the id that it
has there, where the same person may give it here, too.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from db.faults import Refused

_MADE = """
    SELECT a.uid, c.uid, u.public_id, a.round, a.role FROM assignments a
    JOIN coders c ON c.id = a.coder_id JOIN units u ON u.id = a.unit_id JOIN batches b ON b.id = a.batch_id
    WHERE a.withdrawn_utc IS NULL
      AND (json_extract(b.parameters, '$.review') IS NOT NULL OR json_extract(b.parameters, '$.adjudication') = 1)"""
_BATCH = """
    SELECT b.id, d.state FROM batches b JOIN rounds d ON d.name = b.round WHERE b.round = ?
      AND (json_extract(b.parameters, '$.review') IS NOT NULL OR json_extract(b.parameters, '$.adjudication') = 1)"""
_TWO_PEOPLE = "Keep one of the two: 'annotate rounds --reopen-unit UNIT' takes a final label back."


@dataclass(frozen=True, slots=True)
class Made:
    """An assignment of somebody who decides: whose it is, on which unit (random ids), in which round."""

    coder: str
    unit: str
    round: str
    role: str


def made_there(connection: sqlite3.Connection) -> dict[str, Made]:
    """The assignments of all adjudications and reviews of a study, by their random ids."""
    return {uid: Made(*rest) for uid, *rest in connection.execute(_MADE)}


def take_in(connection: sqlite3.Connection, uid: str, made: Made, coder: int, where: str) -> int:
    """Make the assignment here, inside the open transaction. Raises Refused where it cannot stand here."""
    unit = connection.execute("SELECT id FROM units WHERE public_id = ?", (made.unit,)).fetchone()
    if unit is None:
        raise Refused(f"{where}: unit {made.unit} is not in this study.", "It was drawn in that file only.")
    batch = _batch(connection, made, where)
    _check_free(connection, unit[0], coder, made, where)
    cursor = connection.execute(
        "INSERT INTO assignments (uid, unit_id, coder_id, round, role, batch_id, position, in_queue)"
        " SELECT ?, ?, ?, ?, ?, ?, coalesce(max(position), 0) + 1, 0 FROM assignments WHERE coder_id = ?",
        (uid, unit[0], coder, made.round, made.role, batch, coder),
    )
    return int(cursor.lastrowid or 0)


def _batch(connection: sqlite3.Connection, made: Made, where: str) -> int:
    if made.role == "adjudicator":
        from db.adjudicating import adjudication_batch

        return adjudication_batch(connection)
    row = connection.execute(_BATCH, (made.round,)).fetchone()
    if row is None:
        raise Refused(
            f"{where}: round {made.round!r} is not in this study.", "Draw a review here before the file is copied."
        )
    return int(row[0])


def _check_free(connection: sqlite3.Connection, unit: int, coder: int, made: Made, where: str) -> None:
    from db.saving import is_adjudicated

    closed = connection.execute("SELECT 1 FROM rounds WHERE name = ? AND state <> 'open'", (made.round,)).fetchone()
    if closed is not None:
        raise Refused(
            f"{where}: round {made.round!r} is closed here.", f"'annotate rounds --open {made.round}' opens it."
        )
    twice = connection.execute(
        "SELECT 1 FROM assignments WHERE unit_id = ? AND coder_id = ? AND round = ?", (unit, coder, made.round)
    ).fetchone()
    if twice is not None:
        raise Refused(f"{where}: unit {made.unit} was decided by this person here as well.", _TWO_PEOPLE)
    if made.role == "adjudicator" and is_adjudicated(connection, unit):
        raise Refused(f"{where}: unit {made.unit} was decided by somebody else here.", _TWO_PEOPLE)
