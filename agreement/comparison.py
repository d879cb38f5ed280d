"""Two coefficients on the same units, with a paired interval for their difference: is the judge within the human
ceiling?
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np

from agreement._difference import Columns, Difference
from agreement._estimate import estimate
from agreement._form import Form
from agreement._metric import IntervalAlpha
from agreement._nominal import CoderPairs, Conger, MeanMargins, PercentAgreement, PooledMargins
from agreement._options import Options, split_options
from agreement._read import RatingsLike
from agreement._statistic import Statistic
from agreement._weights import Distance, WeightsLike, disagreement
from agreement.errors import AgreementError
from agreement.ratings import Ratings, read_ratings
from agreement.result import Coefficient

CoefficientName: TypeAlias = Literal[
    "kappa", "percent", "fleiss", "conger", "alpha", "alpha interval", "ac", "brennan_prediger"
]
Side: TypeAlias = Sequence[Hashable] | Sequence[tuple[Hashable, Hashable]]
_NAMES = ("kappa", "percent", "fleiss", "conger", "alpha", "alpha interval", "ac", "brennan_prediger")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two coefficients on the same units and `difference` = first - second, whose interval is paired."""

    first: Coefficient
    second: Coefficient
    difference: Coefficient


def compare_agreement(
    ratings: RatingsLike | Ratings,
    first: Side,
    second: Side,
    *,
    coefficient: CoefficientName = "kappa",
    labels: Sequence[Hashable] | None = None,
    weights: WeightsLike = "nominal",
    distance: Distance | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """One coefficient of two sets of coders over the same units.

    first, second: coder names, or for "kappa" also pairs of names: Cohen's kappa is averaged over the pairs (all
    pairs of the names), so that sets of different size stay comparable. The difference is linearised, or resampled
    with the same draws on both sides.
    """
    units, plan = split_options(options)
    table = read_ratings(ratings, labels=labels, **units)
    if table.anonymous:
        raise AgreementError("A comparison needs to know which coder gave which label.", "Give units x coders.")
    if coefficient not in _NAMES:
        raise AgreementError(f"coefficient={coefficient!r} is unknown.", f"Use one of {', '.join(_NAMES)}.")
    default: Distance = "values" if coefficient in ("ac", "brennan_prediger") else "positions"
    v, name = disagreement(weights, table.labels, ordered=table.ordered, distance=distance, default=default)
    sides = [_statistic(table, side, coefficient, v) for side in (first, second)]
    text = "interval level" if coefficient == "alpha interval" else name
    form = Form(coefficient, f"same units on both sides; {text}", bounds=(-1.0, 1.0), signed=False)
    one, other = (estimate(side, table, form, plan) for side in sides)
    wide = replace(form, name=f"difference in {coefficient}", bounds=(-2.0, 2.0))
    return Comparison(one, other, estimate(Difference(*sides), table, wide, plan))


def _statistic(table: Ratings, side: Side, coefficient: CoefficientName, v: Any) -> Statistic:
    if coefficient == "kappa":
        return CoderPairs(v, _pairs(table, side))
    columns = [_position(table, coder) for coder in side]
    if len(columns) < 2:
        raise AgreementError(f"A side of the comparison has {len(columns)} coder(s), expected two or more.")
    return Columns(_over(coefficient, v, len(columns), table), columns)


def _over(coefficient: CoefficientName, v: Any, coders: int, table: Ratings) -> Statistic:
    if coefficient == "percent":
        return PercentAgreement(v)
    if coefficient == "conger":
        return Conger(v, coders)
    if coefficient == "alpha":
        return PooledMargins(v, "alpha", small_sample=True)
    if coefficient == "alpha interval":
        return IntervalAlpha(float(np.nanmean(table.values)))
    return MeanMargins(v, {"fleiss": "fleiss", "ac": "ac", "brennan_prediger": "bp"}[coefficient])  # type: ignore[arg-type]


def _position(table: Ratings, coder: Hashable) -> int:
    if coder not in table.coders:
        raise AgreementError(f"No coder {coder!r}.", f"Coders are {list(table.coders)}.")
    return table.coders.index(coder)


def _pairs(table: Ratings, side: Side) -> list[tuple[int, int]]:
    named = [coder for coder in side if coder in table.coders]
    if len(named) == len(side):
        pairs: list[Any] = list(combinations(side, 2))
    else:
        pairs = [pair for pair in side if isinstance(pair, tuple) and len(pair) == 2]
        if len(pairs) < len(side):
            raise AgreementError(
                f"{list(side)!r} is neither coder names nor pairs of them.", f"Coders: {list(table.coders)}."
            )
    if not pairs:
        raise AgreementError(f"A side of the comparison has {len(side)} coder(s), expected two or more.")
    return [(_position(table, a), _position(table, b)) for a, b in pairs]
