"""A score restricted to some values of a stratum variable, under names of its own: EHQ-K, EHQ-C, NAS by cue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agreement.scores.base import BoolArray, FloatArray, IntArray, Opened, Ratio, Scope, Score

if TYPE_CHECKING:
    from agreement.impact.records import Records, Sample


@dataclass(frozen=True)
class Within:
    """`score` over the pooled records whose `variable` is one of `values`.

    named: which parts to give, and under which names: {"EHQ": "EHQ-K"}.
    """

    score: Score
    variable: str
    values_in: tuple[str, ...]
    named: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.headline

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.named.values())

    @property
    def headline(self) -> str:
        return self.named.get(self.score.headline, self.parts[0])

    @property
    def ranked(self) -> bool:
        return self.score.ranked

    @property
    def needs(self) -> tuple[str, ...]:
        return (*self.score.needs, f"by:{self.variable}")

    @property
    def bounds(self) -> tuple[float, float]:
        return self.score.bounds

    def outcomes(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        return self.score.outcomes(labels)

    def foreign(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        return self.score.foreign(labels)

    def scope(self, records: Records) -> Scope:
        inner = self.score.scope(records)
        inside = records.factor(self.variable).is_in(self.values_in)
        outside = f"{self.variable} not {', '.join(self.values_in)}"
        codes = np.where(inside, inner.codes, len(inner.reasons))
        return Scope(codes, (*inner.reasons, outside))

    def judged(self, records: Records, judge: str) -> IntArray:
        return self.score.judged(records, judge)

    def human(self, sample: Sample, treatment: str | None = None) -> FloatArray:
        return self.score.human(sample, treatment)

    def possible(self, records: Records) -> BoolArray:
        return self.score.possible(records)

    def features(self, records: Records) -> FloatArray:
        return self.score.features(records)

    def ratio(self, part: str) -> Ratio | None:
        return self.score.ratio(self._inner(part))

    def values(self, totals: FloatArray) -> FloatArray:
        keep = [self.score.parts.index(part) for part in self.named]
        return self.score.values(totals)[..., keep]

    def why(self, part: str) -> str:
        return f"{self.score.why(self._inner(part))} in {', '.join(self.values_in)}"

    def details(self, totals: FloatArray) -> dict[str, float | None]:
        return self.score.details(totals)

    def warnings(self, records: Records) -> tuple[str, ...]:
        return ()

    def open_upper(self, totals: FloatArray, draws: FloatArray) -> Mapping[str, Opened]:
        opened = self.score.open_upper(totals, draws)
        return {self.named[part]: bound for part, bound in opened.items() if part in self.named}

    def _inner(self, part: str) -> str:
        return next(inner for inner, outer in self.named.items() if outer == part)
