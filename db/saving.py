"""One act of a coder becomes one durable event: what is checked, and in which order, inside one transaction."""

from __future__ import annotations

import secrets
import sqlite3
from typing import NamedTuple

from db.acts import ACTS, body_of
from db.annotations import events_of, refold
from db.blindness import blindness_of, unmask
from db.clock import utc_now
from db.faults import Fenced, ProtocolChanged, Refused
from db.fold import TO_DO, Folded, fold
from db.ids import RandomBytes
from db.logs import Log, NewEvent, append, current_protocol
from db.queue import impossible_labels
from db.records import Act, Blindness, Protocol
from db.texts import keep_text


class Writer(NamedTuple):
    """Who writes: the session's log and fencing number, the codebook it was opened under, and how blind it is."""

    log: Log
    fence: int
    protocol: Protocol
    version: int
    base_blindness: Blindness
    account: str | None
    origin: str
    random_bytes: RandomBytes = secrets.token_bytes


class Target(NamedTuple):
    """The assignment that an act is about, as far as the checks need it."""

    id: int
    uid: str
    unit_id: int
    unit: str
    swapped: bool
    state: int
    in_queue: bool
    round_open: bool


class Written(NamedTuple):
    """What an act came to: its place in the log, and the queue states of its assignment before and after."""

    seq: int
    target: Target | None
    before: Folded | None
    after: Folded | None
    state: int


def write_act(connection: sqlite3.Connection, writer: Writer, act: Act) -> Written:
    """Check and append one act inside the open transaction. Raises Refused and its kinds; the caller rolls back."""
    if act.kind not in ACTS:
        raise Refused(f"{act.kind!r} is nothing that a coder does.")
    check_writer(connection, writer, confirmed=act.kind not in {"confirm", "unmask"})
    target = None if act.assignment is None else find_target(connection, writer.log.coder_id, act.assignment)
    if target is None and act.kind not in {"confirm", "unmask", "highlight"}:
        raise Refused(f"A {act.kind} needs an assignment.")
    before = None if target is None else fold(events_of(connection, target.id))
    if target is not None:
        _check_open(connection, writer.log, target, act.kind, before)
    body = body_of(
        act,
        writer.protocol,
        before,
        () if target is None else impossible_labels(connection, writer.protocol, target.id),
        target is not None and target.swapped,
        lambda text: keep_text(connection, text, writer.random_bytes),
    )
    if "label" in body and writer.protocol.pairwise and writer.log.place.startswith("pack-"):
        body["sides"] = "shown"  # a pack does not know which text came first in the source: the study does
    seq = _append(connection, writer, target, act.kind, body, max(0, act.active_ms))
    if act.kind == "confirm":
        connection.execute("UPDATE logs SET confirmed_version = ? WHERE id = ?", (writer.version, writer.log.id))
    if act.kind == "unmask":
        unit_id = None if target is None else target.unit_id
        unmask(connection, writer.log.id, seq, coder_id=writer.log.coder_id, account=None, unit_id=unit_id)
    return _written(connection, seq, target, before)


def write_move(
    connection: sqlite3.Connection, writer: Writer, kind: str, seq: int, active_ms: int
) -> tuple[Written, str]:
    """Append the undo or redo of event ``seq`` of this log; return what it came to and the kind of that event."""
    check_writer(connection, writer, confirmed=True)
    moved, uid = connection.execute(
        "SELECT e.kind, a.uid FROM events e JOIN assignments a ON a.id = e.assignment_id"
        " WHERE e.log_id = ? AND e.seq = ?",
        (writer.log.id, seq),
    ).fetchone()
    target = find_target(connection, writer.log.coder_id, uid)
    before = fold(events_of(connection, target.id))
    _check_open(connection, writer.log, target, "flag" if moved == "flag" else kind, before)
    body = {"kind": moved, "target": seq}
    return _written(connection, _append(connection, writer, target, kind, body, active_ms), target, before), moved


