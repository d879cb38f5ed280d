"""Calibration: do the judge's probabilities mean what they say?"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement._shares import as_shares
from agreement._types import FloatArray, IntArray
from agreement.errors import AgreementError
from agreement.intervals import Interval, bootstrap_interval
from agreement.scored import Scored, resampled_weights, scored_units
from agreement.small_counts import wilson_interval

METHOD = "bootstrap within strata, bias removed"


@dataclass(frozen=True, slots=True)
class Bin:
    """Units with probability in [low, high) (the last bin is closed): mean stated probability, observed share of the
    positive label with a Wilson interval. Without units all three are None."""

    low: float
    high: float
    n: int
    weight: float
    stated: float | None
    observed: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """bins: the reliability table. ece: sum over bins of the share of units times |observed - stated|; brier: mean
    squared distance of probability and label (Brier 1950).

    plain_ece: the value without the removal of bias, which is what papers print. noise_floor: the ECE that sampling
    noise alone would show. distinguishable: whether ece is above three times that; if not, its interval goes down to 0.
    """

    bins: tuple[Bin, ...]
    ece: Interval
    plain_ece: float | None
    noise_floor: float | None
    distinguishable: bool
    brier: Interval
    n: int
    excluded: int


def calibration(
    probabilities: npt.ArrayLike,
    positive: npt.ArrayLike,
    *,
    seed: int,
    weights: npt.ArrayLike | None = None,
    stratum: Sequence[Hashable] | None = None,
    bins: int = 10,
    draws: int = 2000,
    level: float = 0.95,
) -> Calibration:
    """Reliability table, expected calibration error and Brier score.

    probabilities: n numbers in [0, 1] that the label is the positive one; positive: 1, 0 or a share; None or NaN is
    missing and counted. Bins are equally wide: min(floor(bins p), bins - 1). weights: design weights. The ECE of a
    sample is too large, since noise adds to every |observed - stated|: the estimate is 2 e - mean of the bootstrap, its
    interval a normal one, both cut at 0 and 1. Raises AgreementError on a probability outside [0, 1].
    """
    units = scored_units(as_shares(probabilities), positive, weights=weights, stratum=stratum)
    if len(units.score) and not (units.score[0] >= 0 and units.score[-1] <= 1):
        worst = units.score[0] if units.score[0] < 0 else units.score[-1]
        raise AgreementError(f"a probability is {worst:g}, expected 0 to 1", "Divide percentages by 100.")
    where = np.minimum(np.floor(units.score * bins).astype(np.int64), bins - 1)
    table = tuple(_bin(units, where == b, b, bins) for b in range(bins))
    if not len(units.score):
        nothing = Interval(None, None, None, level, METHOD, undefined="no unit has a probability and a human label")
        return Calibration(table, nothing, None, None, False, nothing, 0, units.excluded)
    drawn = resampled_weights(units, draws, seed)
    ece, plain, floor, clear = _ece(units, where, bins, drawn, level)
    return Calibration(table, ece, plain, floor, clear, _brier(units, drawn, level), len(units.score), units.excluded)


def _bin(units: Scored, inside: npt.NDArray[np.bool_], b: int, bins: int) -> Bin:
    n, weight = int(inside.sum()), float(units.weight[inside].sum())
    if not n:
        return Bin(b / bins, (b + 1) / bins, 0, 0.0, None, None, None)
    w = units.weight[inside] / weight
    observed, stated = float(w @ units.positive[inside]), min(float(w @ units.score[inside]), 1.0)
    # Kish's effective size: unequal weights are worth fewer units
    interval = wilson_interval(observed, 1 / float((w**2).sum()))
    return Bin(b / bins, (b + 1) / bins, n, weight, stated, interval.value, interval)


def _gaps(units: Scored, where: IntArray, bins: int, weights: FloatArray) -> FloatArray:
    """(B, bins) share of the weight times (observed - stated) in each bin."""
    onehot = np.eye(bins)[where] * (units.positive - units.score)[:, None]
    gaps: FloatArray = weights @ onehot / weights.sum(axis=1, keepdims=True)
    return gaps


def _ece(
    units: Scored, where: IntArray, bins: int, drawn: FloatArray, level: float
) -> tuple[Interval, float, float, bool]:
    from agreement._quantiles import normal_quantile

    plain = float(np.abs(_gaps(units, where, bins, units.weight[None])).sum())
    gaps = _gaps(units, where, bins, drawn)
    errors = np.abs(gaps).sum(axis=1)
    floor = float(np.sqrt(2 / np.pi) * gaps.std(axis=0).sum())
    value = min(max(2 * plain - float(errors.mean()), 0.0), 1.0)
    half = normal_quantile(0.5 + level / 2) * float(errors.std())
    clear = plain >= 3 * floor
    low = max(value - half, 0.0) if clear else 0.0
    return Interval(value, low, min(value + half, 1.0), level, METHOD, len(errors)), plain, floor, clear


def _brier(units: Scored, drawn: FloatArray, level: float) -> Interval:
    # a split label is that share of a 1 and the rest of a 0
    loss = units.positive * (1 - units.score) ** 2 + (1 - units.positive) * units.score**2
    value = float(units.weight @ loss / units.weight.sum())
    return bootstrap_interval(value, drawn @ loss / drawn.sum(axis=1), level=level, method="percentile bootstrap")
