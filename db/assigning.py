"""Assigning: the units of the sample to coders, once and for all, with an exact overlap and an order for each coder."""

from __future__ import annotations

import math
import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from db.canonical import canonical_json, sha256_text
from db.clock import utc_now
from db.coders import Coder, insert_coder
from db.connection import writing
from db.faults import BadRequest, Refused
from db.ids import RandomBytes, new_id
from db.known import TOLD
from db.lead import record
from db.orders import Ordered, OrderKind, in_order
from db.overlap import Group, Share, shares
from db.random_numbers import SEPARATOR, random_for, record_key
from db.records import CoderKind, RoundKind
from db.samples import Sample, sample_in_force
from db.study import Study

REPEAT_GAP = 30


@dataclass(frozen=True, slots=True)
class CoderLoad:
    """What one coder got: ``units`` to code, of which ``repeats`` are hidden second codings of their own.

    ``left_out``: units that would have been theirs but that they know from training, a check or a review.
    """

    coder: Coder
    units: int
    repeats: int
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Assigned:
    """A batch: ``units`` = ``overlap`` (coded by every coder) + the rest (coded by one)."""

    batch: int
    round: str
    units: int
    overlap: int
    loads: tuple[CoderLoad, ...]


def assign(
    study: Study,
    coders: Sequence[str],
    *,
    seed: str | int,
    overlap: float = 1.0,
    round_name: str = "main",
    kind: RoundKind = "main",
    order: OrderKind = "spread",
    repeats: float = 0.0,
    again: bool = False,
    units: Sequence[str] | None = None,
    coder_kind: CoderKind = "person",
    pairwise: bool = False,
    released: bool = True,
    due_utc: str | None = None,
    random_bytes: RandomBytes = secrets.token_bytes,
) -> Assigned:
    """Give the units of the sample that nobody has in this round yet to the named coders, new ones included.

    overlap: the share of units, 0 to 1, that all of them code; exact within every stratum.
    repeats: the share of each coder's units that come back unnoticed, 30 or more places later (occurrence 2).
    again: also units that others have in this round. units: only these (random ids), not the whole sample.
    pairwise: the two texts of a pair change sides at random, per coder. released=False keeps the batch out of the
    queues until ``release``.
    Raises Refused where there is nothing to assign or a name cannot be used; the study is unchanged then.
    """
    plain = str(seed)
    _check(coders, overlap, repeats, plain)
    with writing(study.connection) as connection:
        sample = sample_in_force(connection)
        if sample is None and units is None:
            raise Refused("There is no sample yet.", "'annotate sample' draws one.")
        who = [insert_coder(connection, name, coder_kind, random_bytes) for name in coders]
        found = _units(connection, sample, units, round_name, again)
        known = [_known_to(connection, coder, round_name) for coder in who]
        dealt = [_without_known(share, known) for share in shares(_groups(found, sample), len(who), overlap, plain)]
        parameters = {"coders": [coder.uid for coder in who], "repeats": repeats, "again": again}
        batch = _batch(connection, sample, round_name, kind, plain, order, overlap, parameters, released, due_utc)
        job = _Job(connection, batch, round_name, plain, order, repeats, pairwise, released, random_bytes)
        loads = tuple(job.give(coder, place, dealt, found, known[place]) for place, coder in enumerate(who))
        _store_batch_units(connection, batch, dealt)
        if not any(load.units for load in loads):
            raise Refused(
                f"There is nothing to assign: these coders have every unit in round {round_name!r} already,"
                " or know it from training, a check or a review."
            )
        body = {"batch": batch, "round": round_name, "seed": plain, "overlap": overlap, **parameters}
        record(
            connection, "assign", {**body, "digest": assignments_digest(connection, batch)}, random_bytes=random_bytes
        )
        common = sum(len(share.group.units) for share in dealt if share.overlap)
        return Assigned(batch, round_name, len(found), common, loads)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A unit to be assigned."""

    id: int
    public_id: str
    stratum: str
    item: str
    key: str
    content: str


def _known_to(connection: sqlite3.Connection, coder: Coder, round_name: str) -> set[int]:
    """Units whose label the coder was told, or that stand in their queue as a check: none is coded twice unnoticed."""
    rows = connection.execute(
        "SELECT a.unit_id FROM assignments a JOIN rounds d ON d.name = a.round WHERE a.coder_id = ?"
        f" AND {TOLD} AND d.name <> ? AND a.withdrawn_utc IS NULL",
        (coder.id, round_name),
    )
    return {row[0] for row in rows}


def _without_known(share: Share, known: Sequence[set[int]]) -> Share:
    """The share among those who know none of it: one coder's goes to the next; an overlap that lacks one is none."""
    able = tuple(place for place, units in enumerate(known) if units.isdisjoint(share.group.units))
    if len(able) == len(known):
        return share
    if share.overlap:
        return replace(share, coders=able, overlap=False)
    place = share.coders[0]
    return replace(share, coders=tuple(sorted(able, key=lambda other: (other - place) % len(known))[:1]))


