"""A sample whose population lies outside the study: an engine counted it and found the units, which were imported."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from db.connection import writing
from db.designs import Elementary
from db.drawing import Drawn, store_draws
from db.faults import BadRequest, Refused
from db.ids import RandomBytes
from db.judge_maps import mapping_digests
from db.population import Frame, members
from db.random_numbers import SEPARATOR, random_number
from db.records import UnitFilter
from db.samples import Sample, Stratum, UnitKind, current_sample, sample_in_force
from db.study import Study

SOURCE = "source"


@dataclass(frozen=True, slots=True)
class FoundUnit:
    """A unit that an engine drew: its key (item, model, condition, repeat; or the item's alone) and its stratum."""

    key: tuple[str | int, ...]
    u: str
    stratum: tuple[str, ...]


def check_source_draw(study: Study, *, seed: str, by: Sequence[str], unit: UnitKind) -> None:
    """Raise Refused where a draw from a source could not be put in force, before anything is imported for it."""
    if not seed or SEPARATOR in seed:
        raise BadRequest("The seed is empty or holds a control character.", "Use a number.")
    present = current_sample(study)
    if present is None:
        return
    if SOURCE not in present.parameters:
        what = "was drawn from the study's own responses" if present.kind == "draw" else "came with imported labels"
        raise Refused(f"The sample in force {what}.", "Draw from a source in a study of its own.")
    if (present.seed, present.strata_by, present.unit) != (seed, tuple(by), unit):
        was = f"--seed {present.seed} --by {','.join(present.strata_by)} --unit {present.unit}"
        raise Refused("The sample in force was drawn from a source otherwise.", f"It can be enlarged: {was}.")


def draw_found(
    study: Study,
    units: Sequence[FoundUnit],
    strata: Sequence[Stratum],
    *,
    seed: str,
    by: Sequence[str],
    allocation: str,
    unit: UnitKind = "response",
    judge: str | None = None,
    filters: Sequence[UnitFilter] = (),
    source: Mapping[str, Any],
    random_bytes: RandomBytes = secrets.token_bytes,
) -> Sample:
    """Put in force what an engine drew: ``drawn`` units of each of ``strata``, whose populations the engine counted.

    Each unit must be in the study, lie in the stratum that the engine says, and have the random number that its key
    has. With the seed and strata of the sample in force it is enlarged. Raises Refused, and the study is unchanged.
    """
    check_source_draw(study, seed=seed, by=by, unit=unit)
    with writing(study.connection) as connection:
        known = dict(connection.execute("SELECT name, id FROM judges").fetchall())
        if judge is not None and judge not in known:
            raise BadRequest(f"There is no judge {judge!r} among the drawn responses.", "Check the mapping.")
        last = connection.execute("SELECT max(id) FROM responses").fetchone()[0]
        frame = Frame(tuple(by), unit, known.get(judge), tuple(filters), False, last)
        mapping = mapping_digests(connection).get(judge, "") if judge is not None else ""
        sizes = {tuple(each.values[name] for name in by): (each.population, each.drawn) for each in strata}
        design = Elementary(seed, frame, judge, mapping, sizes)
        there = {member.key: (member.id, member.stratum) for member in members(connection, frame)}
        chosen = sorted((_drawn(each, there, seed) for each in units), key=lambda each: (each.u, each.id))
        _check_counts(chosen, design)
        present = sample_in_force(connection)
        if present is not None:
            _check_kept(present, design, chosen, _numbers(connection, present, unit))
        return store_draws(connection, [design], chosen, allocation, present, random_bytes, source)


def _drawn(unit: FoundUnit, there: Mapping[tuple[Any, ...], tuple[int, tuple[str, ...]]], seed: str) -> Drawn:
    shown = ", ".join(map(str, unit.key))
    if unit.key not in there:
        raise Refused(f"The drawn unit {shown} did not come into the study.", "See what the import refused.")
    number, stratum = there[unit.key]
    if stratum != unit.stratum:
        message = f"The drawn unit {shown} lies in {', '.join(stratum)}, but the engine drew it from "
        raise Refused(f"{message}{', '.join(unit.stratum)}.", "Was it in the study before, with other content?")
    if random_number(seed, SEPARATOR.join(map(str, unit.key))) != unit.u:
        raise Refused(f"The drawn unit {shown} has another random number than its key.", "Draw again.")
    return Drawn(number, unit.u, stratum)


def _check_counts(chosen: Sequence[Drawn], design: Elementary) -> None:
    counted: dict[tuple[str, ...], int] = {}
    for each in chosen:
        counted[each.stratum or ()] = counted.get(each.stratum or (), 0) + 1
    for stratum, (_, drawn) in design.strata.items():
        if counted.get(stratum, 0) != drawn:
            name = ", ".join(stratum) or "the only stratum"
            raise Refused(f"{drawn} units of {name} were to be drawn, the engine found {counted.get(stratum, 0)}.")


def _check_kept(present: Sample, design: Elementary, chosen: Sequence[Drawn], before: set[int]) -> None:
    kept = present.parameters["draws"][0]
    new = design.as_json()
    for name, told in (("judge", "the judge"), ("mapping", "the mapping of the judge's labels"), ("filters", "filter")):
        if kept[name] != new[name]:
            raise Refused(f"The sample in force was drawn otherwise: {told} changed.")
    lost = before - {each.id for each in chosen}
    if lost:
        raise Refused(
            f"{len(lost):,} units of the sample in force would not be in this one: n became smaller, or the source "
            "changed.",
            "A sample is only ever enlarged: ask for more of each stratum.",
        )


def _numbers(connection: Any, present: Sample, unit: UnitKind) -> set[int]:
    own = "r.id" if unit == "response" else "r.item_id"
    rows = connection.execute(
        f"SELECT DISTINCT {own} FROM sample_units s JOIN units u ON u.id = s.unit_id"
        " JOIN responses r ON r.id = u.response_id WHERE s.sample_id = ?",
        (present.id,),
    )
    return {number for (number,) in rows}
