"""The units with the smallest numbers, and a sample stored with the probability of each of its units."""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from db.canonical import canonical_json, sha256_text
from db.designs import Cell, Elementary, cells
from db.ids import RandomBytes
from db.lead import record
from db.population import Frame, Member, members, responses_of_items
from db.random_numbers import SEPARATOR, random_number
from db.samples import Sample, SampledUnit, Stratum, read_sample, store_sample
from db.units import ensure_unit


@dataclass(frozen=True, slots=True)
class Drawn:
    """A sampling unit (a response, or an item) that was drawn: its random number, and its stratum where it is known."""

    id: int
    u: str
    stratum: tuple[str, ...] | None = None


class _Backwards(str):
    """A key that sorts backwards: of two records with the same number, the first by key is drawn."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str.__gt__(self, other)


def smallest(connection: sqlite3.Connection, design: Elementary) -> list[Drawn]:
    """The n smallest of each stratum, smallest first. Memory grows with the sample alone."""
    heaps: dict[tuple[str, ...], list[tuple[int, _Backwards, Member]]] = {}
    for member in members(connection, design.frame):
        wanted = design.strata[member.stratum][1]
        if not wanted:
            continue
        key = SEPARATOR.join(map(str, member.key))
        entry = (-int(random_number(design.seed, key), 16), _Backwards(key), member)
        heap = heaps.setdefault(member.stratum, [])
        if len(heap) < wanted:
            heapq.heappush(heap, entry)
        elif entry > heap[0]:
            heapq.heapreplace(heap, entry)
    entries = (entry for heap in heaps.values() for entry in heap)
    found = sorted((-number, str(key), member.id, member.stratum) for number, key, member in entries)
    return [Drawn(own, f"{number:016x}", stratum) for number, _, own, stratum in found]


def store_draws(
    connection: sqlite3.Connection,
    draws: Sequence[Elementary],
    drawn: Sequence[Drawn],
    allocation: str,
    supersedes: Sample | None,
    random_bytes: RandomBytes,
    source: Mapping[str, Any] | None = None,
) -> Sample:
    """Store the units that one or more draws took, inside the open transaction, and put the sample in force.

    A single draw's strata are its own and pi is n_h/N_h; those of several are the cells of all, within which pi is
    constant. New units are numbered in the order of their random numbers, so that a number tells nothing of a model.
    ``source``: what is known of the corpus, where it lies outside the study.
    """
    last = draws[-1]
    populations, found = _cells(connection, draws, drawn)
    taken = Counter(cell.name for cell in found.values())
    strata = [Stratum(_values(name), size, taken[name]) for name, size in sorted(populations.items())]
    units = [
        SampledUnit(ensure_unit(connection, response, random_bytes)[0], found[own.id].name, own.u, found[own.id].pi)
        for own, response in _responses(connection, last.frame, drawn)
    ]
    parameters: dict[str, Any] = {"draws": [each.as_json() for each in draws]}
    if source is not None:
        parameters["source"] = dict(source)
    number = store_sample(
        connection,
        kind="draw",
        strata=strata,
        units=units,
        seed=last.seed,
        unit=last.frame.unit,
        strata_by=last.frame.by,
        allocation=allocation,
        judge_id=last.frame.judge_id,
        n=len(drawn),
        population=sum(populations.values()),
        supersedes=None if supersedes is None else supersedes.id,
        combined=len(draws) > 1,
        parameters=parameters,
    )
    design = sha256_text(canonical_json(parameters))
    body = {"sample": number, "n": len(drawn), "design": design, "units": units_digest(connection, number)}
    record(connection, "sample", body, random_bytes=random_bytes)
    return read_sample(connection, number)


def _cells(
    connection: sqlite3.Connection, draws: Sequence[Elementary], drawn: Sequence[Drawn]
) -> tuple[Counter[str], dict[int, Cell]]:
    """The population of every cell, and the cell of every drawn unit; one draw alone knows both already."""
    populations: Counter[str] = Counter()
    found: dict[int, Cell] = {}
    if len(draws) == 1:
        (own,) = draws
        for stratum, (size, _) in own.strata.items():
            populations[canonical_json(own.named(stratum))] += size
        for each in drawn:
            assert each.stratum is not None
            found[each.id] = Cell(canonical_json(own.named(each.stratum)), own.probability(each.stratum))
        return populations, found
    wanted = {each.id for each in drawn}
    for number, cell in cells(connection, draws):
        populations[cell.name] += 1
        if number in wanted:
            found[number] = cell
    return populations, found


def units_digest(connection: sqlite3.Connection, sample: int) -> str:
    """SHA-256 over the random id, number and probability of every unit of a sample: what its event in the log holds."""
    rows = connection.execute(
        "SELECT u.public_id, s.u, s.pi FROM sample_units s JOIN units u ON u.id = s.unit_id WHERE s.sample_id = ?"
        " ORDER BY u.public_id",
        (sample,),
    )
    return sha256_text(canonical_json([list(row) for row in rows]))


def _responses(connection: sqlite3.Connection, frame: Frame, drawn: Sequence[Drawn]) -> Iterator[tuple[Drawn, int]]:
    """(sampling unit, response): a response stands for itself, an item for all of its responses that qualify."""
    if frame.unit == "response":
        yield from ((each, each.id) for each in drawn)
        return
    of: dict[int, list[int]] = {each.id: [] for each in drawn}
    for item, response in responses_of_items(connection, frame):
        if item in of:
            of[item].append(response)
    yield from ((each, response) for each in drawn for response in of[each.id])


def _values(name: str) -> dict[str, Any]:

    found: dict[str, Any] = json.loads(name)
    return found
