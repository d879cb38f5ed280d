"""The ranking of models under the judge and under people's labels: how sure it is, and what would settle it.

Ranks come from joint draws of all models' scores. P(A above B) is the share of draws with A above B, ties (differences
below 1e-12) count half. Models that tie in a draw share their ranks equally, so that rows and columns of P(rank) add to
1. Higher is better. Nothing is claimed about the coverage of the ranking as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from agreement.impact.estimate import Estimate, from_draws, undefined
from agreement.impact.records import FloatArray

TIE = 1e-12
SETTLED_AT = 0.975


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models: P(first above second) under people's labels, and whether that is settled at 95 %.

    difference: first minus second under people's labels. judge: the same under the judge alone.
    """

    first: str
    second: str
    probability: float
    settled: bool
    difference: Estimate
    judge: float | None


@dataclass(frozen=True, slots=True)
class Shift:
    """The largest change of rank, and whose it is."""

    size: float
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Ranks of M models on one part, 1 is best, ties share mid-ranks.

    judge_rank, human_rank: by the point estimates. probability: (M, M) P(model has rank r), rows models, columns
    ranks. expected: expected rank. pairs: every pair of models, close ones first. left_out: models without a score.
    lost_draws: draws that were left out because a score was undefined in them.
    """

    part: str
    models: tuple[str, ...]
    judge_rank: tuple[float, ...]
    human_rank: tuple[float, ...]
    probability: FloatArray
    expected: tuple[float, ...]
    pairs: tuple[Pair, ...]
    kendall: Estimate
    shift: Shift | None
    left_out: tuple[str, ...]
    draws: int
    lost_draws: int

    def likeliest(self, model: str) -> tuple[int, float]:
        """The most probable rank of a model and its probability."""
        row = self.probability[self.models.index(model)]
        return int(row.argmax()) + 1, float(row.max())


def rank_models(
    part: str,
    judge: Mapping[str, float],
    human: Mapping[str, float],
    draws: Mapping[str, FloatArray],
    *,
    judge_draws: Mapping[str, FloatArray] | None = None,
    level: float = 0.95,
) -> Ranking:
    """Rank the models that have a score under judge and people.

    judge, human: point estimates, NaN where undefined. draws: (B,) joint draws per model under people's labels, NaN
    where undefined. judge_draws: the same under the judge where its scores are resampled too.
    """
    models = tuple(m for m in judge if np.isfinite(judge[m]) and np.isfinite(human[m]))
    left_out = tuple(m for m in judge if m not in models)
    values = np.array([human[m] for m in models])
    known = np.array([judge[m] for m in models])
    joint = np.stack([draws[m] for m in models], axis=1) if models else np.zeros((0, 0))
    defined = np.isfinite(joint).all(axis=1) if models else np.zeros(0, np.bool_)
    probability = rank_probabilities(joint[defined])
    drawn_judge = np.stack([judge_draws[m] for m in models], axis=1)[defined] if judge_draws and models else known
    mid, judged = mid_ranks(values), mid_ranks(known)
    return Ranking(
        part,
        models,
        tuple(judged.tolist()),
        tuple(mid.tolist()),
        probability,
        tuple((probability @ np.arange(1, len(models) + 1)).tolist()),
        _pairs(models, known, values, joint, level),
        _kendall(known, values, drawn_judge, joint[defined], level),
        _shift(models, judged, mid),
        left_out,
        int(defined.sum()),
        int((~defined).sum()),
    )


def mid_ranks(values: FloatArray) -> FloatArray:
    """(M,) ranks, 1 for the highest value; tied models share the mean of their ranks."""
    above = values[None, :] - values[:, None] > TIE
    tied = np.abs(values[None, :] - values[:, None]) <= TIE
    ranks: FloatArray = 1 + above.sum(axis=1) + (tied.sum(axis=1) - 1) / 2
    return ranks


def rank_probabilities(joint: FloatArray) -> FloatArray:
    """(M, M) share of the draws (B, M) in which each model has each rank; t tied models take 1/t of t ranks each."""
    draws, count = joint.shape
    if not draws:
        return np.zeros((count, count))
    probability = np.zeros((count, count))
    for m in range(count):
        gap = joint - joint[:, [m]]
        first = (gap > TIE).sum(axis=1)
        tied = (np.abs(gap) <= TIE).sum(axis=1)
        for size in np.unique(tied):
            start = np.bincount(first[tied == size], minlength=count)
            for step in range(int(size)):
                probability[m, step:] += start[: count - step] / size
    probability /= draws
    return probability


def pair_probability(first: FloatArray, second: FloatArray) -> float:
    """P(first above second) over draws (B,), ties half; NaN draws are left out; NaN when none is left."""
    gap = first - second
    gap = gap[np.isfinite(gap)]
    return float(((gap > TIE) + 0.5 * (np.abs(gap) <= TIE)).mean()) if len(gap) else float("nan")


def kendall_tau_b(first: FloatArray, second: FloatArray) -> FloatArray:
    """(...,) Kendall's tau-b (Kendall 1945) of two sets of scores (..., M); NaN with one model or all tied."""
    upper = np.triu_indices(first.shape[-1], 1)
    one, two = (_signs(values, upper) for values in (first, second))
    together: FloatArray = (one * two).sum(axis=-1)
    scale = np.sqrt((one != 0).sum(axis=-1) * (two != 0).sum(axis=-1).astype(np.float64))
    tau: FloatArray = np.where(scale > 0, together / np.where(scale > 0, scale, 1), np.nan)
    return tau


def _signs(values: FloatArray, upper: tuple[np.ndarray, np.ndarray]) -> FloatArray:
    gap = values[..., upper[0]] - values[..., upper[1]]
    return np.where(np.abs(gap) <= TIE, 0.0, np.sign(gap))


def _pairs(
    models: tuple[str, ...], judge: FloatArray, human: FloatArray, joint: FloatArray, level: float
) -> tuple[Pair, ...]:
    found = []
    for a in range(len(models)):
        for b in range(a + 1, len(models)):
            first, second = (a, b) if human[a] >= human[b] else (b, a)
            p = pair_probability(joint[:, first], joint[:, second])
            value, gap = float(human[first] - human[second]), joint[:, first] - joint[:, second]
            difference = from_draws(value, gap, level=level, method="draws", why="undefined")
            settled = max(p, 1 - p) >= SETTLED_AT
            known = float(judge[first] - judge[second])
            found.append(Pair(models[first], models[second], p, settled, difference, known))
    return tuple(sorted(found, key=lambda pair: (max(pair.probability, 1 - pair.probability), pair.first, pair.second)))


def _kendall(
    judge: FloatArray, human: FloatArray, judge_draws: FloatArray, joint: FloatArray, level: float
) -> Estimate:
    if len(judge) < 2:
        return undefined("Kendall's tau needs at least two models", "Kendall tau-b")
    value = float(kendall_tau_b(judge, human))
    if not np.isfinite(value):
        return undefined("all models tie under the judge or under people's labels", "Kendall tau-b")
    drawn = kendall_tau_b(np.broadcast_to(judge_draws, joint.shape), joint)
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn):
        return Estimate(value, method="Kendall tau-b")
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(
        value, min(float(low), value), max(float(high), value), None, "Kendall tau-b", level, len(drawn),
        len(joint) - len(drawn),
    )  # fmt: skip


def _shift(models: tuple[str, ...], judge: FloatArray, human: FloatArray) -> Shift | None:
    if not models:
        return None
    moved = np.abs(human - judge)
    size = float(moved.max())
    return Shift(size, tuple(m for m, d in zip(models, moved, strict=True) if d == size) if size else ())
