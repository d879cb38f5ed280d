"""A coder's session: what the coding screen asks of a study. It uses ``sqlite3`` alone and starts fast.

Reading never waits for a save in another thread; saves of one session follow each other.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from db.annotations import read_annotation
from db.blindness import account_of, blindness_of
from db.coders import Coder, find_coder
from db.connection import StudyConnection, writing
from db.drafts import Drafts
from db.faults import ProtocolChanged, Refused, StudyError, translate
from db.held import HeldStudy
from db.ids import RandomBytes
from db.lineage import version_of
from db.queue import (
    Counts,
    Seek,
    count_states,
    item_sql,
    next_id,
    queue_page,
    queue_version,
    read_item,
    seek_id,
)
from db.records import Act, Annotation, Blindness, CodingItem, PendingChange, Progress, Protocol, QueueEntry, Saved
from db.saving import Writer, Written, find_target, write_act, write_move
from db.session_lock import SessionLock, take_session
from db.stacks import Stacks
from db.study import Study, open_study
from db.training import Training

CACHE = 512
"""Kilobytes of the file that a session keeps in memory: what an item needs. SQLite's own 2,000 fill over a day."""
ReadProtocol = Callable[[str, str], Protocol]
"""From TOML text and the name of its source to a checked protocol."""


class CodingSession(HeldStudy):
    """One coder at work on a study. Use ``open``; close it (or leave its ``with`` block) to let the coder's lock go."""

    def __init__(self, study: Study, coder: Coder, writer: Writer, lock: SessionLock) -> None:
        self.study = study
        self.coder = coder
        self._writer = writer
        self._lock = lock
        self._drafts = Drafts(study.side, coder.uid)
        self._saving = threading.RLock()
        self._item_sql = item_sql(writer.protocol)
        self._stacks: Stacks | None = None
        self._counts: Counts | None = None
        self._training = Training.of(study.connection, coder.id)

    @classmethod
    def open(
        cls,
        path: str | Path | Study,
        coder: str,
        protocol: Protocol | ReadProtocol,
        *,
        take_over: bool = False,
        place: str | None = None,
        sealed: bool = False,
        origin: str = "terminal",
        random_bytes: RandomBytes = secrets.token_bytes,
    ) -> CodingSession:
        """Open the study (or take one that is open, as a pack is) for one coder (name, pseudonym or id).

        ``protocol`` is the parsed codebook that is in force, or what parses it: it is read from the study then.
        ``take_over`` ends another session of the same coder, which can save nothing more. ``sealed``: the coder reads
        through a pack or a browser and has no access to the file. ``origin`` says in each event how it came about.
        Raises SessionTaken where the coder is at work elsewhere, Refused for an unknown, forgotten or imported coder,
        ProtocolChanged where ``protocol`` is not the one in force, StudyError for what is wrong with the file.
        """
        study = path if isinstance(path, Study) else open_study(path)
        try:
            study.connection.execute(f"PRAGMA cache_size = -{CACHE}")
            who = find_coder(study.connection, coder)
            if not isinstance(protocol, Protocol):
                protocol = protocol(study.protocol_toml, study.protocol_name)
            held, log, fence = take_session(study, who, place or study.place, take_over, origin, random_bytes)
            try:
                _check_protocol(study, protocol)
                writer = Writer(
                    log=log,
                    fence=fence,
                    protocol=protocol,
                    version=study.protocol_version,
                    base_blindness="sealed" if sealed else "masked",
                    account=None if sealed else account_of(study),
                    origin=origin,
                    random_bytes=random_bytes,
                )
                return cls(study, who, writer, held)
            except BaseException:
                held.release()
                raise
        except (sqlite3.Error, UnicodeDecodeError) as error:
            study.close()
            raise translate(error, study.path) from error
        except BaseException:
            study.close()
            raise

    # --- reading --------------------------------------------------------------------------------

    @property
    def protocol(self) -> Protocol:
        return self._writer.protocol

    @property
    def blindness(self) -> Blindness:
        """How a label given now on a unit that was not unmasked itself would be counted."""
        writer = self._writer
        return blindness_of(self._connection, self.coder.id, writer.account, None, writer.base_blindness)

    @property
    def progress(self) -> Progress:
        """The coder's queue in the rounds that are open.

        While another thread saves, what the lead changed meanwhile is taken in by the next call.
        """
        if self._saving.acquire(blocking=self._counts is None):
            try:
                return self._counted().progress()
            finally:
                self._saving.release()
        assert self._counts is not None
        return self._counts.progress()

    def next(self, after: str | None = None) -> CodingItem | None:
        """The first item still to do after ``after`` (an assignment), else from the start; None when all is done.

        An item that was skipped comes back once, when nothing else is left; skipped again, it is skipped for good.
        """
        found = next_id(self._connection, self.coder.id, self._position(after))
        return None if found is None else self._read(found)

    def item(self, position: int) -> CodingItem | None:
        """The item at this position of the queue, done or not; None where there is none."""
        found = seek_id(self._connection, self.coder.id, None, position - 1, backwards=False)
        item = None if found is None else self._read(found)
        return item if item is not None and item.position == position else None

    def item_of(self, assignment: str) -> CodingItem:
        """The item of an assignment, for instance of the one that an undo went back to. Raises Refused."""
        return self._read(find_target(self._connection, self.coder.id, assignment).id)

    def seek(self, what: Seek | None, after: str | None = None, *, backwards: bool = False) -> CodingItem | None:
        """The nearest item beyond ``after`` that is open, done, skipped, flagged or noted (None: the neighbour)."""
        start = self._position(after)
        if after is None and backwards:
            start = 2**62
        found = seek_id(self._connection, self.coder.id, what, start, backwards)
        return None if found is None else self._read(found)

    def queue_page(self, after: int = 0, limit: int = 100) -> tuple[QueueEntry, ...]:
        """At most ``limit`` lines of the queue whose position is greater than ``after``."""
        return queue_page(self._connection, self.coder.id, after, limit)

    def annotation(self, assignment: str) -> Annotation:
        """What stands on an assignment now. Raises Refused where it is not in this coder's queue."""
        connection = self._connection
        return read_annotation(connection, find_target(connection, self.coder.id, assignment).id)

    # --- the codebook ---------------------------------------------------------------------------

    def pending_confirmation(self) -> PendingChange | None:
        """The change of codebook that the coder has not confirmed yet; until then nothing can be labelled."""
        connection = self._connection
        confirmed = connection.execute(
            "SELECT confirmed_version FROM logs WHERE id = ?", (self._writer.log.id,)
        ).fetchone()[0]
        current = self.study.protocol_version
        if confirmed == current:
            return None
        return PendingChange(version_of(connection, confirmed), version_of(connection, current))

    def adopt(self, protocol: Protocol) -> None:
        """Go on under the codebook that came into force while the session was open. Raises ProtocolChanged."""
        with self._saving:
            _check_protocol(self.study, protocol)
            self._writer = self._writer._replace(protocol=protocol, version=self.study.protocol_version)
            self._item_sql = item_sql(protocol)
            self._counts = None

    # --- writing --------------------------------------------------------------------------------

    def save(self, act: Act) -> Saved:
        """Save one act; it is durable when this returns. Nothing is saved where it raises.

        Raises Refused where the codebook, the round or the record does not allow it, Fenced where another session of
        the coder took over, ProtocolChanged where the codebook is no longer the confirmed one, StudyError otherwise.
        """
        with self._saving, writing(self._connection) as connection:
            written = write_act(connection, self._writer, act)
            saved = self._saved(connection, written, act.kind)
        self._took(written, act.kind)
        if act.note is not None and act.assignment is not None:
            with suppress(StudyError):  # the act is saved, whatever becomes of the draft
                self._drafts.set(act.assignment, None)
        return saved

    def undo(self, active_ms: int = 0) -> Saved | None:
        """Take back the last act that stands, on whatever item and from whatever session; None where there is none."""
        return self._move("undo", active_ms)

    def redo(self, active_ms: int = 0) -> Saved | None:
        """Give back what was undone last; None where there is nothing, as after any new act."""
        return self._move("redo", active_ms)

    def _move(self, kind: str, active_ms: int) -> Saved | None:
        with self._saving, writing(self._connection) as connection:
            stacks = self._read_stacks(connection)
            source = stacks.done if kind == "undo" else stacks.undone
            if not source:
                return None
            written, moved = write_move(connection, self._writer, kind, source[-1], active_ms)
            saved = self._saved(connection, written, kind, moved)
        self._took(written, kind, source[-1])
        return saved

    # --- unsent notes ---------------------------------------------------------------------------

    def draft(self, assignment: str) -> str | None:
        """The note that was being typed on this assignment, if it was never sent."""
        return self._drafts.get(assignment)

    def set_draft(self, assignment: str, text: str | None) -> None:
        """Keep a note while it is typed (None or "": throw it away). It survives a kill, not a power cut.

        Raises StudyError where it cannot be kept, as on a full disk.
        """
        self._drafts.set(assignment, text)

    # --- inside ---------------------------------------------------------------------------------

    def _read(self, assignment_id: int) -> CodingItem:
        return read_item(self._connection, self._item_sql, self.protocol, assignment_id)

    def _position(self, assignment: str | None) -> int:
        if assignment is None:
            return 0
        row = self._connection.execute(
            "SELECT position FROM assignments WHERE uid = ? AND coder_id = ?", (assignment, self.coder.id)
        ).fetchone()
        if row is None:
            raise Refused(f"{assignment} is not in this coder's queue.")
        return int(row[0])

    def _counted(self) -> Counts:
        connection = self._connection
        if self._counts is None or self._counts.queue_version != queue_version(connection, self.coder.id):
            self._counts = count_states(connection, self.coder.id)
        return self._counts

    def _read_stacks(self, connection: sqlite3.Connection) -> Stacks:
        if self._stacks is None:
            self._stacks = Stacks.of_log(connection, self._writer.log.id)
        return self._stacks

    def _saved(self, connection: StudyConnection, written: Written, kind: str, moved: str | None = None) -> Saved:
        annotation = None if written.target is None else read_annotation(connection, written.target.id)
        told = "" if annotation is None or kind not in ("label", "rating") else self._training.feedback(annotation)
        return Saved(self._writer.log.uid, written.seq, kind, annotation, moved, told)

    def _took(self, written: Written, kind: str, moved: int | None = None) -> None:
        """Follow a saved act in what the session remembers, instead of counting and reading all of it anew."""
        if self._stacks is not None:
            self._stacks.add(written.seq, kind, moved)
        counts, target, after = self._counts, written.target, written.after
        if counts is None or target is None or after is None or not target.round_open:
            return
        counts.states[target.state] -= 1
        counts.states[written.state] += 1
        counts.flagged += bool(after.flags) - bool(written.before and written.before.flags)


def _check_protocol(study: Study, protocol: Protocol) -> None:
    if study.protocol_digest != protocol.digest:
        raise ProtocolChanged(
            f"{study.path}: the codebook in force is another one than {protocol.name!r} as given.",
            "Load the protocol that is stored in the study.",
        )
