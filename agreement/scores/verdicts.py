"""The verdicts behind a score: which outcome judge and people give, on the records where it matters.

The same outcomes, scope and references as the score, with one-hot features, so that confusion counts of the whole
corpus come from the same machinery as scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agreement.scores.base import BoolArray, FloatArray, IntArray, Opened, Ratio, Scope, Score, divide

if TYPE_CHECKING:
    from agreement.impact.records import Records, Sample

IRRELEVANT = "the verdict cannot change the score"


@dataclass(frozen=True)
class Verdicts:
    """Shares of the outcomes of `score` among the records on which the outcome matters to it."""

    score: Score
    labels: tuple[str, ...]

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
    def needs(self) -> tuple[str, ...]:
        return self.score.needs

    @property
    def bounds(self) -> tuple[float, float]:
        return (0.0, 1.0)

    def outcomes(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        return self.score.outcomes(labels)

    def foreign(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        return self.score.foreign(labels)

    def scope(self, records: Records) -> Scope:
        inner = self.score.scope(records)
        z = self.score.features(records)[:, :-2]
        moot = (z == z[:, :1]).all(axis=(1, 2)) & inner.valid
        return Scope(np.where(moot, len(inner.reasons), inner.codes), (*inner.reasons, IRRELEVANT))

    def judged(self, records: Records, judge: str) -> IntArray:
        return self.score.judged(records, judge)

    def human(self, sample: Sample, treatment: str | None = None) -> FloatArray:
        return self.score.human(sample, treatment)

    def possible(self, records: Records) -> BoolArray:
        return self.score.possible(records)

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

    def warnings(self, records: Records) -> tuple[str, ...]:
        return ()

    def open_upper(self, totals: FloatArray, draws: FloatArray) -> Mapping[str, Opened]:
        return {}
