"""The lead's session over cases: final labels for the reference, and verdicts after unmasking that stay apart from it.

A final label is an event of kind ``label`` on an assignment of role adjudicator, made when it is given. A verdict is
an event of kind ``verdict`` in a round of kind check: nothing that reads labels can take it for one.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from db.acts import body_of
from db.annotations import events_of, refold
from db.blindness import account_of, unmask
from db.cases import (
    BETTER,
    JUDGE_REASONS,
    REASONS,
    SIDES,
    WHY_BETTER,
    Case,
    Mode,
    Opinion,
    Queue,
    coder_opinions,
    decision_of,
    judge_opinion,
    people_queue,
    unit_item,
)
from db.clock import utc_now
from db.coders import insert_coder
from db.connection import reading, writing
from db.faults import ProtocolChanged, Refused
from db.fold import UNDOABLE, fold
from db.held import HeldStudy
from db.ids import RandomBytes, new_id
from db.logs import NewEvent, append
from db.records import Act, Blindness, Protocol
from db.reviews import Review, find_review, review_queue
from db.saving import Writer, check_writer, is_adjudicated
from db.session_lock import SessionLock, take_session
from db.stacks import Stacks
from db.study import Study, open_study
from db.texts import keep_text

ROUND = "adjudication"
ORIGIN = "adjudication"


@dataclass(frozen=True, slots=True)
class Decision:
    """What the lead decides on one case. ``reason``: a key of the mode's reasons; ``label`` None: a rating alone."""

    label: str | None
    rating: int | None = None
    reason: str = ""
    note: str = ""
    active_ms: int = 0


