"""The queries of the coding screen. None of them returns a model, judge, stratum, weight, round or co-coder column."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal

from db.acts import mirrored
from db.columns import condition_sql
from db.fold import DONE, SKIPPED, SKIPPED_ONCE, TO_DO
from db.items import ITEM_COLUMNS, coding_item
from db.records import CodingItem, Progress, Protocol, QueueEntry

Seek = Literal["open", "done", "skipped", "flagged", "noted"]

# The rounds that a coder may write in; a closed one stays readable.
OPEN_ROUND = "a.round IN (SELECT name FROM rounds WHERE state = 'open')"
_WHERE = {
    "open": f"a.state = {TO_DO}",
    "done": f"a.state = {DONE}",
    "skipped": f"a.state IN ({SKIPPED_ONCE}, {SKIPPED})",
    "flagged": "EXISTS (SELECT 1 FROM annotations n WHERE n.assignment_id = a.id AND n.flags <> '[]')",
    "noted": "EXISTS (SELECT 1 FROM annotations n WHERE n.assignment_id = a.id AND n.note IS NOT NULL)",
}
_STATES: tuple[Literal["open", "skipped", "done"], ...] = ("open", "skipped", "done", "skipped")
QUESTION_START = 200


@dataclass(slots=True)
class Counts:
    """How many assignments of a coder's open rounds stand in each state, and how many are flagged."""

    states: list[int]
    flagged: int
    queue_version: int

    def progress(self) -> Progress:
        total, skipped, done = sum(self.states), self.states[SKIPPED], self.states[DONE]
        return Progress(total, done, skipped, total - done - skipped, self.flagged)


def item_sql(protocol: Protocol) -> str:
    """What is fetched of an assignment; of its strata only whether each rule of impossible labels applies."""
    rules = "".join(f", {condition_sql(rule.field, rule.values)}" for rule in protocol.impossible)
    return f"""
        SELECT a.uid, a.position, {ITEM_COLUMNS}, a.sides_swapped,
               (SELECT t.text FROM answers w JOIN texts t ON t.digest = w.text WHERE w.assignment_id = a.id
                ORDER BY w.id DESC LIMIT 1){rules}
        FROM assignments a
        JOIN units u ON u.id = a.unit_id
        JOIN responses r ON r.id = u.response_id
        JOIN items i ON i.id = r.item_id
        WHERE a.id = ?"""


def read_item(connection: sqlite3.Connection, sql: str, protocol: Protocol, assignment_id: int) -> CodingItem:
    """The assignment as its coder may see it; ``sql`` is ``item_sql`` of the protocol."""
    row = connection.execute(sql, (assignment_id,)).fetchone()
    uid, position, *columns = row[:11]
    swapped, answer, *applies = row[11:]
    impossible = _impossible(protocol, applies)
    return coding_item(uid, position, tuple(columns), impossible=impossible, swapped=bool(swapped), answer=answer)


def _impossible(protocol: Protocol, applies: list[int]) -> tuple[str, ...]:
    labels = [rule.label for rule, yes in zip(protocol.impossible, applies, strict=True) if yes]
    return tuple(dict.fromkeys(labels))


def impossible_labels(connection: sqlite3.Connection, protocol: Protocol, assignment_id: int) -> tuple[str, ...]:
    """The labels that need a note on this assignment."""
    if not protocol.impossible:
        return ()
    rules = ", ".join(condition_sql(rule.field, rule.values) for rule in protocol.impossible)
    row = connection.execute(
        f"SELECT {rules} FROM assignments a JOIN units u ON u.id = a.unit_id JOIN responses r ON r.id = u.response_id"
        " JOIN items i ON i.id = r.item_id WHERE a.id = ?",
        (assignment_id,),
    ).fetchone()
    return _impossible(protocol, list(row))


def next_id(connection: sqlite3.Connection, coder_id: int, after: int) -> int | None:
    """The next assignment to do: in the coder's order from ``after`` on, then from the start, then the skipped ones."""
    for state in (TO_DO, SKIPPED_ONCE):
        for low in (after, 0) if after else (0,):
            row = connection.execute(
                "SELECT a.id FROM assignments a WHERE a.coder_id = ? AND a.in_queue = 1 AND a.state = ?"
                f" AND a.position > ? AND {OPEN_ROUND} ORDER BY a.position LIMIT 1",
                (coder_id, state, low),
            ).fetchone()
            if row is not None:
                return int(row[0])
    return None


def seek_id(
    connection: sqlite3.Connection, coder_id: int, what: Seek | None, after: int, backwards: bool
) -> int | None:
    """The nearest assignment beyond ``after`` of which ``what`` holds (None: any), or None."""
    compare, order = ("<", "DESC") if backwards else (">", "ASC")
    where = "1" if what is None else _WHERE[what]
    row = connection.execute(
        f"SELECT a.id FROM assignments a WHERE a.coder_id = ? AND a.in_queue = 1 AND a.position {compare} ? AND {where}"
        f" ORDER BY a.position {order} LIMIT 1",
        (coder_id, after),
    ).fetchone()
    return None if row is None else int(row[0])


def queue_page(connection: sqlite3.Connection, coder_id: int, after: int, limit: int) -> tuple[QueueEntry, ...]:
    """At most ``limit`` lines of the coder's queue with a position greater than ``after``."""
    rows = connection.execute(
        """SELECT a.position, a.uid, a.state, a.sides_swapped, coalesce(n.stale, 0), coalesce(n.flags, '[]'), n.label,
                  substr(i.question, 1, ?)
           FROM assignments a
           JOIN units u ON u.id = a.unit_id
           JOIN responses r ON r.id = u.response_id
           JOIN items i ON i.id = r.item_id
           LEFT JOIN annotations n ON n.assignment_id = a.id
           WHERE a.coder_id = ? AND a.in_queue = 1 AND a.position > ?
           ORDER BY a.position LIMIT ?""",
        (QUESTION_START, coder_id, after, limit),
    )
    return tuple(
        QueueEntry(position, uid, "stale" if stale else _STATES[state], flags != "[]", mirrored(label, swapped), start)
        for position, uid, state, swapped, stale, flags, label, start in rows
    )


def count_states(connection: sqlite3.Connection, coder_id: int) -> Counts:
    """The coder's queue in numbers, counted anew."""
    states = [0, 0, 0, 0]
    for state, number in connection.execute(
        f"SELECT a.state, count(*) FROM assignments a WHERE a.coder_id = ? AND a.in_queue = 1 AND {OPEN_ROUND}"
        " GROUP BY a.state",
        (coder_id,),
    ):
        states[state] = number
    flagged = connection.execute(
        f"SELECT count(*) FROM assignments a JOIN annotations n ON n.assignment_id = a.id"
        f" WHERE a.coder_id = ? AND a.in_queue = 1 AND n.flags <> '[]' AND {OPEN_ROUND}",
        (coder_id,),
    ).fetchone()[0]
    return Counts(states, flagged, queue_version(connection, coder_id))


def queue_version(connection: sqlite3.Connection, coder_id: int) -> int:
    return int(connection.execute("SELECT queue_version FROM coders WHERE id = ?", (coder_id,)).fetchone()[0])
