"""Agreement on one label."""

from __future__ import annotations

import numpy as np

from agreement._statistic import NO_PAIR, Statistic, ratio
from agreement._types import AnyArray, BoolArray, FloatArray


class SpecificAgreement(Statistic):
    """Share of agreeing ordered pairs among those whose first rating is the label. Features: pairs, agreeing pairs,
    units paired.
    """

    width = 3

    def __init__(self, code: int) -> None:
        self.code = code

    def eligible(self, rows: AnyArray) -> BoolArray:
        return np.asarray((rows >= 0).sum(axis=1) >= 2)

    def features(self, rows: AnyArray) -> FloatArray:
        m = (rows >= 0).sum(axis=1)
        hits = (rows == self.code).sum(axis=1)
        paired = m >= 2
        return np.column_stack([hits * (m - 1) * paired, hits * (hits - 1) * paired, paired]).astype(np.float64)

    def evaluate(self, totals: AnyArray) -> AnyArray:
        return np.asarray(ratio(totals[..., 1], totals[..., 0]))

    def disagrees(self, rows: AnyArray) -> tuple[BoolArray, BoolArray]:
        m = (rows >= 0).sum(axis=1)
        hits = (rows == self.code).sum(axis=1)
        return (hits > 0) & (hits < m) & (m >= 2), (hits == m) & (m >= 2)

    def why_undefined(self, totals: FloatArray) -> str:
        return "no coder used this label" if totals[2] else NO_PAIR
