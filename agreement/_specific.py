"""Agreement on one label."""

from __future__ import annotations

import numpy as np

from agreement._statistic import NO_PAIR, Statistic, label_counts, ratings_of, ratio
from agreement._types import AnyArray, BoolArray, FloatArray


class SpecificAgreement(Statistic):
    """Share of agreeing ordered pairs among those whose first rating is the label. Features: pairs, agreeing pairs,
    units paired.
    """

    width = 3

    def __init__(self, code: int, q: int) -> None:
        self.code = code
        self.q = q

    def _hits(self, rows: AnyArray) -> tuple[FloatArray, FloatArray]:
        """Ratings of each unit, and how many of them are the label."""
        given = label_counts(rows, self.q)
        return given.sum(axis=1), given[:, self.code]

    def eligible(self, rows: AnyArray) -> BoolArray:
        return np.asarray(ratings_of(rows) >= 2)

    def features(self, rows: AnyArray) -> FloatArray:
        m, hits = self._hits(rows)
        paired = m >= 2
        return np.column_stack([hits * (m - 1) * paired, hits * (hits - 1) * paired, paired])

    def evaluate(self, totals: AnyArray) -> AnyArray:
        return np.asarray(ratio(totals[..., 1], totals[..., 0]))

    def disagrees(self, rows: AnyArray) -> tuple[BoolArray, BoolArray]:
        m, hits = self._hits(rows)
        return (hits > 0) & (hits < m) & (m >= 2), (hits == m) & (m >= 2)

    def all_or_nothing(self, rows: AnyArray) -> bool:
        return int(ratings_of(rows).max(initial=0)) <= 2

    def why_undefined(self, totals: FloatArray) -> str:
        return "no coder used this label" if totals[2] else NO_PAIR