class AdjudicationSession(HeldStudy):
    """One adjudicator at work. ``mode``: people (final labels), judge or judges (verdicts on a review)."""

    def __init__(
        self,
        study: Study,
        writer: Writer,
        lock: SessionLock,
        mode: Mode,
        review: Review | None,
        *,
        names: bool,
        everything: bool,
    ) -> None:
        self.study, self.mode, self.review, self.names = study, mode, review, names
        self._writer, self._lock, self._everything = writer, lock, everything
        self._why: Mapping[str, str] = {}

    @classmethod
    def open(
        cls,
        path: str | Path,
        adjudicator: str,
        protocol: Protocol,
        *,
        mode: Mode = "people",
        review: str | None = None,
        names: bool = False,
        everything: bool = False,
        take_over: bool = False,
        random_bytes: RandomBytes = secrets.token_bytes,
    ) -> AdjudicationSession:
        """Open the study for one adjudicator, who is added if new. ``review``: the name of the round to go through.

        names: coders by name instead of letters; logged. everything: also cases on which all agree. Raises Refused,
        SessionTaken or StudyError.
        """
        study = open_study(path)
        try:
            with writing(study.connection) as connection:
                who = insert_coder(connection, adjudicator, "person", random_bytes)
            held, log, fence = take_session(study, who, study.place, take_over, ORIGIN, random_bytes)
            try:
                if study.protocol_digest != protocol.digest:
                    raise ProtocolChanged(f"{study.path}: the codebook in force is another one.", "Open it again.")
                writer = Writer(
                    log, fence, protocol, study.protocol_version, "masked", account_of(study), ORIGIN, random_bytes
                )
                found = None if review is None else find_review(study.connection, review)
                session = cls(study, writer, held, mode, found, names=names, everything=everything)
                session._begin()
                return session
            except BaseException:
                held.release()
                raise
        except BaseException:
            study.close()
            raise

    # --- reading --------------------------------------------------------------------------------

    @property
    def protocol(self) -> Protocol:
        return self._writer.protocol

    @property
    def choices(self) -> tuple[str, ...]:
        """The labels that a decision can have; of a judge's rating, on which side of the threshold it should lie."""
        if self.mode == "judges":
            return BETTER
        return SIDES if self.mode == "judge" and self.protocol.rating_only else self.protocol.label_names

    @property
    def reasons(self) -> dict[str, str]:
        """The classes of reasons: key and words."""
        return {"people": REASONS, "judge": JUDGE_REASONS, "judges": WHY_BETTER}[self.mode]

    def queue(self) -> Queue:
        """The cases as they stand now."""
        with reading(self._connection) as connection:
            if self.review is not None:
                return review_queue(connection, self.review, self._writer.log.coder_id)
            found = people_queue(connection, self.protocol, everything=self._everything)
        self._why = found.why
        return found

    def case(self, unit: str) -> Case:
        """One case. Where the adjudicator has this unit to code as well, that they have seen it now is logged."""
        connection = self._connection
        self._check_here(unit)
        unit_id, response, item = unit_item(connection, unit)
        opinions = coder_opinions(connection, unit, unit_id, names=self.names)
        why = ""
        if self.review is None:
            why = self._why.get(unit, "")
        elif self.mode == "judge":
            judged = self._judged(response, self.review.judges[0], "judge")
            held = Opinion("held by people", self.review.kept[unit])
            settled = any(each.label != held.label for each in opinions)
            opinions, why = (*opinions, *((held,) if settled else ()), judged), "coders, and the judge unmasked"
        else:
            sides = self.review.sides(unit)
            shown = zip(("first judge", "second judge"), sides, strict=True)
            opinions, why = (
                tuple(self._judged(response, judge, who) for who, judge in shown),
                "two judges, in an order of this case's own",
            )
        self._unmask(unit, unit_id)
        return Case(unit, why, item, opinions, decision_of(connection, self._assignment(connection, unit_id)))

    # --- writing --------------------------------------------------------------------------------

    def decide(self, unit: str, decision: Decision) -> int:
        """Save a decision; it is durable when this returns. Returns its place in the log. Raises Refused.

        A case can be decided anew by the same adjudicator; by another one after it was reopened.
        """
        if decision.reason not in self.reasons:
            raise Refused(f"{decision.reason!r} is no reason here.", f"Reasons: {', '.join(self.reasons)}.")
        self._check_here(unit)
        with writing(self._connection) as connection:
            check_writer(connection, self._writer, confirmed=False)
            unit_id, _, _ = unit_item(connection, unit)
            assignment, uid = self._ensure_assignment(connection, unit_id)
            self._check_free(connection, unit_id, assignment)
            kind, body = self._body(connection, decision, assignment)
            event = NewEvent(
                kind,
                body,
                assignment_id=assignment,
                assignment=uid,
                unit=unit,
                blindness="open" if self.review else self._blindness(connection, unit_id),
                origin=ORIGIN,
                active_ms=max(0, decision.active_ms),
                utc=utc_now(),
            )
            seq = self._append(connection, event)
            refold(connection, assignment)
            return seq

    def undo(self) -> str | None:
        """Take back the last decision and return its unit; None where there is none.

        Raises Refused where the last act of this person was one of coding.
        """
        with writing(self._connection) as connection:
            check_writer(connection, self._writer, confirmed=False)
            done = Stacks.of_log(connection, self._writer.log.id).done
            if not done:
                return None
            row = connection.execute(
                "SELECT e.kind, a.id, a.uid, e.unit, e.origin, a.round FROM events e JOIN assignments a ON a.id ="
                " e.assignment_id WHERE e.log_id = ? AND e.seq = ?",
                (self._writer.log.id, done[-1]),
            ).fetchone()
            kind, assignment, uid, unit, origin, round_name = row
            if origin != ORIGIN or kind not in UNDOABLE or round_name != self._round:
                raise Refused("The last act was no decision of these cases: undo it where it was made.")
            event = NewEvent(
                "undo",
                {"kind": kind, "target": done[-1]},
                assignment_id=assignment,
                assignment=uid,
                unit=unit,
                blindness="open" if self.review else self._blindness(connection, None),
                origin=ORIGIN,
                active_ms=0,
                utc=utc_now(),
            )
            self._append(connection, event)
            refold(connection, assignment)
            return str(unit)

    # --- inside ---------------------------------------------------------------------------------

    @property
    def _round(self) -> str:
        return ROUND if self.review is None else self.review.name

    def _judged(self, response: int, judge: str, who: str) -> Opinion:
        return judge_opinion(self._connection, response, judge, who, rating_only=self.protocol.rating_only)

    def _check_here(self, unit: str) -> None:
        if self.review is not None and unit not in self.review.kept:
            raise Refused(f"Unit {unit} is not in {self.review.name!r}.", "--list shows the units that are.")

    def _begin(self) -> None:
        """Seeing judges, or coders by name, is an unmasking of everything and is logged once."""
        if self.review is None and not self.names:
            return
        coder = self._writer.log.coder_id
        with writing(self._connection) as connection:
            known = connection.execute(
                "SELECT 1 FROM unmaskings WHERE coder_id = ? AND unit_id IS NULL", (coder,)
            ).fetchone()
            if known is None:
                what = self.review.name if self.review else "names of coders"
                self._log_unmasking(connection, None, None, what)

    def _unmask(self, unit: str, unit_id: int) -> None:
        """Log that somebody who also codes this unit has seen what others said of it."""
        coder = self._writer.log.coder_id
        sql = """SELECT EXISTS (SELECT 1 FROM assignments WHERE unit_id = ?1 AND coder_id = ?2 AND role <> 'adjudicator'
                                AND withdrawn_utc IS NULL AND round <> coalesce(?3, ''))
                 AND NOT EXISTS (SELECT 1 FROM unmaskings WHERE coder_id = ?2 AND (unit_id IS NULL OR unit_id = ?1))"""
        values = (unit_id, coder, self.review.name if self.review else None)
        if not self._connection.execute(sql, values).fetchone()[0]:
            return
        with writing(self._connection) as connection:
            if connection.execute(sql, values).fetchone()[0]:
                self._log_unmasking(connection, unit, unit_id, ORIGIN)

    def _log_unmasking(self, connection: sqlite3.Connection, unit: str | None, unit_id: int | None, what: str) -> None:
        event = NewEvent("unmask", {"what": what}, unit=unit, blindness="open", origin=ORIGIN, utc=utc_now())
        seq = self._append(connection, event)
        unmask(connection, self._writer.log.id, seq, coder_id=self._writer.log.coder_id, account=None, unit_id=unit_id)

    def _blindness(self, connection: sqlite3.Connection, unit_id: int | None) -> Blindness:
        """Whether this person has seen the judge; that they see the coders is what adjudicating is."""
        seen = connection.execute(
            """SELECT EXISTS (SELECT 1 FROM unmaskings m JOIN events e ON e.log_id = m.log_id AND e.seq = m.seq
                              WHERE (m.coder_id = ?1 AND (m.unit_id IS NULL OR m.unit_id = ?2) OR m.account = ?3)
                                AND coalesce(json_extract(e.body, '$.what'), '') NOT IN (?4, 'names of coders'))""",
            (self._writer.log.coder_id, unit_id, self._writer.account, ORIGIN),
        ).fetchone()[0]
        return "open" if seen else "masked"

    def _append(self, connection: sqlite3.Connection, event: NewEvent) -> int:
        return append(connection, self._writer.log, event, fence=self._writer.fence, protocol=self._writer.version)

    def _assignment(self, connection: sqlite3.Connection, unit_id: int) -> int | None:
        if self.review is None:
            sql = "SELECT id FROM assignments WHERE unit_id = ? AND coder_id = ? AND role = 'adjudicator'"
            values: tuple[object, ...] = (unit_id, self._writer.log.coder_id)
        else:
            sql = "SELECT id FROM assignments WHERE unit_id = ? AND coder_id = ? AND round = ?"
            values = (unit_id, self._writer.log.coder_id, self.review.name)
        row = connection.execute(sql, values).fetchone()
        if row is None and self.review is None:  # what another adjudicator decided is shown as decided
            row = connection.execute(
                "SELECT id FROM assignments WHERE unit_id = ? AND role = 'adjudicator' ORDER BY id DESC LIMIT 1",
                (unit_id,),
            ).fetchone()
        return None if row is None else int(row[0])

    def _ensure_assignment(self, connection: sqlite3.Connection, unit_id: int) -> tuple[int, str]:
        coder = self._writer.log.coder_id
        round_name, role = (ROUND, "adjudicator") if self.review is None else (self.review.name, "coder")
        row = connection.execute(
            "SELECT id, uid FROM assignments WHERE unit_id = ? AND coder_id = ? AND round = ? AND occurrence = 1",
            (unit_id, coder, round_name),
        ).fetchone()
        if row is not None:
            return row[0], row[1]
        batch = adjudication_batch(connection) if self.review is None else self.review.batch
        uid = new_id(self._writer.random_bytes)
        cursor = connection.execute(
            "INSERT INTO assignments (uid, unit_id, coder_id, round, role, batch_id, position, in_queue)"
            " SELECT ?, ?, ?, ?, ?, ?, coalesce(max(position), 0) + 1, 0 FROM assignments WHERE coder_id = ?",
            (uid, unit_id, coder, round_name, role, batch, coder),
        )
        return int(cursor.lastrowid or 0), uid

    def _check_free(self, connection: sqlite3.Connection, unit_id: int, assignment: int) -> None:
        state = connection.execute("SELECT state FROM rounds WHERE name = ?", (self._round,)).fetchone()[0]
        if state != "open":
            raise Refused("This round is closed.", "'annotate rounds --open NAME' opens it again.")
        if self.review is None and is_adjudicated(connection, unit_id, assignment):
            raise Refused(
                "Somebody else has decided this case.", "'annotate rounds --reopen-unit UNIT' opens it again."
            )

    def _body(
        self, connection: sqlite3.Connection, decision: Decision, assignment: int
    ) -> tuple[str, dict[str, object]]:
        note = keep_text(connection, decision.note, self._writer.random_bytes) if decision.note.strip() else None
        if self.review is not None:
            if decision.label not in self.choices:
                raise Refused(f"{decision.label!r} is no answer here.", f"Answers: {', '.join(self.choices)}.")
            return "verdict", {"verdict": decision.label, "class": decision.reason, "note": note}
        kind = "rating" if self.protocol.rating_only else "label"
        act = Act(kind, None, label=decision.label, rating=decision.rating)
        before = fold(events_of(connection, assignment))
        body = body_of(act, self.protocol, before, (), False, lambda text: keep_text(connection, text))
        return kind, {**body, "class": decision.reason, "note": note}


def adjudication_batch(connection: sqlite3.Connection) -> int:
    """The batch that final labels belong to: never released, so that none of it is in a coder's queue."""
    connection.execute("INSERT INTO rounds (name, kind) VALUES (?, 'adjudication') ON CONFLICT DO NOTHING", (ROUND,))
    for number, parameters in connection.execute("SELECT id, parameters FROM batches WHERE round = ?", (ROUND,)):
        if json.loads(parameters).get("adjudication"):
            return int(number)
    cursor = connection.execute(
        "INSERT INTO batches (round, seed, order_kind, overlap, parameters, created_utc)"
        " VALUES (?, '', 'file', 0, '{\"adjudication\":true}', ?)",
        (ROUND, utc_now()),
    )
    return int(cursor.lastrowid or 0)
