"""From which rating on does a rated judge call a reason aligned? The sweep over thresholds.

People's verdict (their rating against the protocol's own threshold) stays; the judge's threshold moves. The
human-optimal threshold has the highest kappa against people; ties give their midpoint; its interval comes from a
stratified bootstrap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from agreement.impact.case import Case, build_cases
from agreement.impact.estimate import Estimate, undefined
from agreement.impact.onsample import sampling_groups
from agreement.impact.records import FloatArray, IntArray, Records, Sample
from agreement.impact.streams import stream
from agreement.scores.nas import Reasoned
from agreement.scores.verdicts import Verdicts

SWEEP = tuple(range(101))


@dataclass(frozen=True, slots=True)
class ThresholdPoint:
    """The judge at one threshold, against people, and each model's score under the judge on the whole corpus."""

    threshold: float
    agreement: float | None
    kappa: float | None
    precision: float | None
    recall: float | None
    scores: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class ThresholdSweep:
    """points: one per threshold. best: the human-optimal threshold. n: units rated by judge and people."""

    part: str
    points: tuple[ThresholdPoint, ...]
    best: Estimate
    n: int


def sweep_thresholds(
    score: Reasoned,
    judge: str,
    corpus: Records,
    sample: Sample,
    *,
    thresholds: Sequence[float] = SWEEP,
    draws: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> ThresholdSweep:
    """Sweep the judge's threshold of a rated score (NAS or KIS)."""
    cases = build_cases(Verdicts(score, corpus.labels), judge, corpus, sample)
    sides = [case.sample.take(case.sample.paired) for case in cases.values()]
    units = np.concatenate([side.units for side in sides])
    scores = [_scores(score, judge, corpus, threshold) for threshold in thresholds]
    if not len(units):
        empty = tuple(ThresholdPoint(t, None, None, None, None, s) for t, s in zip(thresholds, scores, strict=True))
        return ThresholdSweep(score.name, empty, undefined("no record was rated by judge and people"), 0)
    rating = sample.records.ratings[judge][units]
    people = np.concatenate([side.shares for side in sides])[:, -1]
    weight = np.concatenate([side.weight for side in sides])
    groups = np.concatenate([_groups(case, i) for i, case in enumerate(cases.values())])
    above = rating[:, None] >= np.asarray(thresholds, np.float64)
    tables = _tables(weight[None], above, people)
    agreement, kappa, precision, recall = (values[0] for values in _measures(tables))
    points = tuple(
        ThresholdPoint(
            t, _number(agreement[i]), _number(kappa[i]), _number(precision[i]), _number(recall[i]), scores[i]
        )
        for i, t in enumerate(thresholds)
    )
    best = _best(np.asarray(thresholds, np.float64), kappa, weight, above, people, groups, draws, seed, level)
    return ThresholdSweep(score.name, points, best, len(units))


def _groups(case: Case, index: int) -> IntArray:
    side = case.sample.take(case.sample.paired)
    return sampling_groups(side.stratum, side.inclusion) + index * 1_000_000


def _scores(score: Reasoned, judge: str, corpus: Records, threshold: float) -> dict[str, float | None]:
    moved = replace(score, threshold=threshold)
    cases = build_cases(moved, judge, corpus, None)
    return {model: _number(float(moved.values(case.judge_totals())[0])) for model, case in cases.items()}


def _tables(weight: FloatArray, above: np.ndarray, people: FloatArray) -> FloatArray:
    """(B, T, 4) weighted shares: both aligned, only judge, only people, neither."""
    total = weight.sum(axis=1, keepdims=True)
    both = weight @ (above * people[:, None]) / total
    judge = weight @ above.astype(np.float64) / total
    human = (weight @ people)[:, None] / total
    return np.stack([both, judge - both, human - both, 1 - judge - human + both], axis=-1)


def _measures(tables: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Agreement, Cohen's kappa, precision and recall of ALIGNED, each (B, T) with NaN where undefined."""
    both, judge, human, neither = np.moveaxis(tables, -1, 0)
    agreement = both + neither
    chance = (both + judge) * (both + human) + (neither + judge) * (neither + human)
    return (
        agreement,
        _quotient(agreement - chance, 1 - chance),
        _quotient(both, both + judge),
        _quotient(both, both + human),
    )


def _quotient(part: FloatArray, whole: FloatArray) -> FloatArray:
    found: FloatArray = np.where(whole > 1e-12, part / np.where(whole > 1e-12, whole, 1), np.nan)
    return found


def _best(
    thresholds: FloatArray,
    kappa: FloatArray,
    weight: FloatArray,
    above: np.ndarray,
    people: FloatArray,
    groups: IntArray,
    draws: int,
    seed: int,
    level: float,
) -> Estimate:
    method = "highest kappa, stratified bootstrap"
    if not np.isfinite(kappa).any():
        return undefined("kappa is undefined at every threshold", method)
    value = float(_optimum(thresholds, kappa[None])[0])
    rng = stream(seed, "thresholds")
    times = np.zeros((draws, len(weight)))
    for group in np.unique(groups):
        at = np.flatnonzero(groups == group)
        picked = rng.integers(0, len(at), (draws, len(at))) + np.arange(draws)[:, None] * len(at)
        times[:, at] = np.bincount(picked.ravel(), minlength=draws * len(at)).reshape(draws, len(at))
    drawn = _optimum(thresholds, _measures(_tables(times * weight, above, people))[1])
    drawn = drawn[np.isfinite(drawn)]
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(
        value, min(float(low), value), max(float(high), value), None, method, level, len(drawn), draws - len(drawn)
    )


def _optimum(thresholds: FloatArray, kappa: FloatArray) -> FloatArray:
    """(B,) midpoint of the thresholds with the highest kappa of each row (B, T); NaN where none is defined."""
    highest = np.nanmax(np.where(np.isfinite(kappa), kappa, -np.inf), axis=1, keepdims=True)
    at = np.isfinite(kappa) & (kappa >= highest - 1e-12)
    first = thresholds[at.argmax(axis=1)]
    last = thresholds[kappa.shape[1] - 1 - at[:, ::-1].argmax(axis=1)]
    return np.where(at.any(axis=1), (first + last) / 2, np.nan)


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
