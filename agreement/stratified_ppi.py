"""Prediction-powered rates from a stratified sample (Fisch et al. 2024)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from agreement._types import FloatArray, IntArray
from agreement.errors import AgreementError
from agreement.posterior import Target
from agreement.ppi import NO_LABELS
from agreement.rate import (
    Alternative,
    JudgedSample,
    Rate,
    covariance,
    finished,
    indicators,
    members,
    nothing,
    variance,
)
from agreement.ratings_codes import group_codes


def stratified_ppi_rate(
    human: npt.ArrayLike,
    judge: npt.ArrayLike,
    stratum: Sequence[Hashable],
    unlabelled: npt.ArrayLike,
    unlabelled_stratum: Sequence[Hashable],
    *,
    target: Target = "corpus",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    seed: int = 0,
) -> Rate:
    """PPI++ within each stratum, weighted by the stratum's share of all units.

    human, judge, stratum: the labelled units, drawn at random within strata; unlabelled, unlabelled_stratum: the
    others. lambda_h = Cov_h(Y, f) / ((1 + n_h/N_h) Var_h f) for the population and Cov_h / Var_h for the corpus, cut to
    [0, 1], and 0 where the judge does not vary (always so when strata are judge labels: the stratified mean).
    Degrees of freedom n - H. A stratum with fewer than 2 labels that is not fully labelled has no variance: the rate is
    then undefined, with its name, and the finite-population posterior is the way.
    """
    y, f, rest = indicators(human, "human"), indicators(judge, "judge"), indicators(unlabelled, "unlabelled judge")
    if not (len(y) == len(f) == len(stratum) and len(rest) == len(unlabelled_stratum)):
        raise AgreementError("human, judge and stratum, and unlabelled and its stratum, must be equally long")
    codes, names = group_codes([*stratum, *unlabelled_stratum])
    use, there = np.isfinite(y) & np.isfinite(f), np.isfinite(rest)
    own, other = codes[: len(y)][use].astype(np.int64), codes[len(y) :][there].astype(np.int64)
    lost = int((~use).sum() + (~there).sum())
    sample = JudgedSample(y[use], f[use], rest[there], lost, np.concatenate([own, other]))
    method = "stratified PPI++" if target == "population" else "stratified regression estimator"
    if not len(sample.y):
        return nothing(sample, method=method, target=target, level=level, reason=NO_LABELS)
    value, spread = 0.0, 0.0
    for h, name in enumerate(names):
        part = _stratum(sample, own, other, h, target)
        if part is None:
            reason = f"stratum {name}: fewer than 2 labels, no variance; use the finite-population posterior"
            return nothing(sample, method=method, target=target, level=level, reason=reason)
        share = part[2] / len(sample.everywhere)
        value, spread = value + share * part[0], spread + share**2 * part[1]
    df = len(sample.y) - len(names)
    return finished(
        value, math.sqrt(spread), df, sample, method=method, target=target, level=level,
        alternative=alternative, seed=seed,
    )  # fmt: skip


def _stratum(
    sample: JudgedSample, own: IntArray, other: IntArray, h: int, target: Target
) -> tuple[float, float, int] | None:
    """Mean, variance of the mean and size of a stratum; None where the variance cannot be had."""
    y, f, rest = sample.y[members(own, h)], sample.f[members(own, h)], sample.rest[members(other, h)]
    n, size = len(y), len(y) + len(rest)
    if not size:
        return 0.0, 0.0, 0
    if n < 2 and (len(rest) or target == "population"):
        return None
    weight = _tuning(y, f, rest, target)
    left = y - weight * f
    if target == "corpus":
        mean = weight * float(np.concatenate([f, rest]).mean()) + float(left.mean())
        return mean, (1 - n / size) * variance(left) / n, size
    mean, spread = float(left.mean()), variance(left) / n
    if len(rest):
        mean += weight * float(rest.mean())
        spread += weight**2 * variance(rest) / len(rest)
    return mean, spread, size


def _tuning(y: FloatArray, f: FloatArray, rest: FloatArray, target: Target) -> float:
    if not len(rest):
        return 0.0
    spread = variance(f) if target == "corpus" else (1 + len(y) / len(rest)) * variance(np.concatenate([f, rest]))
    return min(max(covariance(y, f) / spread, 0.0), 1.0) if spread > 0 else 0.0
