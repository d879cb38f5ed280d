"""Taking a coder's log for one session: a lock that dies with the process, and a number that outlives it.

The lock tells at once that the coder is at work elsewhere. The fencing number in the log is what protects it: each
event's transaction compares it, so that a session which was taken over can save nothing more.
"""

from __future__ import annotations

from db.clock import utc_now
from db.coders import Coder
from db.connection import writing
from db.faults import Refused, SessionTaken
from db.ids import RandomBytes
from db.locks import FileLock
from db.logs import Log, NewEvent, append, current_protocol, ensure_log
from db.places import private_folder
from db.study import Study

SessionLock = FileLock


def take_session(
    study: Study, coder: Coder, place: str, take_over: bool, origin: str, random_bytes: RandomBytes
) -> tuple[SessionLock, Log, int]:
    """Lock the coder's log at ``place`` and return (lock, log, fencing number). Raises SessionTaken or Refused."""
    _check_coder(coder)
    while True:
        with writing(study.connection) as connection:
            log = ensure_log(connection, coder.id, place, random_bytes)
        seen = _fence(study, log)
        held = _lock(study, log, seen)
        free = held.acquire()
        if not free and not take_over:
            raise SessionTaken(
                f"{coder.name or coder.pseudonym} is already coding this study in another session.",
                "Go on there, or end it from here with --take-over.",
            )
        try:
            mine = _raise_fence(study, log, seen, taken=not free, origin=origin)
        finally:
            held.release()
        if mine is not None:
            return mine, log, seen + 1


def _raise_fence(study: Study, log: Log, seen: int, *, taken: bool, origin: str) -> SessionLock | None:
    """Make ``seen`` + 1 the number of the log and lock it; None where another session was faster."""
    mine = _lock(study, log, seen + 1)
    if not mine.acquire():
        return None
    try:
        with writing(study.connection) as connection:
            raised = connection.execute(
                "UPDATE logs SET fence = fence + 1 WHERE id = ? AND fence = ?", (log.id, seen)
            ).rowcount
            if not raised:
                mine.release()
                return None
            if taken:
                version, _ = current_protocol(connection)
                event = NewEvent("takeover", {"from": seen}, blindness="unknown", origin=origin, utc=utc_now())
                append(connection, log, event, fence=seen + 1, protocol=version)
    except BaseException:
        mine.release()
        raise
    return mine


def _check_coder(coder: Coder) -> None:
    if coder.name is None:
        raise Refused(f"{coder.pseudonym} was forgotten: nothing more can be coded under it.")
    if coder.kind == "imported":
        raise Refused(
            f"The labels of {coder.name} were imported; they are not coded here.", "Add a coder of another name."
        )


def _fence(study: Study, log: Log) -> int:
    return int(study.connection.execute("SELECT fence FROM logs WHERE id = ?", (log.id,)).fetchone()[0])


def _lock(study: Study, log: Log, fence: int) -> SessionLock:
    return FileLock(private_folder(study.side / "locks") / f"{log.uid}-{fence}.lock")
