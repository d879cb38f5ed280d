"""Merging: the study's logs and those that come in become their union. No clock orders anything.

Equal rows are skipped, so that merging twice changes nothing and the order of merging does not matter. A different row
under one number is a fork (somebody went on in two copies) and is refused, as are a log that was changed, another
study's, and an assignment that was coded in two places. Either everything comes in or nothing does.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

from db.annotations import refold
from db.blindness import unmask
from db.canonical import canonical_json
from db.chain import EventRow, genesis, row_hash
from db.clock import utc_now
from db.connection import writing
from db.faults import Refused
from db.ids import RandomBytes
from db.incoming import Incoming, IncomingLog, read_logs
from db.lead import record
from db.leases import end_lease
from db.logs import INSERT_EVENT, Log
from db.merge_decisions import take_in
from db.stacks import Stacks
from db.study import Study
from db.texts import text_digest


class Fork(Refused):
    """Two copies went on from the same row of a log, each in its own way."""


@dataclass(frozen=True, slots=True)
class MergedLog:
    """One log that came in: ``added`` rows were new, ``known`` were here; ``leases`` of assignments ended with it."""

    log: str
    coder: str
    added: int
    known: int
    leases: int


@dataclass(frozen=True, slots=True)
class Merged:
    """What merging came to; rows in = added + known. ``assignments``: whose annotations were made anew.

    ``withdrawn``: of the items that a pack brought acts on, those that were withdrawn here meanwhile (given to another
    coder): the acts are in the record, the labels do not count.
    """

    source: str
    logs: tuple[MergedLog, ...]
    assignments: int
    withdrawn: int = 0

    @property
    def added(self) -> int:
        return sum(log.added for log in self.logs)


def merge_copy(
    study: Study, copy: Study, *, coders: Collection[str] | None = None, random_bytes: RandomBytes = secrets.token_bytes
) -> Merged:
    """Take in the logs of a copy of this study; ``coders`` (names or pseudonyms there): theirs alone.

    Raises Fork and Refused, and the study is unchanged then.
    """
    incoming = read_logs(copy)
    if coders is not None:
        wanted = {_coder_uid(copy, name) for name in coders}
        kept = [log for log in incoming.logs if log.coder in wanted]
        incoming = Incoming(incoming.source, incoming.study, incoming.codebooks, kept, incoming.texts, incoming.made)
    return merge(study, incoming, random_bytes=random_bytes)


def merge(
    study: Study, incoming: Incoming, *, settled: bool = False, random_bytes: RandomBytes = secrets.token_bytes
) -> Merged:
    """Take in logs in one transaction. Each log is given whole, from its first row. Raises Fork and Refused.

    ``settled``: the caller has made sure that nothing in them was coded elsewhere too.
    """
    if incoming.study != study.uid:
        raise Refused(f"{incoming.source}: belongs to another study; nothing was merged.", "Name a copy of this one.")
    with writing(study.connection) as connection:
        job = _Merge(connection, study, incoming, settled, random_bytes)
        logs = tuple(job.take(log) for log in incoming.logs)
        for assignment in sorted(job.touched):
            refold(connection, assignment)
        connection.executemany(
            "UPDATE coders SET queue_version = queue_version + 1 WHERE id = ?", [(each,) for each in sorted(job.coders)]
        )
        return Merged(incoming.source, logs, len(job.touched))


class _Merge:
    """One merge inside its transaction: what it has touched so far."""

    def __init__(
        self, connection: sqlite3.Connection, study: Study, incoming: Incoming, settled: bool, random: RandomBytes
    ) -> None:
        self._connection, self._study, self._incoming, self._random = connection, study, incoming, random
        self._settled = settled
        self._codebooks = dict(connection.execute("SELECT version, digest FROM protocols").fetchall())
        self._brings = {log.uid: len(log.rows) for log in incoming.logs}
        self.touched: set[int] = set()
        self.coders: set[int] = set()

    def take(self, incoming: IncomingLog) -> MergedLog:
        coder, pseudonym, kind = self._coder(incoming)
        where = f"{self._incoming.source}: log {incoming.uid} of {pseudonym}"
        _check_chain(self._study.uid, incoming, where)
        log = self._log(incoming, coder, where)
        known = self._compare(log, incoming, where)
        new = incoming.rows[known:]
        if new and kind == "lead":
            raise Refused(f"{where}: the lead worked in that file too ({new[0][0].kind}, row {known + 1}).", _ONE_LEAD)
        self._check_codebooks([row for row, _ in new], where)
        for row, stored in new:
            self._insert(log, row, stored, where)
        if new:
            self.coders.add(coder)
            self._follow(log, [row for row, _ in new])
            body = {"log": log.uid, "from": known + 1, "to": len(incoming.rows), "head": new[-1][1]}
            record(self._connection, "merge", body, random_bytes=self._random)
        ended = end_lease(self._connection, log.id, "merge", self._random) if new else 0
        return MergedLog(log.uid, pseudonym, len(new), known, ended)

    def _coder(self, incoming: IncomingLog) -> tuple[int, str, str]:
        row: tuple[int, str, str] | None = self._connection.execute(
            "SELECT id, pseudonym, kind FROM coders WHERE uid = ?", (incoming.coder,)
        ).fetchone()
        if row is None:
            raise Refused(
                f"{self._incoming.source}: log {incoming.uid} is of a coder whom this study does not know.", _ONE_LEAD
            )
        return row

    def _log(self, incoming: IncomingLog, coder: int, where: str) -> Log:
        """The log as it is here, made where it is new."""
        found = self._connection.execute(
            "SELECT id, uid, coder_id, place, genesis FROM logs WHERE uid = ?1 OR (coder_id = ?2 AND place = ?3)"
            " ORDER BY uid = ?1 DESC",
            (incoming.uid, coder, incoming.place),
        ).fetchone()
        start = genesis(self._study.uid, incoming.coder, incoming.uid, incoming.protocol_digest)
        if found is not None:
            log = Log(*found)
            if log.uid != incoming.uid:
                raise Fork(f"{where}: this coder began another log here; both cannot be theirs.", _TWO_PLACES)
            if log.genesis != start:
                raise Refused(f"{where}: does not begin as the log of that name here does: it was changed.", _ASK)
            return log
        version = next((v for v, digest in self._codebooks.items() if digest == incoming.protocol_digest), None)
        if version is None:
            raise Refused(f"{where}: was begun under a codebook that this study does not know.", _ONE_LEAD)
        cursor = self._connection.execute(
            "INSERT INTO logs (uid, coder_id, place, protocol_digest, genesis, confirmed_version, created_utc)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (incoming.uid, coder, incoming.place, incoming.protocol_digest, start, version, utc_now()),
        )
        return Log(int(cursor.lastrowid or 0), incoming.uid, coder, incoming.place, start)

    def _compare(self, log: Log, incoming: IncomingLog, where: str) -> int:
        """How many rows both have. Raises Fork where one of them differs."""
        here = self._connection.execute("SELECT seq, hash FROM events WHERE log_id = ? ORDER BY seq", (log.id,))
        known = 0
        for (seq, stored), (row, came) in zip(here.fetchall(), incoming.rows, strict=False):
            if stored != came:
                raise Fork(f"{where}, row {seq}: another {row.kind} stands here at that place: a fork.", _TWO_PLACES)
            known = seq
        return known

    def _check_codebooks(self, rows: list[EventRow], where: str) -> None:
        for version in sorted({row.protocol for row in rows}):
            if self._codebooks.get(version) != self._incoming.codebooks.get(version, ""):
                raise Refused(f"{where}: was written under a codebook (version {version}) unknown here.", _ONE_LEAD)

    def _insert(self, log: Log, row: EventRow, stored: str, where: str) -> None:
        assignment = None if row.assignment is None else self._assignment(log, row, where)
        for name in ("note", "words"):
            if row.body.get(name) is not None:
                self._keep_text(str(row.body[name]), f"{where}, row {row.seq}", self._is_erased(log, assignment))
        body = canonical_json(row.body)
        written = (row.protocol, row.tool, row.utc, row.active_ms, row.fence, row.origin, row.blindness, stored)
        self._connection.execute(INSERT_EVENT, (log.id, row.seq, row.kind, assignment, row.unit, body, *written))
        if assignment is not None:
            self.touched.add(assignment)

    def _assignment(self, log: Log, row: EventRow, where: str) -> int:
        """The assignment of a row. Raises Refused where it is not this coder's, or was coded in another place too."""
        found = self._connection.execute(
            "SELECT id FROM assignments WHERE uid = ? AND coder_id = ?", (row.assignment, log.coder_id)
        ).fetchone()
        if found is None:
            return self._decided_there(log, row, f"{where}, row {row.seq}")
        if self._settled:
            return int(found[0])
        elsewhere = self._connection.execute(_ELSEWHERE, {"assignment": found[0], "log": log.id}).fetchone()
        if elsewhere is None:
            elsewhere = self._unknown_there(int(found[0]), log)
        if elsewhere is not None:
            raise Refused(
                f"{where}, row {row.seq}: assignment {row.assignment} {elsewhere[0]}; nothing was merged.", _TWO_PLACES
            )
        return int(found[0])

    def _decided_there(self, log: Log, row: EventRow, where: str) -> int:
        """The assignment of a decision or verdict that was given there. Raises Refused where it is something else."""
        made = self._incoming.made.get(row.assignment or "")
        owner = self._connection.execute("SELECT uid FROM coders WHERE id = ?", (log.coder_id,)).fetchone()[0]
        if made is None or made.coder != owner or made.unit != row.unit:
            raise Refused(f"{where}: assignment {row.assignment} is not one of this coder's.", _ONE_LEAD)
        return take_in(self._connection, row.assignment or "", made, log.coder_id, where)

    def _unknown_there(self, assignment: int, log: Log) -> tuple[str] | None:
        """Acts of a pack that came back here: whoever coded the same in a copy must have had them in the copy."""
        rows = self._connection.execute(_IN_PACKS, {"assignment": assignment, "log": log.id}).fetchall()
        unknown = any(last > self._brings.get(uid, 0) for uid, last in rows)
        return ("was coded in a pack meanwhile",) if unknown else None

    def _is_erased(self, log: Log, assignment: int | None) -> bool:
        """Whether the coder was forgotten or the record redacted meanwhile: words that come later are erased, too."""
        values = {"coder": log.coder_id, "assignment": assignment}
        return bool(self._connection.execute(_ERASED, values).fetchone()[0])

    def _keep_text(self, digest: str, where: str, erased: bool) -> None:
        """Take in a note's words; what was erased here stays erased."""
        salt, text = self._incoming.texts.get(digest, ("", ""))
        if text is not None and text_digest(salt, text) != digest:
            raise Refused(f"{where}: the words of its note are missing or were changed.", _ASK)
        if erased:
            salt, text = "", None
        self._connection.execute(
            "INSERT INTO texts (digest, salt, text) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (digest, salt, text)
        )

    def _follow(self, log: Log, rows: list[EventRow]) -> None:
        """What rows leave beside the annotations: the number of the session, confirmations, unmaskings."""
        confirmed = max((row.protocol for row in rows if row.kind == "confirm"), default=0)
        self._connection.execute(
            "UPDATE logs SET fence = max(fence, ?), confirmed_version = max(confirmed_version, ?) WHERE id = ?",
            (max(row.fence for row in rows), confirmed, log.id),
        )
        for row in rows:
            if row.kind == "unmask":
                unit = self._connection.execute(_UNIT, (row.unit, row.assignment)).fetchone()
                shown = None if unit is None else unit[0]
                unmask(self._connection, log.id, row.seq, coder_id=log.coder_id, account=None, unit_id=shown)


