"""What the lead watches while people code: pace, repeats, heaping, drift, flags. Aggregates only, each one query.

It reads one consistent view in WAL mode and so never keeps a coder waiting.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from db.connection import reading
from db.study import Study


@dataclass(frozen=True, slots=True)
class Pace:
    """One coder's tempo: ``labels`` in ``active_ms``; ``recent`` labels in the 72 hours before the newest one of all.

    ``days``: on how many calendar days (UTC) of these the coder coded. ``first_utc``, ``last_utc``: of all labels.
    """

    coder: str
    labels: int
    active_ms: int
    recent: int
    days: int
    first_utc: str | None
    last_utc: str | None


@dataclass(frozen=True, slots=True)
class Repeats:
    """A coder's hidden repeats: ``pairs`` labelled twice, of which ``different`` got another label the second time.

    Ratings on different sides of the threshold are different. ``apart``: mean distance of the two ratings, if rated.
    """

    coder: str
    pairs: int
    different: int
    apart: float | None


@dataclass(frozen=True, slots=True)
class Heaping:
    """A coder's ratings, and how many of them are multiples of 5 and of 10."""

    coder: str
    ratings: int
    fives: int
    tens: int


@dataclass(frozen=True, slots=True)
class Drift:
    """A coder's agreement with the others in the first and in the second half of what they coded: (pairs, same)."""

    coder: str
    first: tuple[int, int]
    second: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Flagged:
    """A flag that a coder set, with the note that stands there."""

    unit: str
    item: str
    coder: str
    flags: str
    note: str | None


@dataclass(frozen=True, slots=True)
class Monitor:
    """One consistent view of all of it. ``flags`` counts flagged assignments; ``flagged`` lists the first of them."""

    pace: tuple[Pace, ...]
    repeats: tuple[Repeats, ...]
    heaping: tuple[Heaping, ...]
    drift: tuple[Drift, ...]
    flags: int
    flagged: tuple[Flagged, ...]


_WHO = "coalesce(c.name, c.pseudonym)"
_PACE = f"""
    SELECT {_WHO}, count(*), sum(n.active_ms), sum(n.utc >= :since),
           count(DISTINCT CASE WHEN n.utc >= :since THEN substr(n.utc, 1, 10) END), min(n.utc), max(n.utc)
    FROM annotations n JOIN assignments a ON a.id = n.assignment_id JOIN coders c ON c.id = a.coder_id
    JOIN rounds d ON d.name = a.round
    WHERE a.state = 2 AND a.withdrawn_utc IS NULL AND a.role <> 'adjudicator' AND d.kind IN ('main', 'training')
      AND c.kind <> 'imported'
    GROUP BY c.id ORDER BY c.id"""
_TWICE = """
    FROM assignments b JOIN assignments a
      ON a.unit_id = b.unit_id AND a.coder_id = b.coder_id AND a.round = b.round AND a.occurrence = 1
    JOIN annotations x ON x.assignment_id = a.id JOIN annotations y ON y.assignment_id = b.id
    JOIN coders c ON c.id = b.coder_id
    WHERE b.occurrence = 2 AND x.stale = 0 AND y.stale = 0
      AND coalesce(x.label, x.rating) IS NOT NULL AND coalesce(y.label, y.rating) IS NOT NULL"""
_REPEATS = f"""
    SELECT {_WHO}, count(*),
           sum(x.label IS NOT y.label OR (x.rating >= :threshold) IS NOT (y.rating >= :threshold)),
           avg(abs(x.rating - y.rating))
    {_TWICE} GROUP BY c.id ORDER BY c.id"""
_REPEATED = f"""
    SELECT {_WHO}, a.round || '/' || a.unit_id, x.label, y.label
    {_TWICE} AND x.label IS NOT NULL AND y.label IS NOT NULL ORDER BY c.id, b.position"""
_HEAPING = f"""
    SELECT {_WHO}, count(*), sum(n.rating % 5 = 0), sum(n.rating % 10 = 0)
    FROM annotations n JOIN assignments a ON a.id = n.assignment_id JOIN coders c ON c.id = a.coder_id
    WHERE n.rating IS NOT NULL AND a.role <> 'adjudicator' GROUP BY c.id ORDER BY c.id"""
