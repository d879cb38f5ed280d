"""Samples as they are stored. The one in force is the one that no other supersedes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from db.canonical import canonical_json
from db.clock import utc_now
from db.study import Study
from db.version import TOOL_VERSION

SampleKind = Literal["draw", "census", "imported"]
UnitKind = Literal["response", "item"]


@dataclass(frozen=True, slots=True)
class Stratum:
    """``values`` name it; ``population`` and ``drawn`` count sampling units (responses, or items)."""

    values: Mapping[str, Any]
    population: int
    drawn: int
    id: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """A design: what was drawn, how, and with which inclusion probabilities. ``n`` counts sampling units."""

    id: int
    kind: SampleKind
    seed: str
    unit: UnitKind
    strata_by: tuple[str, ...]
    allocation: str
    judge: str | None
    n: int
    population: int
    supersedes: int | None
    combined: bool
    parameters: Mapping[str, Any]
    created_utc: str
    strata: tuple[Stratum, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class SampledUnit:
    """One drawn response: ``u`` is its permanent random number, ``pi`` its inclusion probability."""

    unit_id: int
    stratum: str
    u: str
    pi: float


def current_sample(study: Study) -> Sample | None:
    """The design in force with its strata, or None where nothing was drawn yet."""
    return sample_in_force(study.connection)


def sample_in_force(connection: sqlite3.Connection) -> Sample | None:
    row = connection.execute(
        "SELECT s.id FROM samples s WHERE NOT EXISTS (SELECT 1 FROM samples t WHERE t.supersedes = s.id)"
        " ORDER BY s.id DESC LIMIT 1"
    ).fetchone()
    return None if row is None else read_sample(connection, row[0])


def read_sample(connection: sqlite3.Connection, number: int) -> Sample:
    row = connection.execute(
        "SELECT s.id, s.kind, s.seed, s.unit, s.strata_by, s.allocation, j.name, s.n, s.population, s.supersedes,"
        " s.combined, s.parameters, s.created_utc"
        " FROM samples s LEFT JOIN judges j ON j.id = s.judge_id WHERE s.id = ?",
        (number,),
    ).fetchone()
    at, kind, seed, unit, by, allocation, judge, n, population, supersedes, combined, parameters, utc = row
    strata = connection.execute(
        "SELECT stratum, population, drawn, id FROM sample_strata WHERE sample_id = ? ORDER BY id", (number,)
    )
    return Sample(
        id=at,
        kind=kind,
        seed=seed,
        unit=unit,
        strata_by=tuple(json.loads(by)),
        allocation=allocation,
        judge=judge,
        n=n,
        population=population,
        supersedes=supersedes,
        combined=bool(combined),
        parameters=json.loads(parameters),
        created_utc=utc,
        strata=tuple(Stratum(json.loads(values), size, drawn, number) for values, size, drawn, number in strata),
    )


def store_sample(
    connection: sqlite3.Connection,
    *,
    kind: SampleKind,
    strata: Sequence[Stratum],
    units: Iterable[SampledUnit],
    seed: str = "",
    unit: UnitKind = "response",
    strata_by: Sequence[str] = (),
    allocation: str,
    judge_id: int | None = None,
    n: int,
    population: int,
    supersedes: int | None = None,
    combined: bool = False,
    parameters: Mapping[str, Any],
) -> int:
    """Store a design inside the open transaction. A unit's ``stratum`` is the canonical JSON of one of ``strata``."""
    cursor = connection.execute(
        "INSERT INTO samples (kind, seed, unit, strata_by, allocation, judge_id, n, population, supersedes, combined,"
        " parameters, created_utc, tool_version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            kind,
            seed,
            unit,
            canonical_json(list(strata_by)),
            allocation,
            judge_id,
            n,
            population,
            supersedes,
            int(combined),
            canonical_json(parameters),
            utc_now(),
            TOOL_VERSION,
        ),
    )
    number = int(cursor.lastrowid or 0)
    ids: dict[str, int] = {}
    for stratum in strata:
        name = canonical_json(stratum.values)
        ids[name] = int(
            connection.execute(
                "INSERT INTO sample_strata (sample_id, stratum, population, drawn) VALUES (?, ?, ?, ?)",
                (number, name, stratum.population, stratum.drawn),
            ).lastrowid
            or 0
        )
    connection.executemany(
        "INSERT INTO sample_units (sample_id, unit_id, stratum_id, u, pi) VALUES (?, ?, ?, ?, ?)",
        ((number, each.unit_id, ids[each.stratum], each.u, each.pi) for each in units),
    )
    return number
