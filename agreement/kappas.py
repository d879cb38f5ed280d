"""Cohen, Conger, Light, Scott and Fleiss."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal, Unpack

import numpy as np

from agreement._estimate import estimate
from agreement._form import Form
from agreement._nominal import CodedStatistic, CoderPairs, Conger, MeanMargins, PooledMargins
from agreement._options import Options, split_options
from agreement._read import RatingsLike
from agreement._weights import Distance, WeightsLike, disagreement
from agreement.errors import AgreementError
from agreement.ratings import Ratings, read_pair, read_ratings
from agreement.result import Coefficient

FleissConvention = Literal["gwet", "pooled", "pair-pooled"]
LightConvention = Literal["mean", "pooled"]


def cohen_kappa(
    a: Any,
    b: Any = None,
    *,
    labels: Sequence[Hashable] | None = None,
    weights: WeightsLike = "nominal",
    distance: Distance | None = None,
    **options: Unpack[Options],
) -> Coefficient:
    """Cohen's (1960) kappa of two coders over the units that both rated, weighted (Cohen 1968) with `weights`.

    a, b: labels of the same units in the same order; or `a` alone as ratings with two columns. Standard error of
    Fleiss, Cohen and Everitt (1969), normal interval. linear and quadratic weights run over positions in `labels`
    unless distance="values". Undefined where no unit has both ratings, or both coders use one and the same label
    throughout.
    """
    units, plan = split_options(options)
    table = read_ratings(a, labels=labels, **units) if b is None else read_pair(a, b, labels=labels, **units)
    if len(table.coders) != 2 or table.anonymous:
        raise AgreementError(
            f"Cohen's kappa needs two coders, the ratings have {len(table.coders)}.", "Use conger_kappa or light_kappa."
        )
    v, name = disagreement(weights, table.labels, ordered=table.ordered, distance=distance, default="positions")
    form = _pair_form("Cohen's kappa", f"Cohen 1960, units rated by both; {name}")
    return estimate(CoderPairs(v, [(0, 1)]), table, form, plan)


def _pair_form(name: str, convention: str) -> Form:
    return Form(name, convention, distribution="normal", divisor="n", variance="Fleiss-Cohen-Everitt 1969")


def light_kappa(
    ratings: RatingsLike | Ratings,
    *,
    labels: Sequence[Hashable] | None = None,
    weights: WeightsLike = "nominal",
    distance: Distance | None = None,
    convention: LightConvention = "mean",
    **options: Unpack[Options],
) -> Coefficient:
    """Cohen's kappa over all coder pairs: the unweighted mean of the defined ones (Light 1971), the others counted
    in `notes`.

    convention: "mean"; or "pooled", kappa of one table of all pairs, each pair entered once, the earlier coder as row.
    """
    units, plan = split_options(options)
    table = _named(read_ratings(ratings, labels=labels, **units), "Light's kappa")
    v, name = disagreement(weights, table.labels, ordered=table.ordered, distance=distance, default="positions")
    if convention not in ("mean", "pooled"):
        raise AgreementError(f"convention={convention!r} is unknown.", "Use 'mean' or 'pooled'.")
    text = "Light 1971, mean over coder pairs" if convention == "mean" else "one table of all coder pairs, one way"
    if len(table.coders) < 2:  # an empty second coder, so that the reason is given as everywhere
        table = replace(
            table, codes=np.pad(table.codes, ((0, 0), (0, 1)), constant_values=-1), coders=(*table.coders, None)
        )
    pairs = list(combinations(range(len(table.coders)), 2))
    statistic = CoderPairs(v, pairs, pooled=convention == "pooled")
    return estimate(statistic, table, Form("Light's kappa", f"{text}; {name}"), plan)


def _named(table: Ratings, name: str) -> Ratings:
    if table.anonymous:
        raise AgreementError(
            f"{name} needs to know which coder gave which label.", "Use fleiss_kappa, or give units x coders."
        )
    return table


def conger_kappa(
    ratings: RatingsLike | Ratings,
    *,
    labels: Sequence[Hashable] | None = None,
    weights: WeightsLike = "nominal",
    distance: Distance | None = None,
    **options: Unpack[Options],
) -> Coefficient:
    """Conger's (1980) kappa: chance agreement from each coder's own label shares, for any number of coders.

    Missing ratings as in Gwet (2014, ch. 2); standard error linearised, t interval.
    """
    units, plan = split_options(options)
    table = _named(read_ratings(ratings, labels=labels, **units), "Conger's kappa")
    v, name = disagreement(weights, table.labels, ordered=table.ordered, distance=distance, default="positions")
    form = Form("Conger's kappa", f"Conger 1980, gaps as Gwet 2014; {name}", variance="Gwet linearised")
    return estimate(Conger(v, len(table.coders)), table, form, plan)


def fleiss_kappa(
    ratings: RatingsLike | Ratings,
    *,
    labels: Sequence[Hashable] | None = None,
    weights: WeightsLike = "nominal",
    distance: Distance | None = None,
    convention: FleissConvention = "gwet",
    **options: Unpack[Options],
) -> Coefficient:
    """Fleiss's (1971) kappa for any number of coders, with missing ratings by one of three conventions.

    "gwet": label shares are means over all units with a rating (Gwet 2014). "pooled": over all ratings of units with
    two or more. "pair-pooled": every ordered pair of ratings enters one table, whose Scott's pi it is. They agree
    where nothing is missing.
    """
    units, plan = split_options(options)
    table = read_ratings(ratings, labels=labels, **units)
    v, name = disagreement(weights, table.labels, ordered=table.ordered, distance=distance, default="positions")
    statistic, text, variance = _fleiss(v, convention)
    return estimate(statistic, table, Form("Fleiss' kappa", f"{text}; {name}", variance=variance), plan)


def _fleiss(v: Any, convention: FleissConvention) -> tuple[CodedStatistic, str, str]:
    if convention == "gwet":
        return MeanMargins(v, "fleiss"), "Fleiss 1971, gaps as Gwet 2014", "Gwet linearised"
    if convention == "pooled":
        return (
            PooledMargins(v, "pooled", small_sample=False),
            "Fleiss 1971, ratings pooled over units with two or more",
            "linearised",
        )
    if convention == "pair-pooled":
        return (
            PooledMargins(v, "pair-pooled", small_sample=False),
            "pairs of ratings pooled, entered both ways",
            "linearised",
        )
    raise AgreementError(f"convention={convention!r} is unknown.", "Use 'gwet', 'pooled' or 'pair-pooled'.")


def scott_pi(
    ratings: Any,
    b: Any = None,
    *,
    labels: Sequence[Hashable] | None = None,
    weights: WeightsLike = "nominal",
    distance: Distance | None = None,
    **options: Unpack[Options],
) -> Coefficient:
    """Scott's (1955) pi: both coders share one set of label shares, from the units that both rated.

    Two label sequences, or ratings of any number of coders (Fleiss's kappa of the pooled convention then).
    """
    units, plan = split_options(options)
    table = (
        read_ratings(ratings, labels=labels, **units) if b is None else read_pair(ratings, b, labels=labels, **units)
    )
    v, name = disagreement(weights, table.labels, ordered=table.ordered, distance=distance, default="positions")
    form = Form("Scott's pi", f"Scott 1955, ratings of units with two or more; {name}")
    return estimate(PooledMargins(v, "pooled", small_sample=False), table, form, plan)
