"""Coverage: every unit of a round that has fewer or more labels than the design means it to have, by name."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, fields

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
class RoundCounts:
    """One round in numbers: ``complete`` of its ``units`` have exactly the labels that they are meant to have.

    ``meant`` and ``labels`` add up the units'; ``skips`` are assignments skipped for good. Adjudications, reviews
    and tie-breaks are not in these; hidden repeats are counted apart (``repeats`` labelled of ``repeats_meant``).
    """

    round: str
    kind: RoundKind
    units: int
    complete: int
    meant: int
    labels: int
    skips: int
    repeats: int
    repeats_meant: int

    @property
    def clean(self) -> bool:
        """True where every unit has exactly the labels that it is meant to have."""
        return self.complete == self.units


@dataclass(frozen=True, slots=True)
class Coverage(RoundCounts):
    """A round with its gaps by name: ``units`` = ``complete`` + missing + doubled + over.

    missing: fewer labels than meant. doubled: meant for one coder, labelled by several. over: more labels than meant
    otherwise.
    """

    missing: tuple[Gap, ...]
    doubled: tuple[Gap, ...]
    over: tuple[Gap, ...]


# A label on an assignment that was withdrawn counts as well: that is how a unit comes to have too many. Imported labels
# are in a batch without a design: each is meant as it came, on top of what is assigned here.
_IMPORTED = """c.kind IN ('imported', 'simulated') AND NOT EXISTS (
               SELECT 1 FROM batch_units o WHERE o.batch_id = a.batch_id AND o.unit_id = a.unit_id)"""
_UNITS = f"""
    SELECT a.unit_id, coalesce((SELECT sum(b.coders) FROM batch_units b JOIN batches t ON t.id = b.batch_id
                                WHERE b.unit_id = a.unit_id AND t.round = a.round), sum(NOT ({_IMPORTED})))
                      + sum({_IMPORTED}) AS meant,
           sum(a.state = 2) AS coded, sum(a.state = 3 AND a.withdrawn_utc IS NULL) AS skips
    FROM assignments a JOIN coders c ON c.id = a.coder_id
    WHERE a.round = ? AND a.occurrence = 1 AND a.role = 'coder' GROUP BY a.unit_id"""
_TOTALS = f"""
    SELECT count(*), coalesce(sum(coded = meant), 0), coalesce(sum(meant), 0), coalesce(sum(coded), 0),
           coalesce(sum(skips), 0) FROM ({_UNITS})"""
_GAPS = f"""
    SELECT u.public_id, i.key, m.meant, m.coded, m.skips,
           (SELECT group_concat(c.pseudonym) FROM assignments a JOIN coders c ON c.id = a.coder_id
            WHERE a.unit_id = m.unit_id AND a.round = ? AND a.occurrence = 1 AND a.role = 'coder' AND a.state = 2)
    FROM ({_UNITS}) m
    JOIN units u ON u.id = m.unit_id
    JOIN responses r ON r.id = u.response_id
    JOIN items i ON i.id = r.item_id
    WHERE m.coded <> m.meant
    ORDER BY i.key, r.model, r.condition, r.repeat"""
# Reviews hold verdicts, not labels; they grow as they are given.
_ROUNDS = """
    SELECT name, kind FROM rounds WHERE NOT EXISTS (
        SELECT 1 FROM batches w WHERE w.round = name AND json_extract(w.parameters, '$.review') IS NOT NULL)
    ORDER BY name"""
_REPEATS = """
    SELECT coalesce(sum(state = 2), 0), count(*) FROM assignments
    WHERE round = ? AND occurrence > 1 AND withdrawn_utc IS NULL"""


def coverage(study: Study) -> tuple[Coverage, ...]:
    """Every round that is coded by its coders, in the order of their names."""
    connection = study.connection
    with reading(connection):
        return tuple(_named(connection, each) for each in round_counts(study))


def round_counts(study: Study) -> tuple[RoundCounts, ...]:
    """The same rounds in numbers, without a row for each of their units."""
    connection = study.connection
    with reading(connection):
        rounds = connection.execute(_ROUNDS).fetchall()
        found = [_counts(connection, name, kind) for name, kind in rounds]
        return tuple(each for each in found if each.units)


def _counts(connection: sqlite3.Connection, name: str, kind: RoundKind) -> RoundCounts:
    units, complete, meant, labels, skips = connection.execute(_TOTALS, (name,)).fetchone()
    repeats, repeats_meant = connection.execute(_REPEATS, (name,)).fetchone()
    return RoundCounts(name, kind, units, complete, meant, labels, skips, repeats, repeats_meant)


def _named(connection: sqlite3.Connection, counts: RoundCounts) -> Coverage:
    gaps = list(_gaps(connection, counts.round))
    return Coverage(
        **{field.name: getattr(counts, field.name) for field in fields(counts)},
        missing=tuple(gap for gap in gaps if gap.coded < gap.meant),
        doubled=tuple(gap for gap in gaps if gap.meant == 1 < gap.coded),
        over=tuple(gap for gap in gaps if gap.coded > gap.meant != 1),
    )


def _gaps(connection: sqlite3.Connection, name: str) -> Iterator[Gap]:
    for unit, item, meant, coded, skips, coders in connection.execute(_GAPS, (name, name)):
        yield Gap(unit, item, meant, coded, skips, tuple(coders.split(",")) if coders else ())
