"""Leases: an assignment that is in a pack is written there alone, until the pack is merged or it is recalled."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from db.clock import utc_now
from db.coders import find_coder
from db.connection import writing
from db.faults import BadRequest, Refused
from db.ids import RandomBytes
from db.lead import record
from db.logs import Log, ensure_log, find_log, head
from db.study import Study


def lease(
    study: Study,
    coder: str,
    place: str,
    *,
    only: str = "1",
    values: Sequence[object] = (),
    random_bytes: RandomBytes = secrets.token_bytes,
) -> tuple[Log, int]:
    """Lease all that the coder still has to do (and has done) in open rounds to their log at ``place``, a pack.

    ``only``: a condition on assignments ``a`` and rounds ``r`` that they must meet, with its ``values``.
    Returns that log and the number of assignments. They leave the coder's queue here. Raises Refused where there is
    nothing to lease.
    """
    with writing(study.connection) as connection:
        who = find_coder(connection, coder)
        log = ensure_log(connection, who.id, place, random_bytes)
        home = find_log(connection, who.id, study.place)
        home_seq = 0 if home is None else head(connection, home)[0]
        number = connection.execute(
            "INSERT INTO leases (assignment_id, log_id, home_seq, leased_utc)"
            " SELECT a.id, ?, ?, ? FROM assignments a JOIN rounds r ON r.name = a.round"
            f" WHERE a.coder_id = ? AND a.in_queue = 1 AND r.state = 'open' AND {only}",
            (log.id, home_seq, utc_now(), who.id, *values),
        ).rowcount
        if not number:
            raise Refused(f"{coder} has nothing to code here in an open round that is not in a pack already.")
        _set_queue(connection, log.id, who.id, in_queue=0)
        record(
            connection,
            "lease",
            {"log": log.uid, "assignments": number, "home_seq": home_seq},
            random_bytes=random_bytes,
        )
        return log, number


def end_lease(
    connection: sqlite3.Connection,
    log_id: int,
    by: Literal["merge", "recall"],
    random_bytes: RandomBytes = secrets.token_bytes,
) -> int:
    """End the open leases of a log inside the open transaction; return how many they were."""
    uid, coder_id = connection.execute("SELECT uid, coder_id FROM logs WHERE id = ?", (log_id,)).fetchone()
    _set_queue(connection, log_id, coder_id, in_queue=1)
    number = connection.execute(
        "UPDATE leases SET ended_utc = ?, ended_by = ? WHERE log_id = ? AND ended_utc IS NULL", (utc_now(), by, log_id)
    ).rowcount
    if number:
        record(connection, "lease end", {"log": uid, "assignments": number, "by": by}, random_bytes=random_bytes)
    return number


@dataclass(frozen=True, slots=True)
class Out:
    """A pack that is out: whose, how many assignments are in it, and since when."""

    pack: str
    coder: str
    assignments: int
    since: str


def packs_out(study: Study) -> tuple[Out, ...]:
    """The packs that have neither come back nor been taken back, oldest first."""
    rows = study.connection.execute(
        "SELECT g.uid, coalesce(c.name, c.pseudonym), count(*), min(l.leased_utc) FROM leases l"
        " JOIN logs g ON g.id = l.log_id JOIN coders c ON c.id = g.coder_id WHERE l.ended_utc IS NULL"
        " GROUP BY l.log_id ORDER BY min(l.id)"
    )
    return tuple(Out(*row) for row in rows)


def recall(
    study: Study, coder: str, *, pack: str | None = None, random_bytes: RandomBytes = secrets.token_bytes
) -> int:
    """Take back what is in this coder's packs (or in one of them); return how many assignments.

    A pack that comes back later is taken in unless the same was coded elsewhere meanwhile. Raises Refused for a pack
    that is not out.
    """
    with writing(study.connection) as connection:
        who = find_coder(connection, coder)
        logs = connection.execute(
            "SELECT DISTINCT l.log_id FROM leases l JOIN logs g ON g.id = l.log_id"
            " WHERE g.coder_id = ? AND l.ended_utc IS NULL ORDER BY l.log_id",
            (who.id,),
        ).fetchall()
        if pack is not None:
            logs = [row for row in logs if row == _log_of(connection, pack)]
            if not logs:
                raise BadRequest(
                    f"There is no pack {pack!r} of {coder} that is out.", "'annotate recall STUDY' lists them."
                )
        return sum(end_lease(connection, log_id, "recall", random_bytes) for (log_id,) in logs)


def _log_of(connection: sqlite3.Connection, uid: str) -> tuple[int] | None:
    row: tuple[int] | None = connection.execute("SELECT id FROM logs WHERE uid = ?", (uid,)).fetchone()
    return row


def _set_queue(connection: sqlite3.Connection, log_id: int, coder_id: int, *, in_queue: int) -> None:
    connection.execute(
        "UPDATE assignments SET in_queue = ? WHERE withdrawn_utc IS NULL AND id IN"
        " (SELECT assignment_id FROM leases WHERE log_id = ? AND ended_utc IS NULL)",
        (in_queue, log_id),
    )
    connection.execute("UPDATE coders SET queue_version = queue_version + 1 WHERE id = ?", (coder_id,))
