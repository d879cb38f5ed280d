"""Krippendorff's alpha for ordered and numeric ratings, in time linear in the ratings (no distinct-value x
distinct-value array for interval data)."""

from __future__ import annotations

import numpy as np

from agreement._statistic import (
    NO_PAIR,
    NO_VARIATION,
    TOO_LIGHT,
    Statistic,
    chunks,
    label_counts,
    less_one,
    numbers_in,
    ratings_of,
    ratio,
)
from agreement._types import AnyArray, BoolArray, FloatArray

_FLAT = 1e-13
"""A variance below this share of the mean square is rounding."""


def _spread(values: AnyArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """By unit of an array of numbers: ratings m, sum, sum of squares, and sum over ordered pairs of (x - y)^2 / (m -
    1).

    Zeros where a unit has fewer than two ratings. The last is taken from deviations, without cancellation.
    """
    x = np.ascontiguousarray(values.T)  # numpy sums over a short last axis slowly
    given = ~np.isnan(x)
    m = given.sum(axis=0).astype(np.float64)
    filled = np.where(given, x, 0.0)
    total = filled.sum(axis=0)
    deviations = np.where(given, x - total / np.maximum(m, 1), 0.0)
    apart = 2 * m / np.maximum(m - 1, 1) * (deviations * deviations).sum(axis=0)
    paired = m >= 2
    squares = (filled * filled).sum(axis=0)
    return tuple(np.where(paired, part, 0.0) for part in (m, total, squares, apart))  # type: ignore[return-value]


class IntervalAlpha(Statistic):
    """Squared differences of numbers. Features: ratings, disagreement, sum and sum of squares about `centre`."""

    numeric = True
    width = 4

    def __init__(self, centre: float) -> None:
        self.centre = centre

    def eligible(self, rows: AnyArray) -> BoolArray:
        return np.asarray(numbers_in(rows) >= 2)

    def features(self, rows: AnyArray) -> FloatArray:
        m, total, squares, apart = _spread(rows - self.centre)
        return np.column_stack([m, apart, total, squares])

    def _expected(self, totals: AnyArray) -> AnyArray:
        n, total, squares = totals[..., 0], totals[..., 2], totals[..., 3]
        spread = n * squares - total * total
        flat = np.real(spread) <= _FLAT * np.real(n * squares)
        return np.asarray(np.where(flat, 0, 2 * spread))

    def smooth(self, totals: AnyArray, at: FloatArray) -> AnyArray:
        return np.asarray(1 - ratio(totals[..., 0] * totals[..., 1], self._expected(totals)))

    def evaluate(self, totals: AnyArray) -> AnyArray:
        return np.asarray(1 - ratio(less_one(totals[..., 0]) * totals[..., 1], self._expected(totals)))

    def disagrees(self, rows: AnyArray) -> tuple[BoolArray, BoolArray]:
        paired = self.eligible(rows)
        high, low = rows[:, 0].copy(), rows[:, 0].copy()
        for column in rows.T[1:]:
            np.fmax(high, column, out=high)
            np.fmin(low, column, out=low)
        apart = high > low
        return apart & paired, ~apart & paired

    def why_undefined(self, totals: FloatArray) -> str:
        if totals[0] == 0:
            return NO_PAIR
        return TOO_LIGHT if totals[0] <= 1 else NO_VARIATION


class OrdinalAlpha(Statistic):
    """Krippendorff's ordinal metric: squared differences of mid-ranks, which move with the label counts.

    sum of n_g from c to k less (n_c + n_k) / 2 is the difference of the mid-ranks of c and k. Features: label counts
    (q), coincidences (q x q).
    """

    def __init__(self, q: int) -> None:
        self.q = q
        self.width = q + q * q

    def eligible(self, rows: AnyArray) -> BoolArray:
        return np.asarray(ratings_of(rows) >= 2)

    def features(self, rows: AnyArray) -> FloatArray:
        given = label_counts(rows, self.q)
        m = given.sum(axis=1)
        paired = (m >= 2).astype(np.float64)
        pairs = given[:, :, None] * given[:, None, :]
        pairs[:, np.arange(self.q), np.arange(self.q)] -= given
        pairs *= (paired / np.maximum(m - 1, 1))[:, None, None]
        return np.concatenate([given * paired[:, None], pairs.reshape(len(rows), -1)], axis=1)

    def totals(self, rows: AnyArray, mass: FloatArray) -> FloatArray:
        """Coincidences as one product a chunk, without an array of features."""
        if mass.ndim > 1:
            return super().totals(rows, mass)
        counts, pairs = np.zeros(self.q), np.zeros((self.q, self.q))
        for part in chunks(len(rows), self.q + rows.shape[1]):
            given = label_counts(rows[part], self.q)
            m = given.sum(axis=1)
            used = np.where(m >= 2, mass[part], 0.0)
            counts += used @ given
            share = (used / np.maximum(m - 1, 1))[:, None] * given
            pairs += share.T @ given
            pairs[np.arange(self.q), np.arange(self.q)] -= share.sum(axis=0)
        return np.concatenate([counts, pairs.ravel()])

    def _sums(self, totals: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Ratings n, disagreement, and n^2 times the expected disagreement."""
        counts = totals[..., : self.q]
        n = counts.sum(axis=-1)
        ranks = _midranks(counts)
        pairs = totals[..., self.q :].reshape(*totals.shape[:-1], self.q, self.q)
        gaps = (ranks[..., :, None] - ranks[..., None, :]) ** 2
        expected = 2 * (n * (counts * ranks**2).sum(axis=-1) - (counts * ranks).sum(axis=-1) ** 2)
        varied = (np.real(counts) > 0).sum(axis=-1) > 1
        return n, (pairs * gaps).sum(axis=(-1, -2)), np.where(varied, expected, 0)

    def evaluate(self, totals: AnyArray) -> AnyArray:
        if totals.ndim > 1 and self.q > 8:  # keeps the (B, q, q) arrays small
            return np.concatenate([self.evaluate_block(totals[part]) for part in chunks(len(totals), self.width)])
        return self.evaluate_block(totals)

    def evaluate_block(self, totals: AnyArray) -> AnyArray:
        n, apart, expected = self._sums(totals)
        return np.asarray(1 - ratio(less_one(n) * apart, expected))

    def gradient(self, totals: FloatArray) -> FloatArray:
        slope, ranks, scale = self._slope(totals)
        return np.concatenate([slope, (scale * np.subtract.outer(ranks, ranks) ** 2).ravel()])

    def _slope(self, totals: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """By label: derivative by one more rating, its mid-rank; and the derivative by disagreement."""
        counts, pairs = totals[: self.q], totals[self.q :].reshape(self.q, self.q)
        n, apart, expected = (float(part) for part in self._sums(totals))
        ranks = _midranks(counts)
        centred = ranks - (counts * ranks).sum() / n
        observed_pull = 4 * (pairs.sum(axis=1) * ranks - pairs @ ranks)
        expected_pull = 4 * n * counts * centred
        own = 2 * ((counts * ranks**2).sum() - 2 * ranks * (counts * ranks).sum() + n * ranks**2)
        slope = (
            -n / expected * _shift(observed_pull)
            + n * apart / expected**2 * (own + _shift(expected_pull))
            - apart / expected
        )
        return slope, ranks, -n / expected

    def influence(self, rows: AnyArray, totals: FloatArray) -> FloatArray:
        slope, ranks, scale = self._slope(totals)
        middle = ranks - ranks.mean()
        parts = []
        for part in chunks(len(rows), self.q + rows.shape[1]):
            given = label_counts(rows[part], self.q)
            m = given.sum(axis=1)
            apart = 2 * (m * (given @ middle**2) - (given @ middle) ** 2) / np.maximum(m - 1, 1)
            parts.append(np.where(m >= 2, given @ slope + scale * apart, 0.0))
        return np.concatenate(parts)

    def disagrees(self, rows: AnyArray) -> tuple[BoolArray, BoolArray]:
        if rows.dtype.kind == "f":
            several, paired = (rows > 0).sum(axis=1) > 1, rows.sum(axis=1) >= 2
        else:
            several, paired = rows.max(axis=1) > np.where(rows >= 0, rows, self.q).min(axis=1), self.eligible(rows)
        return several & paired, ~several & paired

    def why_undefined(self, totals: FloatArray) -> str:
        n = totals[: self.q].sum()
        if n == 0:
            return NO_PAIR
        return TOO_LIGHT if n <= 1 else NO_VARIATION


def _midranks(counts: AnyArray) -> AnyArray:
    return np.asarray(np.cumsum(counts, axis=-1) - counts / 2)


def _shift(pull: FloatArray) -> FloatArray:
    """Effect through the mid-ranks of one more rating of each label: all labels above rise by 1, its own by 1/2."""
    above = np.cumsum(pull[::-1])[::-1] - pull
    return np.asarray(above + pull / 2)
