"""Scores on the sample: judge and people on the same records, weighted by the design, with a paired difference.

Records that need no judgement are known for the whole corpus and enter with their counts; the weights of the others are
scaled to add to the number of records that they stand for. Scores are then ratios of weighted totals (Hajek 1971). For
means of per-record values the standard error comes from linearisation and, beside it, from a stratified bootstrap that
rescales weights (Rao, Wu and Yue 1992), for other functions from the bootstrap, centred on the bias-corrected value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from agreement.impact.case import Case
from agreement.impact.estimate import Estimate, centred, normal, point, undefined
from agreement.impact.records import FloatArray, IntArray
from agreement.scores.base import Ratio

LINEAR, BOOTSTRAP = "linearisation", "stratified bootstrap"
CENTRED = "bias-corrected bootstrap"
NO_UNITS = "no sampled record with both a human and a judge label"
CHUNK = 2_000_000


@dataclass(frozen=True, slots=True)
class SamplePart:
    """One part on the sample. delta: people minus judge, paired. delta_bootstrap: beside the linearised interval."""

    judge: Estimate
    human: Estimate
    delta: Estimate
    delta_bootstrap: Estimate | None
    n: int


@dataclass(frozen=True, slots=True)
class Weighted:
    """Paired units of one case, ready for totals.

    groups: (n,) sampling stratum (a stratum with a single unit is joined with the others that are short of units).
    rate: (n,) sampled fraction of the stratum. z: (2, n, d) features under the judge's and people's outcome.
    known: (d,) totals without judgement. scale: what the weights add to when there are such totals, else None.
    """

    z: FloatArray
    weight: FloatArray
    groups: IntArray
    rate: FloatArray
    known: FloatArray
    scale: float | None

    def totals(self, weight: FloatArray) -> FloatArray:
        """(..., 2, d) totals under judge and people for weights (..., n)."""
        both = np.concatenate([self.z[0], self.z[1]], axis=1)
        totals: FloatArray = (weight @ both).reshape(*weight.shape[:-1], 2, self.z.shape[2])
        if self.scale is not None:
            totals = self.known + totals * (self.scale / weight.sum(axis=-1))[..., None, None]
        return totals


def weighted_units(case: Case, finite: bool = True) -> Weighted:
    """The paired units of a case with their strata; `finite` takes the sampled fraction into account."""
    units = case.sample.take(case.sample.paired)
    groups = sampling_groups(units.stratum, units.inclusion)
    rate = np.clip(1 / units.weight, 0, 1) if finite else np.zeros(len(units))
    known = case.settled_totals()
    scale = float(case.open_records(judged_only=True)) if case.corpus.settled.any() else None
    return Weighted(np.stack([units.judge, units.human]), units.weight, groups, rate, known, scale)


def sampling_groups(stratum: IntArray, inclusion: FloatArray) -> IntArray:
    """(n,) groups of units drawn alike: same stratum and inclusion probability; singletons are joined with each other.

    A singleton on its own is joined with the largest group, since one unit has no variance.
    """
    if not len(stratum):
        return stratum
    _, chance = np.unique(np.round(inclusion, 12), return_inverse=True)
    _, group = np.unique(stratum * (chance.max() + 1) + chance, return_inverse=True)
    sizes = np.bincount(group)
    alone = sizes[group] == 1
    if not alone.any() or len(sizes) == 1:
        return group
    home = int(sizes.argmax()) if alone.sum() == 1 else int(group[alone][0])
    return np.where(alone, home, group)


def linear_variance(errors: FloatArray, groups: IntArray, rate: FloatArray) -> float:
    """Variance of the sum of weighted errors (n,): sum_h (1 - f_h) n_h s_h^2; NaN when a stratum has a single unit."""
    n = np.bincount(groups)
    held = n > 0
    if not held.any() or (n[held] < 2).any():
        return float("nan")
    mean = np.bincount(groups, errors)[held] / n[held]
    square = np.bincount(groups, errors**2)[held] / n[held] - mean**2
    fraction = np.bincount(groups, rate)[held] / n[held]
    return float(((1 - fraction) * n[held] ** 2 / (n[held] - 1) * np.maximum(square, 0)).sum())


def ratio_errors(data: Weighted, side: int, ratio: Ratio) -> FloatArray:
    """(n,) weighted linearised errors of a ratio of totals on one side (0 judge, 1 people)."""
    totals = data.totals(data.weight)[side]
    whole = totals @ ratio.denominator
    gradient = (ratio.numerator - (totals @ ratio.numerator / whole) * ratio.denominator) / whole
    z, scale = data.z[side], 1.0
    if data.scale is not None:
        scale = data.scale / data.weight.sum()
        z = z - data.weight @ z / data.weight.sum()
    errors: FloatArray = data.weight * scale * (z @ gradient)
    return errors


def bootstrap_totals(data: Weighted, draws: int, rng: np.random.Generator) -> FloatArray:
    """(B, 2, d) totals under judge and people over resamples of the units inside their strata."""
    size = max(1, min(draws, CHUNK // max(len(data.weight), 1)))
    found = [data.totals(_weights(data, min(size, draws - at), rng)) for at in range(0, draws, size)]
    return np.concatenate(found)


def _weights(data: Weighted, draws: int, rng: np.random.Generator) -> FloatArray:
    """(draws, n) rescaled weights: w (1 - l + l n/(n - 1) m), m from n - 1 draws, l = sqrt(1 - f): never negative."""
    weights = np.empty((draws, len(data.weight)))
    for group in np.unique(data.groups):
        at = np.flatnonzero(data.groups == group)
        n = len(at)
        if n == 1:
            weights[:, at] = data.weight[at]
            continue
        shrink = np.sqrt(1 - data.rate[at].mean())
        times = _multiplicities(n, n - 1, draws, rng)
        weights[:, at] = data.weight[at] * (1 - shrink + shrink * n / (n - 1) * times)
    return weights


def _multiplicities(n: int, size: int, draws: int, rng: np.random.Generator) -> FloatArray:
    """(draws, n) how often each of n units is taken in `size` draws with replacement."""
    picked = rng.integers(0, n, (draws, size)) + np.arange(draws)[:, None] * n
    return np.bincount(picked.ravel(), minlength=draws * n).reshape(draws, n).astype(np.float64)


def sample_parts(
    case: Case, *, draws: int, rng: np.random.Generator, level: float = 0.95, finite: bool = True
) -> dict[str, SamplePart]:
    """Every part of the score on the sample, judge against people."""
    data = weighted_units(case, finite)
    n = data.z.shape[1]
    if n == 0:
        nothing = undefined(NO_UNITS)
        return {part: SamplePart(nothing, nothing, nothing, None, 0) for part in case.score.parts}
    values = case.score.values(data.totals(data.weight))
    resampled = case.score.values(bootstrap_totals(data, draws, rng)) if draws else None
    freedom = max(n - len(np.unique(data.groups)), 1)
    quantile = float(stdtrit(freedom, (1 + level) / 2))
    return {
        part: _part(case, data, part, values[:, i], None if resampled is None else resampled[..., i], quantile, level)
        for i, part in enumerate(case.score.parts)
    }


def _part(
    case: Case, data: Weighted, part: str, values: FloatArray, draws: FloatArray | None, quantile: float, level: float
) -> SamplePart:
    why, ratio = case.score.why(part), case.score.ratio(part)
    n = data.z.shape[1]
    difference = float(values[1] - values[0])
    low, high = case.score.bounds
    wide = (low - high, high - low)
    if ratio is None:
        if draws is None:
            return SamplePart(point(values[0], why), point(values[1], why), point(difference, why), None, n)
        sides = [_around(float(values[s]), draws[:, s], quantile, level, why, case.score.bounds) for s in (0, 1)]
        delta = _around(difference, draws[:, 1] - draws[:, 0], quantile, level, why, wide)
        return SamplePart(sides[0], sides[1], delta, None, n)
    errors = [ratio_errors(data, s, ratio) if np.isfinite(values[s]) else np.full(n, np.nan) for s in (0, 1)]
    parts = [
        _linear(float(v), e, data, quantile, level, why, limits)
        for v, e, limits in (
            (values[0], errors[0], case.score.bounds),
            (values[1], errors[1], case.score.bounds),
            (difference, errors[1] - errors[0], wide),
        )
    ]
    beside = None
    if draws is not None:
        spread = draws[:, 1] - draws[:, 0]
        se = float(spread[np.isfinite(spread)].std(ddof=1)) if np.isfinite(spread).any() else float("nan")
        beside = normal(difference, se, quantile=quantile, level=level, method=BOOTSTRAP, why=why)
    return SamplePart(parts[0], parts[1], parts[2], beside, n)


def _linear(
    value: float,
    errors: FloatArray,
    data: Weighted,
    quantile: float,
    level: float,
    why: str,
    bounds: tuple[float, float],
) -> Estimate:
    se = float(np.sqrt(linear_variance(errors, data.groups, data.rate)))
    return normal(value, se, quantile=quantile, level=level, method=LINEAR, why=why, bounds=bounds)


def _around(
    value: float, draws: FloatArray, quantile: float, level: float, why: str, bounds: tuple[float, float]
) -> Estimate:
    """The plain value with the interval of the bias-corrected bootstrap (its centre may differ from the value)."""
    found = centred(value, draws, quantile=quantile, level=level, method=CENTRED, why=why, bounds=bounds)
    if found.value is None or found.low is None or found.high is None:
        return found
    return Estimate(
        value, min(found.low, value), max(found.high, value), found.se, found.method, level, found.draws,
        found.undefined_draws,
    )  # fmt: skip
