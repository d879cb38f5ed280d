"""The rows a statistic uses, with their masses, and the blocks (units or items) that vary from sample to sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agreement._coding import MISSING
from agreement._patterns import decode
from agreement._statistic import Statistic, chunks
from agreement._types import AnyArray, FloatArray, IntArray
from agreement.errors import AgreementError
from agreement.ratings import Ratings

_MOST_KEYS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """rows: (G, R), or (G, q) label counts. counts: (G,) units with the row; weight: (G,) of one unit; stratum: (G,).

    items, unit_row: (n,) item and row of each unit, or None where each unit is its own item.
    """

    rows: AnyArray
    counts: FloatArray
    weight: FloatArray
    stratum: IntArray
    n_strata: int = 1
    population: FloatArray | None = None
    items: IntArray | None = None
    unit_row: IntArray | None = None

    @property
    def mass(self) -> FloatArray:
        return np.asarray(self.counts * self.weight)

    @property
    def n(self) -> int:
        return int(self.counts.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """What is resampled. parts: (G, F) weighted features of one block of each kind; counts, stratum: (G,)."""

    parts: FloatArray
    counts: IntArray
    stratum: IntArray


def sample_of(statistic: Statistic, ratings: Ratings) -> Sample:
    """The rows that the statistic can use: numbers, codes, or label counts where coders are exchangeable."""
    if statistic.exchangeable and not statistic.numeric:
        counted = _label_count_sample(statistic, ratings)
        if counted is not None:
            return counted
    rows = ratings.values if statistic.numeric else ratings.codes
    usable = statistic.eligible(rows)
    every = bool(usable.all())
    if not every and ratings.items is not None:
        return sample_of(statistic, ratings.where(usable))
    kept = slice(None) if every else np.flatnonzero(usable)
    return Sample(
        rows[kept],
        ratings.counts[kept].astype(np.float64),
        ratings.weight[kept],
        ratings.stratum[kept],
        len(ratings.strata),
        ratings.population,
        ratings.items,
        ratings.unit_pattern,
    )


def _label_count_sample(statistic: Statistic, ratings: Ratings) -> Sample | None:
    """Patterns that differ only in who gave which label, as one; None where too many are possible or units differ."""
    width, q = ratings.codes.shape[1], statistic.q
    if (width + 1) ** q > _MOST_KEYS or ratings.weighted or ratings.items is not None or len(ratings.strata) > 1:
        return None
    powers = np.append((width + 1) ** np.arange(q), 0)
    keys = np.take(powers, ratings.codes.T, mode="wrap").sum(axis=0)  # -1 takes the last entry, 0
    found = decode(np.bincount(keys, ratings.counts, (width + 1) ** q), width + 1, q)
    given = (found.codes - MISSING).astype(np.float64)
    usable = statistic.eligible(given)
    counts = found.counts[usable].astype(np.float64)
    return Sample(given[usable], counts, np.ones(len(counts)), np.zeros(len(counts), np.int64), 1, ratings.population)


def block_influence(
    statistic: Statistic, sample: Sample, totals: FloatArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Weighted influence, count and stratum of each kind of block."""
    influence = sample.weight * statistic.influence(sample.rows, totals)
    if sample.items is None or sample.unit_row is None:
        return influence, sample.counts, sample.stratum
    item, stratum = _items(sample.items, sample.stratum[sample.unit_row])
    return np.asarray(np.bincount(item, influence[sample.unit_row])), np.ones(len(stratum)), stratum


def blocks_of(statistic: Statistic, sample: Sample) -> Blocks:
    """Blocks for resampling: rows, or items with the features of their units added up."""
    if sample.items is not None and sample.unit_row is not None:
        item, stratum = _items(sample.items, sample.stratum[sample.unit_row])
        parts = np.zeros((len(stratum), statistic.width))
        np.add.at(parts, item, _weighted(statistic, sample)[sample.unit_row])
        return Blocks(parts, np.ones(len(stratum), np.int64), stratum)
    return Blocks(_weighted(statistic, sample), sample.counts.astype(np.int64), sample.stratum)


def _weighted(statistic: Statistic, sample: Sample) -> FloatArray:
    parts = [statistic.features(sample.rows[part]) for part in chunks(len(sample.rows), statistic.width)]
    return np.concatenate(parts) * sample.weight[:, None]


def _items(items: IntArray, by_unit: IntArray) -> tuple[IntArray, IntArray]:
    """Dense item number of each unit, and the stratum of each item. by_unit: (n,) stratum of each unit."""
    _, first, item = np.unique(items, return_index=True, return_inverse=True)
    stratum = by_unit[first]
    if (stratum[item] != by_unit).any():
        raise AgreementError(
            "An item has units in two strata.", "Strata must hold whole items, or leave one of the two out."
        )
    return item, stratum
