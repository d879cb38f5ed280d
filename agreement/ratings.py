"""Ratings of units by coders, coded once and usable by every coefficient."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement._coding import MISSING
from agreement._counting import count_alike, count_within
from agreement._labels import arrange, refuse_outside
from agreement._read import Columns, RatingsLike, read_columns, read_vectors
from agreement._types import AnyArray, BoolArray, FloatArray, IntArray
from agreement._units import population_sizes, unit_codes, unit_weights
from agreement.errors import AgreementError


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Distinct rating patterns of n units by R coders. Make one with `read_ratings`, `from_long`, `from_table`,
    `from_counts`.

    codes: (P, R) position in `labels`, -1 where the coder gave no rating. counts: (P,) units with that pattern.
    weight: (P,) design weight of one such unit (1 unless given). stratum: (P,) position in `strata`.
    declared: whether `labels` is a declared set or merely the labels seen. ordered: whether their order means
    something.
    items, unit_pattern: (n,) item and pattern of each unit, where several units share an item.
    population: (number of strata,) units that each stratum was drawn from, or None where that is not to be used.
    anonymous: the columns are not coders (only counts of labels are known).
    """

    codes: IntArray
    counts: IntArray
    weight: FloatArray
    stratum: IntArray
    labels: tuple[Hashable, ...]
    declared: bool
    ordered: bool
    coders: tuple[Hashable, ...]
    strata: tuple[Hashable, ...] = (None,)
    items: IntArray | None = None
    unit_pattern: IntArray | None = None
    population: FloatArray | None = None
    weighted: bool = False
    anonymous: bool = False

    @property
    def n_units(self) -> int:
        """All units given, rated or not."""
        return int(self.counts.sum())

    @property
    def values(self) -> FloatArray:
        """(P, R) ratings as numbers, NaN where missing; refused unless every label is a number."""
        if not all(isinstance(label, int | float) for label in self.labels):
            odd = next(label for label in self.labels if not isinstance(label, int | float))
            raise AgreementError(
                f"Ratings must be numbers here; {odd!r} is not.", "Use level='nominal' or 'ordinal' for text."
            )
        return np.array([*self.labels, np.nan], np.float64)[self.codes]

    def select(self, coders: Sequence[Hashable]) -> Ratings:
        """The same units with the named coders only."""
        missing = [coder for coder in coders if coder not in self.coders]
        if missing:
            raise AgreementError(f"No coder {missing[0]!r}.", f"Coders are {list(self.coders)}.")
        columns = [self.coders.index(coder) for coder in coders]
        return replace(self, codes=self.codes[:, columns], coders=tuple(coders))

    def one_vs_rest(self, label: Hashable) -> Ratings:
        """The two-label ratings `label` against `(any other)`."""
        if label not in self.labels:
            raise AgreementError(f"No label {label!r}.", f"Labels are {list(self.labels)}.")
        codes = np.where(self.codes == MISSING, MISSING, (self.codes != self.labels.index(label)).astype(np.int64))
        return replace(self, codes=codes, labels=(label, "(any other)"), ordered=False)

    def where(self, patterns: BoolArray) -> Ratings:
        """The units of the patterns where `patterns`, (P,), is true."""
        changes: dict[str, Any] = {
            name: getattr(self, name)[patterns] for name in ("codes", "counts", "weight", "stratum")
        }
        if self.items is not None and self.unit_pattern is not None:
            kept = patterns[self.unit_pattern]
            changes["items"] = self.items[kept]
            changes["unit_pattern"] = (np.cumsum(patterns) - 1)[self.unit_pattern[kept]]
        return replace(self, **changes)


