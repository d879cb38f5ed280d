"""From a statistic and ratings to a `Coefficient`: value, standard error, interval, or the reason for having none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from agreement._bootstrap import bca_interval, draw_values, percentile_interval
from agreement._options import IntervalPlan
from agreement._quantiles import normal_quantile, t_quantile
from agreement._sample import Blocks, Sample, block_influence, blocks_of, sample_of
from agreement._statistic import ONE_CODER, Statistic, ratings_of
from agreement._types import AnyArray, FloatArray
from agreement.errors import AgreementError
from agreement.ratings import Ratings
from agreement.result import Coefficient

FEW = 5
"""Fewer units than this that agree, or that disagree: no interval from a standard error."""
MAX_UNDEFINED = 0.05
REVERSED = "clearly below 0: the labels may be reversed"


@dataclass(frozen=True, slots=True)
class Form:
    """What a coefficient is called and how its analytic interval is built.

    divisor: "n" for the multinomial variance (Fleiss, Cohen and Everitt 1969), "n - 1" for Gwet's. bounds: the
    possible range. signed: whether below 0 means worse than chance. few: with fewer units than this that agree, or that
    disagree, the interval is Wilson's.
    """

    name: str
    convention: str
    distribution: Literal["normal", "t"] = "t"
    divisor: Literal["n", "n - 1"] = "n - 1"
    variance: str = "linearised"
    bounds: tuple[float, float] = (-1.0, 1.0)
    signed: bool = True
    few: float = FEW


@dataclass(frozen=True, slots=True)
class Bounds:
    low: float | None = None
    high: float | None = None
    method: str | None = None
    notes: tuple[str, ...] = ()
    draws: int = 0
    undefined: int = 0


def estimate(statistic: Statistic, ratings: Ratings, form: Form, plan: IntervalPlan) -> Coefficient:
    """The coefficient over all units of `ratings` that the statistic can use."""
    sample = sample_of(statistic, ratings)
    with np.errstate(divide="ignore", invalid="ignore"):
        return estimate_sample(statistic, sample, form, plan, _description(ratings, sample, numeric=statistic.numeric))


def _ratings_in(sample: Sample, numeric: bool) -> AnyArray:
    return (~np.isnan(sample.rows)).sum(axis=1) if numeric else ratings_of(sample.rows)


def _description(ratings: Ratings, sample: Sample, *, numeric: bool) -> dict[str, Any]:
    kind = "label" if len(ratings.labels) == 1 else "labels"
    parts = [f"{len(ratings.labels)} {kind} {'declared' if ratings.declared else 'seen (none declared)'}"]
    parts += ["design weights"] if ratings.weighted else []
    parts += ["units grouped by item"] if ratings.items is not None else []
    parts += ["units in strata"] if len(ratings.strata) > 1 else []
    n, width = ratings.n_units, ratings.codes.shape[1]
    wide = width > n and not ratings.anonymous
    return {
        "n_given": n,
        "n_ratings": int(sample.counts @ _ratings_in(sample, numeric)),
        "n_coders": int(np.count_nonzero(ratings.codes.max(axis=0, initial=-1) >= 0)),
        "labels": ratings.labels,
        "design": "; ".join(parts),
        "notes": (f"read as {n} units by {width} coders: transpose if rows are coders",) if wide else (),
    }


def estimate_sample(
    statistic: Statistic, sample: Sample, form: Form, plan: IntervalPlan, description: dict[str, Any]
) -> Coefficient:
    """The coefficient over all rows of `sample`, every one of which is eligible."""
    totals = statistic.totals(sample.rows, sample.mass)
    n = sample.n
    value, observed, expected = statistic.describe(totals) if n else (math.nan, None, None)
    common: dict[str, Any] = {
        "name": form.name,
        "level": plan.confidence,
        "n_units": n,
        "n_ignored": description["n_given"] - n,
        "n_ratings": description["n_ratings"],
        "n_coders": description["n_coders"],
        "convention": f"{form.convention}; {description['design']}" if description["design"] else form.convention,
        "labels": description["labels"],
    }
    if math.isnan(value):
        reason = _reason(statistic, totals, description)
        return Coefficient(
            value=None, se=None, low=None, high=None, undefined=reason, notes=description["notes"], **common
        )
    alike = float(sample.weight.max()) == 1 == float(sample.weight.min())
    simple = alike and sample.items is None and sample.n_strata == 1
    se, blocks = (None, 0.0) if plan.method == "none" else standard_error(statistic, sample, totals, form)
    bounds = _interval(statistic, sample, (value, expected), se, blocks, form, plan)
    reversed_note = (REVERSED,) if form.signed and value < 0 and bounds.high is not None and bounds.high < 0 else ()
    return Coefficient(
        value=value,
        se=se,
        low=bounds.low,
        high=bounds.high,
        interval=bounds.method,
        se_null=statistic.null_se(totals) if se is not None and simple else None,
        observed=observed,
        expected=expected,
        draws=bounds.draws,
        undefined_draws=bounds.undefined,
        notes=(*description["notes"], *statistic.notes(totals), *bounds.notes, *reversed_note),
        **common,
    )


def _reason(statistic: Statistic, totals: FloatArray, description: dict[str, Any]) -> str:
    if description["n_given"] == 0:
        return "no units"
    if description["n_coders"] < 2:
        return ONE_CODER if description["n_coders"] else "no ratings"
    return statistic.why_undefined(totals)


def standard_error(statistic: Statistic, sample: Sample, totals: FloatArray, form: Form) -> tuple[float | None, float]:
    """Linearised standard error, None with fewer than two blocks in a stratum, and the number of blocks less strata."""
    influence, counts, stratum = block_influence(statistic, sample, totals)
    size = np.bincount(stratum, counts, sample.n_strata).astype(np.float64)
    blocks = float(size.sum()) - (np.count_nonzero(size) - 1)
    whole = sample.n_strata == 1
    mean = np.zeros(1) if whole else np.bincount(stratum, counts * influence, sample.n_strata) / np.maximum(size, 1)
    spread = np.bincount(stratum, counts * (influence - mean[stratum]) ** 2, sample.n_strata)
    if form.divisor == "n" and sample.items is None and whole:
        factor = np.ones(1)
    elif (size[size > 0] < 2).any():
        return None, blocks
    else:
        factor = size / np.maximum(size - 1, 1)
    if sample.population is not None:
        factor = factor * _finite(size, sample.population)
    return math.sqrt(float(spread @ factor)), blocks


def _finite(size: FloatArray, population: FloatArray) -> FloatArray:
    if (size > population).any():
        raise AgreementError(
            f"population {population.tolist()} is smaller than the {size.tolist()} units sampled from it."
        )
    return np.asarray(1 - size / population)


def _interval(
    statistic: Statistic,
    sample: Sample,
    point: tuple[float, float | None],
    se: float | None,
    blocks: float,
    form: Form,
    plan: IntervalPlan,
) -> Bounds:
    value = point[0]
    if plan.method == "none":
        return Bounds()
    if plan.method in ("percentile", "bca"):
        return _resampled(statistic, sample, value, form, plan)
    split = _split(statistic, sample)
    few = split is not None and min(split[:2]) < form.few
    if split is not None and (plan.method == "wilson" or (plan.method == "auto" and few)):
        return _wilson(*point, split, form, plan.confidence)
    if plan.method == "wilson":
        raise AgreementError(f"There is no Wilson interval for {form.name}.", "Use interval='analytic' or 'bca'.")
    if se is None:
        return Bounds(notes=("one unit: no standard error",))
    return _analytic(value, se, blocks, form, plan.confidence)


def _analytic(value: float, se: float, blocks: float, form: Form, confidence: float) -> Bounds:
    tail = (1 + confidence) / 2
    df = blocks - 1
    quantile = normal_quantile(tail) if form.distribution == "normal" else t_quantile(tail, df)
    name = "normal" if form.distribution == "normal" else f"t with {df:g} df"
    low, high = _clip(value - quantile * se, value + quantile * se, form)
    low, high = min(low, value), max(high, value)  # with gaps a coefficient may itself fall below -1
    return Bounds(low, high, f"{form.variance}, {name}")


def _clip(low: float, high: float, form: Form) -> tuple[float, float]:
    return max(low, form.bounds[0]), min(high, form.bounds[1])


def _split(statistic: Statistic, sample: Sample) -> tuple[float, float, float, float] | None:
    """Units with a disagreement, units without, the weighted share of the first, and the effective number of both."""
    found = statistic.disagrees(sample.rows)
    if found is None:
        return None
    apart, together = found
    either = apart | together
    mass = sample.mass[either]
    squares = (sample.counts * sample.weight**2)[either].sum()
    share = sample.mass[apart].sum() / mass.sum() if mass.size else math.nan
    effective = float(mass.sum() ** 2 / squares)
    if sample.items is not None:  # units of one item may all say the same
        effective *= np.unique(sample.items).size / sample.items.size
    return float(sample.counts[apart].sum()), float(sample.counts[together].sum()), float(share), effective


def _wilson(value: float, chance: float | None, split: Sequence[float], form: Form, confidence: float) -> Bounds:
    """Wilson's (1927) interval for the share of units with a disagreement, carried over to the coefficient.

    What a disagreement costs, and chance, are held at their estimates; where nobody disagrees one costs 1 / (1 -
    chance).
    """
    apart, together, share, n = split
    cost = (1 - value) / share if share > 0 else 1 / (1 - chance if chance is not None else 1)
    low, high = wilson_bounds(share, n, confidence)
    ends = _clip(1 - cost * high, 1 - cost * low, form)
    held = ", chance held fixed" if form.signed else ""
    method = f"Wilson on the share of units with a disagreement ({apart:g} of {apart + together:g}){held}"
    return Bounds(min(ends[0], value), max(ends[1], value), method)


def wilson_bounds(share: float, n: float, confidence: float) -> tuple[float, float]:
    """Score interval for a proportion (Wilson 1927), n may be an effective number."""
    z = normal_quantile((1 + confidence) / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def _resampled(statistic: Statistic, sample: Sample, value: float, form: Form, plan: IntervalPlan) -> Bounds:
    blocks = blocks_of(statistic, sample)
    draws = draw_values(statistic, blocks, plan.draws, plan.seed)
    what = "items" if sample.items is not None else "units"
    method = (
        f"bootstrap over {what}{' within strata' if sample.n_strata > 1 else ''}, {plan.draws} draws, seed {plan.seed}"
    )
    count: dict[str, Any] = {"draws": plan.draws, "undefined": draws.undefined}
    if draws.undefined > MAX_UNDEFINED * plan.draws:
        note = f"undefined in {draws.undefined} of {plan.draws} draws: too few ratings vary for a bootstrap interval"
        return Bounds(notes=(note,), **count)
    found, kind = _bootstrap_ends(statistic, blocks, draws, value, plan)
    notes = []
    if found[0] == found[1]:
        notes.append("all draws gave the same value: this interval says nothing, 'auto' does")
    elif kind != plan.method:
        notes.append("no BCa interval (no spread in the jackknife, or all draws on one side): percentile given")
    return Bounds(*_clip(*found, form), f"{method}, {'BCa' if kind == 'bca' else kind}", tuple(notes), **count)


def _bootstrap_ends(
    statistic: Statistic, blocks: Blocks, draws: Any, value: float, plan: IntervalPlan
) -> tuple[tuple[float, float], str]:
    if plan.method == "bca":
        ends = bca_interval(statistic, blocks, draws, value, plan.confidence)
        if ends is not None:
            return ends, "bca"
    return percentile_interval(draws, plan.confidence), "percentile"
