"""The history of a unit, an assignment or a coder, and of the study itself: the events of the logs, in words."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from db.connection import reading
from db.faults import Refused
from db.records import Blindness
from db.study import Study


@dataclass(frozen=True, slots=True)
class Event:
    """One row of a log. ``coder`` is the name (or pseudonym) behind it. ``body`` has texts in place of their digests.

    ``undone``: an undo took it back, and no redo gave it back since.
    """

    log: str
    seq: int
    coder: str
    kind: str
    assignment: str | None
    unit: str | None
    body: Mapping[str, Any]
    protocol_version: int
    tool_version: str
    utc: str | None
    active_ms: int | None
    origin: str
    blindness: Blindness
    hash: str
    undone: bool = False


# In a pack an act names its assignment alone: the unit behind it is known here.
_UNIT = "coalesce((SELECT u.public_id FROM units u WHERE u.id = a.unit_id), e.unit)"
_EVENTS = f"""
    SELECT l.uid, e.seq, coalesce(c.name, c.pseudonym), e.kind, a.uid, {_UNIT}, e.body, e.protocol_version,
           e.tool_version, e.utc, e.active_ms, e.origin, e.blindness, e.hash
    FROM events e JOIN logs l ON l.id = e.log_id JOIN coders c ON c.id = l.coder_id
    LEFT JOIN assignments a ON a.id = e.assignment_id"""


def history(study: Study, name: str) -> tuple[Event, ...]:
    """All events of a unit or assignment (random id), log by log. Raises Refused where there is no such thing.

    A record may also be named by its key, "item" or "item/model": the history of all its units is given then.
    """
    connection = study.connection
    with reading(connection):
        units = _units(connection, name)
        marks = ", ".join("?" * len(units))
        rows = connection.execute(f"{_EVENTS} WHERE {_UNIT} IN ({marks}) ORDER BY e.log_id, e.seq", units)
        return tuple(_marked(connection, rows.fetchall()))


def log_events(study: Study, *, coder: str | None = None) -> Iterator[Event]:
    """Every event of the study, or of one coder (by pseudonym; "lead" for the lead's), log by log."""
    connection = study.connection
    with reading(connection):
        rows = connection.execute(
            f"{_EVENTS} WHERE ?1 IS NULL OR c.pseudonym = ?1 OR c.name = ?1 ORDER BY e.log_id, e.seq", (coder,)
        ).fetchall()
        yield from _marked(connection, rows)


def _units(connection: sqlite3.Connection, name: str) -> list[str]:
    direct = connection.execute(
        "SELECT public_id FROM units WHERE public_id = ?1 UNION"
        " SELECT u.public_id FROM units u JOIN assignments a ON a.unit_id = u.id WHERE a.uid = ?1",
        (name,),
    ).fetchall()
    if not direct:
        item, _, model = name.partition("/")
        direct = connection.execute(
            "SELECT u.public_id FROM units u JOIN responses r ON r.id = u.response_id JOIN items i ON i.id = r.item_id"
            " WHERE i.key = ?1 OR (i.key = ?2 AND r.model = ?3) ORDER BY u.id",
            (name, item, model),
        ).fetchall()
    if not direct:
        raise Refused(f"There is no unit, assignment or item {name!r} in this study.")
    return [row[0] for row in direct]


def _marked(connection: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> Iterator[Event]:
    undone: set[tuple[str, int]] = set()
    for log, _, _, kind, _, _, body, *_ in rows:
        if kind in {"undo", "redo"}:
            place = (log, json.loads(body)["target"])
            undone.add(place) if kind == "undo" else undone.discard(place)
    for row in rows:
        log, seq, coder, kind, assignment, unit, body, version, tool, utc, active, origin, blindness, digest = row
        told = _told(connection, json.loads(body))
        back = (log, seq) in undone
        yield Event(
            log, seq, coder, kind, assignment, unit, told, version, tool, utc, active, origin, blindness, digest, back
        )


def _told(connection: sqlite3.Connection, body: dict[str, Any]) -> dict[str, Any]:
    """The body with the words of notes and reasons; "(erased)" where they were erased."""
    for name in ("note", "words"):
        digest = body.get(name)
        if digest is not None:
            row = connection.execute("SELECT text FROM texts WHERE digest = ?", (digest,)).fetchone()
            body[name] = "(erased)" if row is None or row[0] is None else row[0]
    return body
