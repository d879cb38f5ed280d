"""One coefficient by label, by stratum and by pair of coders."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from agreement._options import UNIT_OPTIONS
from agreement._read import RatingsLike
from agreement.errors import AgreementError
from agreement.ratings import Ratings, read_ratings
from agreement.result import Coefficient


class CoefficientFunction(Protocol):
    """A coefficient over ratings, such as `fleiss_kappa` or `cohen_kappa`."""

    def __call__(self, ratings: Any, /, **options: Any) -> Coefficient: ...


def _read(ratings: Any, options: dict[str, Any], **more: Any) -> Ratings:
    units = {name: options.pop(name) for name in (*UNIT_OPTIONS, "labels") if name in options}
    return read_ratings(ratings, **{**units, **more})


def by_label(
    coefficient: CoefficientFunction, ratings: RatingsLike | Ratings, **options: Any
) -> dict[Hashable, Coefficient]:
    """The coefficient of each label against all others, for every declared label (or label seen).

    options: those of the coefficient, weights excepted: two labels leave nothing to weigh.
    """
    if "weights" in options:
        raise AgreementError("One label against the others has no weights.", "Leave weights= out.")
    table = _read(ratings, options)
    return {label: coefficient(table.one_vs_rest(label), **options) for label in table.labels}


def by_pair(
    coefficient: CoefficientFunction, ratings: RatingsLike | Ratings, **options: Any
) -> dict[tuple[Hashable, Hashable], Coefficient]:
    """The coefficient of each pair of coders, over the units that both rated."""
    table = _read(ratings, options)
    if table.anonymous:
        raise AgreementError("Pairs need to know which coder gave which label.", "Give units x coders.")
    return {(a, b): coefficient(table.select([a, b]), **options) for a, b in combinations(table.coders, 2)}


def by_stratum(
    coefficient: CoefficientFunction,
    ratings: RatingsLike | Ratings,
    strata: Sequence[Hashable] | Any = None,
    **options: Any,
) -> dict[Hashable, Coefficient]:
    """The coefficient within each stratum; labels stay those of all units.

    strata: (n,) stratum of each unit, or None if `ratings` was read with strata.
    """
    table = _read(ratings, options) if strata is None else _read(ratings, options, strata=strata)
    return {name: coefficient(_stratum(table, code), **options) for code, name in enumerate(table.strata)}


def _stratum(table: Ratings, code: int) -> Ratings:
    inside = table.where(table.stratum == code)
    size = None if table.population is None else table.population[[code]]
    return replace(inside, stratum=np.zeros_like(inside.stratum), strata=(None,), population=size)
