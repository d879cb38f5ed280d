"""One model under one score and one judge: the arrays that every estimator of score impact starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from agreement.errors import AgreementError
from agreement.impact.records import WITHOUT_LABEL, BoolArray, FloatArray, IntArray, Records, Sample
from agreement.scores.base import Score

NO_HUMAN = "no usable human label"
NO_JUDGE = "the judge gave nothing that the score can use"
SETTLED = "needs no judgement"
OUTSIDE = "label that the score does not know"
USED = "used"


@dataclass(frozen=True, slots=True)
class CorpusSide:
    """R valid rows of the corpus: positions in the whole table, and what an outcome would make of them.

    rows: (R,) positions in the whole table. count: (R,). features: (R, O + 2, d). judged: (R,) column of the judge's
    outcome. stratum: (R,) codes. possible: (R, O). settled: (R,) rows whose features are the same under every outcome.
    """

    rows: IntArray
    count: IntArray
    features: FloatArray
    judged: IntArray
    stratum: IntArray
    possible: BoolArray
    settled: BoolArray

    def take(self, keep: BoolArray) -> CorpusSide:
        return CorpusSide(*(getattr(self, name)[keep] for name in self.__slots__))

    @property
    def judge(self) -> FloatArray:
        """(R, d) features under the judge's outcome."""
        return self.features[np.arange(len(self.count)), self.judged]


