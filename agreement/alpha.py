"""Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

import numpy as np

from agreement._estimate import estimate, estimate_sample
from agreement._form import Form
from agreement._metric import IntervalAlpha, OrdinalAlpha
from agreement._nominal import PooledMargins
from agreement._numbers import Numbers, numbers_from
from agreement._options import IntervalPlan, Options, split_options
from agreement._patterns import has_few_patterns
from agreement._read import RatingsLike, read_columns
from agreement._statistic import Statistic
from agreement._weights import Distance, WeightsLike, disagreement
from agreement.errors import AgreementError
from agreement.ratings import Ratings, read_ratings
from agreement.result import Coefficient

Level = Literal["nominal", "ordinal", "interval", "ratio"]
_LEVELS = ("nominal", "ordinal", "interval", "ratio")
_MOST_VALUES = 8_000


def krippendorff_alpha(
    ratings: RatingsLike | Ratings,
    *,
    level: Level = "nominal",
    labels: Sequence[Hashable] | None = None,
    weights: WeightsLike | None = None,
    distance: Distance | None = None,
    **options: Unpack[Options],
) -> Coefficient:
    """Krippendorff's alpha (2011) for any number of coders, units with two or more ratings.

    level: "nominal" (any labels), "ordinal" (labels in order: declared, or numbers), "interval" and "ratio" (numbers).
    weights: agreement weights instead of a level (disagreement 1 - w). Standard error linearised (Gwet 2014), t
    interval; the bootstrap resamples units with all their ratings (not Hayes and Krippendorff's resampling of
    deviations). Undefined where no unit has two ratings, or all of them are one label.
    """
    units, plan = split_options(options)
    if level not in _LEVELS:
        raise AgreementError(f"level={level!r} is unknown.", f"Use one of {', '.join(_LEVELS)}.")
    if weights is None and level == "interval":
        result = _interval_alpha(ratings, labels, units, plan)
    else:
        table = read_ratings(ratings, labels=labels, **units)
        statistic, text = _statistic(table, level, weights, distance)
        result = estimate(statistic, table, _form(text), plan)
    return _with_weight_note(result, _mean_weight(ratings, units["unit_weights"]))


def _mean_weight(ratings: Any, unit_weights: Any) -> float:
    if unit_weights is not None:
        return float(np.mean(unit_weights))
    weighted = isinstance(ratings, Ratings) and ratings.weighted
    return float(np.average(ratings.weight, weights=ratings.counts)) if weighted else 1.0


def _with_weight_note(result: Coefficient, mean: float) -> Coefficient:
    """The small-sample factor takes the sum of the weights for the number of units, right for 1 / inclusion
    probability.
    """
    if mean >= 1 or result.value is None:
        return result
    advice = "alpha takes their sum for the number of units, so give 1 / inclusion probability"
    note = f"the weights average {mean:.3g}: {advice}"
    return replace(result, notes=(*result.notes, note))


def _form(text: str) -> Form:
    return Form("Krippendorff's alpha", f"Krippendorff 2011; {text}", variance="Gwet linearised")


def _statistic(
    table: Ratings, level: Level, weights: WeightsLike | None, distance: Distance | None
) -> tuple[Statistic, str]:
    if weights is None and level == "ordinal":
        if not table.ordered and len(table.labels) > 2:
            message = "Ordinal alpha needs the labels in order, and the order of text labels is not known."
            raise AgreementError(message, f"Pass labels= in order; seen are {list(table.labels)!r}.")
        return OrdinalAlpha(len(table.labels)), "ordinal level"
    if weights is None and level == "ratio" and len(table.labels) > _MOST_VALUES:
        raise AgreementError(
            f"The ratio level compares all pairs of the {len(table.labels)} values.", "Round the ratings first."
        )
    chosen = level if weights is None else weights
    v, name = disagreement(chosen, table.labels, ordered=table.ordered, distance=distance, default="values")
    return PooledMargins(v, "alpha", small_sample=True), name if weights is not None else f"{level} level"


def _interval_alpha(
    ratings: Any, labels: Sequence[Hashable] | None, units: dict[str, Any], plan: IntervalPlan
) -> Coefficient:
    """Numbers with few distinct patterns are counted; others stay as they are: not coded, not sorted."""
    form = _form("interval level")
    if labels is None and not isinstance(ratings, Ratings) and plan.method not in ("percentile", "bca"):
        columns = read_columns(ratings)
        if columns.numbers is not None and not has_few_patterns(columns.numbers):
            return _from_numbers(numbers_from(columns, units), form, plan)
    table = read_ratings(ratings, labels=labels, **units)
    given = table.values[table.codes >= 0]
    return estimate(IntervalAlpha(float(given.mean()) if given.size else 0.0), table, form, plan)


def _from_numbers(numbers: Numbers, form: Form, plan: IntervalPlan) -> Coefficient:
    statistic = IntervalAlpha(numbers.centre)
    sample = numbers.sample(statistic.eligible(numbers.values))
    with np.errstate(divide="ignore", invalid="ignore"):
        return estimate_sample(statistic, sample, form, plan, numbers.description(sample))
