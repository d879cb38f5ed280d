"""From a statistic and ratings to a `Coefficient`: value, standard error, interval, or the reason for having none."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from agreement._form import Form
from agreement._interval import interval_of
from agreement._options import IntervalPlan
from agreement._sample import Sample, sample_of
from agreement._statistic import ONE_CODER, Statistic, numbers_in, ratings_of
from agreement._types import AnyArray, FloatArray
from agreement._variance import standard_error
from agreement.ratings import Ratings
from agreement.result import Coefficient

REVERSED = "clearly below 0: the labels may be reversed"


@dataclass(frozen=True, slots=True)
class Description:
    """What a result says of its input. n_given: all units; design: labels, weights, items and strata, for print."""

    n_given: int
    n_ratings: int
    n_coders: int
    labels: tuple[Hashable, ...]
    design: str
    notes: tuple[str, ...] = ()


def estimate(statistic: Statistic, ratings: Ratings, form: Form, plan: IntervalPlan) -> Coefficient:
    """The coefficient over all units of `ratings` that the statistic can use."""
    sample = sample_of(statistic, ratings)
    with np.errstate(divide="ignore", invalid="ignore"):
        return estimate_sample(statistic, sample, form, plan, _description(ratings, sample, numeric=statistic.numeric))


def _ratings_in(sample: Sample, numeric: bool) -> AnyArray:
    return numbers_in(sample.rows) if numeric else ratings_of(sample.rows)


def _description(ratings: Ratings, sample: Sample, *, numeric: bool) -> Description:
    kind = "label" if len(ratings.labels) == 1 else "labels"
    parts = [f"{len(ratings.labels)} {kind} {'declared' if ratings.declared else 'seen (none declared)'}"]
    parts += ["design weights"] if ratings.weighted else []
    parts += ["units grouped by item"] if ratings.items is not None else []
    parts += ["units in strata"] if len(ratings.strata) > 1 else []
    n, width = ratings.n_units, ratings.codes.shape[1]
    wide = width > n and not ratings.anonymous
    given = ratings.counts @ (ratings.codes >= 0)  # by coder
    whole = sample.n == n
    return Description(
        n_given=n,
        n_ratings=int(np.add.reduce(given) if whole else sample.counts @ _ratings_in(sample, numeric)),
        n_coders=int(np.count_nonzero(given)),
        labels=ratings.labels,
        design="; ".join(parts),
        notes=(f"read as {n} units by {width} coders: transpose if rows are coders",) if wide else (),
    )


def estimate_sample(
    statistic: Statistic, sample: Sample, form: Form, plan: IntervalPlan, description: Description
) -> Coefficient:
    """The coefficient over all rows of `sample`, every one of which is eligible."""
    totals = statistic.totals(sample.rows, sample.mass)
    n = sample.n
    value, observed, expected = statistic.describe(totals) if n else (math.nan, None, None)
    common: dict[str, Any] = {
        "name": form.name,
        "level": plan.confidence,
        "n_units": n,
        "n_ignored": description.n_given - n,
        "n_ratings": description.n_ratings,
        "n_coders": description.n_coders,
        "convention": f"{form.convention}; {description.design}" if description.design else form.convention,
        "labels": description.labels,
    }
    if math.isnan(value):
        reason = _reason(statistic, totals, description)
        return Coefficient(
            value=None, se=None, low=None, high=None, undefined=reason, notes=description.notes, **common
        )
    se, blocks = (None, 0.0) if plan.method == "none" else standard_error(statistic, sample, totals, form)
    bounds = interval_of(statistic, sample, (value, expected), se, blocks, form, plan)
    reversed_note = (REVERSED,) if form.signed and value < 0 and bounds.high is not None and bounds.high < 0 else ()
    return Coefficient(
        value=value,
        se=se,
        low=bounds.low,
        high=bounds.high,
        interval=bounds.method,
        se_null=statistic.null_se(totals) if se is not None and _alike(sample) else None,
        observed=observed,
        expected=expected,
        draws=bounds.draws,
        undefined_draws=bounds.undefined,
        notes=(*description.notes, *statistic.notes(totals), *bounds.notes, *reversed_note),
        **common,
    )


def _alike(sample: Sample) -> bool:
    """No weights, items or strata."""
    even = float(sample.weight.max()) == 1 == float(sample.weight.min())
    return even and sample.items is None and sample.n_strata == 1


def _reason(statistic: Statistic, totals: FloatArray, description: Description) -> str:
    if description.n_given == 0:
        return "no units"
    if description.n_coders < 2:
        return ONE_CODER if description.n_coders else "no ratings"
    return statistic.why_undefined(totals)
