"""A rate of people's labels estimated with the help of a judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from agreement._quantiles import t_quantile
from agreement._shares import as_shares
from agreement._types import BoolArray, FloatArray, IntArray
from agreement.cells import tabulate
from agreement.errors import AgreementError
from agreement.intervals import posterior_interval
from agreement.posterior import Target, complete, expected_counts
from agreement.small_counts import is_small, wilson_interval

Alternative = Literal["two-sided", "larger", "smaller"]


@dataclass(frozen=True, slots=True)
class Rate:
    """The estimated share of a label, with its interval.

    value, low, high: in [0, 1]; se: standard error of the estimator. All None where `undefined` says why.
    method: estimator and interval, for print; the name changes where few labels make another interval necessary.
    tuning: the weight lambda given to the judge, where there is one.
    n_labelled, n_judged: labelled units, and units with a judge output. excluded: units without what was needed.
    notes: diagnostics in sentences.
    """

    value: float | None
    se: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    target: Target
    n_labelled: int
    n_judged: int
    excluded: int = 0
    tuning: float | None = None
    notes: tuple[str, ...] = ()
    undefined: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedSample:
    """y: (n,) human indicator of the labelled units; f: (n,) judge's; rest: (N - n,) judge's of all others.

    stratum: (N,) design stratum of the labelled and then the other units, where there is one.
    """

    y: FloatArray
    f: FloatArray
    rest: FloatArray
    excluded: int
    stratum: IntArray | None = None

    @property
    def everywhere(self) -> FloatArray:
        """(N,) the judge on all units."""
        return np.concatenate([self.f, self.rest])


def judged_sample(human: npt.ArrayLike, judge: npt.ArrayLike, unlabelled: npt.ArrayLike) -> JudgedSample:
    """Read n human labels, the judge on the same units, and the judge on the units without a label.

    Labels are 1, 0 or a share, the judge's output any number in [0, 1]. None and NaN are missing: the unit is left out
    and counted. Raises AgreementError on lengths that differ and values outside [0, 1].
    """
    y, f = indicators(human, "human"), indicators(judge, "judge")
    rest = indicators(unlabelled, "unlabelled judge")
    if len(y) != len(f):
        raise AgreementError(f"{len(y)} human labels and {len(f)} judge outputs: give both for every labelled unit")
    use, there = np.isfinite(y) & np.isfinite(f), np.isfinite(rest)
    return JudgedSample(y[use], f[use], rest[there], int((~use).sum() + (~there).sum()))


def indicators(values: npt.ArrayLike, name: str) -> FloatArray:
    """Numbers in [0, 1], NaN where missing."""
    numbers = np.atleast_1d(as_shares(values))
    bad = np.flatnonzero((numbers < 0) | (numbers > 1))
    if len(bad):
        raise AgreementError(f"{name}, unit {bad[0]}: {numbers[bad[0]]:g} is not between 0 and 1")
    return numbers


def finished(
    value: float,
    se: float,
    df: float,
    sample: JudgedSample,
    *,
    method: str,
    target: Target,
    level: float,
    alternative: Alternative,
    tuning: float | None = None,
    seed: int = 0,
) -> Rate:
    """The rate with a t interval, or one for small counts: fewer than 5 labels are 1, or 0, or no error was seen."""
    inside = min(max(value, 0.0), 1.0)
    notes = () if inside == value else (f"the estimate {value:.4f} was cut to [0, 1]",)
    confidence = level if alternative == "two-sided" else 2 * level - 1
    if alternative not in ("two-sided", "larger", "smaller"):
        raise AgreementError(f"alternative {alternative!r}: expected two-sided, larger or smaller")
    if not _needs_care(sample, se, df, target):
        half = t_quantile(0.5 + confidence / 2, max(df, 1)) * se
        low, high, named = max(inside - half, 0.0), min(inside + half, 1.0), f"{method}, t interval"
    else:
        low, high, named = _small(inside, se, sample, method, target, confidence, seed)
    if alternative == "larger":
        high = 1.0
    if alternative == "smaller":
        low = 0.0
    return Rate(
        inside,
        se,
        low,
        high,
        level,
        named,
        target,
        len(sample.y),
        len(sample.everywhere),
        sample.excluded,
        tuning,
        notes,
    )


def _needs_care(sample: JudgedSample, se: float, df: float, target: Target) -> bool:
    """Whether +- t se is not to be trusted: few labels of a kind, no error of the judge seen, or no variance at all."""
    if target == "corpus" and not len(sample.rest):
        return False  # every unit is labelled: nothing is left to estimate
    few = is_small(float(sample.y.sum()), len(sample.y))
    return few or se <= 1e-12 or df < 1 or np.array_equal(sample.y, sample.f)


def nothing(sample: JudgedSample, *, method: str, target: Target, level: float, reason: str) -> Rate:
    """An undefined rate."""
    n, judged = len(sample.y), len(sample.everywhere)
    return Rate(None, None, None, None, level, method, target, n, judged, sample.excluded, undefined=reason)


def _small(
    value: float, se: float, sample: JudgedSample, method: str, target: Target, level: float, seed: int
) -> tuple[float, float, str]:
    if _binary(sample.everywhere):
        bounds = _posterior(value, sample, target, level, seed)
        if bounds is not None:
            return *bounds, f"{method}, finite-population posterior (few labels)"
    n = value * (1 - value) / se**2 if se > 1e-12 and 0 < value < 1 else float(len(sample.y))
    found = wilson_interval(value, max(n, 1.0), level=level)
    return found.low or 0.0, 1.0 if found.high is None else found.high, f"{method}, Wilson interval (few labels)"


def _binary(values: FloatArray) -> bool:
    return bool(np.all((values == 0) | (values == 1)))


def _posterior(
    value: float, sample: JudgedSample, target: Target, level: float, seed: int
) -> tuple[float, float] | None:
    """Bounds from the posterior of the judge's cells, moved to the estimate."""
    count = len(sample.everywhere)
    shares = np.zeros((count, 2))
    shares[: len(sample.y)] = np.column_stack([1 - sample.y, sample.y])
    cells = tabulate(
        labels=("0", "1"),
        model=[""] * count,
        stratum=[""] * count if sample.stratum is None else [str(code) for code in sample.stratum],
        judge=[str(int(x)) for x in sample.everywhere],
        human=shares,
    )
    drawn = complete(cells, seed=seed, target=target).counts[:, :, 1].sum(axis=1) / count
    own = float(expected_counts(cells)[:, 1].sum()) / count
    found = posterior_interval(own, drawn, level=level)
    if found.low is None or found.high is None:
        return None
    shift = value - own
    return min(max(found.low + shift, 0.0), value), max(min(found.high + shift, 1.0), value)


def variance(values: FloatArray) -> float:
    """Sample variance with n - 1; 0 for a single value."""
    return float(values.var(ddof=1)) if len(values) > 1 else 0.0


def covariance(a: FloatArray, b: FloatArray) -> float:
    """Sample covariance with n - 1; 0 for a single pair."""
    return float(((a - a.mean()) * (b - b.mean())).sum() / (len(a) - 1)) if len(a) > 1 else 0.0


def members(codes: npt.NDArray[np.int64], h: int) -> BoolArray:
    """Mask of the units of stratum h."""
    return np.asarray(codes == h, np.bool_)
