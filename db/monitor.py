"""What the lead watches while people code: pace, repeats, heaping, drift, flags. Aggregates only, each one query.

It reads one consistent view in WAL mode and so never keeps a coder waiting.
"""

from __future__ import annotations

import sqlite3
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
    """A coder's hidden repeats: ``pairs`` labelled twice, of which ``different`` are not the same label."""

    coder: str
    pairs: int
    different: int


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
_REPEATS = f"""
    SELECT {_WHO}, count(*), sum(x.label <> y.label)
    FROM assignments a JOIN assignments b
      ON b.unit_id = a.unit_id AND b.coder_id = a.coder_id AND b.round = a.round AND b.occurrence = 2
    JOIN annotations x ON x.assignment_id = a.id JOIN annotations y ON y.assignment_id = b.id
    JOIN coders c ON c.id = a.coder_id
    WHERE a.occurrence = 1 AND x.stale = 0 AND y.stale = 0 AND x.label IS NOT NULL AND y.label IS NOT NULL
    GROUP BY c.id ORDER BY c.id"""
_HEAPING = f"""
    SELECT {_WHO}, count(*), sum(n.rating % 5 = 0), sum(n.rating % 10 = 0)
    FROM annotations n JOIN assignments a ON a.id = n.assignment_id JOIN coders c ON c.id = a.coder_id
    WHERE n.rating IS NOT NULL AND a.role <> 'adjudicator' GROUP BY c.id ORDER BY c.id"""
_DRIFT = f"""
    WITH said AS MATERIALIZED (
        SELECT a.unit_id, a.coder_id, n.label,
               ntile(2) OVER (PARTITION BY a.coder_id ORDER BY n.utc, a.position) AS half
        FROM annotations n JOIN assignments a ON a.id = n.assignment_id JOIN rounds d ON d.name = a.round
        WHERE n.label IS NOT NULL AND n.stale = 0 AND d.kind = 'main' AND a.occurrence = 1 AND a.role = 'coder'
          AND n.utc IS NOT NULL)
    SELECT {_WHO}, x.half, count(*), sum(x.label = y.label)
    FROM said x JOIN said y ON y.unit_id = x.unit_id AND y.coder_id <> x.coder_id JOIN coders c ON c.id = x.coder_id
    GROUP BY c.id, x.half ORDER BY c.id, x.half"""
_FLAGGED = f"""
    SELECT u.public_id, i.key, {_WHO}, n.flags, t.text
    FROM annotations n JOIN assignments a ON a.id = n.assignment_id JOIN coders c ON c.id = a.coder_id
    JOIN units u ON u.id = a.unit_id JOIN responses r ON r.id = u.response_id JOIN items i ON i.id = r.item_id
    LEFT JOIN texts t ON t.digest = n.note
    WHERE n.flags <> '[]' AND a.withdrawn_utc IS NULL ORDER BY n.utc DESC, a.id DESC LIMIT ?"""


def monitor(study: Study, *, flagged: int = 20) -> Monitor:
    """Everything that the dashboard counts beside progress and coverage."""
    with reading(study.connection) as connection:
        return Monitor(
            pace=tuple(Pace(*row) for row in connection.execute(_PACE, {"since": _since(connection)})),
            repeats=tuple(Repeats(*row) for row in connection.execute(_REPEATS)),
            heaping=tuple(Heaping(*row) for row in connection.execute(_HEAPING)),
            drift=_drift(connection),
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


def _drift(connection: sqlite3.Connection) -> tuple[Drift, ...]:
    halves: dict[str, dict[int, tuple[int, int]]] = {}
    for coder, half, pairs, same in connection.execute(_DRIFT):
        halves.setdefault(coder, {})[half] = (pairs, same)
    return tuple(Drift(coder, said.get(1, (0, 0)), said.get(2, (0, 0))) for coder, said in halves.items())
