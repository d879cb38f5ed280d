"""Percent agreement and agreement on each label."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Literal, Unpack

from agreement._estimate import estimate
from agreement._form import FEW, Form
from agreement._nominal import PercentAgreement
from agreement._options import Options, split_options
from agreement._read import RatingsLike
from agreement._specific import SpecificAgreement
from agreement._types import FloatArray
from agreement._weights import Distance, WeightsLike, disagreement
from agreement.errors import AgreementError
from agreement.ratings import Ratings, read_ratings
from agreement.result import Coefficient

PercentConvention = Literal["units", "pairs"]


def percent_agreement(
    ratings: RatingsLike | Ratings,
    *,
    labels: Sequence[Hashable] | None = None,
    weights: WeightsLike = "nominal",
    distance: Distance | None = None,
    convention: PercentConvention = "units",
    **options: Unpack[Options],
) -> Coefficient:
    """Share of coder pairs that agree, in [0, 1]; weighted agreement with `weights`.

    ratings: units x coders, any number of coders, missing ratings allowed. convention: "units", the mean over units
    of each unit's share (Gwet 2014, ch. 3); or "pairs", every pair of ratings alike, so that a unit with more
    ratings counts more. Undefined where no unit has two ratings.
    """
    units, plan = split_options(options)
    table = read_ratings(ratings, labels=labels, **units)
    v, name = disagreement(weights, table.labels, ordered=table.ordered, distance=distance, default="positions")
    if convention not in ("units", "pairs"):
        raise AgreementError(f"convention={convention!r} is unknown.", "Use 'units' or 'pairs'.")
    text = "mean over units with two or more ratings" if convention == "units" else "pairs of ratings pooled over units"
    form = share_form("percent agreement", f"{text}; {name}", table, v)
    return estimate(PercentAgreement(v, pairs=convention == "pairs"), table, form, plan)


def share_form(name: str, convention: str, table: Ratings, v: FloatArray) -> Form:
    """Of a share of agreeing pairs: two coders who agree or not are a proportion, for which Wilson is right."""
    proportion = len(table.coders) == 2 and bool(((v == 0) | (v == 1)).all())
    return Form(name, convention, bounds=(0.0, 1.0), signed=False, few=math.inf if proportion else FEW)


def specific_agreement(
    ratings: RatingsLike | Ratings, *, labels: Sequence[Hashable] | None = None, **options: Unpack[Options]
) -> dict[Hashable, Coefficient]:
    """For each label, the chance that another coder agrees, given that one coder chose it (Spitzer and Fleiss 1974).

    Two coders: 2 n_kk / (n_k. + n_.k), Dice's index. Undefined for a label that nobody used in a unit with two ratings.
    """
    units, plan = split_options(options)
    table = read_ratings(ratings, labels=labels, **units)
    form = Form("specific agreement", "ordered pairs of ratings pooled over units", bounds=(0.0, 1.0), signed=False)
    return {
        label: estimate(SpecificAgreement(code, len(table.labels)), table, form, plan)
        for code, label in enumerate(table.labels)
    }