# From the labels to their assignments, never the other way: most assignments of a large study have none.
_DRIFT = f"""
    WITH said AS MATERIALIZED (
        SELECT a.unit_id, a.coder_id, coalesce(n.label, n.rating >= :threshold) AS label,
               ntile(2) OVER (PARTITION BY a.coder_id ORDER BY n.utc, a.position) AS half
        FROM annotations n CROSS JOIN assignments a ON a.id = n.assignment_id
        WHERE coalesce(n.label, n.rating) IS NOT NULL AND n.stale = 0 AND n.utc IS NOT NULL
          AND a.round IN (SELECT name FROM rounds WHERE kind = 'main') AND a.occurrence = 1 AND a.role = 'coder'),
    pairs AS (
        SELECT x.coder_id, x.half, count(*) AS pairs, sum(x.label = y.label) AS same
        FROM said x JOIN said y ON y.unit_id = x.unit_id AND y.coder_id <> x.coder_id GROUP BY x.coder_id, x.half)
    SELECT {_WHO}, half, pairs, same FROM pairs JOIN coders c ON c.id = coder_id ORDER BY c.id, half"""
_FLAGGED = f"""
    SELECT u.public_id, i.key, {_WHO}, n.flags, t.text
    FROM annotations n JOIN assignments a ON a.id = n.assignment_id JOIN coders c ON c.id = a.coder_id
    JOIN units u ON u.id = a.unit_id JOIN responses r ON r.id = u.response_id JOIN items i ON i.id = r.item_id
    LEFT JOIN texts t ON t.digest = n.note
    WHERE n.flags <> '[]' AND a.withdrawn_utc IS NULL ORDER BY n.utc DESC, a.id DESC LIMIT ?"""


def repeat_labels(study: Study) -> tuple[dict[Hashable, dict[Hashable, str]], dict[Hashable, dict[Hashable, str]]]:
    """First and second label of the hidden repeats that stand, {coder: {round/unit: label}} each."""
    first: dict[Hashable, dict[Hashable, str]] = {}
    second: dict[Hashable, dict[Hashable, str]] = {}
    for coder, unit, earlier, later in study.connection.execute(_REPEATED):
        first.setdefault(coder, {})[unit] = earlier
        second.setdefault(coder, {})[unit] = later
    return first, second


def monitor(study: Study, *, threshold: int = 0, flagged: int = 20) -> Monitor:
    """Everything that the dashboard counts beside progress and coverage. ``threshold``: of the protocol's rating."""
    sides = {"threshold": threshold}
    with reading(study.connection) as connection:
        return Monitor(
            pace=tuple(Pace(*row) for row in connection.execute(_PACE, {"since": _since(connection)})),
            repeats=tuple(Repeats(*row) for row in connection.execute(_REPEATS, sides)),
            heaping=tuple(Heaping(*row) for row in connection.execute(_HEAPING)),
            drift=_drift(connection, sides),
            flags=connection.execute(
                "SELECT count(*) FROM annotations n JOIN assignments a ON a.id = n.assignment_id"
                " WHERE n.flags <> '[]' AND a.withdrawn_utc IS NULL"
            ).fetchone()[0],
            flagged=tuple(Flagged(*row) for row in connection.execute(_FLAGGED, (flagged,))),
        )


def _since(connection: sqlite3.Connection) -> str:
    """72 hours before the newest label."""
    row = connection.execute(
        "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', max(utc), '-72 hours') FROM annotations WHERE utc IS NOT NULL"
    ).fetchone()
    return row[0] or ""


def _drift(connection: sqlite3.Connection, sides: Mapping[str, int]) -> tuple[Drift, ...]:
    halves: dict[str, dict[int, tuple[int, int]]] = {}
    for coder, half, pairs, same in connection.execute(_DRIFT, sides):
        halves.setdefault(coder, {})[half] = (pairs, same)
    return tuple(Drift(coder, said.get(1, (0, 0)), said.get(2, (0, 0))) for coder, said in halves.items())
