"""Numeric ratings as they are: not coded, not counted."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from agreement._estimate import Description
from agreement._read import Columns, read_columns
from agreement._sample import Sample
from agreement._statistic import numbers_in
from agreement._types import BoolArray, FloatArray, IntArray
from agreement._units import population_sizes, unit_codes, unit_weights
from agreement.errors import AgreementError
from agreement.ratings import Ratings


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """values: (n, R), NaN where missing. The rest as in `Ratings`, by unit."""

    values: FloatArray
    coders: tuple[Hashable, ...]
    counts: FloatArray
    weight: FloatArray
    stratum: IntArray
    strata: tuple[Hashable, ...] = (None,)
    items: IntArray | None = None
    population: FloatArray | None = None
    weighted: bool = False

    @property
    def centre(self) -> float:
        """A number near the middle of the ratings, to keep sums of squares small."""
        count = np.count_nonzero(~np.isnan(self.values))
        return float(np.nansum(self.values) / count) if count else 0.0

    def sample(self, usable: BoolArray) -> Sample:
        """The rows where `usable`, (n,), is true; others stay with count 0 (no copy), unless items are told apart."""
        strata = len(self.strata)
        if self.items is None:
            return Sample(self.values, self.counts * usable, self.weight, self.stratum, strata, self.population)
        return Sample(
            self.values[usable],
            self.counts[usable],
            self.weight[usable],
            self.stratum[usable],
            strata,
            self.population,
            self.items[usable],
            np.arange(int(usable.sum())),
        )

    def description(self, sample: Sample) -> Description:
        """What the result says of its input."""
        parts = ["design weights"] if self.weighted else []
        parts += ["units grouped by item"] if self.items is not None else []
        parts += ["units in strata"] if len(self.strata) > 1 else []
        return Description(
            n_given=int(self.counts.sum()),
            n_ratings=int(numbers_in(sample.rows) @ sample.counts),
            n_coders=sum(not np.isnan(column).all() for column in self.values.T),
            labels=(),
            design="; ".join(parts),
        )


def read_numbers(ratings: Any, units: dict[str, Any]) -> Numbers:
    """Numeric ratings of units x coders; AgreementError if some rating is not a finite number."""
    if isinstance(ratings, Ratings):
        return _from_ratings(ratings)
    return numbers_from(read_columns(ratings), units)


def numbers_from(columns: Columns, units: dict[str, Any]) -> Numbers:
    """The columns as one array of numbers, with what belongs to each unit."""
    values = _values(columns)
    if np.isinf(values).any():
        raise AgreementError("A rating is infinite.", "Use None or NaN for a missing rating.")
    n = columns.n
    weights = unit_weights(units.get("unit_weights"), n)
    strata = unit_codes(units.get("strata"), n, "strata")
    items = unit_codes(units.get("items"), n, "items")
    names = (None,) if strata is None else tuple(strata[1])
    return Numbers(
        values=values,
        coders=columns.coders,
        counts=np.broadcast_to(1.0, n),
        weight=np.broadcast_to(1.0, n) if weights is None else weights,
        stratum=np.broadcast_to(np.int64(0), n) if strata is None else strata[0].astype(np.int64),
        strata=names,
        items=None if items is None else items[0].astype(np.int64),
        population=population_sizes(units.get("population"), names),
        weighted=weights is not None,
    )


def _values(columns: Columns) -> FloatArray:
    numbers = columns.numbers
    if isinstance(numbers, np.ndarray):
        return np.asarray(numbers.T, np.float64)
    if numbers is not None:
        return np.column_stack(numbers).astype(np.float64) if numbers else np.empty((columns.n, 0))
    odd = next((label for label in columns.labels if not isinstance(label, int | float)), None)
    if odd is not None:
        raise AgreementError(
            f"Ratings must be numbers here; {odd!r} is not.", "Convert them, or use a nominal coefficient."
        )
    return np.array([*columns.labels, np.nan], np.float64)[columns.coded]


def _from_ratings(ratings: Ratings) -> Numbers:
    """Patterns as rows, or units as rows where each has its item."""
    by_unit = ratings.unit_pattern
    rows = np.arange(len(ratings.counts)) if by_unit is None else by_unit
    return Numbers(
        values=ratings.values[rows],
        coders=ratings.coders,
        counts=ratings.counts.astype(np.float64) if by_unit is None else np.ones(len(rows)),
        weight=ratings.weight[rows],
        stratum=ratings.stratum[rows],
        strata=ratings.strata,
        items=ratings.items,
        population=ratings.population,
        weighted=ratings.weighted,
    )
