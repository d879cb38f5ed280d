"""A score around another score: it asks the inner one for everything that it does not answer itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agreement.scores.base import BoolArray, FloatArray, IntArray, Opened, Scope, Score

if TYPE_CHECKING:
    from agreement.impact.records import Records, Sample


@dataclass(frozen=True)
class Wrapped:
    """``score`` decides what outcomes, references and features are."""

    score: Score

    @property
    def ranked(self) -> bool:
        return self.score.ranked

    @property
    def needs(self) -> tuple[str, ...]:
        return self.score.needs

    @property
    def bounds(self) -> tuple[float, float]:
        return self.score.bounds

    def outcomes(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        return self.score.outcomes(labels)

    def foreign(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        return self.score.foreign(labels)

    def scope(self, records: Records) -> Scope:
        return self.score.scope(records)

    def judged(self, records: Records, judge: str) -> IntArray:
        return self.score.judged(records, judge)

    def human(self, sample: Sample, treatment: str | None = None) -> FloatArray:
        return self.score.human(sample, treatment)

    def possible(self, records: Records) -> BoolArray:
        return self.score.possible(records)

    def features(self, records: Records) -> FloatArray:
        return self.score.features(records)

    def details(self, totals: FloatArray) -> dict[str, float | None]:
        return self.score.details(totals)

    def warnings(self, records: Records) -> tuple[str, ...]:
        return ()

    def open_upper(self, totals: FloatArray, draws: FloatArray) -> Mapping[str, Opened]:
        return self.score.open_upper(totals, draws)
