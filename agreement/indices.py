"""Why a kappa is low: prevalence, bias, and the largest kappa that the marginals allow."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agreement._read import RatingsLike
from agreement._types import FloatArray
from agreement._weights import Distance, WeightsLike, disagreement
from agreement.errors import AgreementError
from agreement.ratings import Ratings, read_pair, read_ratings


@dataclass(frozen=True, slots=True)
class Indices:
    """Of one label against all others, over the units used. Values are None where `undefined` says why.

    prevalence: |2 p - 1| with p the label's mean share; two coders: |both yes - both no| / n (Byrt, Bishop and
    Carlin 1993).
    bias: largest difference between two coders' shares of the label; two coders: |yes-no less no-yes| / n.
    shares: each coder's share of the label, in the order of `coders`, None for a coder without ratings.
    """

    label: Hashable
    prevalence: float | None
    bias: float | None
    shares: tuple[float | None, ...]
    coders: tuple[Hashable, ...]
    n_units: int
    undefined: str | None = None


def prevalence_bias(
    ratings: Any, b: Any = None, *, labels: Sequence[Hashable] | None = None, unit_weights: Any = None
) -> dict[Hashable, Indices]:
    """Prevalence and bias index by label (Byrt, Bishop and Carlin 1993), from ratings or from two label sequences.

    Two coders: over the units that both rated, so that the indices belong to Cohen's kappa. More: over units with
    two or more ratings, each coder's shares from their own ratings.
    """
    table = _read(ratings, b, labels, unit_weights)
    rated = (table.codes >= 0).sum(axis=1) >= 2
    table = table.where(rated)
    mass = table.counts * table.weight
    return {label: _indices(table, mass, code) for code, label in enumerate(table.labels)}


def _read(ratings: Any, b: Any, labels: Sequence[Hashable] | None, unit_weights: Any) -> Ratings:
    if b is None:
        return read_ratings(ratings, labels=labels, unit_weights=unit_weights)
    return read_pair(ratings, b, labels=labels, unit_weights=unit_weights)


def _indices(table: Ratings, mass: FloatArray, code: int) -> Indices:
    rated = mass @ (table.codes >= 0)
    chosen = mass @ (table.codes == code)
    shares = tuple(float(c / r) if r > 0 else None for c, r in zip(chosen, rated, strict=True))
    known = [share for share in shares if share is not None]
    label, n = table.labels[code], table.n_units
    if len(known) < 2:
        return Indices(label, None, None, shares, table.coders, n, "no unit has two ratings")
    mean = sum(known) / len(known)
    return Indices(label, abs(2 * mean - 1), max(known) - min(known), shares, table.coders, n)


@dataclass(frozen=True, slots=True)
class MaximumKappa:
    """The largest Cohen kappa with these two coders' label shares, or None where `undefined` says why."""

    value: float | None
    observed: float | None
    n_units: int
    convention: str
    undefined: str | None = None


def maximum_kappa(
    a: RatingsLike | Ratings | Any,
    b: Any = None,
    *,
    labels: Sequence[Hashable] | None = None,
    weights: WeightsLike = "nominal",
    distance: Distance | None = None,
    unit_weights: Any = None,
) -> MaximumKappa:
    """Cohen's (1960) maximum: kappa if the coders agreed as often as their marginals allow, over the units that both
    rated.

    observed: that largest agreement. With weights the best table is found by linear programming.
    """
    table = _read(a, b, labels, unit_weights)
    if len(table.coders) != 2 or table.anonymous:
        raise AgreementError(
            f"The maximum kappa needs two coders, the ratings have {len(table.coders)}.", "Use by_pair."
        )
    v, name = disagreement(weights, table.labels, ordered=table.ordered, distance=distance, default="positions")
    both = table.where(np.asarray((table.codes >= 0).all(axis=1)))
    q, mass = len(table.labels), both.counts * both.weight
    convention = f"Cohen 1960, marginals held; {name}"
    if not both.n_units:
        return MaximumKappa(None, None, 0, convention, "no unit has two ratings")
    rows, columns = (np.bincount(both.codes[:, side], mass, q) / mass.sum() for side in (0, 1))
    chance = float(rows @ v @ columns)
    if chance == 0:
        return MaximumKappa(
            None, None, both.n_units, convention, "no variation: chance-corrected agreement cannot be computed"
        )
    least = _least_disagreement(rows, columns, v, nominal=name == "nominal weights")
    return MaximumKappa(1 - least / chance, 1 - least, both.n_units, convention)


def _least_disagreement(rows: FloatArray, columns: FloatArray, v: FloatArray, *, nominal: bool) -> float:
    if nominal:
        return 1 - float(np.minimum(rows, columns).sum())
    from importlib import import_module

    q = len(rows)
    margins = np.zeros((2 * q, q, q))
    margins[np.arange(q), np.arange(q), :] = 1
    margins[q + np.arange(q), :, np.arange(q)] = 1
    solve: Any = import_module("scipy.optimize").linprog  # untyped
    found = solve(v.ravel(), A_eq=margins.reshape(2 * q, -1)[:-1], b_eq=np.concatenate([rows, columns])[:-1])
    return float(found.fun)
