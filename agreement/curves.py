"""ROC and precision-recall curves of a judge's score, with areas and their intervals."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from agreement._types import FloatArray
from agreement.intervals import Interval, bootstrap_interval
from agreement.scored import Scored, resampled_weights, scored_units
from agreement.small_counts import SMALL, area_interval

METHOD = "percentile bootstrap within strata"


@dataclass(frozen=True, slots=True)
class Curve:
    """Points of a curve from the highest threshold to the lowest; a unit is called positive when score >= threshold.

    kind "ROC": x is the false positive rate, y the true positive rate; both start at 0 with threshold infinity. kind
    "PR": x is recall, y precision. area: under the ROC curve by trapezoids (ties count half); for PR the average
    precision, a step sum without interpolation (Davis and Goadrich 2006). undefined area: one class only.
    """

    kind: Literal["ROC", "PR"]
    threshold: tuple[float, ...]
    x: tuple[float, ...]
    y: tuple[float, ...]
    area: Interval
    n: int
    excluded: int


def roc_curve(
    scores: npt.ArrayLike,
    positive: npt.ArrayLike,
    *,
    seed: int,
    weights: npt.ArrayLike | None = None,
    stratum: Sequence[Hashable] | None = None,
    draws: int = 2000,
    level: float = 0.95,
) -> Curve:
    """ROC curve. scores: n numbers, higher for positive; positive: 1, 0 or a share; None or NaN missing, counted.

    weights: design weights. stratum: the bootstrap resamples within. Raises AgreementError on lengths and values.
    """
    units = scored_units(scores, positive, weights=weights, stratum=stratum)
    ends = _ends(units)
    hit, false = _above(units.weight * units.positive, ends), _above(units.weight * (1 - units.positive), ends)
    tpr, fpr = (np.append(0.0, _share(part)) for part in (hit, false))
    threshold = np.append(np.inf, units.score[ends][::-1])
    area = _area(units, ends, _auc, seed, draws, level)
    return _curve("ROC", threshold, fpr, tpr, area, units)


def precision_recall_curve(
    scores: npt.ArrayLike,
    positive: npt.ArrayLike,
    *,
    seed: int,
    weights: npt.ArrayLike | None = None,
    stratum: Sequence[Hashable] | None = None,
    draws: int = 2000,
    level: float = 0.95,
) -> Curve:
    """Precision-recall curve; arguments as `roc_curve`."""
    units = scored_units(scores, positive, weights=weights, stratum=stratum)
    ends = _ends(units)
    hit, called = _above(units.weight * units.positive, ends), _above(units.weight, ends)
    area = _area(units, ends, _average_precision, seed, draws, level)
    return _curve("PR", units.score[ends][::-1], _share(hit), hit / np.where(called > 0, called, 1), area, units)


Area = Callable[[FloatArray, FloatArray], FloatArray]
"""From totals of positives and of negatives at or above each threshold, (B, T) descending, to (B,) areas."""


def _ends(units: Scored) -> npt.NDArray[np.int64]:
    """First position of each distinct score, ascending."""
    starts = np.append(True, units.score[1:] != units.score[:-1]) if len(units.score) else np.zeros(0, np.bool_)
    return np.flatnonzero(starts)


def _above(values: FloatArray, ends: npt.NDArray[np.int64]) -> FloatArray:
    """(..., T) sums of the units at or above each distinct score, from the highest score down."""
    if not len(ends):
        return np.zeros((*values.shape[:-1], 0))
    by_score = np.add.reduceat(values, ends, axis=-1)[..., ::-1]
    summed: FloatArray = np.cumsum(by_score, axis=-1)
    return summed


def _share(cumulated: FloatArray) -> FloatArray:
    total = cumulated[-1] if len(cumulated) else 0.0
    return cumulated / total if total else np.zeros_like(cumulated)


def _auc(hit: FloatArray, false: FloatArray) -> FloatArray:
    start = np.zeros((len(hit), 1))
    y, x = np.concatenate([start, hit], axis=1), np.concatenate([start, false], axis=1)
    area = ((x[:, 1:] - x[:, :-1]) * (y[:, 1:] + y[:, :-1])).sum(axis=1) / 2
    return _over(area, hit[:, -1] * false[:, -1])


def _average_precision(hit: FloatArray, false: FloatArray) -> FloatArray:
    called = hit + false
    precision = hit / np.where(called > 0, called, 1)
    steps = np.diff(hit, axis=1, prepend=0)
    return _over((steps * precision).sum(axis=1), hit[:, -1])


def _over(top: FloatArray, bottom: FloatArray) -> FloatArray:
    result: FloatArray = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0)
    return result


def _area(units: Scored, ends: npt.NDArray[np.int64], area: Area, seed: int, draws: int, level: float) -> Interval:
    if not len(ends) or not 0 < units.positive.sum() < len(units.positive):
        reason = "people give one of the two answers only: no curve has an area"
        return Interval(None, None, None, level, METHOD, undefined=reason)
    values = []
    step = max(1, 20_000_000 // len(units.score))
    everything = np.concatenate([units.weight[None], resampled_weights(units, draws, seed)])
    for start in range(0, len(everything), step):
        w = everything[start : start + step]
        values.append(area(_above(w * units.positive, ends), _above(w * (1 - units.positive), ends)))
    drawn = np.concatenate(values)
    return _careful(area, units, bootstrap_interval(float(drawn[0]), drawn[1:], level=level, method=METHOD))


def _careful(area: Area, units: Scored, found: Interval) -> Interval:
    """A bootstrap of a few units, or of classes that a score separates, knows nothing: say so or do better."""
    positives, negatives = _effective(units.weight * units.positive), _effective(units.weight * (1 - units.positive))
    separated = found.value is not None and found.value in (0.0, 1.0)
    if found.value is None or not (separated or found.low is None or min(positives, negatives) < SMALL):
        return found
    if area is _auc:
        return area_interval(min(max(found.value, 0.0), 1.0), positives, negatives, level=found.level)
    why = "the classes are separated" if separated else f"fewer than {SMALL} units of a class"
    return Interval(found.value, None, None, found.level, f"{METHOD}: no interval, {why}", found.draws)


def _effective(weights: FloatArray) -> float:
    """Kish's effective number of units."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def _curve(
    kind: Literal["ROC", "PR"], threshold: FloatArray, x: FloatArray, y: FloatArray, area: Interval, units: Scored
) -> Curve:
    cuts, across, up = (tuple(float(v) for v in column) for column in (threshold, x, y))
    return Curve(kind, cuts, across, up, area, len(units.score), units.excluded)
