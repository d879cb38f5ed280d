"""The logs of a damaged study: each chain is kept as far as it holds; what stands beyond a hole is written anew.

A row whose place in the chain cannot be proved is not put back under its number. It is appended to a log of its own
(place ``repair-…``, origin ``repair:LOG:ROW``), in its order, so that the label counts and everybody sees how it came.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from db.chain import EventRow, row_hash
from db.clock import utc_now
from db.ids import RandomBytes, new_id
from db.logs import INSERT_EVENT, Log, NewEvent, append, ensure_log
from db.stacks import Stacks

Place = tuple[int, int]  # number of the log here, number of the row


@dataclass(frozen=True, slots=True)
class LogRepair:
    """One log: ``kept`` rows whose chain holds, ``moved`` ones now in a log of their own, ``lost`` ones named."""

    log: str
    coder: str
    kept: int
    moved: int
    lost: tuple[str, ...]


@dataclass(slots=True)
class Moved:
    """Where rows stand now that were not kept under their number."""

    places: dict[Place, Place] = field(default_factory=dict)
    touched: set[int] = field(default_factory=set)


def repair_log(
    connection: sqlite3.Connection,
    log: Log,
    coder: str,
    found: Sequence[Mapping[int, tuple[Any, ...]]],
    expected: Mapping[int, str],
    moved: Moved,
    random_bytes: RandomBytes,
) -> LogRepair:
    """Put a log back. ``found``: rows of ``events`` by number, of each source, best first. ``expected``: rows that were
    there by what else speaks of them, with what is known of each."""
    names = dict(connection.execute("SELECT id, uid FROM assignments WHERE coder_id = ?", (log.coder_id,)).fetchall())
    known = set(connection.execute("SELECT version FROM protocols").fetchall())
    readable = [{n: r for n, r in rows.items() if _usable(r, names, known)} for rows in found]
    kept, previous = 0, log.genesis
    while (row := _next(readable, log, names, kept + 1, previous)) is not None:
        connection.execute(INSERT_EVENT, row)
        kept, previous = kept + 1, row[-1]
    beyond = {n: rows[n] for rows in reversed(readable) for n in rows if n > kept and _whole(rows, log, names, n)}
    put = _move(connection, log, kept, beyond, names, moved, random_bytes) if beyond else set()
    missing = sorted({n for n in (*expected, *beyond) if n > kept} - put)
    top = max([*expected, *beyond], default=kept)
    missing = sorted({*missing, *(n for n in range(kept + 1, top + 1) if n not in put)})
    lost = tuple(f"row {n}{expected.get(n, '')}" for n in missing)
    return LogRepair(log.uid, coder, kept, len(put), lost)


def _usable(row: tuple[Any, ...], names: Mapping[int, str], protocols: set[tuple[int]]) -> bool:
    """Whether what a row refers to was recovered, and its content is JSON."""
    try:
        body = json.loads(row[5])
    except (TypeError, ValueError):
        return False
    return isinstance(body, dict) and (row[3] is None or row[3] in names) and (row[6],) in protocols


def _hashed(row: tuple[Any, ...], log: Log, names: Mapping[int, str]) -> EventRow:
    _, seq, kind, assignment, unit, body, protocol, tool, utc, active, fence, origin, blindness, _ = row
    named = None if assignment is None else names[assignment]
    content = json.loads(body)
    return EventRow(log.uid, seq, kind, named, unit, protocol, tool, utc, active, fence, origin, blindness, content)


def _next(
    sources: Sequence[Mapping[int, tuple[Any, ...]]], log: Log, names: Mapping[int, str], seq: int, previous: str
) -> tuple[Any, ...] | None:
    """The row of that number that follows on ``previous``, from the first source that has it."""
    for rows in sources:
        row = rows.get(seq)
        if row is not None and row_hash(previous, _hashed(row, log, names)) == row[-1]:
            return row
    return None


def _whole(rows: Mapping[int, tuple[Any, ...]], log: Log, names: Mapping[int, str], seq: int) -> bool:
    """Whether the row is as it was written, as far as that can be told: where the row before it is there too."""
    before = rows.get(seq - 1)
    return before is None or row_hash(before[-1], _hashed(rows[seq], log, names)) == rows[seq][-1]


def _move(
    connection: sqlite3.Connection,
    log: Log,
    kept: int,
    beyond: Mapping[int, tuple[Any, ...]],
    names: Mapping[int, str],
    moved: Moved,
    random_bytes: RandomBytes,
) -> set[int]:
    """Append rows to a log of their own and return their numbers; an undo of a row that is not among them is lost."""
    target = ensure_log(connection, log.coder_id, f"repair-{new_id(random_bytes)}", random_bytes)
    places: dict[int, int] = {}
    stacks = Stacks()
    for seq, row in sorted(beyond.items()):
        body = json.loads(row[5])
        if row[2] in {"undo", "redo"}:
            if body.get("target") not in places:
                continue
            body["target"] = places[body["target"]]
        event = NewEvent(
            row[2],
            body,
            assignment_id=row[3],
            assignment=None if row[3] is None else names[row[3]],
            unit=row[4],
            blindness=row[12],
            origin=f"repair:{log.uid}:{seq}",
            active_ms=row[9],
            utc=row[8],
        )
        try:
            stacks.add(len(places) + 1, event.kind, body.get("target"))
        except ValueError:  # what it took back in turn is lost
            continue
        places[seq] = append(connection, target, event, fence=0, protocol=row[6])
        moved.places[log.id, seq] = target.id, places[seq]
        if row[3] is not None and row[3] not in moved.touched:
            moved.touched.add(row[3])
            _order(connection, row[3], log, target, kept)
    return set(places)


def _order(connection: sqlite3.Connection, assignment: int, log: Log, target: Log, kept: int) -> None:
    """A lease that is over tells the fold that the new log goes on where the chain of the old one breaks off."""
    leased = connection.execute(
        "SELECT max(home_seq) FROM leases WHERE assignment_id = ? AND log_id = ?", (assignment, log.id)
    ).fetchone()[0]
    now = utc_now()
    connection.execute(
        "INSERT INTO leases (assignment_id, log_id, home_seq, leased_utc, ended_utc, ended_by)"
        " VALUES (?, ?, ?, ?, ?, 'merge')",
        (assignment, target.id, kept if leased is None else leased, now, now),
    )
