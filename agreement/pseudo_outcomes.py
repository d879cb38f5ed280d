"""Design-based supervised learning: a rate from units drawn with unequal, known probabilities (Egami et al. 2023)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement._types import BoolArray, FloatArray, IntArray
from agreement.errors import AgreementError
from agreement.posterior import Target
from agreement.rate import Alternative, JudgedSample, Rate, finished, indicators, nothing
from agreement.ratings_codes import group_codes


def pseudo_outcome_rate(
    human: Sequence[float | None] | npt.ArrayLike,
    judge: Sequence[Hashable],
    probability: npt.ArrayLike,
    *,
    target: Target = "corpus",
    folds: int = 5,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    seed: int = 0,
) -> Rate:
    """Mean of Y~ = f + (R / pi) (Y - f) over all N units, R = 1 where labelled.

    human: N entries, 1, 0 or a share, None where unlabelled. judge: N outputs of any kind (labels, "(missing)").
    probability: N inclusion probabilities in (0, 1], logged at the draw. f is the share of 1 among labelled units with
    the same output in the other folds, weighted by 1/pi, so that a unit never predicts itself. Population variance
    s^2(Y~) / N; for the corpus that of Poisson sampling, sum (1 - pi) ((Y - f) / pi)^2 / N^2, which for a stratified
    draw is on the safe side. The same estimator is active inference (Zrnic and Candes 2024).
    Raises AgreementError on a probability that is not in (0, 1].
    """
    y = indicators(_numbers(human), "human")
    pi = np.broadcast_to(np.asarray(probability, np.float64), y.shape)
    if len(judge) != len(y):
        raise AgreementError(f"{len(y)} human entries and {len(judge)} judge outputs: give one of each per unit")
    bad = np.flatnonzero(~((pi > 0) & (pi <= 1)))
    if len(bad):
        raise AgreementError(f"unit {bad[0]}: inclusion probability is {pi[bad[0]]:g}, expected a number in (0, 1]")
    seen = np.isfinite(y)
    sample = JudgedSample(y[seen], np.full(int(seen.sum()), 0.5), np.full(int((~seen).sum()), 0.5), 0)
    method = "design-based pseudo-outcomes"
    if not seen.any():
        return nothing(sample, method=method, target=target, level=level, reason="no unit has a human label")
    f = _predictions(np.where(seen, y, 0.0), seen, judge, pi, folds, seed)
    left = np.where(seen, np.where(seen, y, 0.0) - f, 0.0) / pi
    outcome = f + left
    total = len(y)
    spread = float(outcome.var(ddof=1)) / total if target == "population" and total > 1 else 0.0
    if target == "corpus":
        spread = float(((1 - pi) * left**2)[seen].sum()) / total**2
    return finished(
        float(outcome.mean()), math.sqrt(spread), int(seen.sum()) - 1, sample, method=method, target=target,
        level=level, alternative=alternative, seed=seed,
    )  # fmt: skip


def _numbers(human: Any) -> FloatArray:
    return np.array([np.nan if value is None else float(value) for value in human], dtype=np.float64)


def _predictions(
    y: FloatArray, seen: BoolArray, judge: Sequence[Hashable], pi: FloatArray, folds: int, seed: int
) -> FloatArray:
    """(N,) cross-fitted share of 1 given the judge's output; unlabelled units use all folds."""
    codes, _ = group_codes(judge)
    stream = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(5,))))
    fold = np.full(len(y), -1, dtype=np.int64)
    labelled = stream.permutation(np.flatnonzero(seen))
    fold[labelled] = np.arange(len(labelled)) % max(2, min(folds, len(labelled)))
    weight = np.where(seen, 1 / pi, 0.0)
    predicted = _shares(y, weight, codes)[codes]
    for k in range(int(fold.max()) + 1):
        inside = fold == k
        predicted[inside] = _shares(y, np.where(inside, 0.0, weight), codes)[codes[inside]]
    return predicted


def _shares(y: FloatArray, weight: FloatArray, codes: IntArray) -> FloatArray:
    """Weighted share of 1 per judge output; the overall share (or 1/2) where an output has no label."""
    ones, total = np.bincount(codes, weight * y), np.bincount(codes, weight)
    overall = ones.sum() / total.sum() if total.sum() else 0.5
    shares: FloatArray = np.divide(ones, total, out=np.full(len(total), float(overall)), where=total > 0)
    return shares
