"""The sample of a study with what people said of it, read into the columns that every analysis takes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from annotate.analysis.labels import CoderColumn, StudyLabels, aligned, declared_labels
from db.columns import NO_VALUE
from db.facts import judge_ids
from db.labels import LabelRow, UnitRow, label_rows, unit_rows
from db.population import strata_fields
from db.records import MISSING_LABEL, Protocol
from db.samples import current_sample
from db.study import Study

TECHNICAL = "technical"
Value = TypeVar("Value")


def load_labels(study: Study, protocol: Protocol, *, names: bool = True) -> StudyLabels:
    """The units of the sample in force. ``names``: coders by name, else by pseudonym, as in files that travel."""
    judges, fields = tuple(judge_ids(study.connection)), strata_fields(study.connection)
    columns = [*fields, *(f"judge:{name}" for name in judges), *(f"score:{name}" for name in judges)]
    units = unit_rows(study, columns)
    place = {unit.unit: number for number, unit in enumerate(units)}
    every = list(label_rows(study))
    outside = {row.unit for row in every if row.unit not in place and (row.label or row.rating is not None)}
    rows = [row for row in every if row.unit in place and row.occurrence == 1]
    main = [row for row in rows if row.round_kind == "main"]
    final = [row for row in rows if row.role == "adjudicator" and not row.set_aside]
    given = [row for row in main if row.label is not None or row.rating is not None]
    fresh = [row for row in given if not row.stale]
    coders, tied = _columns(given, "coder", names), _columns(given, "tiebreak", names)
    silent = {who: column for who, column in _columns(main, "coder", names).items() if who not in coders}
    sample = current_sample(study)
    said = _said(protocol)
    return StudyLabels(
        labels=declared_labels(protocol),
        units=tuple(unit.unit for unit in units),
        item=tuple(unit.item for unit in units),
        strata=_strata(units, fields),
        design=tuple(unit.stratum or "{}" for unit in units),
        pi=tuple(unit.pi or 1.0 for unit in units),
        overlap=_overlap(main, place),
        coders=tuple(coders.values()),
        table=_table(given, coders, place, said, None),
        stale=_table(given, coders, place, lambda row: row.stale, False),
        fate=_fates(main, final, units),
        tiebreakers=tuple(tied.values()),
        tiebreaks=_table(fresh, tied, place, said, None),
        final=_final(final, place, said) if final else None,
        ratings=_table(fresh, coders, place, lambda row: row.rating, None),
        judges={name: _judged(protocol, units, len(fields) + at, len(judges)) for at, name in enumerate(judges)},
        judge_ratings={name: _column(units, len(fields) + len(judges) + at) for at, name in enumerate(judges)},
        sample_unit=sample.unit if sample else "response",
        outside=len(outside),
        silent=tuple(column.name for column in silent.values()),
    )


def load_repeats(
    study: Study, protocol: Protocol, *, names: bool = True
) -> tuple[Mapping[str, Mapping[str, str]], Mapping[str, Mapping[str, str]]]:
    """First and second label of the hidden repeats, {coder: {unit: label}} each; only units labelled twice."""
    seen: dict[int, dict[str, dict[str, str]]] = {1: defaultdict(dict), 2: defaultdict(dict)}
    said = _said(protocol)
    for row in label_rows(study):
        label = said(row)
        if label is not None and not row.stale and row.occurrence in seen:
            seen[row.occurrence][_name(row, names)][f"{row.round}/{row.unit}"] = label
    second = {coder: labels for coder, labels in seen[2].items() if labels}
    return {coder: seen[1].get(coder, {}) for coder in second}, second


def _strata(units: Sequence[UnitRow], fields: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found = {
        "model": tuple(unit.model for unit in units),
        "condition": tuple(unit.condition for unit in units),
        **{name: tuple(_text(unit.values[at]) for unit in units) for at, name in enumerate(fields)},
    }
    return {name: column for name, column in found.items() if set(column) - {""}}


def _column(units: Sequence[UnitRow], at: int) -> tuple[Any, ...]:
    return tuple(unit.values[at] for unit in units)


def _said(protocol: Protocol) -> Callable[[LabelRow], str | None]:
    """The label of a row; where a protocol only rates, the side of its threshold."""
    if protocol.rating_only:
        return lambda row: aligned(protocol, row.rating)
    return lambda row: row.label


def _judged(protocol: Protocol, units: Sequence[UnitRow], at: int, judges: int) -> tuple[str, ...]:
    if not protocol.rating_only:
        return _column(units, at)
    return tuple(aligned(protocol, unit.values[at + judges]) or MISSING_LABEL for unit in units)


def _text(value: object) -> str:
    return NO_VALUE if value is None else str(value)


def _name(row: LabelRow, names: bool) -> str:
    """The name that every number goes under; a simulated coder is called so wherever it is shown."""
    shown = row.coder if names else row.pseudonym
    said = row.coder_kind != "simulated" or "simulated" in shown.lower()
    return shown if said else f"{shown} (simulated)"


def _columns(rows: Iterable[LabelRow], role: str, names: bool) -> dict[str, CoderColumn]:
    """The coders of a role in the order in which they came, by pseudonym."""
    return {row.pseudonym: CoderColumn(_name(row, names), row.coder_kind, row.role) for row in rows if row.role == role}


def _table(
    rows: Iterable[LabelRow],
    coders: Mapping[str, CoderColumn],
    place: Mapping[str, int],
    value: Callable[[LabelRow], Value],
    empty: Value,
) -> tuple[tuple[Value, ...], ...]:
    at = {pseudonym: column for column, pseudonym in enumerate(coders)}
    found = [[empty] * len(coders) for _ in place]
    for row in rows:
        if row.pseudonym in at and row.role == coders[row.pseudonym].role:
            found[place[row.unit]][at[row.pseudonym]] = value(row)
    return tuple(map(tuple, found))


def _overlap(main: Iterable[LabelRow], place: Mapping[str, int]) -> tuple[float, ...]:
    """The chance by design that all coders have the unit; 0 where only one was given it, 1 for imported labels."""
    found = [0.0] * len(place)
    for row in main:
        chance = 1.0 if row.overlap is None else (row.pi2 or 0.0) if row.overlap else 0.0
        found[place[row.unit]] = max(found[place[row.unit]], chance)
    return tuple(found)


def _final(
    rows: Iterable[LabelRow], place: Mapping[str, int], said: Callable[[LabelRow], str | None]
) -> tuple[str | None, ...]:
    found: list[str | None] = [None] * len(place)
    for row in rows:
        if said(row) is not None and not row.stale:
            found[place[row.unit]] = said(row)
    return tuple(found)


def _fates(main: Iterable[LabelRow], final: Iterable[LabelRow], units: Sequence[UnitRow]) -> tuple[str, ...]:
    """What became of each unit; whether the labels settle on one is the reference's part."""
    given: dict[str, list[LabelRow]] = defaultdict(list)
    for row in (*main, *final):
        given[row.unit].append(row)
    return tuple(_fate(given[unit.unit]) for unit in units)


def _fate(rows: Sequence[LabelRow]) -> str:
    if any(TECHNICAL in row.flags for row in rows):
        return "technical"
    if any((row.label is not None or row.rating is not None) and not row.stale for row in rows):
        return "labelled"
    return "skipped" if rows and all(row.state == "skipped" for row in rows) else "unfinished"
