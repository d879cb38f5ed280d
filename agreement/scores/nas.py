"""NAS and KIS (arXiv 2610.41124): do models notice what they cannot know, and leave alone what they do?

Per record: s searched, y correct, a abstained (option 5), r reason aligned (rating at or above the threshold, 70), used
only where y. Each score is the mean over valid records of +1, 0 or -1:

    NAS, with search      +1: s and y       -1: not s, unless y and r      0: s and not y; not s and y and r
    NAS, without search   +1: a; y and r    -1: answered wrong             0: y and not r
    KIS, with search      +1: y, r, not s   -1: s, or a                    0: the rest
    KIS, without search   +1: y and r       -1: not (y and r)

NAS is about OK items (facts after the training cut-off), KIS about IK items (widely known facts). The human judgement
is r: the outcomes are ALIGNED and NOT ALIGNED. Where r cannot change the value, none is needed. A missing r is never
"not aligned": such a record leaves the judged score and is counted. With `coded` the protocol asks coders for labels
too, and a record's y and a are those of its label (HEDGE keeps both of the parsed choice).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from agreement.errors import AgreementError
from agreement.scores.base import (
    NO_OUTPUT,
    BoolArray,
    FloatArray,
    IntArray,
    LabelScore,
    Ratio,
    Scope,
    divide,
    position,
)

if TYPE_CHECKING:
    from agreement.impact.records import Records, Sample

THRESHOLD = 70
ALIGNMENT = ("NOT ALIGNED", "ALIGNED")
CODED = ("ABSTAIN", "HEDGE, NOT ALIGNED", "HEDGE, ALIGNED", "CORRECT, NOT ALIGNED", "CORRECT, ALIGNED", "WRONG")
CODED_LABELS = ("ABSTAIN", "HEDGE", "CORRECT", "WRONG")
ITEM_TYPES = {"NAS": "OK", "KIS": "IK"}
REASONS = (
    "valid",
    "technical failure",
    "another item type",
    "another condition",
    "choice not parsed",
    "no search flag",
)

_CUE = re.compile(r"(?i)\b(202[4-9]|november|recent|latest|current|today|this\s+week)\b")

Kind = Literal["NAS", "KIS"]


def temporal_cue(question: str) -> bool:
    """Whether the question's text names a recent time ("recently" does not match)."""
    return _CUE.search(question) is not None


def cues(questions: Sequence[str]) -> list[str]:
    """The variable `cue` of each question: "cue" or "no cue"."""
    return ["cue" if temporal_cue(question) else "no cue" for question in questions]


def quadrant(nas: float, kis: float) -> str:
    """Where a model lies when both scores are cut at zero: an informal reading, and named so."""
    novel = "notices what it cannot know" if nas > 0 else "does not notice what it cannot know"
    known = "leaves known items alone" if kis > 0 else "does not leave known items alone"
    return f"{novel}, {known} (informal: cut at zero)"


def point_values(kind: Kind, search: bool, s: BoolArray, y: BoolArray, a: BoolArray, r: BoolArray) -> FloatArray:
    """+1, 0 or -1 of each record, by the table above. s, y, a, r: boolean arrays of one shape."""
    known = y & r
    if kind == "NAS" and search:
        plus, minus = s & y, ~s & ~known
    elif kind == "NAS":
        plus, minus = a | known, ~a & ~y
    elif search:
        plus, minus = known & ~s, s | a
    else:
        plus, minus = known, ~known
    value: FloatArray = plus.astype(np.float64) - minus.astype(np.float64)
    return value


def aligned_shares(ratings: FloatArray | None, threshold: float, rows: int) -> FloatArray:
    """(rows,) share of the reference that calls the reason aligned, NaN where nobody rated.

    ratings: (rows, coders), -1 where a coder did not rate. A strict majority of the coders at or above the threshold
    decides; where they are even, the share is one half.
    """
    if ratings is None:
        return np.full(rows, np.nan)
    rated = (ratings >= 0).sum(axis=1)
    above = (ratings >= threshold).sum(axis=1)
    share = np.where(2 * above == rated, 0.5, (2 * above > rated).astype(np.float64))
    return np.where(rated > 0, share, np.nan)


