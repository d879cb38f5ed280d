"""Brennan-Prediger and Gwet's AC1 and AC2: chance agreement that depends on the number of labels on offer."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Unpack

from agreement._estimate import estimate
from agreement._form import Form
from agreement._nominal import MeanMargins
from agreement._options import Options, split_options
from agreement._read import RatingsLike
from agreement._weights import Distance, WeightsLike, disagreement
from agreement.ratings import Ratings, read_ratings
from agreement.result import Coefficient


def brennan_prediger(
    ratings: RatingsLike | Ratings,
    *,
    labels: Sequence[Hashable] | None = None,
    weights: WeightsLike = "nominal",
    distance: Distance | None = None,
    **options: Unpack[Options],
) -> Coefficient:
    """Brennan and Prediger's (1981) coefficient: chance agreement 1 / q over the q declared labels (PABAK for two
    labels).

    With labels=None q is the number of labels seen, and `convention` says so. linear and quadratic weights run over
    numeric values where labels are numbers (Gwet 2014), over positions with distance="positions".
    """
    units, plan = split_options(options)
    table = read_ratings(ratings, labels=labels, **units)
    v, name = disagreement(weights, table.labels, ordered=table.ordered, distance=distance, default="values")
    form = Form("Brennan-Prediger", f"Brennan and Prediger 1981; {name}", variance="Gwet linearised")
    return estimate(MeanMargins(v, "bp"), table, form, plan)


def gwet_ac(
    ratings: RatingsLike | Ratings,
    *,
    labels: Sequence[Hashable] | None = None,
    weights: WeightsLike = "nominal",
    distance: Distance | None = None,
    **options: Unpack[Options],
) -> Coefficient:
    """Gwet's (2008) AC1, or AC2 (Gwet 2014) with other than nominal weights, over the q declared labels.

    With labels=None q is the number of labels seen, and `convention` says so. linear and quadratic weights run over
    numeric values where labels are numbers (as Gwet's own software), over positions with distance="positions".
    """
    units, plan = split_options(options)
    table = read_ratings(ratings, labels=labels, **units)
    v, text = disagreement(weights, table.labels, ordered=table.ordered, distance=distance, default="values")
    name = "Gwet's AC1" if text == "nominal weights" else "Gwet's AC2"
    form = Form(name, f"Gwet {'2008' if name.endswith('1') else '2014'}; {text}", variance="Gwet linearised")
    return estimate(MeanMargins(v, "ac"), table, form, plan)
