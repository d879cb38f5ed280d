"""A coder leaves: what they have not coded goes to another one. The draw and every probability stay as they are."""

from __future__ import annotations

import secrets
import sqlite3
from dataclasses import dataclass

from db.assigning import assignments_digest
from db.canonical import canonical_json, sha256_text
from db.clock import utc_now
from db.coders import Coder, find_coder, insert_coder
from db.connection import writing
from db.faults import Refused
from db.ids import RandomBytes, new_id
from db.known import TOLD
from db.lead import record
from db.orders import Ordered, in_order
from db.random_numbers import random_for
from db.study import Study


@dataclass(frozen=True, slots=True)
class Reassigned:
    """How many assignments moved, and how many stayed: the other coder has the unit, or knows it from training."""

    moved: int
    stayed: int
    batches: tuple[int, ...]


_OPEN = f"""
    SELECT a.id, a.unit_id, a.batch_id, a.role, u.public_id, i.key, r.text, r.text_b, r.reason, r.choice,
           a.in_queue,
           EXISTS (SELECT 1 FROM assignments o JOIN rounds d ON d.name = o.round WHERE o.unit_id = a.unit_id
                   AND o.coder_id = :to AND (o.round = a.round OR {TOLD}))
    FROM assignments a
    JOIN rounds d ON d.name = a.round
    JOIN units u ON u.id = a.unit_id
    JOIN responses r ON r.id = u.response_id
    JOIN items i ON i.id = r.item_id
    WHERE a.coder_id = :from AND a.state < 2 AND a.occurrence = 1 AND a.withdrawn_utc IS NULL AND d.state = 'open'
      AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.assignment_id = a.id AND l.ended_utc IS NULL)
      AND a.role <> 'adjudicator'
      AND NOT EXISTS (SELECT 1 FROM batches b WHERE b.id = a.batch_id AND json_extract(b.parameters, '$.review') <> '')
    ORDER BY a.batch_id, a.position"""


_AWAY = """
    SELECT count(*) FROM assignments a JOIN leases l ON l.assignment_id = a.id AND l.ended_utc IS NULL
    WHERE a.coder_id = ? AND a.state < 2 AND a.withdrawn_utc IS NULL"""


@dataclass(frozen=True, slots=True)
class _Moving:
    """An assignment that changes hands."""

    assignment_id: int
    batch: int
    role: str
    ordered: Ordered
    in_queue: int
    taken: bool


def reassign(study: Study, leaving: str, taking: str, *, random_bytes: RandomBytes = secrets.token_bytes) -> Reassigned:
    """Withdraw what ``leaving`` has still to do in open rounds and give it to ``taking``, in an order of their own.

    Hidden repeats that are still to do are withdrawn: nobody can repeat what another one coded. What is in a pack stays
    there. Raises Refused where there is nothing to move.
    """
    with writing(study.connection) as connection:
        old, new = find_coder(connection, leaving), insert_coder(connection, taking, "person", random_bytes)
        if old.id == new.id:
            raise Refused(f"{leaving} and {taking} are the same coder.")
        found = _open_assignments(connection, old, new)
        moving = [each for each in found if not each.taken]
        if not moving:
            raise _nothing(connection, old, leaving, taking)
        _withdraw(connection, old, [each.assignment_id for each in moving])
        batches = tuple(
            _move(connection, batch, [each for each in moving if each.batch == batch], old, new, random_bytes)
            for batch in dict.fromkeys(each.batch for each in moving)
        )
        return Reassigned(len(moving), len(found) - len(moving), batches)


def _nothing(connection: sqlite3.Connection, old: Coder, leaving: str, taking: str) -> Refused:
    (away,) = connection.execute(_AWAY, (old.id,)).fetchone()
    recall = f"{away:,} are in a pack: 'annotate recall' takes them back, and then they can be given." if away else ""
    return Refused(f"{leaving} has nothing to do that {taking} could take over.", recall)


def _open_assignments(connection: sqlite3.Connection, old: Coder, new: Coder) -> list[_Moving]:
    rows = connection.execute(_OPEN, {"from": old.id, "to": new.id})
    return [
        _Moving(number, batch, role, Ordered(unit, item, sha256_text(canonical_json(shown)), public), out, bool(taken))
        for number, unit, batch, role, public, item, *shown, out, taken in rows
    ]


def _withdraw(connection: sqlite3.Connection, old: Coder, assignments: list[int]) -> None:
    now = utc_now()
    withdraw = "UPDATE assignments SET withdrawn_utc = ?, in_queue = 0 WHERE"
    connection.executemany(f"{withdraw} id = ?", [(now, number) for number in assignments])
    connection.execute(
        f"{withdraw} coder_id = ? AND occurrence > 1 AND state < 2 AND withdrawn_utc IS NULL AND NOT EXISTS"
        " (SELECT 1 FROM leases l WHERE l.assignment_id = assignments.id AND l.ended_utc IS NULL)",
        (now, old.id),
    )
    connection.execute("UPDATE coders SET queue_version = queue_version + 1 WHERE id = ?", (old.id,))


def _move(
    connection: sqlite3.Connection,
    source: int,
    moving: list[_Moving],
    old: Coder,
    new: Coder,
    random_bytes: RandomBytes,
) -> int:
    """A batch of its own for what one batch loses: its units keep their overlap and pi2, and mean no further labels."""
    round_name, seed, kind, swap = connection.execute(
        "SELECT round, seed, order_kind,"
        " EXISTS (SELECT 1 FROM assignments WHERE batch_id = b.id AND sides_swapped = 1) FROM batches b WHERE id = ?",
        (source,),
    ).fetchone()
    batch = connection.execute(
        "INSERT INTO batches (round, sample_id, seed, order_kind, overlap, parameters, due_utc, released_utc,"
        " created_utc) SELECT round, sample_id, seed, order_kind, overlap, ?, due_utc, released_utc, ? FROM batches"
        " WHERE id = ?",
        (canonical_json({"reassigned": source, "from": old.uid, "to": new.uid}), utc_now(), source),
    ).lastrowid
    assert batch is not None
    connection.executemany(
        "INSERT INTO batch_units (batch_id, unit_id, overlap, pi2, coders)"
        " SELECT ?, unit_id, overlap, pi2, 0 FROM batch_units WHERE batch_id = ? AND unit_id = ?",
        [(batch, source, each.ordered.unit_id) for each in moving],
    )
    moved = {each.ordered.unit_id: each for each in moving}
    name = new.name or new.uid
    start = connection.execute(
        "SELECT coalesce(max(position), 0) FROM assignments WHERE coder_id = ?", (new.id,)
    ).fetchone()[0]
    for position, unit in enumerate(in_order([each.ordered for each in moving], kind, seed, name), start + 1):
        side = int(random_for(seed, "side", name, "1", unit.item, unit.content), 16) & 1 if swap else 0
        connection.execute(
            "INSERT INTO assignments (uid, unit_id, coder_id, round, role, batch_id, position, sides_swapped, in_queue)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                new_id(random_bytes),
                unit.unit_id,
                new.id,
                round_name,
                moved[unit.unit_id].role,
                batch,
                position,
                side,
                moved[unit.unit_id].in_queue,
            ),
        )
    connection.execute("UPDATE coders SET queue_version = queue_version + 1 WHERE id = ?", (new.id,))
    body = {"batch": batch, "round": round_name, "from": old.uid, "to": new.uid, "reassigned": source}
    record(connection, "assign", {**body, "digest": assignments_digest(connection, batch)}, random_bytes=random_bytes)
    return batch
