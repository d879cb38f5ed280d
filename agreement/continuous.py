"""Agreement on numeric ratings, such as 0 to 100: intraclass correlation, concordance, bias and limits of agreement."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from agreement._estimate import estimate_sample
from agreement._form import Form
from agreement._moments import Concordance, IntraclassCorrelation
from agreement._numbers import Numbers, numbers_from, read_numbers
from agreement._options import IntervalPlan, Options, split_options
from agreement._quantiles import f_quantile, normal_quantile, t_quantile
from agreement._read import RatingsLike, read_vectors
from agreement._statistic import Statistic
from agreement._types import FloatArray
from agreement.errors import AgreementError
from agreement.ratings import Ratings
from agreement.result import Coefficient

IccForm = Literal["A,1", "C,1", "A,k", "C,k"]
LinDivisor = Literal["n", "n - 1"]
_FORMS = ("A,1", "C,1", "A,k", "C,k")


def icc(ratings: RatingsLike | Ratings, *, form: IccForm = "A,1", **options: Unpack[Options]) -> Coefficient:
    """Two-way intraclass correlation (McGraw and Wong 1996) over the units that every coder rated with a number.

    form: "A,1" absolute agreement of one coder's ratings, "C,1" their consistency, "A,k" and "C,k" of the mean of
    the k coders. Interval from the F distribution (their Table 7); with design weights, items or strata from the
    linearised standard error.
    """
    if form not in _FORMS:
        raise AgreementError(f"form={form!r} is unknown.", f"Use one of {', '.join(_FORMS)}.")
    units, plan = split_options(options)
    numbers = read_numbers(ratings, units)
    k = numbers.values.shape[1]
    statistic = IntraclassCorrelation(
        max(k, 2), numbers.centre, agreement=form[0] == "A", mean_of_coders=form[2] == "k"
    )
    shape = Form(
        f"ICC({form})", f"McGraw and Wong 1996, two-way, units rated by all {k} coders", bounds=(-math.inf, 1.0)
    )
    result = _estimate(statistic, numbers, shape, plan, coders=k)
    simple = not numbers.weighted and numbers.items is None and len(numbers.strata) == 1
    if result.value is None or plan.method != "auto" or not simple:
        return result
    return _with_f_interval(result, statistic, numbers, form, plan.confidence)


def _estimate(statistic: Statistic, numbers: Numbers, form: Form, plan: IntervalPlan, *, coders: int) -> Coefficient:
    if coders < 2:
        numbers = replace(
            numbers, values=np.column_stack([numbers.values, np.full((len(numbers.values), 2), np.nan)])[:, :2]
        )
    sample = numbers.sample(statistic.eligible(numbers.values))
    with np.errstate(divide="ignore", invalid="ignore"):
        return estimate_sample(statistic, sample, form, plan, numbers.description(sample))


def _with_f_interval(
    result: Coefficient, statistic: IntraclassCorrelation, numbers: Numbers, form: str, confidence: float
) -> Coefficient:
    sample = numbers.sample(statistic.eligible(numbers.values))
    parts = statistic.mean_squares(statistic.totals(sample.rows, sample.mass))
    rows, columns, residual, n = (float(part) for part in parts)
    if residual <= 0:
        return replace(result, notes=(*result.notes, "no residual variance: no F interval"))
    bounds = _f_bounds(rows, columns, residual, n, statistic.k, form, (1 + confidence) / 2)
    return replace(result, low=bounds[0], high=min(bounds[1], 1.0), interval="F distribution, McGraw and Wong 1996")


def _f_bounds(
    rows: float, columns: float, residual: float, n: float, k: int, form: str, p: float
) -> tuple[float, float]:
    """Table 7 of McGraw and Wong (1996)."""
    df = (n - 1) * (k - 1)
    if form[0] == "C":
        low = rows / residual / f_quantile(p, n - 1, df)
        high = rows / residual * f_quantile(p, df, n - 1)
        return (
            ((low - 1) / (low + k - 1), (high - 1) / (high + k - 1)) if form[2] == "1" else (1 - 1 / low, 1 - 1 / high)
        )
    single = (rows - residual) / (rows + (k - 1) * residual + k / n * (columns - residual))
    a, b = k * single / (n * (1 - single)), 1 + k * single * (n - 1) / (n * (1 - single))
    v = (a * columns + b * residual) ** 2 / ((a * columns) ** 2 / (k - 1) + (b * residual) ** 2 / df)
    upper, lower = f_quantile(p, n - 1, v), f_quantile(p, v, n - 1)
    spread = k * columns + (k * n - k - n) * residual
    low = n * (rows - upper * residual) / (upper * spread + n * rows)
    high = n * (lower * rows - residual) / (spread + n * lower * rows)
    return (low, high) if form[2] == "1" else (k * low / (1 + (k - 1) * low), k * high / (1 + (k - 1) * high))


def lin_concordance(
    ratings: RatingsLike | Ratings, *, divisor: LinDivisor = "n", **options: Unpack[Options]
) -> Coefficient:
    """Lin's (1989) concordance correlation; for more than two coders Barnhart, Haber and Song's (2002).

    divisor: variances and covariances over "n", as Lin prints them, or over "n - 1".
    Over the units that every coder rated with a number. Standard error linearised, interval on Fisher's z scale.
    """
    if divisor not in ("n", "n - 1"):
        raise AgreementError(f"divisor={divisor!r} is unknown.", "Use 'n' or 'n - 1'.")
    units, plan = split_options(options)
    numbers = read_numbers(ratings, units)
    k = numbers.values.shape[1]
    source = "Lin 1989" if k <= 2 else "Barnhart, Haber and Song 2002"
    shape = Form("Lin's concordance", f"{source}, moments over {divisor}, units rated by all {k} coders")
    statistic = Concordance(max(k, 2), numbers.centre, unbiased=divisor != "n")
    result = _estimate(statistic, numbers, shape, plan, coders=k)
    if plan.method not in ("auto", "analytic") or result.value is None or not result.se or abs(result.value) >= 1:
        return result
    df = max(result.n_units - 1, 1)
    z, half = math.atanh(result.value), t_quantile((1 + plan.confidence) / 2, df) * result.se / (1 - result.value**2)
    method = f"linearised, Fisher's z, t with {df} df"
    return replace(result, low=math.tanh(z - half), high=math.tanh(z + half), interval=method)


@dataclass(frozen=True, slots=True)
class BlandAltman:
    """Differences first - second. bias: their mean. lower, upper: limits of agreement, bias -+ 1.96 standard
    deviations.

    Each is a Coefficient with its own interval, in the units of the ratings. sd: standard deviation of the differences.
    slope: change of the difference by one unit of the mean rating, None where the means do not vary.
    """

    bias: Coefficient
    lower: Coefficient
    upper: Coefficient
    sd: float | None
    slope: float | None


def bland_altman(
    first: Any,
    second: Any = None,
    *,
    coverage: float = 0.95,
    confidence: float = 0.95,
    unit_weights: npt.ArrayLike | None = None,
) -> BlandAltman:
    """Bias and limits of agreement of two coders' numbers (Bland and Altman 1986), over the units that both rated.

    first, second: numbers of the same units; or `first` alone as ratings with two columns. coverage: share of
    differences between the limits, 0.95. Intervals: t for the bias, Bland and Altman's (1999) standard error
    sd sqrt(1 / n + z^2 / (2 (n - 1))) with t for the limits; with design weights n is the effective number of units.
    """
    if not 0 < coverage < 1 or not 0 < confidence < 1:
        raise AgreementError(f"coverage={coverage!r} and confidence={confidence!r} must lie between 0 and 1.")
    numbers = _two_columns(first, second, unit_weights)
    used = ~np.isnan(numbers.values).any(axis=1)
    both, mass = numbers.values[used], (numbers.counts * numbers.weight)[used]
    n = int(numbers.counts[used].sum())
    common: dict[str, Any] = {
        "level": confidence,
        "n_units": n,
        "n_ignored": int(numbers.counts.sum()) - n,
        "n_ratings": 2 * n,
        "n_coders": int((~np.isnan(numbers.values)).any(axis=0).sum()),
        "convention": f"Bland and Altman 1986, first less second, {coverage:.0%} of differences"
        + ("; design weights" if numbers.weighted else ""),
    }
    if n < 2:
        reason = "no unit was rated by both" if n == 0 else "one unit rated by both: no standard deviation"
        bias = Coefficient(name="bias", value=None, se=None, low=None, high=None, undefined=reason, **common)
        return BlandAltman(bias, replace(bias, name="lower limit"), replace(bias, name="upper limit"), None, None)
    effective = float(mass.sum() ** 2 / (numbers.counts * numbers.weight**2)[used].sum())
    mean, sd = _mean_and_deviation(both[:, 0] - both[:, 1], mass, effective)
    z, t = normal_quantile((1 + coverage) / 2), t_quantile((1 + confidence) / 2, n - 1)
    spread = sd * math.sqrt(1 / effective + z * z / (2 * (effective - 1)))

    def number(name: str, value: float, se: float) -> Coefficient:
        return Coefficient(name, value, se, value - t * se, value + t * se, interval=f"t with {n - 1} df", **common)

    return BlandAltman(
        number("bias", mean, sd / math.sqrt(effective)),
        number("lower limit", mean - z * sd, spread),
        number("upper limit", mean + z * sd, spread),
        sd,
        _slope(both, mass),
    )


def _two_columns(first: Any, second: Any, unit_weights: Any) -> Numbers:
    units = {"unit_weights": unit_weights}
    numbers = read_numbers(first, units) if second is None else numbers_from(read_vectors(first, second), units)
    if numbers.values.shape[1] != 2:
        raise AgreementError(f"Limits of agreement need two coders, the ratings have {numbers.values.shape[1]}.")
    return numbers


def _mean_and_deviation(difference: FloatArray, mass: FloatArray, n: float) -> tuple[float, float]:
    mean = float(mass @ difference / mass.sum())
    return mean, math.sqrt(float(mass @ (difference - mean) ** 2 / mass.sum()) * n / (n - 1))


def _slope(pairs: FloatArray, mass: FloatArray) -> float | None:
    middle, difference = pairs.mean(axis=1), pairs[:, 0] - pairs[:, 1]
    centred = middle - mass @ middle / mass.sum()
    spread = float(mass @ centred**2)
    return float(mass @ (centred * difference)) / spread if spread > 0 else None
