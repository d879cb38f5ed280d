"""Coverage: every unit of a round that has fewer or more labels than the design means it to have, by name."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from db.connection import reading
from db.records import RoundKind
from db.study import Study


@dataclass(frozen=True, slots=True)
class Gap:
    """A unit with ``coded`` labels, by ``coders``, where ``meant`` are meant; ``skips``: skipped for good."""

    unit: str
    item: str
    meant: int
    coded: int
    skips: int
    coders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """One round: ``units`` = ``complete`` + missing + doubled + over.

    missing: fewer labels than meant. doubled: meant for one coder, labelled by several. over: more labels than meant
    otherwise. ``meant`` and ``labels`` add up the units'; ``skips`` are assignments skipped for good. Adjudications and
    tie-breaks are not in these; hidden repeats are counted apart (``repeats`` labelled of ``repeats_meant``).
    """

    round: str
    kind: RoundKind
    units: int
    complete: int
    missing: tuple[Gap, ...]
    doubled: tuple[Gap, ...]
    over: tuple[Gap, ...]
    meant: int
    labels: int
    skips: int
    repeats: int
    repeats_meant: int

    @property
    def clean(self) -> bool:
        """True where every unit has exactly the labels that it is meant to have."""
        return self.complete == self.units


# A label on an assignment that was withdrawn counts as well: that is how a unit comes to have too many. Imported labels
# are in a batch without a design: each is meant as it came, on top of what is assigned here.
_IMPORTED = """c.kind IN ('imported', 'simulated') AND NOT EXISTS (
               SELECT 1 FROM batch_units o WHERE o.batch_id = a.batch_id AND o.unit_id = a.unit_id)"""
_UNITS = """
    SELECT u.public_id, i.key,
           coalesce((SELECT sum(b.coders) FROM batch_units b JOIN batches t ON t.id = b.batch_id
                     WHERE b.unit_id = a.unit_id AND t.round = a.round), sum(NOT (:imported)))
           + sum(:imported),
           sum(a.state = 2), sum(a.state = 3 AND a.withdrawn_utc IS NULL),
           group_concat(CASE WHEN a.state = 2 THEN c.pseudonym END)
    FROM assignments a
    JOIN units u ON u.id = a.unit_id
    JOIN responses r ON r.id = u.response_id
    JOIN items i ON i.id = r.item_id
    JOIN coders c ON c.id = a.coder_id
    WHERE a.round = ? AND a.occurrence = 1 AND a.role = 'coder'
    GROUP BY a.unit_id ORDER BY i.key, r.model, r.condition, r.repeat""".replace(":imported", _IMPORTED)
_REPEATS = """
    SELECT coalesce(sum(state = 2), 0), count(*) FROM assignments
    WHERE round = ? AND occurrence > 1 AND withdrawn_utc IS NULL"""


def coverage(study: Study) -> tuple[Coverage, ...]:
    """Every round that is coded by its coders, in the order of their names."""
    connection = study.connection
    with reading(connection):
        rounds = connection.execute("SELECT name, kind FROM rounds ORDER BY name").fetchall()
        found = [_coverage(connection, name, kind) for name, kind in rounds]
        return tuple(each for each in found if each.units)


def _coverage(connection: sqlite3.Connection, name: str, kind: RoundKind) -> Coverage:
    gaps = list(_gaps(connection, name))
    repeats, repeats_meant = connection.execute(_REPEATS, (name,)).fetchone()
    return Coverage(
        round=name,
        kind=kind,
        units=len(gaps),
        complete=sum(gap.coded == gap.meant for gap in gaps),
        missing=tuple(gap for gap in gaps if gap.coded < gap.meant),
        doubled=tuple(gap for gap in gaps if gap.meant == 1 < gap.coded),
        over=tuple(gap for gap in gaps if gap.coded > gap.meant != 1),
        meant=sum(gap.meant for gap in gaps),
        labels=sum(gap.coded for gap in gaps),
        skips=sum(gap.skips for gap in gaps),
        repeats=repeats,
        repeats_meant=repeats_meant,
    )


def _gaps(connection: sqlite3.Connection, name: str) -> Iterator[Gap]:
    for unit, item, meant, coded, skips, coders in connection.execute(_UNITS, (name,)):
        yield Gap(unit, item, meant, coded, skips, tuple(coders.split(",")) if coders else ())
