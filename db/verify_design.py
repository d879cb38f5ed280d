"""Whether the samples are what their designs say: sizes of strata, random numbers and inclusion probabilities."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from math import isclose
from typing import Any

from db.random_numbers import random_number, record_key

_UNITS = """
    SELECT u.public_id, i.key, r.model, r.condition, r.repeat, s.u, s.pi, st.stratum
    FROM sample_units s
    JOIN sample_strata st ON st.id = s.stratum_id
    JOIN units u ON u.id = s.unit_id
    JOIN responses r ON r.id = u.response_id
    JOIN items i ON i.id = r.item_id
    WHERE s.sample_id = ? ORDER BY s.u, u.public_id"""


def broken_draws(connection: sqlite3.Connection) -> Iterator[str | None]:
    """One entry for each stratum and each unit of every sample."""
    rows = connection.execute("SELECT id, kind, unit, n, combined, parameters FROM samples ORDER BY id").fetchall()
    for number, kind, unit, n, combined, parameters in rows:
        yield from _strata(connection, number, unit, n)
        if kind == "draw":
            yield from _units(connection, number, unit, bool(combined), json.loads(parameters)["draws"])
        elif kind == "census":
            bad = connection.execute(
                "SELECT count(*) FROM sample_units WHERE sample_id = ? AND pi <> 1", (number,)
            ).fetchone()[0]
            yield f"sample {number}: {bad} units of a census have another probability than 1" if bad else None


def _strata(connection: sqlite3.Connection, number: int, unit: str, n: int) -> Iterator[str | None]:
    counted = "count(DISTINCT r.item_id)" if unit == "item" else "count(s.unit_id)"
    rows = connection.execute(
        f"""SELECT st.stratum, st.drawn, {counted} FROM sample_strata st
            LEFT JOIN sample_units s ON s.stratum_id = st.id
            LEFT JOIN units u ON u.id = s.unit_id
            LEFT JOIN responses r ON r.id = u.response_id
            WHERE st.sample_id = ? GROUP BY st.id ORDER BY st.id""",
        (number,),
    ).fetchall()
    for stratum, drawn, found in rows:
        yield None if drawn == found else f"sample {number}, stratum {stratum}: {drawn} drawn, {found} are there"
    total = sum(drawn for _, drawn, _ in rows)
    yield None if total == n else f"sample {number}: {n} units, but its strata hold {total}"


def _units(
    connection: sqlite3.Connection, number: int, unit: str, combined: bool, draws: list[dict[str, Any]]
) -> Iterator[str | None]:
    seeds = [draw["seed"] for draw in draws]
    sizes = [{tuple(values): (population, drawn) for values, population, drawn in draw["strata"]} for draw in draws]
    for public, item, model, condition, repeat, u, pi, stratum in connection.execute(_UNITS, (number,)):
        key = item if unit == "item" else record_key(item, model, condition, repeat)
        if u not in {random_number(seed, key) for seed in seeds}:
            yield f"sample {number}, unit {public}: {u} is not its random number under seed {', '.join(seeds)}"
            continue
        expected = _probability(json.loads(stratum), combined, draws, sizes)
        yield (
            None
            if isclose(pi, expected, rel_tol=1e-12)
            else (f"sample {number}, unit {public}: its probability is {pi!r}, but {expected!r} by its strata")
        )


def _probability(
    stratum: dict[str, Any],
    combined: bool,
    draws: list[dict[str, Any]],
    sizes: list[dict[tuple[str, ...], tuple[int, int]]],
) -> float:
    named = [stratum] if not combined else [stratum[f"draw {k}"] for k in range(1, len(draws) + 1)]
    missed = 1.0
    for draw, known, values in zip(draws, sizes, named, strict=True):
        if values is not None:
            population, drawn = known.get(tuple(values[name] for name in draw["by"]), (1, 0))
            missed *= 1 - drawn / population
    return 1 - missed
