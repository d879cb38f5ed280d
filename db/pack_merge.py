"""Taking in a pack: it is checked whole before anything is taken in, and a conflict is listed, never overwritten."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from db.chain import genesis
from db.clock import utc_now
from db.connection import writing
from db.faults import Refused
from db.fold import UNDOABLE
from db.ids import RandomBytes
from db.lead import record
from db.leases import end_lease
from db.merge import Merged, merge
from db.pack_check import ASK, Altered, check_acts, check_content, check_seals
from db.pack_read import ReadPack
from db.records import Protocol
from db.study import Study

ReadProtocol = Callable[[str, str], Protocol]


@dataclass(frozen=True, slots=True)
class Conflict:
    """An assignment of the pack that was coded elsewhere too, without either knowing of the other's acts."""

    assignment: str
    item: str
    why: str


class Conflicts(Refused):
    """A pack that cannot be taken in beside what stands here; ``conflicts`` names every assignment concerned."""

    def __init__(self, source: str, conflicts: Sequence[Conflict]) -> None:
        first = conflicts[0]
        more = f" and {len(conflicts) - 1:,} more" if len(conflicts) > 1 else ""
        super().__init__(
            f"{source}: item {first.item} (assignment {first.assignment}) {first.why}{more}; nothing of it was merged.",
            "Decide which counts. If the pack's: let its coder undo here what was coded here, and merge again.",
        )
        self.conflicts = tuple(conflicts)


class OlderPack(Refused):
    """A state of a pack that came back further already."""


def merge_pack(
    study: Study, pack: ReadPack, read_protocol: ReadProtocol, *, random_bytes: RandomBytes = secrets.token_bytes
) -> Merged:
    """Take in what came back, in one transaction, and end the pack's lease; a pack without acts ends it, too.

    Merging it again changes nothing, and a fuller state of the same pack brings the rest.
    Raises Refused and its kinds (Altered, OlderPack, Conflicts, Fork), with the reason; the study is unchanged then.
    """
    with writing(study.connection) as connection:
        _check_study(study, connection, pack)
        log_id, known = _log(study, connection, pack, random_bytes)
        last = check_seals(pack, study.secret)
        check_acts(pack, _protocols(connection, pack, read_protocol))
        incoming = pack.incoming()
        if len(pack.rows) < known:
            raise OlderPack(
                f"{pack.source}: holds {len(pack.rows):,} acts, but this pack came back with {known:,} before: it is an"
                " older state of it, or its end was cut off.",
                "Nothing in it is new; ask for the newest state if something is missing.",
            )
        new = [row.assignment for row, _ in pack.rows[known:] if row.assignment is not None]
        conflicts = _conflicts(connection, log_id, pack.log, sorted(set(new)))
        if conflicts:
            raise Conflicts(pack.source, conflicts)
        found = merge(study, incoming, settled=True, random_bytes=random_bytes)
        ended = end_lease(connection, log_id, "merge", random_bytes)
        if last:
            head = f"{len(pack.rows)}:{last}"
            connection.execute(
                "UPDATE logs SET sealed_head = ?1 WHERE id = ?2 AND sealed_head IS NOT ?1", (head, log_id)
            )
        (log,) = found.logs
        withdrawn = _withdrawn(connection, set(new))
        return replace(found, logs=(replace(log, leases=log.leases + ended),), withdrawn=withdrawn)


def _withdrawn(connection: sqlite3.Connection, assignments: Collection[str]) -> int:
    rows = connection.execute("SELECT uid FROM assignments WHERE withdrawn_utc IS NOT NULL")
    return sum(row[0] in assignments for row in rows)


def _check_study(study: Study, connection: sqlite3.Connection, pack: ReadPack) -> None:
    """Raise Refused for another study's pack, Altered for one whose content is not what this study packed."""
    if pack.content["study"] != study.uid:
        raise Refused(f"{pack.source}: belongs to another study; nothing was merged.", "Name the study that packed it.")
    _check_codebooks(connection, pack)
    check_content(pack, study.secret)


def _log(study: Study, connection: sqlite3.Connection, pack: ReadPack, random_bytes: RandomBytes) -> tuple[int, int]:
    """The pack's log here, and how many rows of it were merged."""
    told = pack.content
    row = connection.execute(
        "SELECT l.id, l.genesis, l.place, c.uid,"
        " (SELECT count(*) FROM events e WHERE e.log_id = l.id) FROM logs l JOIN coders c ON c.id = l.coder_id"
        " WHERE l.uid = ?",
        (pack.log,),
    ).fetchone()
    if row is None:
        return _known_again(study, connection, pack, random_bytes), 0
    log_id, start, place, coder, known = row
    if start != genesis(study.uid, told["coder"], pack.log, told["protocol"]) or (place, coder) != (
        told["place"],
        told["coder"],
    ):
        raise Altered(f"{pack.source}: does not begin as the pack that was made: it was changed.", ASK)
    return log_id, known


