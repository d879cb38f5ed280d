"""The draw, in the engine: each stratum's smallest permanent random numbers, and the records that have them.

The engine computes the number of every record (SHA-256, native) and gives back those below a bound that holds the
wanted n with room to spare, so that memory grows with the sample alone. Records that contradict each other under one
key are no part of the population, as in the count.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import ibis

from annotate.counting.engines import EngineError
from annotate.counting.expression import KEY, random_number
from annotate.counting.facts import Expression
from annotate.counting.run import Opened
from db.columns import NO_VALUE, plain_value
from db.population import JUDGE_LABEL
from db.random_numbers import SEPARATOR
from db.records import UnitFilter
from db.samples import Stratum, UnitKind
from db.source_draw import FoundUnit

_TRIES = 6
_ALL = "g"
"""Above every hexadecimal digit."""


@dataclass(frozen=True, slots=True)
class Draw:
    """What is drawn of a source: by which design, and how many of each stratum."""

    seed: str
    by: tuple[str, ...]
    unit: UnitKind
    judge: str | None
    filters: tuple[UnitFilter, ...]
    strata: tuple[Stratum, ...]


def draw_units(opened: Opened, draw: Draw) -> list[FoundUnit]:
    """The units of the draw, sorted by their number. Raises EngineError where a stratum has fewer than are wanted."""
    frame, columns = _frame(opened, draw)
    wanted = {tuple(str(s.values[name]) for name in draw.by): s for s in draw.strata if s.drawn}
    found: dict[tuple[str, ...], list[FoundUnit]] = {}
    spare = 1
    for _ in range(_TRIES):
        short = {name: s for name, s in wanted.items() if len(found.get(name, [])) < s.drawn}
        if not short:
            return sorted((u for units in found.values() for u in units), key=lambda u: (u.u, u.key))
        bounds = {name: _bound(s, spare) for name, s in short.items()}
        for name, units in _below(opened, frame, columns, bounds, draw).items():
            found[name] = units[: wanted[name].drawn]
        spare *= 8
    names = ", ".join(short_name(name) for name in short)
    raise EngineError(f"The source has fewer units than it was counted to have ({names}).", "Did it change meanwhile?")


def short_name(name: Sequence[str]) -> str:
    """A stratum as it is told."""
    return "/".join(name) or "the only stratum"


def _bound(stratum: Stratum, spare: int) -> str:
    """A number below which the n smallest of N lie, but for one time in many millions."""
    n = stratum.drawn
    share = spare * (n + 8 * math.sqrt(n) + 16) / stratum.population
    return _ALL if share >= 1 else f"{int(share * 2**64):016x}"


def _frame(opened: Opened, draw: Draw) -> tuple[Expression, list[str]]:
    """The records that qualify, with their number ``u`` and the stratum's columns as text (s0, s1, …)."""
    good, cells = opened.good, opened.plan.cells
    inside = good[cells["technical"]] == 0
    for each in draw.filters:
        if each.field not in cells:
            raise EngineError(f"The protocol's filter needs {each.field!r}, which is not mapped.", "Map its column.")
        inside = inside & _holds(good[cells[each.field]], each)
    values = {}
    for at, name in enumerate(draw.by):
        column = cells.get(f"judge:{draw.judge}" if name == JUDGE_LABEL else name)
        if column is None:
            raise EngineError(f"There is no field {name!r} in the source.", f"There is: {', '.join(cells)}.")
        values[f"s{at}"] = good[column].cast("string").fill_null(NO_VALUE)
    own = good["whole"] if draw.unit == "response" else good["k0"]
    return good.filter(inside).mutate(u=random_number(draw.seed, own), own=own, **values), list(values)


def _holds(value: Expression, rule: UnitFilter) -> Expression:
    if not rule.values:
        return (value.fill_null(0) != 0).fill_null(False)
    return value.cast("string").fill_null(NO_VALUE).isin([plain_value(each) for each in rule.values])


def _below(
    opened: Opened, frame: Expression, columns: Sequence[str], bounds: Mapping[tuple[str, ...], str], draw: Draw
) -> dict[tuple[str, ...], list[FoundUnit]]:
    """Units whose number lies below their stratum's bound, without those that contradict themselves, by stratum."""
    low = frame.filter(_any_of(frame, columns, bounds))
    few = opened.engine.run(low.select("u", "own", "k0", "k1", "k2", "k3", *columns).distinct()).to_pylist()
    contradicting = _contradicting(opened, {row["own"] for row in few}) if draw.unit == "response" else set()
    found: dict[tuple[str, ...], list[FoundUnit]] = {}
    seen: set[str] = set()
    for row in sorted(few, key=lambda row: (row["u"], row["own"])):
        if row["own"] in contradicting or row["own"] in seen:
            continue
        seen.add(row["own"])
        key = tuple(row[f"k{at}"] for at in range(len(KEY))) if draw.unit == "response" else (row["k0"],)
        stratum = tuple(row[column] for column in columns)
        found.setdefault(stratum, []).append(FoundUnit(key, row["u"], stratum))
    return found


def _any_of(frame: Expression, columns: Sequence[str], bounds: Mapping[tuple[str, ...], str]) -> Expression:
    """Below the bound that goes with its stratum; nothing of any other.

    Looked up, for with a case for each stratum Spark's own code would become longer than Java takes.
    """
    if not columns:
        return frame["u"] < bounds[()]
    stratum = reduce(lambda one, other: one + ibis.literal(SEPARATOR) + other, (frame[each] for each in columns))
    known: Any = ibis.map([SEPARATOR.join(name) for name in bounds], list(bounds.values()))
    return frame["u"] < known.get(stratum, "")


def _contradicting(opened: Opened, keys: set[str]) -> set[str]:
    """Those of the keys under which records differ in what is counted."""
    said = [*opened.plan.columns, *opened.plan.raw.values()]
    twice: set[str] = set()
    for some in _parts(sorted(keys)):
        few = opened.good.filter(opened.good["whole"].isin(some))
        rows = opened.engine.run(few.select("whole", *said).distinct().group_by("whole").aggregate(n=ibis._.count()))
        twice |= {row["whole"] for row in rows.to_pylist() if row["n"] > 1}
    return twice


def _parts(keys: Sequence[str], size: int = 20_000) -> Iterator[list[str]]:
    for at in range(0, len(keys), size):
        yield list(keys[at : at + size])


def fetch_records(opened: Opened, units: Sequence[FoundUnit], unit: UnitKind) -> list[dict[str, Any]]:
    """The records of the drawn units as the source has them, in the order of the units; of copies, one.

    Where items were drawn, all their records but those that contradict each other. Raises EngineError where a unit has
    none.
    """
    from annotate.counting.records import raw_records

    own = {(_own(each)): at for at, each in enumerate(units)}
    found: dict[tuple[int, str], dict[str, Any]] = {}
    for some in _parts(sorted(own)):
        for item, whole, record in raw_records(opened, some, whole=unit == "response"):
            place = (own[whole if unit == "response" else item], whole)
            if place not in found or json.dumps(record, sort_keys=True) < json.dumps(found[place], sort_keys=True):
                found[place] = record
    if len({place[0] for place in found}) < len(units):
        raise EngineError("Some drawn records could not be fetched.", "Did the source change meanwhile?")
    contradicting = _contradicting(opened, {whole for _, whole in found}) if unit == "item" else set()
    return [found[place] for place in sorted(found) if place[1] not in contradicting]


def _own(unit: FoundUnit) -> str:
    return "\x1f".join(map(str, unit.key))
