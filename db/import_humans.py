"""Human labels that were given elsewhere: events of kind label in a log of their own, one a coder and import.

When and how blind they were given is not known unless the rows say so, and is stored as unknown.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from db.acts import check_label, check_rating
from db.annotations import stored_row
from db.clock import utc_now
from db.coders import Coder, insert_coder
from db.faults import Refused
from db.fold import DONE, FoldEvent, fold
from db.ids import RandomBytes, new_id
from db.import_labels import RESOLVED, resolve_repeats, unresolved
from db.import_run import Run
from db.import_sample import store_census
from db.logs import INSERT_EVENT, Appender, NewEvent, current_protocol, ensure_log
from db.records import CoderKind, Protocol, Role
from db.staging import HUMAN_LABELS
from db.texts import keep_text
from db.units import ensure_unit

MAIN, ADJUDICATION = "main", "adjudication"
_STAGED = f"""
    SELECT s.coder, s.source, s.row, s.item, s.model, coalesce(s.repeat, sr.repeat), r.id, x.n IS NOT NULL,
           i.id IS NOT NULL, s.label, s.rating, s.role, s.note, s.utc, s.active_ms, s.pi
    FROM staging.human_labels s
    {RESOLVED}
    LEFT JOIN staging.refused_responses x ON x.n = s.link AND s.repeat IS NULL
    WHERE s.coder = ? ORDER BY s.n"""


@dataclass(slots=True)
class Humans:
    """What the import brought: its coders, and the units with their given probability (None: none was given)."""

    coders: tuple[str, ...] = ()
    units: dict[int, float | None] = field(default_factory=dict)
    sample: int | None = None


@dataclass(frozen=True, slots=True)
class _Given:
    """A staged label."""

    source: int
    row: int
    item: str
    model: str
    repeat: int | None
    response_id: int | None
    refused: bool
    item_known: bool
    label: str | None
    rating: int | None
    role: Role
    note: str | None
    utc: str | None
    active_ms: int | None
    pi: float | None


def store_human_labels(run: Run, protocol: Protocol | None, kind: CoderKind, random_bytes: RandomBytes) -> Humans:
    """Store the labels of every coder in the stream, and the census that they make where nothing was drawn.

    Raises Refused where no protocol is given, or a coder's name belongs to somebody who codes here.
    """
    humans = Humans()
    if not run.read.staged[HUMAN_LABELS]:
        return humans
    if protocol is None:
        raise Refused("Human labels can only be imported with the study's codebook.")
    resolve_repeats(run, "human_labels", "s.coder, s.role")
    names = [
        row[0]
        for row in run.connection.execute("SELECT coder FROM staging.human_labels GROUP BY coder ORDER BY min(n)")
    ]
    for name in names:
        _Coder(run, protocol, name, kind, random_bytes, humans).store()
    humans.coders = tuple(names)
    humans.sample = store_census(run, humans.units)
    return humans


class _Coder:
    """One coder's labels of this import."""

    def __init__(
        self, run: Run, protocol: Protocol, name: str, kind: CoderKind, random_bytes: RandomBytes, humans: Humans
    ) -> None:
        self._run, self._protocol, self._name, self._kind = run, protocol, name, kind
        self._random, self._humans = random_bytes, humans
        self._connection = run.connection
        self._coder: Coder | None = None
        self._appender: Appender | None = None
        self._log_id = 0
        self._position = 0
        self._batches: dict[str, int] = {}
        self._version, _ = current_protocol(run.connection)

    def store(self) -> None:
        for given in self._staged():
            if given.label is None and given.rating is None:
                self._run.count(self._run.blank, HUMAN_LABELS)
                continue
            problem = self._problem(given)
            if problem is not None:
                self._run.reject(HUMAN_LABELS, given.source, given.row, problem)
            else:
                self._store_one(given)

    def _staged(self) -> Iterator[_Given]:
        for row in self._connection.execute(_STAGED, (self._name,)).fetchall():
            source, at, item, model, repeat, response, refused, known, *rest = row[1:]
            yield _Given(source, at, item, model, repeat, response, bool(refused), bool(known), *rest)

    def _problem(self, given: _Given) -> str | None:
        if given.response_id is None or given.refused:
            return unresolved(given.item, given.model, given.repeat, given.refused, given.item_known)
        try:
            if given.label is not None:
                check_label(self._protocol, given.label)
            if given.rating is not None:
                check_rating(self._protocol, given.rating)
        except Refused as refused:
            return refused.message
        return None

    def _store_one(self, given: _Given) -> None:
        connection, run = self._connection, self._run
        assert given.response_id is not None
        unit_id, unit = ensure_unit(connection, given.response_id, self._random)
        round_name = ADJUDICATION if given.role == "adjudicator" else MAIN
        coder = self._known_coder()
        known = _existing(connection, unit_id, coder.id, round_name)
        if known is not None:
            self._settle(given, *known)
            return
        assignment_id, assignment = self._assign(coder, unit_id, round_name, given.role)
        event = self._event(given, assignment_id, assignment, unit)
        self._append(event, assignment_id)
        run.count(run.imported, HUMAN_LABELS)
        self._take_pi(given, unit_id)

    def _settle(self, given: _Given, label: str | None, rating: int | None, origin: str | None) -> None:
        run = self._run
        if (label, rating) == (given.label, given.rating):
            run.count(run.unchanged if origin == f"import:{run.batch}" else run.already, HUMAN_LABELS)
            return
        said = label if label is not None else rating
        reason = f"{self._name} has labelled this response of item {given.item!r} already ({said})"
        run.reject(HUMAN_LABELS, given.source, given.row, reason)

    def _known_coder(self) -> Coder:
        if self._coder is None:
            self._coder = insert_coder(self._connection, self._name, self._kind, self._random)
            row = self._connection.execute(
                "SELECT coalesce(max(position), 0) FROM assignments WHERE coder_id = ?", (self._coder.id,)
            ).fetchone()
            self._position = int(row[0])
        return self._coder

    def _assign(self, coder: Coder, unit_id: int, round_name: str, role: Role) -> tuple[int, str]:
        self._position += 1
        uid = new_id(self._random)
        cursor = self._connection.execute(
            "INSERT INTO assignments (uid, unit_id, coder_id, round, role, batch_id, position, state)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (uid, unit_id, coder.id, round_name, role, self._batch(round_name), self._position, DONE),
        )
        return int(cursor.lastrowid or 0), uid

    def _batch(self, round_name: str) -> int:
        if round_name not in self._batches:
            self._batches[round_name] = _batch_of_import(self._connection, round_name, self._run.batch)
        return self._batches[round_name]

    def _event(self, given: _Given, assignment_id: int, assignment: str, unit: str) -> NewEvent:
        body: dict[str, Any] = {"row": given.row}
        if 0 <= given.source < len(self._run.sources):
            body["source"] = self._run.sources[given.source].sha256
        if given.rating is not None:
            body["rating"] = given.rating
        if given.label is not None:
            body["label"] = given.label
        if given.note:
            body["note"] = keep_text(self._connection, given.note, self._random)
        return NewEvent(
            "label" if given.label is not None else "rating",
            body,
            assignment_id=assignment_id,
            assignment=assignment,
            unit=unit,
            origin=f"import:{self._run.batch}",
            active_ms=given.active_ms,
            utc=given.utc,
        )

    def _append(self, event: NewEvent, assignment_id: int) -> None:
        if self._appender is None:
            place = f"import:{self._run.batch}"
            log = ensure_log(self._connection, self._known_coder().id, place, self._random)
            self._log_id = log.id
            self._appender = Appender(self._connection, log, fence=0, protocol=self._version)
        row = self._appender.row(event)
        self._connection.execute(INSERT_EVENT, row)
        seen = FoldEvent(
            self._log_id,
            row[1],
            event.kind,
            event.body,
            self._version,
            event.blindness,
            event.origin,
            event.utc,
            event.active_ms,
        )
        folded = fold([seen])
        assert folded is not None
        self._connection.execute(_INSERT_ANNOTATION, stored_row(assignment_id, folded, stale=False))

    def _take_pi(self, given: _Given, unit_id: int) -> None:
        units = self._humans.units
        if given.pi is None:
            units.setdefault(unit_id, None)
        elif units.get(unit_id) not in (None, given.pi):
            raise Refused(
                f"{self._run.name(given.source)}, row {given.row}: the inclusion probability of item {given.item!r} is "
                f"{given.pi} here and {units[unit_id]} before; nothing was imported.",
                "Give one probability a response.",
            )
        else:
            units[unit_id] = given.pi


