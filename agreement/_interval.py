"""Intervals: from the standard error, Wilson's for few disagreements, and by bootstrap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agreement._bootstrap import Draws, bca_interval, draw_values, percentile_interval
from agreement._form import FEW, Form
from agreement._options import IntervalPlan
from agreement._quantiles import normal_quantile, t_quantile
from agreement._sample import Blocks, Sample, blocks_of
from agreement._statistic import Statistic
from agreement.errors import AgreementError

MAX_UNDEFINED = 0.05


@dataclass(frozen=True, slots=True)
class Bounds:
    low: float | None = None
    high: float | None = None
    method: str | None = None
    notes: tuple[str, ...] = ()
    draws: int = 0
    undefined: int = 0


def interval_of(
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
    few = split is not None and _few(split, sample, form.few, statistic.all_or_nothing(sample.rows))
    if split is not None and (plan.method == "wilson" or (plan.method == "auto" and few)):
        return _wilson(*point, _with_design(split, sample, value, se, blocks, form, plan), form, plan.confidence)
    if plan.method == "wilson":
        raise AgreementError(f"There is no Wilson interval for {form.name}.", "Use interval='analytic' or 'bca'.")
    if se is None:
        return Bounds(notes=(_no_error(sample),))
    return _analytic(value, se, blocks, form, plan.confidence)


def _few(split: Sequence[float], sample: Sample, limit: float, all_or_nothing: bool) -> bool:
    """Few disagreements; or few agreements, where nothing lies between (numbers hardly ever agree exactly).

    Under unequal weights also where their weighted share of the effective number of units (Kish 1965) is small.
    """
    apart, together, share, _ = split
    effective = float(sample.mass.sum() ** 2 / (sample.counts * sample.weight**2).sum())
    if min(apart, share * effective) < limit:
        return True
    return all_or_nothing and min(together, (1 - share) * effective) < limit


def _no_error(sample: Sample) -> str:
    what = "unit" if sample.items is None else "item"
    return f"one {what}{' in a stratum' if sample.n_strata > 1 else ''}: no standard error"


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


def _with_design(
    split: tuple[float, float, float, float],
    sample: Sample,
    value: float,
    se: float | None,
    blocks: float,
    form: Form,
    plan: IntervalPlan,
) -> tuple[float, float, float, float]:
    """The split with the effective number that the standard error implies, where units share items.

    share (1 - share) / SE^2, less for few items and never more than the units (Korn and Graubard 1998). With fewer than
    five units on a side the standard error is not to be trusted, and the number of items stays.
    """
    apart, together, share, _ = split
    if sample.items is None or form.signed or not se or min(apart, together) < FEW:
        return split
    tail = (1 + plan.confidence) / 2
    cost = (1 - value) / share
    implied = share * (1 - share) * (cost / se) ** 2 * (normal_quantile(tail) / t_quantile(tail, blocks - 1)) ** 2
    units = float(sample.mass.sum() ** 2 / (sample.counts * sample.weight**2).sum())
    return apart, together, share, min(implied, units)


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
    statistic: Statistic, blocks: Blocks, draws: Draws, value: float, plan: IntervalPlan
) -> tuple[tuple[float, float], str]:
    if plan.method == "bca":
        ends = bca_interval(statistic, blocks, draws, value, plan.confidence)
        if ends is not None:
            return ends, "bca"
    return percentile_interval(draws, plan.confidence), "percentile"
