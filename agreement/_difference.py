"""Statistics of some columns, and the difference of two statistics over the same rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agreement._statistic import Statistic
from agreement._types import AnyArray, BoolArray, FloatArray


class Columns(Statistic):
    """A statistic of some of the coders."""

    exchangeable = False

    def __init__(self, inner: Statistic, columns: Sequence[int]) -> None:
        self.inner = inner
        self.columns = list(columns)
        self.width = inner.width
        self.numeric = inner.numeric

    def eligible(self, rows: AnyArray) -> BoolArray:
        return self.inner.eligible(rows[:, self.columns])

    def features(self, rows: AnyArray) -> FloatArray:
        return self.inner.features(rows[:, self.columns])

    def evaluate(self, totals: AnyArray) -> AnyArray:
        return self.inner.evaluate(totals)

    def smooth(self, totals: AnyArray, at: FloatArray) -> AnyArray:
        return self.inner.smooth(totals, at)

    def describe(self, totals: FloatArray) -> tuple[float, float | None, float | None]:
        return self.inner.describe(totals)

    def disagrees(self, rows: AnyArray) -> tuple[BoolArray, BoolArray] | None:
        return self.inner.disagrees(rows[:, self.columns])

    def all_or_nothing(self, rows: AnyArray) -> bool:
        return self.inner.all_or_nothing(rows[:, self.columns])

    def why_undefined(self, totals: FloatArray) -> str:
        return self.inner.why_undefined(totals)


class Difference(Statistic):
    """first - second. A unit counts if either can use it."""

    exchangeable = False

    def __init__(self, first: Statistic, second: Statistic) -> None:
        self.first = first
        self.second = second
        self.width = first.width + second.width
        self.numeric = first.numeric

    def _split(self, totals: AnyArray) -> tuple[AnyArray, AnyArray]:
        return totals[..., : self.first.width], totals[..., self.first.width :]

    def eligible(self, rows: AnyArray) -> BoolArray:
        return self.first.eligible(rows) | self.second.eligible(rows)

    def features(self, rows: AnyArray) -> FloatArray:
        return np.concatenate([self.first.features(rows), self.second.features(rows)], axis=1)

    def evaluate(self, totals: AnyArray) -> AnyArray:
        one, other = self._split(totals)
        return np.asarray(self.first.evaluate(one) - self.second.evaluate(other))

    def gradient(self, totals: FloatArray) -> FloatArray:
        one, other = self._split(totals)
        return np.concatenate([self.first.gradient(one), -self.second.gradient(other)])

    def why_undefined(self, totals: FloatArray) -> str:
        for name, statistic, part in zip(
            ("first", "second"), (self.first, self.second), self._split(totals), strict=True
        ):
            if np.isnan(statistic.evaluate(part)):
                return f"the {name} is undefined: {statistic.why_undefined(part)}"
        return "undefined"
