"""Cases for the lead: units on which people differ, or people and a judge, or two judges, with what each of them said.

Coders are anonymous: letters, dealt anew for each unit, so that nobody is recognised from one case to the next.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from db.annotations import read_annotation
from db.faults import Refused
from db.items import ITEM_COLUMNS, coding_item
from db.records import CodingItem, Protocol

Mode = Literal["people", "judge", "judges"]
REASONS = {
    "slip": "coder slip",
    "codebook": "codebook gap",
    "broken": "item broken",
    "ambiguous": "truly ambiguous",
}
JUDGE_REASONS = {"judge": "judge wrong", **REASONS}
WHY_BETTER = {
    "misread": "misread the response",
    "strict": "too strict",
    "lenient": "too lenient",
    "gold": "gold answer at fault",
    "ambiguous": "truly ambiguous",
}
BETTER = ("FIRST", "SECOND", "BOTH", "NEITHER")
SIDES = ("aligned", "not aligned")
"""The two sides of the threshold, which is what a rating alone is held against a judge by."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one coder or judge said of a unit. ``words``: a note, or a judge's rationale; ``flags`` as coders set them.

    ``stale``: the codebook has changed what this label was given under.
    """

    who: str
    label: str | None
    rating: int | None = None
    words: str | None = None
    flags: tuple[str, ...] = ()
    skipped: str | None = None
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision that stands: a final label or rating (mode people), or a verdict, which is kept apart."""

    label: str | None
    rating: int | None
    reason: str | None
    note: str | None


@dataclass(frozen=True, slots=True)
class Case:
    """A unit with all that is said of it. ``why``: what brings it here, in words."""

    unit: str
    why: str
    item: CodingItem
    opinions: tuple[Opinion, ...]
    decided: Decided | None


@dataclass(frozen=True, slots=True)
class Queue:
    """The cases in their order, disagreements first. ``waiting``: those that differ and have a coder still to come."""

    units: tuple[str, ...] = ()
    why: Mapping[str, str] = field(default_factory=dict)
    done: frozenset[str] = frozenset()
    waiting: int = 0

    @property
    def decided(self) -> int:
        return len(self.done)

    def next(self, after: str | None = None) -> str | None:
        """The next case without a decision: from ``after`` on, then from the start."""
        place = self.units.index(after) + 1 if after in self.units else 0
        around = (*self.units[place:], *self.units[:place])
        return next((unit for unit in around if unit not in self.done), None)


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """``left``: cases to decide; ``decided``; ``waiting``: cases that have a coder still to come."""

    left: int
    decided: int
    waiting: int


_MAIN = """
    SELECT a.unit_id, max(a.state < 2) AS open,
           coalesce(min(CASE WHEN n.stale = 0 THEN n.label END) <> max(CASE WHEN n.stale = 0 THEN n.label END), 0)
               AS labels,
           coalesce(min(CASE WHEN n.stale = 0 THEN n.rating END) < :threshold
                    AND max(CASE WHEN n.stale = 0 THEN n.rating END) >= :threshold, 0) AS sides,
           max(coalesce(n.flags, '[]') <> '[]') AS flags, max(a.state = 3) AS skips,
           max(n.label IS NOT NULL OR n.rating IS NOT NULL) AS labelled
    FROM assignments a
    JOIN rounds d ON d.name = a.round
    LEFT JOIN annotations n ON n.assignment_id = a.id
    WHERE d.kind = 'main' AND a.occurrence = 1 AND a.role <> 'adjudicator' AND a.withdrawn_utc IS NULL
    GROUP BY a.unit_id"""
_FINAL = """
    SELECT a.unit_id FROM assignments a JOIN annotations n ON n.assignment_id = a.id
    WHERE a.role = 'adjudicator' AND (n.label IS NOT NULL OR n.rating IS NOT NULL) AND n.stale = 0
      AND NOT EXISTS (SELECT 1 FROM reopenings o WHERE o.assignment_id = a.id
                      AND o.adjudicated_log = n.log_id AND o.adjudicated_seq >= n.seq)"""
_COUNTS = f"""
    SELECT coalesce(sum(NOT final AND needed AND NOT open), 0), coalesce(sum(final), 0),
           coalesce(sum(NOT final AND needed AND open), 0)
    FROM (SELECT unit_id IN ({_FINAL}) AS final, labels OR sides OR flags OR skips AS needed, open FROM ({_MAIN}))"""
DIFFER = "the labels differ"
_WHY = (
    DIFFER,
    "the ratings lie on both sides of the threshold",
    "flagged",
    "skipped by a coder",
    "agreed",
)


def people_queue(connection: sqlite3.Connection, protocol: Protocol, *, everything: bool = False) -> Queue:
    """Units of the main round that need a final label: labels differ, then ratings differ, then flags, then skips.

    A unit comes when all its coders are done with it. ``everything``: also those on which all agree.
    """
    found: list[tuple[int, str]] = []
    done: list[str] = []
    waiting = 0
    rows = connection.execute(
        f"SELECT u.public_id, m.open, m.labels, m.sides, m.flags, m.skips, m.labelled, m.unit_id IN ({_FINAL})"
        f" FROM ({_MAIN}) m JOIN units u ON u.id = m.unit_id",
        _threshold(protocol),
    )
    for unit, open_, labels, sides, flags, skips, labelled, final in rows:
        rank = next((number for number, holds in enumerate((labels, sides, flags, skips)) if holds), None)
        if rank is None and not (everything and labelled) and not final:
            continue
        if final:
            done.append(unit)
        elif open_:
            waiting += 1
            continue
        found.append((len(_WHY) - 1 if rank is None else rank, unit))
    found.sort()
    why = {unit: _WHY[rank] for rank, unit in found}
    return Queue(tuple(why), why, frozenset(done), waiting)


