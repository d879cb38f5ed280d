"""Drawing: stratified, without replacement, by permanent random numbers, so that a larger draw keeps a smaller one."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from db.connection import reading, writing
from db.designs import Elementary
from db.drawing import Drawn, smallest, store_draws
from db.faults import BadRequest, Refused
from db.ids import RandomBytes
from db.judge_maps import mapping_digests
from db.population import Frame, check_column, excluded, strata_populations
from db.random_numbers import SEPARATOR
from db.records import UnitFilter
from db.samples import Sample, Stratum, UnitKind, sample_in_force
from db.study import Study

_DESIGN = {
    "unit": "the sampling unit",
    "by": "the stratum variables",
    "judge": "the judge",
    "mapping": "the mapping of the judge's labels",
    "filters": "the filter",
    "with_failures": "the treatment of technical failures",
}


@dataclass(frozen=True, slots=True)
class StrataCounts:
    """The strata with their populations (sampling units), sorted; and the responses left out, by reason."""

    strata: tuple[Stratum, ...]
    excluded: Mapping[str, int]

    @property
    def population(self) -> int:
        return sum(stratum.population for stratum in self.strata)


def strata_counts(
    study: Study,
    by: Sequence[str],
    *,
    unit: UnitKind = "response",
    judge: str | None = None,
    filters: Sequence[UnitFilter] = (),
    with_failures: bool = False,
) -> StrataCounts:
    """The strata by model, condition, judge_label (of ``judge``) or any stratum field of the items.

    Technical failures and what the protocol's ``filters`` leave out are not in the population. Raises Refused for a
    variable that no response has, and for whole items by what differs between an item's responses.
    """
    connection = study.connection
    with reading(connection):
        frame = _frame(connection, by, unit, judge, filters, with_failures)
        for name in frame.by:
            check_column(connection, name)
        found = strata_populations(connection, frame)
        strata = tuple(Stratum(dict(zip(frame.by, values, strict=True)), n, 0) for values, n in found.items())
        return StrataCounts(strata, excluded(connection, frame))


def draw(
    study: Study,
    strata: Sequence[Stratum],
    *,
    seed: str | int,
    by: Sequence[str],
    allocation: str,
    unit: UnitKind = "response",
    judge: str | None = None,
    filters: Sequence[UnitFilter] = (),
    with_failures: bool = False,
    combine: bool = False,
    random_bytes: RandomBytes = secrets.token_bytes,
) -> Sample:
    """Draw ``drawn`` units of each of ``strata`` (as ``strata_counts`` gives them) and put the sample in force.

    With the seed and strata of the sample in force it is enlarged: what was drawn stays, pi becomes the final n_h/N_h,
    and drawing the same again changes nothing. Another seed or other strata are refused unless ``combine``: then both
    draws count and pi is the chance to be in either, 1 - (1 - pi_1)(1 - pi_2); for that the seeds must differ. A design
    that imported labels brought gives way to a draw with ``combine``; its labels outside the draw then carry no weight.
    Raises Refused, and the study is unchanged.
    """
    plain = str(seed)
    if SEPARATOR in plain or not plain:
        raise BadRequest("The seed is empty or holds a control character.", "Use a number.")
    with writing(study.connection) as connection:
        frame = _frame(connection, by, unit, judge, filters, with_failures)
        _check_strata(connection, frame, strata)
        present = sample_in_force(connection)
        if present is not None and "source" in present.parameters:
            raise Refused("The sample in force was drawn from a source outside the study.", "Enlarge it with --source.")
        design = _design(connection, frame, plain, judge, strata)
        chosen = smallest(connection, design)
        if present is None or present.kind != "draw":
            _check_free(present, combine)
            return store_draws(connection, [design], chosen, allocation, present, random_bytes)
        if _same_design(present, design):
            return _enlarge(connection, present, design, chosen, allocation, random_bytes)
        if not combine:
            raise Refused(_difference(present, design), "--combine keeps both draws; it needs a seed of its own.")
        return _combine(connection, present, design, chosen, allocation, random_bytes)


# --- the design -------------------------------------------------------------------------------------


def _frame(
    connection: sqlite3.Connection,
    by: Sequence[str],
    unit: UnitKind,
    judge: str | None,
    filters: Sequence[UnitFilter],
    with_failures: bool,
) -> Frame:
    last = connection.execute("SELECT max(id) FROM responses").fetchone()[0]
    return Frame(tuple(by), unit, _judge_id(connection, judge), tuple(filters), with_failures, last)


def _judge_id(connection: sqlite3.Connection, judge: str | None) -> int | None:
    if judge is None:
        return None
    row = connection.execute("SELECT id FROM judges WHERE name = ?", (judge,)).fetchone()
    if row is None:
        known = ", ".join(name for (name,) in connection.execute("SELECT name FROM judges ORDER BY id")) or "none"
        raise BadRequest(f"There is no judge {judge!r} in this study (there is: {known}).")
    return int(row[0])


def _check_strata(connection: sqlite3.Connection, frame: Frame, strata: Sequence[Stratum]) -> None:
    """Raise Refused where the given strata are not the study's, or more is asked of one than it has."""
    known = strata_populations(connection, frame)
    given = {tuple(stratum.values[name] for name in frame.by): stratum for stratum in strata}
    if {values: stratum.population for values, stratum in given.items()} != known:
        raise Refused(
            "The responses or labels of the study changed since the strata were counted.", "Count them again."
        )
    for stratum in strata:
        if not 0 <= stratum.drawn <= stratum.population:
            name = ", ".join(f"{key} {value}" for key, value in stratum.values.items()) or "the only stratum"
            raise BadRequest(f"{stratum.drawn} units are asked of {name}, which has {stratum.population}.")
    if not any(stratum.drawn for stratum in strata):
        raise Refused("Nothing would be drawn: no stratum has anything to give, or n is 0.")