def read_ratings(
    ratings: RatingsLike | Ratings,
    *,
    labels: Sequence[Hashable] | None = None,
    unit_weights: npt.ArrayLike | None = None,
    items: Sequence[Hashable] | AnyArray | None = None,
    strata: Sequence[Hashable] | AnyArray | None = None,
    population: int | Mapping[Hashable, int] | None = None,
) -> Ratings:
    """Code ratings once for use by several coefficients.

    ratings: units x coders as a DataFrame, 2-D array or list of rows, or by name as {coder: [label of each unit]} or
    {coder: {unit: label}}. Missing: None, NaN, pandas.NA, masked. Numbers stay nominal codes until a level says
    otherwise.
    labels: the declared set, in order; None means the labels seen. A rating outside it is refused.
    unit_weights: (n,) positive design weights, usually 1 / inclusion probability.
    items: (n,) what each unit belongs to, where several units share one: the resampling unit of every interval.
    strata: (n,) strata of the sampling design: variances and draws stay within them.
    population: units (or {stratum: units}) drawn from without replacement, for the finite-population factor.
    """
    if isinstance(ratings, Ratings):
        if any(option is not None for option in (unit_weights, items, strata, population)):
            raise AgreementError(
                "Weights, items and strata belong to units, which were already read.", "Give them to read_ratings."
            )
        return ratings if labels is None else _redeclare(ratings, labels)
    return build(read_columns(ratings), labels, unit_weights, items, strata, population)


def read_pair(first: Any, second: Any, *, labels: Sequence[Hashable] | None = None, **units: Any) -> Ratings:
    """Two coders' labels over the same units. Raises AgreementError if their lengths or indexes differ."""
    return build(
        read_vectors(first, second), labels, *(units.get(k) for k in ("unit_weights", "items", "strata", "population"))
    )


def build(
    columns: Columns, labels: Sequence[Hashable] | None, given_weights: Any, items: Any, strata: Any, population: Any
) -> Ratings:
    """Ratings from columns and what belongs to their units."""
    weights = unit_weights(given_weights, columns.n)
    item_codes = unit_codes(items, columns.n, "items")
    stratum_codes = unit_codes(strata, columns.n, "strata")
    if weights is None and item_codes is None and stratum_codes is None:
        counted = count_alike(columns)
    else:
        stratum = np.zeros(columns.n, np.int64) if stratum_codes is None else stratum_codes[0]
        counted = count_within(columns, np.ones(columns.n) if weights is None else weights, stratum)
    raw, counts = counted.patterns.codes, counted.patterns.counts
    codes, order, outside = arrange(raw, counted.labels, labels)
    if outside:
        refuse_outside(outside[0], order, raw == list(counted.labels).index(outside[0]), counts, columns.coders)
    names = (None,) if stratum_codes is None else tuple(stratum_codes[1])
    ratings = Ratings(
        codes=codes,
        counts=counts,
        weight=counted.weight,
        stratum=counted.stratum,
        labels=tuple(order),
        declared=labels is not None,
        ordered=labels is not None or all(isinstance(label, int | float) for label in order),
        coders=columns.coders,
        strata=names,
        items=None if item_codes is None else item_codes[0].astype(np.int64),
        unit_pattern=None if item_codes is None else counted.of,
        population=population_sizes(population, names),
        weighted=weights is not None,
    )
    return ratings if codes is raw else _in_order(ratings)


def _in_order(ratings: Ratings) -> Ratings:
    """Patterns in the order of their codes, whatever order the labels were met in: seeded draws depend on it."""
    order = np.lexsort((*ratings.codes.T, ratings.weight, ratings.stratum))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return replace(
        ratings,
        codes=ratings.codes[order],
        counts=ratings.counts[order],
        weight=ratings.weight[order],
        stratum=ratings.stratum[order],
        unit_pattern=None if ratings.unit_pattern is None else place[ratings.unit_pattern],
    )


def _redeclare(ratings: Ratings, labels: Sequence[Hashable]) -> Ratings:
    codes, order, outside = arrange(ratings.codes, ratings.labels, labels)
    if outside:
        where = ratings.codes == ratings.labels.index(outside[0])
        refuse_outside(outside[0], order, where, ratings.counts, ratings.coders)
    return _in_order(replace(ratings, codes=codes, labels=tuple(order), declared=True, ordered=True))
