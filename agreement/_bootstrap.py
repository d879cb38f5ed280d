"""Bootstrap over counts of distinct blocks: the cost of a draw does not grow with the number of units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agreement._quantiles import normal_cdf, normal_quantile
from agreement._sample import Blocks
from agreement._statistic import Statistic, chunks
from agreement._types import FloatArray, IntArray

_CELLS = 1 << 21


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """values: the defined draws; undefined: how many were not."""

    values: FloatArray
    undefined: int


def draw_values(statistic: Statistic, blocks: Blocks, draws: int, seed: int) -> Draws:
    """The statistic in `draws` resamples of blocks with replacement within strata (PCG64)."""
    rng = np.random.Generator(np.random.PCG64(seed))
    values = np.empty(draws)
    for part in chunks(draws, len(blocks.counts), _CELLS):
        size = len(range(*part.indices(draws)))
        values[part] = statistic.evaluate(_resample(rng, blocks, size) @ blocks.parts)
    defined = values[~np.isnan(values)]
    return Draws(defined, draws - len(defined))


def _resample(rng: np.random.Generator, blocks: Blocks, size: int) -> FloatArray:
    """(size, G) how often each kind of block is drawn."""
    if not blocks.stratum.any():
        return _multiplicities(rng, blocks.counts, size)
    drawn = np.empty((size, len(blocks.counts)))
    for stratum in np.unique(blocks.stratum):
        inside = np.flatnonzero(blocks.stratum == stratum)
        drawn[:, inside] = _multiplicities(rng, blocks.counts[inside], size)
    return drawn


def _multiplicities(rng: np.random.Generator, counts: IntArray, size: int) -> FloatArray:
    n, kinds = int(counts.sum()), len(counts)
    if 8 * kinds <= n:  # fewer binomial draws than units to pick
        return rng.multinomial(n, counts / n, size=size).astype(np.float64)
    of_unit = np.repeat(np.arange(kinds), counts)
    picked = of_unit[rng.integers(0, n, (size, n))] + np.arange(size)[:, None] * kinds
    return np.bincount(picked.ravel(), minlength=size * kinds).reshape(size, kinds).astype(np.float64)


def percentile_interval(draws: Draws, confidence: float) -> tuple[float, float]:
    """Equal-tailed quantiles, linearly interpolated (type 7 of Hyndman and Fan 1996)."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws.values, [tail, 1 - tail])
    return float(low), float(high)


def bca_interval(
    statistic: Statistic, blocks: Blocks, draws: Draws, value: float, confidence: float
) -> tuple[float, float] | None:
    """Bias-corrected and accelerated (Efron 1987), acceleration from the jackknife over blocks; None where it has no
    value.
    """
    below = (draws.values < value).mean() + (draws.values == value).mean() / 2
    acceleration = _acceleration(statistic, blocks)
    if not 0 < below < 1 or acceleration is None:
        return None
    shift = normal_quantile(float(below))
    ends = []
    for tail in ((1 - confidence) / 2, (1 + confidence) / 2):
        z = shift + normal_quantile(tail)
        if acceleration * z >= 1:
            return None
        ends.append(normal_cdf(shift + z / (1 - acceleration * z)))
    low, high = np.quantile(draws.values, ends)
    return float(low), float(high)


def _acceleration(statistic: Statistic, blocks: Blocks) -> float | None:
    totals = blocks.counts @ blocks.parts
    left = np.concatenate(
        [statistic.evaluate(totals - blocks.parts[part]) for part in chunks(len(blocks.parts), statistic.width)]
    )
    known = ~np.isnan(left)
    counts, left = blocks.counts[known], left[known]
    if not counts.sum():
        return None
    pull = (counts @ left) / counts.sum() - left
    spread = float(counts @ pull**2)
    return float(counts @ pull**3) / (6 * spread**1.5) if spread > 0 else None
