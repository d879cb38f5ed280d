"""Disagreement weights between labels: v = 1 - w, with zeros on the diagonal (Cohen 1968; Gwet 2014, ch. 3)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from agreement._read import is_frame
from agreement._types import FloatArray
from agreement.errors import AgreementError

WeightName: TypeAlias = Literal["nominal", "linear", "quadratic", "ordinal", "interval", "ratio"]
WeightsLike: TypeAlias = WeightName | npt.ArrayLike | Any
Distance: TypeAlias = Literal["positions", "values"]

NAMES = ("nominal", "linear", "quadratic", "ordinal", "interval", "ratio")


def disagreement(
    weights: WeightsLike, labels: Sequence[Hashable], *, ordered: bool, distance: Distance | None, default: Distance
) -> tuple[FloatArray, str]:
    """(q, q) disagreements in [0, 1] and the name to print.

    weights: "nominal" (identity), "linear" |x - y| / range, "quadratic" its square, "ordinal" C(|k - l| + 1, 2) /
    C(q, 2) on positions, "interval" quadratic on values, "ratio" ((x - y) / (x + y))^2 over its maximum, or a
    matrix: ones on the diagonal mean agreement weights, zeros mean disagreement weights (divided by their maximum).
    distance: whether x and y in linear and quadratic are positions among `labels` or the labels' numeric values;
    None takes `default`, and positions where labels are not numbers.
    """
    if not isinstance(weights, str):
        return _matrix(weights, labels)
    if weights not in NAMES:
        raise AgreementError(f"weights={weights!r} is unknown.", f"Use one of {', '.join(NAMES)}, or a matrix.")
    q = len(labels)
    if weights == "nominal":
        return _nominal(q), "nominal weights"
    if not ordered and q > 2:
        raise AgreementError(
            f"{weights} weights need the labels in order, and the order of text labels is not known.",
            f"Pass labels= in order; seen are {list(labels)!r}.",
        )
    if weights == "ordinal":
        steps = np.abs(np.subtract.outer(np.arange(q), np.arange(q)))
        return steps * (steps + 1) / max(q * (q - 1), 1), "ordinal weights"
    return _scaled(weights, labels, distance, default)


@lru_cache(maxsize=32)
def _nominal(q: int) -> FloatArray:
    v = 1 - np.eye(q)
    v.setflags(write=False)
    return v


def _scaled(
    weights: str, labels: Sequence[Hashable], distance: Distance | None, default: Distance
) -> tuple[FloatArray, str]:
    if weights in ("interval", "ratio"):
        points, scale = _values(labels, weights), "values"
    else:
        numeric = all(isinstance(label, int | float) for label in labels)
        scale = distance or (default if numeric else "positions")
        points = _values(labels, weights) if scale == "values" else np.arange(len(labels), dtype=np.float64)
    if weights == "ratio":
        return ratio_disagreement(points), "ratio weights on values"
    gap = np.abs(np.subtract.outer(points, points))
    gap /= gap.max(initial=0) or 1.0
    return (gap if weights == "linear" else gap**2), f"{weights} weights on {scale}"


def ratio_disagreement(points: FloatArray) -> FloatArray:
    """((x - y) / (x + y))^2 over its maximum, 0 where x = y; raises AgreementError below 0."""
    refuse_negative(points)
    total = np.add.outer(points, points)
    gap = np.subtract.outer(points, points)
    squared = np.divide(gap, total, out=np.zeros_like(gap), where=total > 0) ** 2
    return np.asarray(squared / (squared.max(initial=0) or 1.0))


def refuse_negative(points: FloatArray) -> None:
    """A ratio scale has a true zero and nothing below it."""
    if (points < 0).any():
        raise AgreementError(f"A ratio scale has no negative values; {points.min():g} is one.", "Use 'interval'.")


def _values(labels: Sequence[Hashable], weights: str) -> FloatArray:
    if not all(isinstance(label, int | float) for label in labels):
        odd = next(label for label in labels if not isinstance(label, int | float))
        raise AgreementError(
            f"{weights} weights on values need numbers; {odd!r} is not one.", "Use distance='positions'."
        )
    return np.array(labels, np.float64)


def _matrix(weights: Any, labels: Sequence[Hashable]) -> tuple[FloatArray, str]:
    q = len(labels)
    if is_frame(weights):
        names = set(labels)
        if set(weights.index) != names or set(weights.columns) != names:
            raise AgreementError(
                f"The weight matrix is named {list(weights.index)!r}.", f"Name its rows and columns {list(labels)!r}."
            )
        weights = weights.loc[list(labels), list(labels)]
    matrix = np.array(weights, np.float64)
    if matrix.shape != (q, q):
        raise AgreementError(
            f"The weight matrix has shape {matrix.shape}, expected ({q}, {q}): one row a label.",
            f"Labels: {list(labels)!r}.",
        )
    diagonal = np.diag(matrix)
    if not np.isfinite(matrix).all() or matrix.min() < 0:
        raise AgreementError("Weights must be finite and 0 or more.")
    if (diagonal == 0).all():
        return matrix / (matrix.max(initial=0) or 1.0), "given disagreement weights"
    if (diagonal == 1).all() and matrix.max() <= 1:
        return 1 - matrix, "given weights"
    raise AgreementError(
        "The weight matrix has neither ones nor zeros on its whole diagonal.",
        "Agreement weights have 1 there and lie in [0, 1]; disagreement weights have 0 there.",
    )