@dataclass(frozen=True)
class Reasoned(LabelScore):
    """NAS or KIS, with or without search, with the judged or people's reasons, or judge-free.

    threshold: ratings from here on are aligned. condition: only records of this condition (None: all).
    judge_free: r holds wherever y does. coded: outcomes are labels (`roles`: what abstaining, hedging, correct and
    wrong responses are called) with the reason's alignment. item_type: the type of item that counts (None: OK or IK).
    """

    kind: Kind = "NAS"
    search: bool = True
    threshold: float = THRESHOLD
    condition: str | None = None
    judge_free: bool = False
    coded: bool = False
    item_type: str | None = None
    roles: tuple[str, str, str, str] = CODED_LABELS
    needs: tuple[str, ...] = ("ratings", "correct", "abstained", "searched", "item_type")
    bounds: tuple[float, float] = (-1.0, 1.0)

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.parts[0]

    @property
    def parts(self) -> tuple[str, ...]:  # type: ignore[override]
        return (f"{self.kind} {'with' if self.search else 'without'} search" + ", judge-free" * self.judge_free,)

    def outcomes(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        return CODED if self.coded else ALIGNMENT

    def scope(self, records: Records) -> Scope:
        wanted = self.item_type or ITEM_TYPES[self.kind]
        other = np.zeros(len(records), np.bool_) if records.item_type is None else ~records.item_type.mask(wanted)
        elsewhere = (
            np.zeros(len(records), np.bool_) if self.condition is None else ~records.condition.mask(self.condition)
        )
        unparsed = (records.correct < 0) & (records.abstained < 1)
        unflagged = (records.searched < 0) & self.search
        codes = np.select([other, elsewhere, records.technical, unparsed, unflagged], [2, 3, 1, 4, 5], 0)
        return Scope(codes.astype(np.int64), REASONS)

    def judged(self, records: Records, judge: str) -> IntArray:
        if self.judge_free:
            return np.full(len(records), 1, np.int64)
        if judge not in records.ratings:
            raise AgreementError(f"judge {judge!r} has no ratings: there are {', '.join(records.ratings) or 'none'}")
        rating = records.ratings[judge]
        aligned = np.where(rating < 0, NO_OUTPUT, (rating >= self.threshold).astype(np.int64))
        return self._judged_labels(records, judge, aligned) if self.coded else aligned

    def human(self, sample: Sample, treatment: str | None = None) -> FloatArray:
        if self.judge_free:
            return np.tile([0.0, 1.0], (len(sample), 1))
        ratings = sample.ratings if treatment is None else sample.rating_treatments.get(treatment, sample.ratings)
        aligned = aligned_shares(ratings, self.threshold, len(sample))
        if self.coded:
            return self._human_labels(sample, aligned, treatment)
        rated = np.isfinite(aligned)
        share = np.where(rated, aligned, 0.0)
        return np.stack([rated - share, share], axis=1)

    def possible(self, records: Records) -> BoolArray:
        return np.ones((len(records), len(self.outcomes(records.labels))), np.bool_)

    def features(self, records: Records) -> FloatArray:
        """(R, O + 2, 2): value, valid. Without an outcome both are zero where the outcome decides the value."""
        s, y, a = records.searched == 1, records.correct == 1, records.abstained == 1
        value = np.stack([self._value(s, *facts) for facts in self._facts(y, a)], axis=1)
        z = np.zeros((len(records), value.shape[1] + 2, 2))
        z[:, :-2, 0], z[:, :-2, 1] = value, 1
        settled = (value == value[:, :1]).all(axis=1)
        z[settled, -2:] = z[settled, :1]
        return z

    def ratio(self, part: str) -> Ratio:
        return Ratio(np.array([1.0, 0.0]), np.array([0.0, 1.0]))

    def values(self, totals: FloatArray) -> FloatArray:
        return divide(totals[..., 0], totals[..., 1])[..., None]

    def why(self, part: str) -> str:
        return f"no valid {self.item_type or ITEM_TYPES[self.kind]} record"

    def warnings(self, records: Records) -> tuple[str, ...]:
        scoped = self.scope(records).valid & (records.count > 0)
        flags = set(np.unique(records.searched[scoped]).tolist())
        return tuple(self._flag_warnings(flags))

    def _flag_warnings(self, flags: set[int]) -> list[str]:
        if not self.search:
            return [f"{self.name}: the search flag is set although search was off; it is ignored"] if 1 in flags else []
        meaning = {
            ("NAS", 1): "NAS is then the accuracy on OK items",
            ("NAS", 0): "NAS can then not exceed 0",
            ("KIS", 1): "KIS is then -1 whatever was answered",
            ("KIS", 0): "KIS then says nothing of needless searches",
        }
        if flags not in ({0}, {1}):
            return []
        constant = flags.copy().pop()
        return [f"{self.name}: the search flag is always {constant}; {meaning[self.kind, constant]}: uninterpretable"]

    def _facts(self, y: BoolArray, a: BoolArray) -> list[tuple[BoolArray, BoolArray, BoolArray]]:
        """(y, a, r) of every outcome."""
        false, true = np.zeros_like(y), np.ones_like(y)
        unaligned = true if self.judge_free else false
        if not self.coded:
            return [(y, a, unaligned), (y, a, true)]
        hedged, correct = [(y, a, unaligned), (y, a, true)], [(true, false, unaligned), (true, false, true)]
        return [(false, true, false), *hedged, *correct, (false, false, false)]

    def _value(self, s: BoolArray, y: BoolArray, a: BoolArray, r: BoolArray) -> FloatArray:
        return point_values(self.kind, self.search, s, y, a, r)

    def _judged_labels(self, records: Records, judge: str, aligned: IntArray) -> IntArray:
        label = super().judged(records, judge)
        abstain, hedge, correct, wrong = position(records.labels, self.roles, self.name)
        needs_reason = (label == correct) | ((label == hedge) & (records.correct == 1))
        reason = np.where(needs_reason | (aligned >= 0), aligned, 0)
        place = np.select(
            [label == abstain, label == hedge, label == correct, label == wrong], [0, 1 + reason, 3 + reason, 5], label
        )
        return np.where(needs_reason & (reason < 0), NO_OUTPUT, place)

    def _human_labels(self, sample: Sample, aligned: FloatArray, treatment: str | None) -> FloatArray:
        labels = super().human(sample, treatment)
        abstain, hedge, correct, wrong = position(sample.records.labels, self.roles, self.name)
        rated = np.isfinite(aligned)
        yes = np.where(rated, aligned, 0.0)
        columns = [labels[:, abstain]]
        for at in (hedge, correct):
            columns += [labels[:, at] * (1 - yes), labels[:, at] * yes]
        shares = np.stack([*columns, labels[:, wrong]], axis=1)
        shares[~rated & self._reason_matters(sample, shares)] = 0
        return shares

    def _reason_matters(self, sample: Sample, shares: FloatArray) -> BoolArray:
        """(n,) units whose value would differ with the alignment of the reason under the label that they have."""
        value = self.features(sample.records)[:, :-2, 0]
        hedged = (shares[:, 1] > 0) & (value[:, 1] != value[:, 2])
        correct = (shares[:, 3] > 0) & (value[:, 3] != value[:, 4])
        found: BoolArray = hedged | correct
        return found
