"""Where numbers are computed from: a study file, or the tables that a report wrote of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotate.analysis.counted import CountedStudy
from annotate.analysis.labels import StudyLabels
from db.corpus import Cells, sorted_cells
from db.corpus import corpus_cells as study_cells
from db.facts import judge_ids
from db.labels import UnitRow
from db.labels import unit_rows as study_units
from db.population import strata_fields
from db.samples import current_sample
from db.study import Study


@dataclass(frozen=True, slots=True)
class Tables:
    """A study without texts: the labels of its sample, the facts of its units, and its corpus as counted cells.

    fields: the names of the items' stratum fields. sample_kind: draw, census or imported. units: random id, item,
    model, condition, repeat, stratum and probability of each, and under ``unit_columns`` further facts.
    """

    labels: StudyLabels
    judges: tuple[str, ...]
    fields: tuple[str, ...]
    sample_kind: str | None
    cells: Cells
    unit_columns: tuple[str, ...]
    units: tuple[UnitRow, ...]


Source = Study | Tables


def judge_names(source: Source) -> tuple[str, ...]:
    """The judges in the order in which they came."""
    return source.judges if isinstance(source, Tables | CountedStudy) else tuple(judge_ids(source.connection))


def field_names(source: Source) -> tuple[str, ...]:
    """The names of the items' stratum fields, sorted."""
    if isinstance(source, CountedStudy):
        return tuple(sorted(source.table.strata))
    return source.fields if isinstance(source, Tables) else strata_fields(source.connection)


def sample_kind(source: Source) -> str | None:
    """How the sample came about; None before there is one.

    A sample of a corpus that lies outside the study is, without that corpus's cells, known by its weights only.
    """
    if isinstance(source, Tables):
        return source.sample_kind
    sample = current_sample(source)
    if sample is not None and "source" in sample.parameters and not isinstance(source, CountedStudy):
        return "imported"
    return None if sample is None else sample.kind


def corpus_cells(source: Source, columns: Sequence[str]) -> Cells:
    """All responses counted by the named columns."""
    if isinstance(source, CountedStudy):
        return source.count_cells(columns)
    if not isinstance(source, Tables):
        return study_cells(source, columns)
    places = [source.cells.columns.index(name) for name in columns]
    counted: Counter[tuple[Any, ...]] = Counter()
    for row, count in zip(source.cells.rows, source.cells.counts, strict=True):
        counted[tuple(row[place] for place in places)] += count
    return sorted_cells(columns, counted)


def unit_rows(source: Source, columns: Sequence[str] = ()) -> tuple[UnitRow, ...]:
    """The units of the sample with further columns."""
    if not isinstance(source, Tables):
        return study_units(source, columns)
    places = [source.unit_columns.index(name) for name in columns]
    return tuple(
        UnitRow(u.unit, u.item, u.model, u.condition, u.repeat, u.stratum, u.pi, tuple(u.values[p] for p in places))
        for u in source.units
    )