@dataclass(frozen=True, slots=True)
class UnitSide:
    """n sampled units with a usable human outcome, on records where an outcome matters.

    units: (n,) positions in the sample. shares: (n, O) people's outcome. human, judge: (n, d) features under people's
    and the judge's outcome. features: (n, O + 2, d). judged, stratum, possible: as in the corpus. weight, inclusion:
    (n,). item: (n,) codes of the questions. paired: (n,) the judge can be scored on the unit too.
    """

    units: IntArray
    shares: FloatArray
    human: FloatArray
    judge: FloatArray
    features: FloatArray
    judged: IntArray
    stratum: IntArray
    possible: BoolArray
    weight: FloatArray
    inclusion: FloatArray
    item: IntArray
    paired: BoolArray

    def __len__(self) -> int:
        return len(self.units)

    def take(self, keep: BoolArray | IntArray) -> UnitSide:
        return UnitSide(*(getattr(self, name)[keep] for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class Case:
    """excluded: corpus records of the model by reason. lost: its sampled units by what became of them."""

    score: Score
    judge: str
    model: str
    outcomes: tuple[str, ...]
    strata: tuple[str, ...]
    corpus: CorpusSide
    sample: UnitSide
    excluded: Mapping[str, int]
    lost: Mapping[str, int]

    @property
    def n_records(self) -> int:
        """Valid records of the model in the corpus."""
        return int(self.corpus.count.sum())

    def judge_totals(self) -> FloatArray:
        """(d,) totals over the whole corpus under the judge's outcomes."""
        totals: FloatArray = self.corpus.count @ self.corpus.judge
        return totals

    def settled_totals(self) -> FloatArray:
        """(d,) totals of the corpus rows that need no judgement."""
        totals: FloatArray = (self.corpus.count * self.corpus.settled) @ self.corpus.features[:, 0]
        return totals

    def unscorable(self) -> BoolArray:
        """(R,) rows on which the judge gave nothing that the score can use."""
        foreign = self.score.foreign(self.outcomes)
        outside = np.array([name in foreign for name in self.outcomes], np.bool_)
        return _silent(self.corpus.judged, self.corpus.judge, outside)

    def open_records(self, judged_only: bool = False) -> int:
        """Records whose value a judgement can change (and that the judge can score, with `judged_only`)."""
        mask = ~self.corpus.settled & ~self.unscorable() if judged_only else ~self.corpus.settled
        return int(self.corpus.count[mask].sum())

    def restrict(self, rows: BoolArray, units: BoolArray) -> Case:
        """The case on a level of a stratum variable; masks over the whole corpus table and the whole sample."""
        inside = units[self.sample.units] if len(units) else np.zeros(0, np.bool_)
        return replace(self, corpus=self.corpus.take(rows[self.corpus.rows]), sample=self.sample.take(inside))


class People:
    """What the sample says under a score, for all models at once."""

    def __init__(
        self, score: Score, judge: str, sample: Sample, strata: tuple[str, ...], treatment: str | None
    ) -> None:
        records = sample.records
        shares, features = score.human(sample, treatment), score.features(records)
        judged = judge_columns(score, records, judge)
        by_judge = features[np.arange(len(sample)), judged]
        people = np.einsum("nk,nkd->nd", shares, features[:, :-2])
        scope = score.scope(records)
        scopes = {code: reason for code, reason in enumerate(scope.reasons) if code}
        unlabelled = sample.has(*WITHOUT_LABEL) | (shares.sum(axis=1) == 0)
        known = settled(features)
        outside = _foreign(score, records)
        self.fate = np.select(
            [*(scope.codes == code for code in scopes), known, unlabelled, (shares[:, outside] > 0).any(axis=1)],
            [*scopes.values(), SETTLED, _why_unlabelled(sample), OUTSIDE],
            USED,
        )
        self.model = records.model
        self.side = UnitSide(
            np.arange(len(sample)), shares, people, by_judge, features, judged, records.stratum.onto(strata),
            score.possible(records), sample.weight, sample.inclusion,
            np.zeros(len(sample), np.int64) if records.item is None else records.item.codes,
            ~_silent(judged, by_judge, outside),
        )  # fmt: skip

    def of(self, model: str) -> tuple[UnitSide, dict[str, int]]:
        """The usable units of a model, and what became of all its units."""
        own = self.model.mask(model)
        used = self.side.take(own & (self.fate == USED))
        names, numbers = np.unique(self.fate[own], return_counts=True)
        fate = {str(name): int(number) for name, number in zip(names, numbers, strict=True)}
        if not used.paired.all():
            fate |= {USED: int(used.paired.sum()), NO_JUDGE: int((~used.paired).sum())}
        return used, fate


def build_cases(
    score: Score, judge: str, corpus: Records, sample: Sample | None, treatment: str | None = None
) -> dict[str, Case]:
    """A case for every model of the corpus, in the order of its names.

    Raises AgreementError when a label, rating, variable or stratum that is needed is absent.
    """
    people = None if sample is None else People(score, judge, sample, corpus.stratum.names, treatment)
    if people is not None and (people.side.stratum < 0).any():
        raise AgreementError("a sampled unit has a design stratum that the corpus does not have")
    scope, judged = score.scope(corpus), judge_columns(score, corpus, judge)
    cases = {}
    for model in corpus.model.names:
        own = corpus.model.mask(model)
        rows = np.flatnonzero(own & scope.valid & (corpus.count > 0))
        side = _corpus_side(score, corpus, rows, judged)
        counts = np.bincount(scope.codes[own], corpus.count[own], len(scope.reasons))
        excluded = {reason: int(n) for reason, n in zip(scope.reasons[1:], counts[1:], strict=True) if n}
        units, lost = (_nobody(side), {}) if people is None else people.of(model)
        outcomes = score.outcomes(corpus.labels)
        cases[model] = Case(score, judge, model, outcomes, corpus.stratum.names, side, units, excluded, lost)
    return cases


def judge_columns(score: Score, records: Records, judge: str) -> IntArray:
    """(R,) column of the judge's outcome in the feature array: an outcome, or one of the last two."""
    outcome, known = score.judged(records, judge), len(score.outcomes(records.labels))
    return np.where(outcome >= 0, outcome, known - 1 - outcome)


def _foreign(score: Score, records: Records) -> BoolArray:
    """(O,) outcomes that the score cannot use."""
    foreign = score.foreign(records.labels)
    return np.array([name in foreign for name in score.outcomes(records.labels)], np.bool_)


def _silent(judged: IntArray, by_judge: FloatArray, outside: BoolArray) -> BoolArray:
    """(R,) rows on which the judge's output is nothing that the score can use."""
    unusable = np.concatenate([outside, [True, True]])[judged]
    silent: BoolArray = unusable & ~by_judge.any(axis=1)
    return silent


def settled(features: FloatArray) -> BoolArray:
    """(R,) rows whose features are the same under every outcome."""
    same: BoolArray = (features[:, :-2] == features[:, :1]).all(axis=(1, 2))
    return same


def _why_unlabelled(sample: Sample) -> npt.NDArray[np.str_]:
    """(n,) the status where it says why there is no label, else that there is none."""
    return np.array([status if status in WITHOUT_LABEL else NO_HUMAN for status in sample.status], dtype=np.str_)


def _corpus_side(score: Score, corpus: Records, rows: IntArray, judged: IntArray) -> CorpusSide:
    table = corpus.take(rows)
    features = score.features(table)
    return CorpusSide(
        rows, table.count, features, judged[rows], table.stratum.codes, score.possible(table), settled(features)
    )


def _nobody(side: CorpusSide) -> UnitSide:
    outcomes, d = side.possible.shape[1], side.features.shape[2]
    none, ints = np.zeros(0), np.zeros(0, np.int64)
    empty = np.zeros((0, d))
    return UnitSide(
        ints, np.zeros((0, outcomes)), empty, empty, np.zeros((0, outcomes + 2, d)), ints, ints,
        np.zeros((0, outcomes), np.bool_), none, none, ints, np.zeros(0, np.bool_),
    )  # fmt: skip