def _design(
    connection: sqlite3.Connection, frame: Frame, seed: str, judge: str | None, strata: Sequence[Stratum]
) -> Elementary:
    mapping = mapping_digests(connection).get(judge, "") if judge is not None and frame.judge_id is not None else ""
    sizes = {tuple(s.values[name] for name in frame.by): (s.population, s.drawn) for s in strata}
    return Elementary(seed, frame, judge, mapping, sizes)


def _same_design(present: Sample, design: Elementary) -> bool:
    draws = present.parameters["draws"]
    return len(draws) == 1 and draws[0]["seed"] == design.seed and not _differing(draws[0], design)


def _differing(kept: Mapping[str, object], design: Elementary) -> list[str]:
    new = design.as_json()
    return [told for name, told in _DESIGN.items() if kept[name] != new[name]]


def _difference(present: Sample, design: Elementary) -> str:
    draws = present.parameters["draws"]
    if len(draws) > 1:
        return f"The sample in force combines {len(draws)} draws and cannot be enlarged by one of them."
    if draws[0]["seed"] != design.seed:
        return f"The sample in force was drawn with seed {draws[0]['seed']}, not {design.seed}."
    return f"The sample in force was drawn otherwise: {', '.join(_differing(draws[0], design))} changed."


def _check_free(present: Sample | None, combine: bool) -> None:
    if present is not None and not combine:
        raise Refused(
            f"The {present.n:,} labelled responses that were imported are the sample in force.",
            "--combine puts the draw in their place; imported labels outside it then carry no weight.",
        )


def _enlarge(
    connection: sqlite3.Connection,
    present: Sample,
    design: Elementary,
    chosen: Sequence[Drawn],
    allocation: str,
    random_bytes: RandomBytes,
) -> Sample:
    if design.as_json() == present.parameters["draws"][0]:
        return present
    lost = _drawn_before(connection, present, design.frame) - {each.id for each in chosen}
    if lost:
        raise Refused(
            f"{len(lost):,} units of the sample in force would not be in this one: n became smaller, or new responses "
            "came in.",
            "A sample is only ever enlarged: ask for more of each stratum, or --combine with another seed.",
        )
    return store_draws(connection, [design], chosen, allocation, present, random_bytes)


def _combine(
    connection: sqlite3.Connection,
    present: Sample,
    design: Elementary,
    chosen: Sequence[Drawn],
    allocation: str,
    random_bytes: RandomBytes,
) -> Sample:
    kept = present.parameters["draws"]
    earlier = [Elementary.of_json(each, _judge_id(connection, each["judge"])) for each in kept]
    mappings = mapping_digests(connection)
    for each in earlier:
        if each.seed == design.seed:
            raise Refused(
                f"Seed {design.seed} was used before: two draws with one seed are not independent.", "Use another seed."
            )
        if each.frame.unit != design.frame.unit:
            raise Refused("A draw of responses and a draw of whole items cannot be combined.")
        if each.frame.unit == "item" and each.frame.filters != design.frame.filters:
            raise Refused("Draws of whole items with different filters cannot be combined.")
        if each.judge is not None and mappings.get(each.judge, "") != each.mapping:
            raise Refused(
                f"The mapping of judge {each.judge!r} changed since the earlier draw, so its strata cannot be told.",
                "Put the earlier mapping back first.",
            )
    numbers = {each.id: each for each in chosen}
    for number, u in _numbers_before(connection, present, design.frame).items():
        numbers[number] = Drawn(number, u)
    together = sorted(numbers.values(), key=lambda each: (each.u, each.id))
    return store_draws(connection, [*earlier, design], together, allocation, present, random_bytes)


def _drawn_before(connection: sqlite3.Connection, present: Sample, frame: Frame) -> set[int]:
    return set(_numbers_before(connection, present, frame))


def _numbers_before(connection: sqlite3.Connection, present: Sample, frame: Frame) -> dict[int, str]:
    """The sampling units of a stored sample with their random numbers."""
    own = "r.id" if frame.unit == "response" else "r.item_id"
    rows = connection.execute(
        f"SELECT DISTINCT {own}, s.u FROM sample_units s JOIN units u ON u.id = s.unit_id"
        " JOIN responses r ON r.id = u.response_id WHERE s.sample_id = ?",
        (present.id,),
    )
    return dict(rows.fetchall())
