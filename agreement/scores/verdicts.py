"""The verdicts behind a score: which outcome judge and people give, on the records where it matters.

The same outcomes, scope and references as the score, with one-hot features, so that confusion counts of the whole
corpus come from the same machinery as scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agreement.scores.base import FloatArray, Opened, Ratio, Scope, Score, divide
from agreement.scores.wrapped import Wrapped

if TYPE_CHECKING:
    from agreement.impact.records import Records

IRRELEVANT = "the verdict cannot change the score"


@dataclass(frozen=True)
class Verdicts(Wrapped):
    """Shares of the outcomes of `score` among the records on which the outcome matters to it, or to one `beside` it.

    beside: scores with the same outcomes and references, on other records (KIS beside NAS).
    """

    labels: tuple[str, ...]
    beside: tuple[Score, ...] = ()

    @property
    def name(self) -> str:
        return f"verdicts of {self.score.name}"

    @property
    def parts(self) -> tuple[str, ...]:
        return self.score.outcomes(self.labels)

    @property
    def headline(self) -> str:
        return self.parts[0]

    @property
    def ranked(self) -> bool:
        return False

    @property
    def bounds(self) -> tuple[float, float]:
        return (0.0, 1.0)

    def scope(self, records: Records) -> Scope:
        inner, matters = self.score.scope(records), np.zeros(len(records), np.bool_)
        for score in (self.score, *self.beside):
            z = score.features(records)[:, :-2]
            matters |= score.scope(records).valid & ~(z == z[:, :1]).all(axis=(1, 2))
        codes = np.where(inner.valid, len(inner.reasons), inner.codes)
        return Scope(np.where(matters, 0, codes), (*inner.reasons, IRRELEVANT))

    def features(self, records: Records) -> FloatArray:
        """(R, O + 2, O + 1): one-hot outcome, counted (an output that is no outcome is counted too)."""
        count = len(self.outcomes(records.labels))
        one = np.zeros((count + 2, count + 1))
        one[:count, :count] = np.eye(count)
        one[: count + 1, count] = 1
        return np.broadcast_to(one, (len(records), *one.shape)).copy()

    def ratio(self, part: str) -> Ratio:
        size = len(self.parts) + 1
        return Ratio(np.eye(size)[self.parts.index(part)], np.eye(size)[-1])

    def values(self, totals: FloatArray) -> FloatArray:
        return divide(totals[..., :-1], totals[..., -1:])

    def why(self, part: str) -> str:
        return "no record whose verdict matters"

    def details(self, totals: FloatArray) -> dict[str, float | None]:
        return {}

    def open_upper(self, totals: FloatArray, draws: FloatArray) -> Mapping[str, Opened]:
        return {}