def _check(coders: Sequence[str], overlap: float, repeats: float, seed: str) -> None:
    if not coders:
        raise BadRequest("Name at least one coder.")
    if len({name.strip() for name in coders}) < len(coders):
        raise BadRequest("A coder is named twice.")
    if not 0 <= overlap <= 1:
        raise BadRequest(f"The overlap is {overlap}, expected a share from 0 to 1.")
    if not 0 <= repeats <= 1:
        raise BadRequest(f"The share of repeats is {repeats}, expected one from 0 to 1.")
    if not seed or SEPARATOR in seed:
        raise BadRequest("The seed is empty or holds a control character.", "Use a number.")


_UNITS = """
    SELECT u.id, u.public_id, coalesce(st.stratum, '{}'), i.key, r.model, r.condition, r.repeat,
           r.text, r.text_b, r.reason, r.choice
    FROM units u
    JOIN responses r ON r.id = u.response_id
    JOIN items i ON i.id = r.item_id
    LEFT JOIN sample_units s ON s.unit_id = u.id AND s.sample_id = :sample
    LEFT JOIN sample_strata st ON st.id = s.stratum_id"""


def _units(
    connection: sqlite3.Connection, sample: Sample | None, wanted: Sequence[str] | None, round_name: str, again: bool
) -> dict[int, _Unit]:
    where = ["r.redacted_utc IS NULL AND i.redacted_utc IS NULL"]
    if wanted is None:
        where.append("s.unit_id IS NOT NULL")
    if not again:
        where.append(
            "NOT EXISTS (SELECT 1 FROM assignments a WHERE a.unit_id = u.id AND a.round = :round AND a.role = 'coder'"
            " AND a.withdrawn_utc IS NULL)"
        )
    sql = f"{_UNITS} WHERE {' AND '.join(where)} ORDER BY s.u, u.public_id"
    rows = connection.execute(sql, {"sample": sample.id if sample else None, "round": round_name})
    found = {}
    named = None if wanted is None else set(wanted)
    for number, public, stratum, item, model, condition, repeat, *shown in rows:
        if named is None or public in named:
            content = sha256_text(canonical_json(shown))
            found[number] = _Unit(number, public, stratum, item, record_key(item, model, condition, repeat), content)
    if not found:
        raise Refused(
            f"There is nothing to assign: every unit has a coder in round {round_name!r} already.",
            "--again gives units to further coders; a larger sample has new ones.",
        )
    return found


def _groups(units: dict[int, _Unit], sample: Sample | None) -> list[Group]:
    if sample is None or sample.unit == "response":
        return [Group(unit.key, unit.stratum, (unit.id,)) for unit in units.values()]
    items: dict[tuple[str, str], list[int]] = {}
    for unit in units.values():
        items.setdefault((unit.item, unit.stratum), []).append(unit.id)
    return [Group(item, stratum, tuple(members)) for (item, stratum), members in items.items()]


def _batch(
    connection: sqlite3.Connection,
    sample: Sample | None,
    round_name: str,
    kind: RoundKind,
    seed: str,
    order: OrderKind,
    overlap: float,
    parameters: dict[str, Any],
    released: bool,
    due_utc: str | None,
) -> int:
    known = connection.execute("SELECT kind, state FROM rounds WHERE name = ?", (round_name,)).fetchone()
    if known is None:
        connection.execute("INSERT INTO rounds (name, kind) VALUES (?, ?)", (round_name, kind))
    elif known[0] != kind:
        raise Refused(f"Round {round_name!r} is of kind {known[0]}, not {kind}.", "Give the round another name.")
    elif known[1] != "open":
        raise Refused(f"Round {round_name!r} is closed.", "Reopen it, or give the round another name.")
    now = utc_now()
    cursor = connection.execute(
        "INSERT INTO batches (round, sample_id, seed, order_kind, overlap, parameters, due_utc, released_utc,"
        " created_utc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            round_name,
            None if sample is None else sample.id,
            seed,
            order,
            overlap,
            canonical_json(parameters),
            due_utc,
            now if released else None,
            now,
        ),
    )
    return int(cursor.lastrowid or 0)


