"""Other estimators of a corpus score, by name, for means of per-record values.

"ppi++": prediction-powered inference with power tuning (Angelopoulos, Duchi and Zrnic 2023), for the population of
    questions, from units that all have the same inclusion probability; the judge's value is the prediction.
"difference": the regression estimator for this corpus inside each design stratum, lambda = cov / var of people's on the
    judge's value clipped to [0, 1], and 0 where the judge is constant (Saerndal, Swensson and Wretman 1992, ch. 6).
"pseudo-outcomes": design-based supervised learning (Egami et al. 2023), f + (R / pi) (Y - f) for each record, for the
    population and any known inclusion probabilities. The judge is not fitted to the labels, so nothing is cross-fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from agreement.errors import AgreementError
from agreement.impact.case import Case
from agreement.impact.estimate import Estimate, normal, undefined
from agreement.impact.records import FloatArray, IntArray

ONLY_MEANS = "only for means of per-record values"


@dataclass(frozen=True, slots=True)
class Values:
    """Per-record values: judge's of the R corpus rows (count, stratum), judge's and people's of the n units.

    offset, scale: the score is offset + scale * (mean over the open records). spread of the score = scale * that of it.
    """

    corpus: FloatArray
    count: IntArray
    corpus_stratum: IntArray
    judge: FloatArray
    people: FloatArray
    stratum: IntArray
    weight: FloatArray
    offset: float
    scale: float


def named_estimates(case: Case, part: str, methods: Sequence[str], level: float) -> dict[str, Estimate]:
    """The part under people's labels by each named method; undefined with its reason where a method does not apply."""
    unknown = [method for method in methods if method not in METHODS]
    if unknown:
        raise AgreementError(f"method {unknown[0]!r} is not one of {', '.join(METHODS)}")
    if not methods:
        return {}
    values = _values(case, part)
    found = {}
    for method in methods:
        if isinstance(values, str):
            found[method] = undefined(values, method)
        else:
            found[method] = METHODS[method](values, level, case.score.bounds)
    return found


def ppi(values: Values, level: float, bounds: tuple[float, float]) -> Estimate:
    """theta = lambda mean_unlabelled f + mean_labelled (Y - lambda f), with the lambda in [0, 1] of least variance."""
    n, total = len(values.people), int(values.count.sum())
    if np.ptp(values.weight) > 1e-9 * values.weight.max():
        return undefined("needs the same inclusion probability for all units; the design has several", "ppi++")
    unlabelled = total - n
    y, f = values.people, values.judge
    if n < 2 or unlabelled < 2:
        return undefined("needs at least two labelled and two unlabelled records", "ppi++")
    mean = float(values.count @ values.corpus / total)
    spread = float(values.count @ (values.corpus - mean) ** 2 / (total - 1))
    slope = float(np.cov(y, f)[0, 1])
    tuning = float(np.clip(slope / ((1 + n / unlabelled) * spread), 0, 1)) if spread > 0 else 0.0
    rest = (mean * total - float(f.sum())) / unlabelled
    square = float(values.count @ (values.corpus - rest) ** 2) - float(((f - rest) ** 2).sum())
    theta = tuning * rest + float((y - tuning * f).mean())
    variance = tuning**2 * square / (unlabelled - 1) / unlabelled + float((y - tuning * f).var(ddof=1)) / n
    return _finish(values, theta, variance, n - 1, "ppi++", level, bounds)


def difference(values: Values, level: float, bounds: tuple[float, float]) -> Estimate:
    """sum_h W_h [lambda_h mean f + mean (Y - lambda_h f)], variance with the finite-population correction."""
    total = float(values.count.sum())
    theta = variance = 0.0
    for h in np.unique(values.corpus_stratum):
        rows, units = values.corpus_stratum == h, values.stratum == h
        size, n = float(values.count[rows].sum()), int(units.sum())
        if n < 2 and n < size:
            return undefined("a design stratum has fewer than two labels", "difference")
        y, f = values.people[units], values.judge[units]
        spread = float(f.var(ddof=1)) if n > 1 else 0.0
        tuning = float(np.clip(np.cov(y, f)[0, 1] / spread, 0, 1)) if spread > 0 else 0.0
        mean = float(values.count[rows] @ values.corpus[rows] / size)
        share = size / total
        theta += share * (tuning * mean + float((y - tuning * f).mean()))
        if n < size:
            variance += share**2 * (1 - n / size) * float((y - tuning * f).var(ddof=1)) / n
    freedom = max(len(values.people) - len(np.unique(values.stratum)), 1)
    return _finish(values, theta, variance, freedom, "difference", level, bounds)


def pseudo_outcomes(values: Values, level: float, bounds: tuple[float, float]) -> Estimate:
    """Mean of f + (R / pi) (Y - f) over all N records, with variance s^2 / N."""
    total = float(values.count.sum())
    shift = values.weight * (values.people - values.judge)
    theta = float(values.count @ values.corpus + shift.sum()) / total
    # Squares about theta: those of f for all records, with the labelled ones moved by their shift.
    plain = float(values.count @ (values.corpus - theta) ** 2)
    moved = float(((values.judge + shift - theta) ** 2 - (values.judge - theta) ** 2).sum())
    variance = (plain + moved) / (total - 1) / total if total > 1 else float("nan")
    return _finish(values, theta, variance, max(len(values.people) - 1, 1), "pseudo-outcomes", level, bounds)


Method = Callable[[Values, float, tuple[float, float]], Estimate]
METHODS: dict[str, Method] = {"ppi++": ppi, "difference": difference, "pseudo-outcomes": pseudo_outcomes}


def _values(case: Case, part: str) -> Values | str:
    """Per-record values of the part, or the reason why it has none."""
    ratio = case.score.ratio(part)
    corpus, units = case.corpus, case.sample
    if ratio is None:
        return ONLY_MEANS
    if not len(units):
        return "no human label for this model"
    counted = corpus.features[:, :-2] @ ratio.denominator
    if (counted != counted[:, :1]).any():
        return f"{ONLY_MEANS}: the number of records that {part} counts depends on their labels"
    open_rows = ~corpus.settled
    whole = float(corpus.count @ counted[:, 0])
    if not open_rows.any() or whole <= 0:
        return "no record whose value a label can change"
    settled = float((corpus.count * corpus.settled) @ (corpus.features[:, 0] @ ratio.numerator))
    return Values(
        (corpus.judge @ ratio.numerator)[open_rows],
        corpus.count[open_rows],
        corpus.stratum[open_rows],
        units.judge @ ratio.numerator,
        units.human @ ratio.numerator,
        units.stratum,
        units.weight,
        settled / whole,
        float(corpus.count[open_rows].sum()) / whole,
    )


def _finish(
    values: Values, theta: float, variance: float, freedom: int, method: str, level: float, bounds: tuple[float, float]
) -> Estimate:
    quantile = float(stdtrit(freedom, (1 + level) / 2))
    value, se = values.offset + values.scale * theta, values.scale * float(np.sqrt(variance))
    return normal(value, se, quantile=quantile, level=level, method=method, why="undefined", bounds=bounds)
