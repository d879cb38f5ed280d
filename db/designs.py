"""Elementary draws, which a sample is made of, and what several of them together come to."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from db.canonical import canonical_json
from db.population import Frame, Member, members
from db.records import UnitFilter

Values = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Elementary:
    """One draw: seed, frame, the judge with the digest of its mapping, and (population, drawn) of each stratum."""

    seed: str
    frame: Frame
    judge: str | None
    mapping: str
    strata: Mapping[Values, tuple[int, int]]

    def probability(self, stratum: Values) -> float:
        """The chance that this draw takes a unit of the stratum; 0 for a stratum that it did not know."""
        population, drawn = self.strata.get(stratum, (1, 0))
        return drawn / population

    def named(self, stratum: Values) -> dict[str, str]:
        return dict(zip(self.frame.by, stratum, strict=True))

    def as_json(self) -> dict[str, Any]:
        """How it is kept with the sample, so that every probability can be made anew."""
        frame = self.frame
        return {
            "seed": self.seed,
            "unit": frame.unit,
            "by": list(frame.by),
            "judge": self.judge,
            "mapping": self.mapping,
            "filters": [{"field": each.field, "values": list(each.values)} for each in frame.filters],
            "with_failures": frame.with_failures,
            "last_response": frame.last_response,
            "strata": [[list(values), *sizes] for values, sizes in sorted(self.strata.items())],
        }

    @classmethod
    def of_json(cls, kept: Mapping[str, Any], judge_id: int | None) -> Elementary:
        filters = tuple(UnitFilter(each["field"], tuple(each["values"])) for each in kept["filters"])
        frame = Frame(tuple(kept["by"]), kept["unit"], judge_id, filters, kept["with_failures"], kept["last_response"])
        strata = {tuple(values): (population, drawn) for values, population, drawn in kept["strata"]}
        return cls(kept["seed"], frame, kept["judge"], kept["mapping"], strata)


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a unit lies in all draws: the name of the cell (canonical JSON) and the chance to be in any of them."""

    name: str
    pi: float


def cells(connection: sqlite3.Connection, draws: Sequence[Elementary]) -> Iterator[tuple[int, Cell]]:
    """Every unit that any of the draws could have taken, in the order of its number, with its cell.

    The draws are independent (their seeds differ), so pi = 1 - product of (1 - pi_d).
    """
    streams = [members(connection, each.frame) for each in draws]
    for number, found in _side_by_side(streams):
        pi = 0.0
        for each, member in zip(draws, found, strict=True):
            chance = 0.0 if member is None else each.probability(member.stratum)
            pi = pi + chance - pi * chance  # exact where only one draw reaches the unit
        yield number, Cell(_cell_name(draws, found), min(pi, 1.0))


def _cell_name(draws: Sequence[Elementary], found: Sequence[Member | None]) -> str:
    if len(draws) == 1 and found[0] is not None:
        return canonical_json(draws[0].named(found[0].stratum))
    named = {
        f"draw {number}": None if member is None else each.named(member.stratum)
        for number, (each, member) in enumerate(zip(draws, found, strict=True), 1)
    }
    return canonical_json(named)


def _side_by_side(streams: Iterable[Iterator[Member]]) -> Iterator[tuple[int, list[Member | None]]]:
    """Merge streams that are sorted by number: for each number, its member in every stream (None: not in it)."""
    iterators = list(streams)
    heads = [next(each, None) for each in iterators]
    while True:
        numbers = [head.id for head in heads if head is not None]
        if not numbers:
            return
        lowest = min(numbers)
        found: list[Member | None] = []
        for place, head in enumerate(heads):
            if head is not None and head.id == lowest:
                found.append(head)
                heads[place] = next(iterators[place], None)
            else:
                found.append(None)
        yield lowest, found
