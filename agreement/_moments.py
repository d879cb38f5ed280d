"""Intraclass correlation and concordance as functions of sums over units rated by every coder."""

from __future__ import annotations

import numpy as np

from agreement._statistic import Statistic, numbers_in, ratio
from agreement._types import AnyArray, BoolArray, FloatArray

_FLAT = 1e-13
"""A variance below this share of the mean square is rounding."""


class _CompleteNumbers(Statistic):
    """Statistics over units with a number from every coder, taken about `centre`."""

    numeric = True
    exchangeable = False

    def __init__(self, coders: int, centre: float) -> None:
        self.k = coders
        self.centre = centre

    def eligible(self, rows: AnyArray) -> BoolArray:
        return np.asarray(numbers_in(rows) == rows.shape[1])

    def _filled(self, rows: AnyArray) -> tuple[FloatArray, FloatArray]:
        """[usable], and numbers about the centre, 0 in rows that cannot be used."""
        used = self.eligible(rows)
        return used.astype(np.float64), np.where(used[:, None], rows - self.centre, 0.0)

    def why_undefined(self, totals: FloatArray) -> str:
        if totals[0] == 0:
            return "no unit has a rating from every coder"
        if totals[0] <= 1:
            return "one unit: no variance between units"
        return "no variation: the ratings are all alike"


class IntraclassCorrelation(_CompleteNumbers):
    """McGraw and Wong (1996), two-way: `agreement` (A) or consistency (C), of one coder or of the mean of k.

    Features: 1, squared sum of the unit, sum of squares, ratings by coder.
    """

    def __init__(self, coders: int, centre: float, *, agreement: bool, mean_of_coders: bool) -> None:
        super().__init__(coders, centre)
        self.agreement = agreement
        self.mean_of_coders = mean_of_coders
        self.width = 3 + coders

    def features(self, rows: AnyArray) -> FloatArray:
        used, x = self._filled(rows)
        return np.column_stack([used, x.sum(axis=1) ** 2, (x**2).sum(axis=1), x])

    def mean_squares(self, totals: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
        """Between units, between coders, residual, and the number of units."""
        n, k = totals[..., 0], self.k
        coders = totals[..., 3:]
        grand = ratio(coders.sum(axis=-1) ** 2, n * k)
        units = totals[..., 1] / k - grand
        between = ratio((coders**2).sum(axis=-1), n) - grand
        residual = totals[..., 2] - grand - units - between
        return ratio(units, n - 1), between / (k - 1), ratio(residual, (n - 1) * (k - 1)), n

    def evaluate(self, totals: AnyArray) -> AnyArray:
        rows, columns, residual, n = self.mean_squares(totals)
        k = self.k
        bias = columns - residual if self.agreement else 0 * columns
        below = rows + bias / n if self.mean_of_coders else rows + (k - 1) * residual + k * bias / n
        flat = np.real(below) <= _FLAT * np.real(ratio(totals[..., 2], n))
        return np.asarray(ratio(rows - residual, np.where(flat, 0, below)))


class Concordance(_CompleteNumbers):
    """Lin (1989) for two coders, Barnhart, Haber and Song (2002) for more. Features: 1, ratings, their products."""

    def __init__(self, coders: int, centre: float, *, unbiased: bool = False) -> None:
        super().__init__(coders, centre)
        self.unbiased = unbiased
        self.left, self.right = np.triu_indices(coders)
        self.width = 1 + coders + len(self.left)

    def features(self, rows: AnyArray) -> FloatArray:
        used, x = self._filled(rows)
        return np.column_stack([used, x, x[:, self.left] * x[:, self.right]])

    def evaluate(self, totals: AnyArray) -> AnyArray:
        n = totals[..., :1]
        means = ratio(totals[..., 1 : 1 + self.k], n)
        covariance = ratio(totals[..., 1 + self.k :], n) - means[..., self.left] * means[..., self.right]
        if self.unbiased:
            covariance = covariance * ratio(n, n - 1)
        apart = self.left != self.right
        shift = ((means[..., self.left] - means[..., self.right]) ** 2)[..., apart].sum(axis=-1)
        below = (self.k - 1) * covariance[..., ~apart].sum(axis=-1) + shift
        squares = ratio(totals[..., 1 + self.k :], n)[..., ~apart].sum(axis=-1)
        flat = np.real(below) <= _FLAT * np.real(squares)
        return np.asarray(ratio(2 * covariance[..., apart].sum(axis=-1), np.where(flat, 0, below)))
