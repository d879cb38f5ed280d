"""What a with-search run did, without any judge: six outcomes, search rate, accuracy; and noticing against acting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agreement.scores.base import NO_LABEL, FloatArray, IntArray, LabelScore, Ratio, Scope, divide, weights
from agreement.scores.nas import REASONS

if TYPE_CHECKING:
    from agreement.impact.records import Records

OUTCOMES = tuple(f"{how}, {what}" for how in ("searched", "not searched") for what in ("correct", "abstained", "wrong"))


@dataclass(frozen=True)
class ParsedScore(LabelScore):
    """Shares that the parsed choice and the search flag determine; no label changes them.

    item_type: OK or IK (None: both). condition: only records of this condition. search: the search flag must be given.
    """

    item_type: str | None = None
    condition: str | None = None
    search: bool = True
    needs: tuple[str, ...] = ("correct", "abstained", "searched")

    def scope(self, records: Records) -> Scope:
        no = np.zeros(len(records), np.bool_)
        other = no if self.item_type is None or records.item_type is None else ~records.item_type.mask(self.item_type)
        elsewhere = no if self.condition is None else ~records.condition.mask(self.condition)
        unparsed = (records.correct < 0) & (records.abstained < 1)
        unflagged = (records.searched < 0) & self.search
        codes = np.select([other, elsewhere, records.technical, unparsed, unflagged], [2, 3, 1, 4, 5], 0)
        return Scope(codes.astype(np.int64), REASONS)

    def judged(self, records: Records, judge: str) -> IntArray:
        return np.full(len(records), NO_LABEL, np.int64)

    def features(self, records: Records) -> FloatArray:
        """(R, q + 2, d): the same under every label."""
        s, y, a = records.searched == 1, records.correct == 1, records.abstained == 1
        z = self._columns(s, y, a).astype(np.float64)
        return np.repeat(z[:, None, :], len(records.labels) + 2, axis=1)

    def ratio(self, part: str) -> Ratio:
        numerator, denominator, size = self._places(part)
        return Ratio(weights(size, {numerator: 1}), weights(size, {denominator: 1}))

    def values(self, totals: FloatArray) -> FloatArray:
        ratios = [self.ratio(part) for part in self.parts]
        return np.stack([divide(totals @ r.numerator, totals @ r.denominator) for r in ratios], axis=-1)

    def _columns(self, s: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _places(self, part: str) -> tuple[int, int, int]:
        raise NotImplementedError


@dataclass(frozen=True)
class SixOutcomes(ParsedScore):
    """Searched or not, by correct, abstained or wrong: shares of the valid records that add to 1."""

    item_type: str | None = "OK"
    ranked: bool = False
    name: str = "six outcomes"
    parts: tuple[str, ...] = OUTCOMES

    def _columns(self, s: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        what = [y, a, ~y & ~a]
        return np.stack([side & w for side in (s, ~s) for w in what] + [np.ones_like(s)], axis=1)

    def _places(self, part: str) -> tuple[int, int, int]:
        return OUTCOMES.index(part), 6, 7


@dataclass(frozen=True)
class Accuracy(ParsedScore):
    """Accuracy over all valid records (an abstention is not correct) and over the answered ones."""

    name: str = "accuracy"
    parts: tuple[str, ...] = ("accuracy", "accuracy over answered")
    search: bool = False

    def _columns(self, s: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        return np.stack([y, np.ones_like(y), ~a], axis=1)

    def _places(self, part: str) -> tuple[int, int, int]:
        return 0, self.parts.index(part) + 1, 3

    def why(self, part: str) -> str:
        return "no valid record" if part == self.parts[0] else "no answered record"


@dataclass(frozen=True)
class SearchRate(ParsedScore):
    """Share of valid records of which the model searched: acting on OK items, waste on IK items."""

    ranked: bool = False
    name: str = "search rate"

    @property
    def parts(self) -> tuple[str, ...]:  # type: ignore[override]
        return (f"search rate{f' ({self.item_type})' if self.item_type else ''}",)

    def _columns(self, s: np.ndarray, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        return np.stack([s, np.ones_like(s)], axis=1)

    def _places(self, part: str) -> tuple[int, int, int]:
        return 0, 1, 2


@dataclass(frozen=True)
class NoticingActing(LabelScore):
    """Noticing (the response is ABSTAIN or HEDGE) apart from acting (the model searched), as rates of valid records.

    With `coded` noticing follows the label; without it the parsed choice (option 5) is the noticing.
    """

    coded: bool = True
    item_type: str | None = "OK"
    condition: str | None = None
    ranked: bool = False
    name: str = "noticing and acting"
    parts: tuple[str, ...] = ("noticing", "acting")
    needs: tuple[str, ...] = ("searched",)
    bounds: tuple[float, float] = (0.0, 1.0)

    def scope(self, records: Records) -> Scope:
        scope = SixOutcomes(item_type=self.item_type, condition=self.condition).scope(records)
        if not self.coded:
            return scope
        return Scope(np.where(scope.codes == 4, 0, scope.codes), scope.reasons)

    def judged(self, records: Records, judge: str) -> IntArray:
        return super().judged(records, judge) if self.coded else np.full(len(records), NO_LABEL, np.int64)

    def features(self, records: Records) -> FloatArray:
        """(R, q + 2, 3): noticed, searched, counted."""
        z = np.zeros((len(records), len(records.labels) + 2, 3))
        if self.coded:
            at = [records.labels.index(name) for name in ("ABSTAIN", "HEDGE") if name in records.labels]
            z[:, at, 0] = 1
            z[:, :-2, 1] = (records.searched == 1)[:, None]
            z[:, :-2, 2] = 1
        else:
            z[:, :, 0] = (records.abstained == 1)[:, None]
            z[:, :, 1] = (records.searched == 1)[:, None]
            z[:, :, 2] = 1
        return z

    def ratio(self, part: str) -> Ratio:
        return Ratio(weights(3, {self.parts.index(part): 1}), weights(3, {2: 1}))

    def values(self, totals: FloatArray) -> FloatArray:
        return divide(totals[..., :2], totals[..., 2:])
