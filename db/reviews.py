"""Reviews after unmasking: where people and a judge differ, or two judges, mixed with random agreeing controls.

Looking at disagreements alone finds errors on one side only and inflates agreement (discrepant resolution; Hadgu 1996,
Miller 1998). The controls say how often a label that nobody disputed is changed as well.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from db.canonical import canonical_json, sha256_text
from db.cases import Queue, differing_units
from db.clock import utc_now
from db.connection import writing
from db.faults import Refused
from db.ids import RandomBytes
from db.lead import record
from db.random_numbers import random_for
from db.study import Study

ReviewMode = Literal["judge", "judges"]


@dataclass(frozen=True, slots=True)
class Review:
    """A review round: its units in their order, and what each was held to be when it was drawn.

    kept: by unit, the label of people (mode judge) or "differ"/"same" (mode judges). disputed: units that differ; the
    others are controls.
    """

    name: str
    batch: int
    mode: ReviewMode
    judges: tuple[str, ...]
    seed: str
    units: tuple[str, ...]
    disputed: frozenset[str]
    kept: Mapping[str, str]

    def sides(self, unit: str) -> tuple[str, str]:
        """The two judges in the order in which this unit shows them, which changes at random."""
        first, second = self.judges
        return (second, first) if int(random_for(self.seed, "judges", unit), 16) & 1 else (first, second)


def make_review(
    study: Study,
    mode: ReviewMode,
    judges: Sequence[str],
    *,
    reference: Mapping[str, str] | None = None,
    judged: Mapping[str, str] | None = None,
    controls: int,
    seed: str = "1",
    name: str | None = None,
    random_bytes: RandomBytes = secrets.token_bytes,
) -> Review:
    """Draw a review round. Raises Refused where nothing differs, a judge is unknown or the name is taken.

    reference, judged (mode judge): the human label and the judge's of each unit. controls: how many agreeing units
    are mixed in; they and the order are drawn by the seed. The round is closed to coding; it holds no labels.
    """
    with writing(study.connection) as connection:
        _check_judges(connection, judges)
        if mode == "judge":
            both = {unit: label for unit, label in (reference or {}).items() if unit in (judged or {})}
            differ = {unit: both[unit] != (judged or {})[unit] for unit in both}
        else:
            differ = dict(differing_units(connection, *judges))
            both = {unit: "differ" if yes else "same" for unit, yes in differ.items()}
        disputed = [unit for unit, yes in differ.items() if yes]
        if not disputed:
            raise Refused("There is nothing to review: they differ on no unit.")
        same = sorted((u for u, yes in differ.items() if not yes), key=lambda u: random_for(seed, "control", u))
        units = sorted([*disputed, *same[:controls]], key=lambda u: random_for(seed, "review", u))
        wanted = name or _free_name(connection, mode, judges)
        return _store(connection, wanted, mode, judges, seed, units, disputed, both, random_bytes)


def _check_judges(connection: sqlite3.Connection, judges: Sequence[str]) -> None:
    known = [row[0] for row in connection.execute("SELECT name FROM judges ORDER BY id")]
    for judge in judges:
        if judge not in known:
            raise Refused(f"There is no judge {judge!r} in this study (there is: {', '.join(known) or 'none'}).")
    if len(set(judges)) < len(judges):
        raise Refused("A judge cannot be held against itself.")


def _free_name(connection: sqlite3.Connection, mode: ReviewMode, judges: Sequence[str]) -> str:
    base = f"review {' - '.join(judges)}" if mode == "judges" else f"review {judges[0]}"
    taken = {row[0] for row in connection.execute("SELECT name FROM rounds")}
    return next(name for name in (base, *(f"{base} {n}" for n in range(2, 10_000))) if name not in taken)


def _store(
    connection: sqlite3.Connection,
    name: str,
    mode: ReviewMode,
    judges: Sequence[str],
    seed: str,
    units: Sequence[str],
    disputed: Sequence[str],
    kept: Mapping[str, str],
    random_bytes: RandomBytes,
) -> Review:
    if connection.execute("SELECT 1 FROM rounds WHERE name = ?", (name,)).fetchone():
        raise Refused(f"There is a round {name!r} already.", "Give the review another name.")
    connection.execute("INSERT INTO rounds (name, kind) VALUES (?, 'check')", (name,))
    parameters = canonical_json(
        {
            "review": mode,
            "judges": list(judges),
            "units": list(units),
            "disputed": sorted(disputed),
            "kept": {unit: kept[unit] for unit in units},
        }
    )
    cursor = connection.execute(
        "INSERT INTO batches (round, seed, order_kind, overlap, parameters, created_utc)"
        " VALUES (?, ?, 'file', 0, ?, ?)",
        (name, seed, parameters, utc_now()),
    )
    batch = int(cursor.lastrowid or 0)
    body = {"batch": batch, "mode": mode, "design": sha256_text(parameters), "units": len(units)}
    record(connection, "review", body | {"disputed": len(disputed)}, random_bytes=random_bytes)
    return find_review(connection, name)


def reviews(connection: sqlite3.Connection) -> tuple[Review, ...]:
    """Every review of the study, oldest first."""
    rows = connection.execute(
        "SELECT round, id, seed, parameters FROM batches WHERE json_extract(parameters, '$.review') IS NOT NULL"
        " ORDER BY id"
    )
    return tuple(_review(*row) for row in rows.fetchall())


def find_review(connection: sqlite3.Connection, name: str) -> Review:
    found = {review.name: review for review in reviews(connection)}
    if name not in found:
        raise Refused(f"There is no review {name!r} (there is: {', '.join(found) or 'none'}).")
    return found[name]


def _review(name: str, batch: int, seed: str, parameters: str) -> Review:
    told = json.loads(parameters)
    return Review(
        name,
        batch,
        told["review"],
        tuple(told["judges"]),
        seed,
        tuple(told["units"]),
        frozenset(told["disputed"]),
        told["kept"],
    )


def review_queue(connection: sqlite3.Connection, review: Review, coder_id: int) -> Queue:
    """The units of a review in their drawn order; which of them are controls is not told."""
    rows = connection.execute(
        "SELECT u.public_id FROM assignments a JOIN units u ON u.id = a.unit_id"
        " WHERE a.round = ? AND a.coder_id = ? AND a.state = 2",
        (review.name, coder_id),
    )
    return Queue(review.units, done=frozenset(unit for (unit,) in rows))


def review_progress(connection: sqlite3.Connection) -> tuple[tuple[str, int, int], ...]:
    """(review, units with a verdict, units) of every review, oldest first."""
    rows = connection.execute(
        "SELECT b.round, (SELECT count(DISTINCT a.unit_id) FROM assignments a WHERE a.round = b.round AND a.state = 2),"
        " json_array_length(b.parameters, '$.units') FROM batches b"
        " WHERE json_extract(b.parameters, '$.review') IS NOT NULL ORDER BY b.id"
    )
    return tuple((str(name), int(done), int(units)) for name, done, units in rows)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict of one reviewer on one unit. ``kept``: see Review; ``sides``: the judges as they were shown."""

    unit: str
    disputed: bool
    kept: str
    verdict: str
    reason: str | None
    note: str | None
    sides: tuple[str, str] | None


def verdicts(connection: sqlite3.Connection, review: Review) -> tuple[Verdict, ...]:
    """The verdicts that stand, in the order of the review."""
    rows = connection.execute(
        "SELECT u.public_id, json_extract(n.detail, '$.verdict'), json_extract(n.detail, '$.class'), t.text"
        " FROM assignments a JOIN units u ON u.id = a.unit_id JOIN annotations n ON n.assignment_id = a.id"
        " LEFT JOIN texts t ON t.digest = n.note WHERE a.round = ? AND a.state = 2 ORDER BY a.id",
        (review.name,),
    )
    return tuple(
        Verdict(
            unit,
            unit in review.disputed,
            review.kept[unit],
            verdict,
            reason,
            note,
            review.sides(unit) if review.mode == "judges" else None,
        )
        for unit, verdict, reason, note in rows
        if verdict is not None
    )
