"""The numbers that a judge and people are compared on, for many resamples at once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from agreement._types import FloatArray, IntArray
from agreement.resampled_units import Blocks

Statistic = Callable[[FloatArray], FloatArray]
"""From multiplicities (b, K) to (b, 2): the number for the judge and for people."""


def _block_sums(blocks: Blocks, values: FloatArray) -> FloatArray:
    """(K, ...) sums of unit values over one copy of each block."""
    sums = np.zeros((len(blocks.count), *values.shape[1:]))
    np.add.at(sums, blocks.unit, values)
    copies = blocks.count if blocks.by == "units" else np.ones_like(blocks.count)
    result: FloatArray = sums / copies.reshape(-1, *[1] * (values.ndim - 1))
    return result


def _pair_table(table: IntArray, weight: FloatArray, blocks: Blocks, a: int, b: int, size: int) -> FloatArray:
    """(K, size * size) weighted cross table of two raters in each block."""
    both = (table[:, a] >= 0) & (table[:, b] >= 0)
    cell = np.where(both, table[:, a] * size + table[:, b], 0)
    onehot = np.zeros((len(table), size * size))
    onehot[np.arange(len(table)), cell] = weight * both
    return _block_sums(blocks, onehot)


def _kappa(flat: FloatArray, size: int) -> FloatArray:
    tables = flat.reshape(len(flat), size, size)
    total = tables.sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = tables / total[:, None, None]
        chance = (shares.sum(axis=1) * shares.sum(axis=2)).sum(axis=1)
        observed = np.trace(shares, axis1=1, axis2=2)
        return np.asarray(np.where(1 - chance > 1e-12, (observed - chance) / (1 - chance), np.nan))


def mean_kappas(table: IntArray, blocks: Blocks, weight: FloatArray, size: int) -> Statistic:
    coders = table.shape[1] - 1
    humans = [_pair_table(table, weight, blocks, a, b, size) for a, b in combinations(range(coders), 2)]
    judged = [_pair_table(table, weight, blocks, coders, a, size) for a in range(coders)]

    def statistic(w: FloatArray) -> FloatArray:
        return np.stack([_mean([_kappa(w @ t, size) for t in tables]) for tables in (judged, humans)], axis=1)

    return statistic


def defined_pairs(table: IntArray, weight: FloatArray, blocks: Blocks, size: int) -> int:
    coders = table.shape[1] - 1
    observed = blocks.count[None].astype(np.float64)
    tables = (_pair_table(table, weight, blocks, a, b, size) for a, b in combinations(range(coders), 2))
    return sum(bool(np.isfinite(_kappa(observed @ t, size)[0])) for t in tables)


def alphas(table: IntArray, blocks: Blocks, weight: FloatArray, size: int) -> Statistic:
    """Nominal alpha (Krippendorff 2011) with and without the judge, from per-unit sums."""
    versions = [_alpha_parts(codes, weight, blocks, size) for codes in (table, table[:, :-1])]

    def statistic(w: FloatArray) -> FloatArray:
        return np.stack([_alpha(w @ parts) for parts in versions], axis=1)

    return statistic


def _alpha_parts(codes: IntArray, weight: FloatArray, blocks: Blocks, size: int) -> FloatArray:
    counts = np.stack([(codes == k).sum(axis=1) for k in range(size)], axis=1).astype(np.float64)
    given = counts.sum(axis=1)
    apart = (given**2 - (counts**2).sum(axis=1)) / (given - 1)
    return _block_sums(blocks, weight[:, None] * np.column_stack([apart, counts]))


def _alpha(sums: FloatArray) -> FloatArray:
    counts = sums[:, 1:]
    n = counts.sum(axis=1)
    expected = n**2 - (counts**2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(expected > 1e-9 * n**2, 1 - (n - 1) * sums[:, 0] / expected, np.nan))


def rating_errors(table: FloatArray, blocks: Blocks, weight: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """(2, b, 2): mean absolute and root mean squared difference, each for the judge and for people."""
    coders = table.shape[1] - 1
    pairs = [[(coders, a) for a in range(coders)], list(combinations(range(coders), 2))]
    sums = [[_block_sums(blocks, _gaps(table, weight, a, b)) for a, b in group] for group in pairs]

    def errors(w: FloatArray) -> FloatArray:
        totals = [[w @ each for each in group] for group in sums]
        with np.errstate(divide="ignore", invalid="ignore"):
            absolute = [_mean([t[:, 1] / t[:, 0] for t in group]) for group in totals]
            squared = [_mean([np.sqrt(t[:, 2] / t[:, 0]) for t in group]) for group in totals]
        return np.stack([np.stack(absolute, axis=1), np.stack(squared, axis=1)])

    return errors


def _gaps(table: FloatArray, weight: FloatArray, a: int, b: int) -> FloatArray:
    gap = np.abs(table[:, a] - table[:, b])
    both = np.isfinite(gap)
    gap = np.where(both, gap, 0.0)
    return np.asarray(np.column_stack([both, gap, gap**2]) * weight[:, None])


def _mean(values: list[FloatArray]) -> FloatArray:
    """Mean over the pairs that are defined in a draw; NaN where none is."""
    stacked = np.stack(values)
    defined = np.isfinite(stacked)
    total = np.where(defined, stacked, 0.0).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(total / defined.sum(axis=0))