def check_writer(connection: sqlite3.Connection, writer: Writer, *, confirmed: bool) -> None:
    """Raise Fenced where another session took the log over, ProtocolChanged under an unconfirmed codebook."""
    fence, version = connection.execute(
        "SELECT fence, confirmed_version FROM logs WHERE id = ?", (writer.log.id,)
    ).fetchone()
    if fence != writer.fence:
        raise Fenced("Another session of this coder took over; this act was not saved.", "Close this session.")
    current, _ = current_protocol(connection)
    if current != writer.version:
        raise ProtocolChanged("The codebook was changed meanwhile; this act was not saved.", "Open the session again.")
    if confirmed and version != current:
        raise ProtocolChanged("The codebook was changed: confirm the change before the next label.")


def find_target(connection: sqlite3.Connection, coder_id: int, uid: str) -> Target:
    row = connection.execute(
        "SELECT a.id, a.uid, a.unit_id, u.public_id, a.sides_swapped, a.state, a.in_queue, r.state = 'open'"
        " FROM assignments a JOIN units u ON u.id = a.unit_id JOIN rounds r ON r.name = a.round"
        " WHERE a.uid = ? AND a.coder_id = ?",
        (uid, coder_id),
    ).fetchone()
    if row is None:
        raise Refused(f"{uid} is not in this coder's queue.")
    number, uid, unit_id, unit, swapped, state, in_queue, round_open = row
    return Target(number, uid, unit_id, unit, bool(swapped), state, bool(in_queue), bool(round_open))


def _check_open(connection: sqlite3.Connection, log: Log, target: Target, kind: str, before: Folded | None) -> None:
    """A closed round and an adjudicated unit take no changes; a flag for the lead they always take."""
    leased = connection.execute(
        "SELECT 1 FROM leases WHERE assignment_id = ? AND ended_utc IS NULL AND log_id <> ?", (target.id, log.id)
    ).fetchone()
    if leased:
        raise Refused("This item is in a pack: merge the pack, or take it back with 'annotate recall'.")
    if not target.in_queue:
        raise Refused("This item is no longer in the queue.")
    if kind in {"flag", "highlight", "unmask"}:
        return
    if not target.round_open:
        raise Refused("This round is closed: only a flag can be set.", "The lead can reopen it.")
    fresh = before is not None and before.answered and target.state != TO_DO  # else it is stale and to be coded again
    if fresh and is_adjudicated(connection, target.unit_id, target.id):
        raise Refused("This item was adjudicated: only a flag can be set.", "The lead can reopen it.")


def is_adjudicated(connection: sqlite3.Connection, unit_id: int, except_assignment: int = 0) -> bool:
    """Whether a final label stands on the unit that no codebook made stale and the lead has not reopened since."""
    row = connection.execute(
        """SELECT 1 FROM assignments a JOIN annotations n ON n.assignment_id = a.id
           WHERE a.unit_id = ? AND a.role = 'adjudicator' AND a.id <> ?
             AND (n.label IS NOT NULL OR n.rating IS NOT NULL) AND n.stale = 0
             AND NOT EXISTS (SELECT 1 FROM reopenings o WHERE o.assignment_id = a.id
                             AND o.adjudicated_log = n.log_id AND o.adjudicated_seq >= n.seq)""",
        (unit_id, except_assignment),
    ).fetchone()
    return row is not None


def _append(
    connection: sqlite3.Connection,
    writer: Writer,
    target: Target | None,
    kind: str,
    body: dict[str, object],
    active: int,
) -> int:
    unit_id = None if target is None else target.unit_id
    event = NewEvent(
        kind,
        body,
        assignment_id=None if target is None else target.id,
        assignment=None if target is None else target.uid,
        unit=None if target is None else target.unit,
        blindness=blindness_of(connection, writer.log.coder_id, writer.account, unit_id, writer.base_blindness),
        origin=writer.origin,
        active_ms=active,
        utc=utc_now(),
    )
    return append(connection, writer.log, event, fence=writer.fence, protocol=writer.version)


def _written(connection: sqlite3.Connection, seq: int, target: Target | None, before: Folded | None) -> Written:
    if target is None:
        return Written(seq, None, None, None, 0)
    after, state = refold(connection, target.id)
    return Written(seq, target, before, after, state)