def _check_chain(study: str, incoming: IncomingLog, where: str) -> None:
    """Every row follows the one before it, by number, hash and turn of undo and redo. Raises Refused."""
    previous = genesis(study, incoming.coder, incoming.uid, incoming.protocol_digest)
    stacks = Stacks()
    for expected, (row, stored) in enumerate(incoming.rows, 1):
        if row.seq != expected or row.log != incoming.uid or row_hash(previous, row) != stored:
            raise Refused(f"{where}, row {expected}: was changed (its hash does not hold); nothing was merged.", _ASK)
        target = row.body.get("target")
        try:
            stacks.add(row.seq, row.kind, target if isinstance(target, int) else None)
        except ValueError as error:
            raise Refused(f"{where}: {error}; nothing was merged.", _ASK) from error
        previous = stored


def _coder_uid(copy: Study, name: str) -> str:
    from db.coders import find_coder

    return find_coder(copy.connection, name).uid


_ELSEWHERE = """
    SELECT 'is leased to another log' FROM leases
    WHERE assignment_id = :assignment AND ended_utc IS NULL AND log_id <> :log
    UNION ALL
    SELECT 'was coded in another place meanwhile' FROM events e
    WHERE e.assignment_id = :assignment AND e.log_id <> :log
      AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.assignment_id = :assignment
                      AND (l.log_id = e.log_id OR (l.log_id = :log AND e.seq <= l.home_seq)))
    LIMIT 1"""
_IN_PACKS = """
    SELECT p.uid, max(e.seq) FROM events e JOIN logs p ON p.id = e.log_id
    WHERE e.assignment_id = :assignment AND e.log_id <> :log AND p.place GLOB 'pack-*'
      AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.assignment_id = :assignment AND l.log_id = :log)
    GROUP BY p.id"""
_ERASED = """
    SELECT EXISTS (SELECT 1 FROM coders WHERE id = :coder AND forgotten_utc IS NOT NULL)
        OR EXISTS (SELECT 1 FROM assignments a JOIN units u ON u.id = a.unit_id
                   JOIN responses r ON r.id = u.response_id JOIN items i ON i.id = r.item_id
                   WHERE a.id = :assignment AND coalesce(r.redacted_utc, i.redacted_utc) IS NOT NULL)"""
_UNIT = """
    SELECT id FROM units WHERE public_id = ?1 UNION
    SELECT unit_id FROM assignments WHERE uid = ?2"""
_TWO_PLACES = "Decide which copy counts, and merge only the other coders' logs (--coder NAME)."
_ONE_LEAD = "Import, draw and assign in one file only: merge into that one, or name the coders with --coder NAME."
_ASK = "Ask for the file again, untouched."
