"""A score restricted to some values of a stratum variable, under names of its own: EHQ-K, EHQ-C, NAS by cue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agreement.scores.base import FloatArray, Opened, Ratio, Scope
from agreement.scores.wrapped import Wrapped

if TYPE_CHECKING:
    from agreement.impact.records import Records


@dataclass(frozen=True)
class Within(Wrapped):
    """`score` over the pooled records whose `variable` is one of `values`.

    named: which parts to give, and under which names: {"EHQ": "EHQ-K"}.
    """

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
    def needs(self) -> tuple[str, ...]:
        return (*self.score.needs, f"by:{self.variable}")

    def scope(self, records: Records) -> Scope:
        inner = self.score.scope(records)
        inside = records.factor(self.variable).is_in(self.values_in)
        outside = f"{self.variable} not {', '.join(self.values_in)}"
        codes = np.where(inside, inner.codes, len(inner.reasons))
        return Scope(codes, (*inner.reasons, outside))

    def ratio(self, part: str) -> Ratio | None:
        return self.score.ratio(self._inner(part))

    def values(self, totals: FloatArray) -> FloatArray:
        keep = [self.score.parts.index(part) for part in self.named]
        return self.score.values(totals)[..., keep]

    def why(self, part: str) -> str:
        return f"{self.score.why(self._inner(part))} in {', '.join(self.values_in)}"

    def open_upper(self, totals: FloatArray, draws: FloatArray) -> Mapping[str, Opened]:
        opened = self.score.open_upper(totals, draws)
        return {self.named[part]: bound for part, bound in opened.items() if part in self.named}

    def _inner(self, part: str) -> str:
        return next(inner for inner, outer in self.named.items() if outer == part)