def _store_batch_units(connection: sqlite3.Connection, batch: int, dealt: Sequence[Share]) -> None:
    given = connection.execute(
        "SELECT unit_id, count(*) FROM assignments WHERE batch_id = ? AND occurrence = 1 GROUP BY unit_id", (batch,)
    )
    coders = dict(given.fetchall())
    connection.executemany(
        "INSERT INTO batch_units (batch_id, unit_id, overlap, pi2, coders) VALUES (?, ?, ?, ?, ?)",
        (
            (batch, unit, int(share.overlap), share.pi2, coders.get(unit, 0))
            for share in dealt
            for unit in share.group.units
        ),
    )


@dataclass(frozen=True, slots=True)
class _Job:
    """Gives each coder their units of one batch."""

    connection: sqlite3.Connection
    batch: int
    round_name: str
    seed: str
    order: OrderKind
    repeats: float
    pairwise: bool
    released: bool
    random_bytes: RandomBytes

    def give(
        self, coder: Coder, place: int, dealt: Sequence[Share], units: dict[int, _Unit], known: set[int]
    ) -> CoderLoad:
        connection = self.connection
        taken = self._taken(coder)
        mine = [unit for share in dealt if place in share.coders for unit in share.group.units if unit not in taken]
        name = coder.name or coder.uid
        ordered = [Ordered(n, units[n].item, units[n].content, units[n].public_id) for n in mine]
        ordered = in_order(ordered, self.order, self.seed, name)
        queue = [(each.unit_id, 1) for each in ordered]
        again = self._repeated(ordered, name)
        queue = with_repeats(queue, again, self.seed, name)
        start = connection.execute(
            "SELECT coalesce(max(position), 0) FROM assignments WHERE coder_id = ?", (coder.id,)
        ).fetchone()[0]
        connection.executemany(
            "INSERT INTO assignments (uid, unit_id, coder_id, round, occurrence, batch_id, position, sides_swapped,"
            " in_queue) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    new_id(self.random_bytes),
                    unit,
                    coder.id,
                    self.round_name,
                    occurrence,
                    self.batch,
                    position,
                    self._swapped(name, units[unit], occurrence),
                    int(self.released),
                )
                for position, (unit, occurrence) in enumerate(queue, start + 1)
            ),
        )
        connection.execute("UPDATE coders SET queue_version = queue_version + 1 WHERE id = ?", (coder.id,))
        return CoderLoad(coder, len(queue), len(again), len(known & units.keys() - taken))

    def _taken(self, coder: Coder) -> set[int]:
        """Units that the coder has in this round already."""
        rows = self.connection.execute(
            "SELECT unit_id FROM assignments WHERE coder_id = ? AND round = ?", (coder.id, self.round_name)
        )
        return {row[0] for row in rows}

    def _repeated(self, units: Sequence[Ordered], name: str) -> list[int]:
        size = math.floor(self.repeats * len(units) + 0.5)
        early = units[: len(units) - repeat_gap(len(units))]
        by_chance = sorted(early, key=lambda u: (random_for(self.seed, "repeat", name, u.item, u.content), u.public_id))
        return [each.unit_id for each in by_chance[:size]]

    def _swapped(self, name: str, unit: _Unit, occurrence: int) -> int:
        if not self.pairwise:
            return 0
        return int(random_for(self.seed, "side", name, str(occurrence), unit.item, unit.content), 16) & 1


def repeat_gap(size: int) -> int:
    """How many places lie at least between the two codings of a unit in a queue of this size."""
    return min(REPEAT_GAP, size // 2)


def with_repeats(queue: list[tuple[int, int]], repeated: Sequence[int], seed: str, coder: str) -> list[tuple[int, int]]:
    """Put a second occurrence of each ``repeated`` unit at a random place at least ``repeat_gap`` after its first."""
    first = {unit: place for place, (unit, _) in enumerate(queue)}
    later: dict[int, list[int]] = {}
    for unit in repeated:
        low = min(first[unit] + repeat_gap(len(queue)), len(queue))
        number = int(random_for(seed, "repeat place", coder, str(first[unit])), 16)
        later.setdefault(low + number % (len(queue) - low + 1), []).append(unit)
    found: list[tuple[int, int]] = []
    for place in range(len(queue) + 1):
        found += [(unit, 2) for unit in later.get(place, ())]
        found += queue[place : place + 1]
    return found


def assignments_digest(connection: sqlite3.Connection, batch: int) -> str:
    """SHA-256 over who codes what at which place in a batch: what its event in the log holds."""
    rows = connection.execute(
        "SELECT a.uid, u.public_id, c.uid, a.occurrence, a.position, a.sides_swapped FROM assignments a"
        " JOIN units u ON u.id = a.unit_id JOIN coders c ON c.id = a.coder_id WHERE a.batch_id = ? ORDER BY a.uid",
        (batch,),
    )
    return sha256_text(canonical_json([list(row) for row in rows]))
