"""Chance-corrected agreement over label codes: what units contribute and how the coefficients follow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from agreement._statistic import (
    NO_PAIR,
    NO_VARIATION,
    TOO_LIGHT,
    Statistic,
    label_counts,
    less_one,
    quadratic_form,
    ratings_of,
    ratio,
)
from agreement._types import AnyArray, BoolArray, FloatArray

_ROUNDING = 1e-14


def _shares(rows: AnyArray, v: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray, FloatArray]:
    """Label counts, ratings m, [m >= 2], and the share of ordered pairs of ratings that disagree."""
    given = label_counts(rows, len(v))
    m = given.sum(axis=1)
    paired = m >= 2
    return given, m, paired, _disagreement_of(given, v) / np.where(paired, m * (m - 1), 1)


def _binary(v: FloatArray) -> bool:
    return bool(((v == 0) | (v == 1)).all())


def _disagreement_of(given: FloatArray, v: FloatArray) -> FloatArray:
    """(G,) sum over ordered pairs of ratings of v: 0 where all agree."""
    return np.asarray(((given @ v) * given).sum(axis=1))


class CodedStatistic(Statistic):
    """A statistic over codes that compares the ratings of a unit among each other. v: (q, q) disagreement weights."""

    def __init__(self, v: FloatArray) -> None:
        self.v = v
        self.q = len(v)

    def eligible(self, rows: AnyArray) -> BoolArray:
        return np.asarray(ratings_of(rows) >= 2)

    def disagrees(self, rows: AnyArray) -> tuple[BoolArray, BoolArray]:
        given = label_counts(rows, self.q)
        apart = _disagreement_of(given, self.v) > 0
        paired = given.sum(axis=1) >= 2
        return apart & paired, ~apart & paired

    def all_or_nothing(self, rows: AnyArray) -> bool:
        return _binary(self.v) and int(ratings_of(rows).max(initial=0)) <= 2


class PercentAgreement(CodedStatistic):
    """Share of agreeing pairs of ratings, units alike (Gwet 2014, ch. 3) or `pairs`. Features: 1, disagreement."""

    width = 2

    def __init__(self, v: FloatArray, *, pairs: bool = False) -> None:
        super().__init__(v)
        self.pairs = pairs

    def features(self, rows: AnyArray) -> FloatArray:
        _, m, paired, share = _shares(rows, self.v)
        weight = np.where(paired, m * (m - 1) if self.pairs else 1.0, 0.0)
        return np.column_stack([weight, weight * share])

    def evaluate(self, totals: AnyArray) -> AnyArray:
        return np.asarray(1 - ratio(totals[..., 1], totals[..., 0]))

    def describe(self, totals: FloatArray) -> tuple[float, float | None, float | None]:
        value = float(self.evaluate(totals))
        return value, value, None

    def why_undefined(self, totals: FloatArray) -> str:
        return NO_PAIR


class OverRatedUnits(CodedStatistic):
    """Coefficients for which units with one rating count towards chance. The first features are 1, [two or more
    ratings], disagreement; what chance is made of comes after them.
    """

    def eligible(self, rows: AnyArray) -> BoolArray:
        return np.asarray(ratings_of(rows) > 0)

    def _chance_disagreement(self, totals: AnyArray) -> AnyArray:
        raise NotImplementedError

    def evaluate(self, totals: AnyArray) -> AnyArray:
        return np.asarray(1 - ratio(ratio(totals[..., 2], totals[..., 1]), self._chance_disagreement(totals)))

    def smooth(self, totals: AnyArray, at: FloatArray) -> AnyArray:
        """Gwet (2008) holds the share of units with two ratings fixed."""
        scale = at[0] / at[1]
        return np.asarray(
            scale * (totals[..., 1] - ratio(totals[..., 2], self._chance_disagreement(totals))) / totals[..., 0]
        )

    def describe(self, totals: FloatArray) -> tuple[float, float | None, float | None]:
        return _described(ratio(totals[2], totals[1]), self._chance_disagreement(totals))

    def why_undefined(self, totals: FloatArray) -> str:
        return NO_PAIR if totals[1] == 0 else NO_VARIATION


class MeanMargins(OverRatedUnits):
    """Fleiss (Gwet's form for gaps), Brennan-Prediger and Gwet AC: units with one rating count towards the label
    shares.

    Features: 1, [two or more ratings], disagreement, label shares of the unit.
    """

    def __init__(self, v: FloatArray, chance: Literal["fleiss", "ac", "bp"]) -> None:
        super().__init__(v)
        self.chance = chance
        self.width = 3 + self.q

    def features(self, rows: AnyArray) -> FloatArray:
        given, m, paired, share = _shares(rows, self.v)
        return np.column_stack([(m > 0).astype(np.float64), paired, share, given / np.maximum(m, 1)[:, None]])

    def _chance_disagreement(self, totals: AnyArray) -> AnyArray:
        shares = totals[..., 3:] / np.where(totals[..., :1] != 0, totals[..., :1], 1)
        if self.chance == "fleiss":
            return np.asarray(quadratic_form(shares, self.v, shares))
        weight = self.q**2 - self.v.sum()
        if self.q < 2:
            return np.zeros_like(totals[..., 0])
        if self.chance == "bp":
            return np.full_like(totals[..., 0], 1 - weight / self.q**2)
        return np.asarray(1 - weight / (self.q * (self.q - 1)) * (shares * (1 - shares)).sum(axis=-1))


class PooledMargins(CodedStatistic):
    """Label shares from the ratings of units with two or more: Krippendorff, and two more conventions of Fleiss.

    Conventions differ in how a unit with m ratings counts: "alpha" each rating alike, "pooled" disagreement by unit
    and label shares by rating, "pair-pooled" each ordered pair of ratings alike. Features: m, disagreement, label
    counts, so weighted.
    small_sample: Krippendorff's factor (n - 1) / n on the disagreement, n the number of ratings.
    """

    def __init__(
        self, v: FloatArray, convention: Literal["alpha", "pooled", "pair-pooled"], *, small_sample: bool
    ) -> None:
        super().__init__(v)
        self.convention = convention
        self.small_sample = small_sample
        self.width = 2 + self.q

    def features(self, rows: AnyArray) -> FloatArray:
        given = label_counts(rows, self.q)
        m = given.sum(axis=1)
        paired = (m >= 2).astype(np.float64)
        others = np.maximum(m - 1, 1)
        apart = _disagreement_of(given, self.v) * paired
        if self.convention == "alpha":
            return np.column_stack([m * paired, apart / others, given * paired[:, None]])
        if self.convention == "pooled":
            return np.column_stack([paired, apart / (np.maximum(m, 1) * others), given * paired[:, None]])
        return np.column_stack([m * (m - 1), apart, given * (others * paired)[:, None]])

    def _parts(self, totals: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        counts = totals[..., 2:]
        n = counts.sum(axis=-1)
        expected = ratio(quadratic_form(counts, self.v, counts), n * n)
        return ratio(totals[..., 1], totals[..., 0]), expected, n

    def smooth(self, totals: AnyArray, at: FloatArray) -> AnyArray:
        """Gwet's linearisation of alpha leaves the small-sample factor out."""
        apart, expected, _ = self._parts(totals)
        return np.asarray(1 - ratio(apart, expected))

    def evaluate(self, totals: AnyArray) -> AnyArray:
        apart, expected, n = self._parts(totals)
        factor = ratio(less_one(n), n) if self.small_sample else 1
        return np.asarray(1 - factor * ratio(apart, expected))

    def describe(self, totals: FloatArray) -> tuple[float, float | None, float | None]:
        counts = totals[2:]
        n = float(counts.sum())
        if n == 0 or (self.small_sample and n <= 1):
            return math.nan, None, None
        expected = counts @ self.v @ counts / (n * n)
        return _described(totals[1] / totals[0], expected * (n / (n - 1) if self.small_sample else 1))

    def why_undefined(self, totals: FloatArray) -> str:
        if totals[0] == 0:
            return NO_PAIR
        return TOO_LIGHT if self.small_sample and totals[2:].sum() <= 1 else NO_VARIATION


class Conger(OverRatedUnits):
    """Conger (1980): each coder keeps their own label shares. Features: 1, [two or more], disagreement, labels by
    coder.
    """

    exchangeable = False

    def __init__(self, v: FloatArray, coders: int) -> None:
        super().__init__(v)
        self.coders = coders
        self.width = 3 + coders * self.q

    def features(self, rows: AnyArray) -> FloatArray:
        _, m, paired, share = _shares(rows, self.v)
        marks = (rows[:, :, None] == np.arange(self.q)).reshape(len(rows), -1)
        return np.column_stack([(m > 0).astype(np.float64), paired, share, marks])

    def _chance_disagreement(self, totals: AnyArray) -> AnyArray:
        given = totals[..., 3:].reshape(*totals.shape[:-1], self.coders, self.q)
        n = given.sum(axis=-1, keepdims=True)
        some = np.real(n) != 0
        present = some.sum(axis=(-1, -2))
        shares = np.where(some, given / np.where(some, n, 1), 0)
        total = shares.sum(axis=-2)
        own = quadratic_form(shares, self.v, shares).sum(axis=-1)
        chance = ratio(quadratic_form(total, self.v, total) - own, present * (present - 1))
        # A difference of two sums: zero up to rounding where all coders use one label.
        return np.asarray(np.where(np.abs(chance) < _ROUNDING, 0, chance))


class CoderPairs(CodedStatistic):
    """Cohen's kappa of each pair of columns, averaged over the pairs where it is defined (Light 1971); one pair is
    Cohen (1960).

    pooled: one table of all pairs instead. Features by pair: 1, disagreement, labels of the first, labels of the
    second.
    """

    exchangeable = False

    def __init__(self, v: FloatArray, pairs: Sequence[tuple[int, int]], *, pooled: bool = False) -> None:
        super().__init__(v)
        self.pairs = list(pairs)
        self.pooled = pooled
        self.tables = 1 if pooled else len(self.pairs)
        self.width = self.tables * (2 + 2 * self.q)

    def eligible(self, rows: AnyArray) -> BoolArray:
        first, second = self.pairs[0]
        both = (rows[:, first] >= 0) & (rows[:, second] >= 0)
        for first, second in self.pairs[1:]:
            both |= (rows[:, first] >= 0) & (rows[:, second] >= 0)
        return np.asarray(both)

    def _pair_features(self, first: AnyArray, second: AnyArray) -> FloatArray:
        both = (first >= 0) & (second >= 0)
        labels = np.arange(self.q)
        marks = [(codes[:, None] == labels) & both[:, None] for codes in (first, second)]
        return np.column_stack([both.astype(np.float64), np.where(both, self.v[first, second], 0.0), *marks])

    def features(self, rows: AnyArray) -> FloatArray:
        parts = [self._pair_features(rows[:, first], rows[:, second]) for first, second in self.pairs]
        return np.asarray(sum(parts)) if self.pooled else np.concatenate(parts, axis=1)

    def totals(self, rows: AnyArray, mass: FloatArray) -> FloatArray:
        """From the table of one pair of coders, without an array of features."""
        if mass.ndim > 1 or len(self.pairs) > 1:
            return super().totals(rows, mass)
        first, second = rows[:, self.pairs[0][0]], rows[:, self.pairs[0][1]]
        cells = np.bincount(first * self.q + second, mass, self.q * self.q)
        table = cells.reshape(self.q, self.q)
        by_first, by_second = np.add.reduce(table, axis=1), np.add.reduce(table, axis=0)
        return np.concatenate([(np.add.reduce(by_first), cells @ self.v.ravel()), by_first, by_second])

    def _parts(self, totals: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Observed and expected disagreement by table, (..., K)."""
        table = totals.reshape(*totals.shape[:-1], self.tables, 2 + 2 * self.q)
        n = table[..., 0]
        chance = quadratic_form(table[..., 2 : 2 + self.q], self.v, table[..., 2 + self.q :])
        return ratio(table[..., 1], n), ratio(chance, n * n)

    def by_pair(self, totals: AnyArray) -> AnyArray:
        """(..., K) kappa of each table, NaN where undefined."""
        apart, expected = self._parts(totals)
        return np.asarray(1 - ratio(apart, expected))

    def evaluate(self, totals: AnyArray) -> AnyArray:
        return _mean_defined(self.by_pair(totals))

    def smooth(self, totals: AnyArray, at: FloatArray) -> AnyArray:
        """Tables undefined at the estimate stay out of its derivative."""
        return np.asarray(self.by_pair(totals)[..., ~np.isnan(self.by_pair(at))].mean(axis=-1))

    def describe(self, totals: FloatArray) -> tuple[float, float | None, float | None]:
        if self.tables == 1 and totals[0]:
            n, first, second = totals[0], totals[2 : 2 + self.q], totals[2 + self.q :]
            return _described(totals[1] / n, first @ self.v @ second / (n * n))
        apart, expected = self._parts(totals)
        return float(self.evaluate(totals)), 1 - float(_mean_defined(apart)), 1 - float(_mean_defined(expected))

    def null_se(self, totals: FloatArray) -> float | None:
        """Fleiss, Cohen and Everitt (1969), for one pair of coders."""
        if self.tables > 1 or self.pooled:
            return None
        n, first, second = totals[0], totals[2 : 2 + self.q] / totals[0], totals[2 + self.q :] / totals[0]
        by_first, by_second = self.v @ second, first @ self.v
        expected = float(first @ by_first)
        spread = np.outer(first, second) * (self.v - by_first[:, None] - by_second) ** 2
        return math.sqrt(max(float(spread.sum()) - expected**2, 0.0) / n) / expected

    def disagrees(self, rows: AnyArray) -> tuple[BoolArray, BoolArray]:
        apart = np.zeros(len(rows), np.bool_)
        for first, second in self.pairs:
            apart |= (rows[:, first] >= 0) & (rows[:, second] >= 0) & (self.v[rows[:, first], rows[:, second]] > 0)
        return apart, self.eligible(rows) & ~apart

    def all_or_nothing(self, rows: AnyArray) -> bool:
        return _binary(self.v) and len(self.pairs) == 1

    def why_undefined(self, totals: FloatArray) -> str:
        n = totals.reshape(self.tables, -1)[:, 0]
        return NO_PAIR if not n.any() else NO_VARIATION

    def notes(self, totals: FloatArray) -> tuple[str, ...]:
        lost = int(np.isnan(self.by_pair(totals)).sum()) if self.tables > 1 else 0
        return (f"undefined for {lost} of {self.tables} coder pairs, which are left out",) if lost else ()


def _described(apart: Any, expected: Any) -> tuple[float, float, float]:
    """The coefficient, observed and expected agreement, from two disagreements."""
    apart, expected = float(apart), float(expected)
    return (1 - apart / expected if expected else math.nan), 1 - apart, 1 - expected


def _mean_defined(values: AnyArray) -> AnyArray:
    if values.shape[-1] == 1:
        return values[..., 0]
    defined = ~np.isnan(values)
    return np.asarray(ratio(np.where(defined, values, 0).sum(axis=-1), defined.sum(axis=-1)))