_INSERT_ANNOTATION = f"INSERT INTO annotations VALUES ({', '.join('?' * 17)})"


def _existing(
    connection: sqlite3.Connection, unit_id: int, coder_id: int, round_name: str
) -> tuple[str | None, int | None, str | None] | None:
    row = connection.execute(
        "SELECT n.label, n.rating, n.origin FROM assignments a LEFT JOIN annotations n ON n.assignment_id = a.id"
        " WHERE a.unit_id = ? AND a.coder_id = ? AND a.round = ? AND a.occurrence = 1",
        (unit_id, coder_id, round_name),
    ).fetchone()
    return None if row is None else (row[0], row[1], row[2])


def _batch_of_import(connection: sqlite3.Connection, round_name: str, batch: str) -> int:
    connection.execute(
        "INSERT INTO rounds (name, kind) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (round_name, round_name)
    )
    parameters = f'{{"import":"{batch}"}}'
    known = connection.execute(
        "SELECT id FROM batches WHERE round = ? AND parameters = ?", (round_name, parameters)
    ).fetchone()
    if known is not None:
        return int(known[0])
    now = utc_now()
    cursor = connection.execute(
        "INSERT INTO batches (round, seed, order_kind, overlap, parameters, released_utc, created_utc)"
        " VALUES (?, '', 'file', 1.0, ?, ?, ?)",
        (round_name, parameters, now, now),
    )
    return int(cursor.lastrowid or 0)