def queue_counts(connection: sqlite3.Connection, protocol: Protocol) -> QueueCounts:
    """The same queue in numbers, without a row for each of its units."""
    return QueueCounts(*connection.execute(_COUNTS, _threshold(protocol)).fetchone())


def _threshold(protocol: Protocol) -> dict[str, int]:
    return {"threshold": protocol.rating.threshold if protocol.rating else 0}


# --- one case ---------------------------------------------------------------------------------------

_ITEM = f"""
    SELECT u.id, r.id, {ITEM_COLUMNS}
    FROM units u JOIN responses r ON r.id = u.response_id JOIN items i ON i.id = r.item_id WHERE u.public_id = ?"""
_OPINIONS = """
    SELECT c.uid, coalesce(c.name, c.pseudonym), n.label, n.rating, t.text, coalesce(n.flags, '[]'),
           coalesce(n.skip_reason, w.text), n.stale
    FROM assignments a
    JOIN rounds d ON d.name = a.round
    JOIN coders c ON c.id = a.coder_id
    JOIN annotations n ON n.assignment_id = a.id
    LEFT JOIN texts t ON t.digest = n.note
    LEFT JOIN texts w ON w.digest = n.skip_words
    WHERE a.unit_id = ? AND d.kind = 'main' AND a.occurrence = 1 AND a.role <> 'adjudicator'
      AND a.withdrawn_utc IS NULL"""
_JUDGES = """
    SELECT j.name, m.label, jl.score, jl.rationale, jl.raw
    FROM judges j JOIN judge_labels jl ON jl.judge_id = j.id AND jl.repeat = 1
    JOIN mapped_labels m ON m.id = jl.id
    WHERE jl.response_id = ? AND j.name = ?"""


def unit_item(connection: sqlite3.Connection, unit: str) -> tuple[int, int, CodingItem]:
    """(unit number, response number, item) of a unit by its public id. Raises Refused where there is none."""
    row = connection.execute(_ITEM, (unit,)).fetchone()
    if row is None:
        raise Refused(f"There is no unit {unit}.")
    number, response, *columns = row
    return number, response, coding_item(unit, 0, tuple(columns))


def coder_opinions(connection: sqlite3.Connection, unit: str, unit_id: int, *, names: bool) -> tuple[Opinion, ...]:
    """What each main coder said, in an order and under letters of this unit's own; ``names`` shows who they are."""
    rows = connection.execute(_OPINIONS, (unit_id,)).fetchall()
    rows.sort(key=lambda row: hashlib.sha256(f"{unit}\x1f{row[0]}".encode()).hexdigest())
    return tuple(
        Opinion(
            name if names else f"coder {_letters(place)}",
            label,
            rating,
            note,
            tuple(json.loads(flags)),
            skipped,
            bool(stale),
        )
        for place, (_, name, label, rating, note, flags, skipped, stale) in enumerate(rows)
    )


def judge_opinion(
    connection: sqlite3.Connection, response_id: int, judge: str, who: str, *, rating_only: bool = False
) -> Opinion:
    """What a judge said, under the name ``who``. ``rating_only``: there are no labels, its score is all it says."""
    row = connection.execute(_JUDGES, (response_id, judge)).fetchone()
    if row is None:
        return Opinion(who, "(missing)")
    _, label, score, rationale, raw = row
    repeated = raw is None or raw.strip() in ("", label) or (rating_only and _is_number(raw))
    words = rationale or (None if repeated else raw)
    rating = None if score is None else round(score)
    return Opinion(who, None if rating_only and rating is not None else label, rating, words)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def decision_of(connection: sqlite3.Connection, assignment_id: int | None) -> Decided | None:
    """The decision that stands on an assignment of the adjudicator."""
    if assignment_id is None:
        return None
    row = connection.execute(
        "SELECT n.detail, t.text FROM annotations n LEFT JOIN texts t ON t.digest = n.note WHERE n.assignment_id = ?",
        (assignment_id,),
    ).fetchone()
    if row is None:
        return None
    found, detail = read_annotation(connection, assignment_id), json.loads(row[0])
    label = found.label or detail.get("verdict")
    if label is None and found.rating is None:
        return None
    return Decided(label, found.rating, detail.get("class"), row[1])


def _letters(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"{place + 1}"


def differing_units(connection: sqlite3.Connection, first: str, second: str) -> Iterator[tuple[str, bool]]:
    """(unit, whether the two judges differ) of every unit that both of them labelled, ordered by unit."""
    rows = connection.execute(
        """SELECT u.public_id, x.label <> y.label FROM units u
           JOIN mapped_labels x ON x.response_id = u.response_id AND x.repeat = 1
           JOIN mapped_labels y ON y.response_id = u.response_id AND y.repeat = 1
           WHERE x.judge_id = (SELECT id FROM judges WHERE name = ?)
             AND y.judge_id = (SELECT id FROM judges WHERE name = ?)
           ORDER BY u.public_id""",
        (first, second),
    )
    for unit, differ in rows:
        yield unit, bool(differ)