def _known_again(study: Study, connection: sqlite3.Connection, pack: ReadPack, random_bytes: RandomBytes) -> int:
    """A pack that this study made and does not know of: it was restored from a backup made before that.

    Its code proves that it is ours. Its lease is written down as over, with nothing of the coder's log here before it,
    so that whatever was coded here since is a conflict. Raises Refused where its items are not the coder's.
    """
    told = pack.content
    found = [
        connection.execute(
            "SELECT a.id, a.coder_id FROM assignments a JOIN coders c ON c.id = a.coder_id"
            " WHERE a.uid = ? AND c.uid = ?",
            (uid, told["coder"]),
        ).fetchone()
        for uid in pack.items
    ]
    if not found or None in found:
        raise Refused(
            f"{pack.source}: this study does not know the items of this pack.",
            "Was it restored from before they were assigned? Merge into the study that made the pack.",
        )
    begun = next(version for version, digest in pack.codebooks.items() if digest == told["protocol"])
    start, now = genesis(study.uid, told["coder"], pack.log, told["protocol"]), utc_now()
    log_id = connection.execute(
        "INSERT INTO logs (uid, coder_id, place, protocol_digest, genesis, confirmed_version, created_utc)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (pack.log, found[0][1], told["place"], told["protocol"], start, begun, now),
    ).lastrowid
    connection.executemany(
        "INSERT INTO leases (assignment_id, log_id, home_seq, leased_utc, ended_utc, ended_by)"
        " VALUES (?, ?, 0, ?, ?, 'merge')",
        [(assignment, log_id, now, now) for assignment, _ in found],
    )
    body = {"log": pack.log, "assignments": len(found), "home_seq": 0, "known": "by its code"}
    record(connection, "lease", body, random_bytes=random_bytes)
    return int(log_id or 0)


def _check_codebooks(connection: sqlite3.Connection, pack: ReadPack) -> None:
    known = dict(connection.execute("SELECT version, digest FROM protocols").fetchall())
    for version, digest in sorted(pack.codebooks.items()):
        if known.get(version) != digest:
            raise Refused(
                f"{pack.source}: was made under a codebook (version {version}) that this study does not know.",
                "Was the study restored from before that change? Merge into the one that made the pack.",
            )


def _protocols(connection: sqlite3.Connection, pack: ReadPack, read: ReadProtocol) -> Mapping[int, Protocol]:
    rows = connection.execute("SELECT version, toml, name FROM protocols").fetchall()
    return {version: read(toml, name) for version, toml, name in rows if version in pack.codebooks}


# --- conflicts --------------------------------------------------------------------------------------


def _conflicts(connection: sqlite3.Connection, log_id: int, log: str, assignments: Sequence[str]) -> list[Conflict]:
    """Which of these were coded in another log that does not know of this pack's acts, nor they of its.

    No clock decides: a lease remembers how far the coder's log here had come, and the lead's log in which order packs
    were made and came back.
    """
    made = _merged_before(connection)
    found = []
    for uid in assignments:
        row = connection.execute(
            "SELECT a.id, i.key FROM assignments a JOIN units u ON u.id = a.unit_id"
            " JOIN responses r ON r.id = u.response_id JOIN items i ON i.id = r.item_id WHERE a.uid = ?",
            (uid,),
        ).fetchone()
        why = "" if row is None else _why(connection, log_id, log, row[0], made)
        if why:
            found.append(Conflict(uid, row[1], why))
    return found


def _why(
    connection: sqlite3.Connection, log_id: int, log: str, assignment: int, made: Mapping[str, Mapping[str, int]]
) -> str:
    leases = {
        each: (number, home_seq, ended)
        for number, each, home_seq, ended in connection.execute(
            "SELECT id, log_id, home_seq, ended_utc FROM leases WHERE assignment_id = ? ORDER BY id", (assignment,)
        )
    }
    if any(ended is None for each, (_, _, ended) in leases.items() if each != log_id):
        return "is in another pack now"
    mine = leases.get(log_id)
    others = connection.execute(
        "SELECT DISTINCT e.log_id, l.uid FROM events e JOIN logs l ON l.id = e.log_id"
        " WHERE e.assignment_id = ? AND e.log_id <> ?",
        (assignment, log_id),
    ).fetchall()
    for other, uid in others:
        theirs = leases.get(other)
        if theirs is None:
            if _stands(connection, assignment, other, 0 if mine is None else mine[1]):
                return "was coded here, too, after it was taken back or had come back"
        elif uid in made and mine is not None:
            known = 0 if theirs[0] > mine[0] else made.get(log, {}).get(uid, 0)
            if _stands(connection, assignment, other, known):
                return "was coded in another pack, too"
    return ""


def _stands(connection: sqlite3.Connection, assignment: int, log_id: int, known: int) -> bool:
    """Whether an act of this log beyond row ``known`` has an effect on the assignment: one that was undone has none."""
    acts: dict[int, bool] = {}
    rows = connection.execute(
        "SELECT seq, kind, json_extract(body, '$.target') FROM events WHERE assignment_id = ? AND log_id = ?"
        " ORDER BY seq",
        (assignment, log_id),
    )
    for seq, kind, target in rows:
        if kind in UNDOABLE:
            acts[seq] = True
        elif kind in ("undo", "redo"):
            acts[target] = kind == "redo"
    return any(stands and seq > known for seq, stands in acts.items())


def _merged_before(connection: sqlite3.Connection) -> dict[str, dict[str, int]]:
    """For each pack, how far every other log had been merged when it was made, as the lead's log tells."""
    merged: dict[str, int] = {}
    made: dict[str, dict[str, int]] = {}
    rows = connection.execute(
        "SELECT e.kind, e.body FROM events e JOIN logs l ON l.id = e.log_id JOIN coders c ON c.id = l.coder_id"
        " WHERE c.kind = 'lead' AND e.kind IN ('lease', 'merge') ORDER BY e.log_id, e.seq"
    )
    for kind, text in rows.fetchall():
        body = json.loads(text)
        if kind == "merge":
            merged[body["log"]] = body["to"]
        else:
            made.setdefault(body["log"], dict(merged))
    return made
