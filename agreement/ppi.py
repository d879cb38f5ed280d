"""Prediction-powered rates: the judge everywhere, corrected by what the labelled units show of its errors."""

from __future__ import annotations

import math

import numpy.typing as npt

from agreement.rate import (
    Alternative,
    JudgedSample,
    Rate,
    covariance,
    finished,
    judged_sample,
    nothing,
    variance,
)

NO_LABELS = "no unit has a human label and a judge output"


def ppi_rate(
    human: npt.ArrayLike,
    judge: npt.ArrayLike,
    unlabelled: npt.ArrayLike,
    *,
    tuned: bool = True,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    seed: int = 0,
) -> Rate:
    """PPI++ (Angelopoulos, Duchi and Zrnic 2023), or PPI (Angelopoulos et al. 2023) with tuned=False: lambda 1.

    human, judge: the n labelled units, drawn at random; unlabelled: the judge on the others. The target is the
    population that all units come from. lambda = Cov(Y, f) / ((1 + n/N) Var f), cut to [0, 1]; variances with n - 1, a
    t quantile with n - 1 degrees of freedom. alternative "larger" gives a lower bound and "smaller" an upper one.
    From a sample that is not simple or proportional this is biased: use `stratified_ppi_rate`.
    """
    sample = judged_sample(human, judge, unlabelled)
    method = "PPI++" if tuned else "PPI"
    if not len(sample.y):
        return nothing(sample, method=method, target="population", level=level, reason=NO_LABELS)
    weight = _tuning(sample, tuned)
    n, rest = len(sample.y), len(sample.rest)
    value, spread = float((sample.y - weight * sample.f).mean()), variance(sample.y - weight * sample.f) / n
    if rest:
        value += weight * float(sample.rest.mean())
        spread += weight**2 * variance(sample.rest) / rest
    return finished(
        value, math.sqrt(spread), n - 1, sample, method=method, target="population", level=level,
        alternative=alternative, tuning=weight, seed=seed,
    )  # fmt: skip


def difference_rate(
    human: npt.ArrayLike,
    judge: npt.ArrayLike,
    unlabelled: npt.ArrayLike,
    *,
    tuned: bool = True,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    seed: int = 0,
) -> Rate:
    """The finite-corpus form: difference (tuned=False) or regression estimator (Saerndal, Swensson, Wretman 1992, 6).

    Arguments as `ppi_rate`. The target is the share in these N units: the judge is known on all of them, so its spread
    over the corpus is no uncertainty, and the variance is (1 - n/N) s^2 of Y - lambda f over n.
    """
    sample = judged_sample(human, judge, unlabelled)
    method = "regression estimator" if tuned else "difference estimator"
    if not len(sample.y):
        return nothing(sample, method=method, target="corpus", level=level, reason=NO_LABELS)
    weight = 1.0
    if tuned:
        spread_f = variance(sample.f)
        weight = min(max(covariance(sample.y, sample.f) / spread_f, 0.0), 1.0) if spread_f > 0 else 0.0
    n, total = len(sample.y), len(sample.everywhere)
    left = sample.y - weight * sample.f
    value = weight * float(sample.everywhere.mean()) + float(left.mean())
    se = math.sqrt((1 - n / total) * variance(left) / n)
    return finished(
        value, se, n - 1, sample, method=method, target="corpus", level=level,
        alternative=alternative, tuning=weight, seed=seed,
    )  # fmt: skip


def _tuning(sample: JudgedSample, tuned: bool) -> float:
    if not len(sample.rest):
        return 0.0
    if not tuned:
        return 1.0
    everywhere = variance(sample.everywhere)
    if everywhere <= 0:
        return 0.0
    share = len(sample.y) / len(sample.rest)
    return min(max(covariance(sample.y, sample.f) / ((1 + share) * everywhere), 0.0), 1.0)
