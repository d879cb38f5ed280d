"""The questions behind knowledge profiles as records: is a grade above the threshold, under judge and people?

Where whole questions are drawn hardly a fact has all of its ten: the verdict on a question is then what the sample
alone can say, judge and people paired. It is also what the judge's fairness is tested on, since the responses to one
question hang together and would each for itself make the test too sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from agreement.impact.columns import Factor
from agreement.impact.engine import Options, score_impact
from agreement.impact.estimate import Estimate
from agreement.impact.fairness import Fairness
from agreement.impact.profile_impact import (
    ProfileSetting,
    match_facts,
    people_outcomes,
    responses_asked,
    verdict_records,
)
from agreement.impact.records import FloatArray, IntArray, Records, Sample
from agreement.impact.result import ImpactResult, JudgeImpact
from agreement.scores.profiles import FactTable, fact_table, grade_places, judge_outcomes
from agreement.scores.rates import Rate
from agreement.scores.wikiprofile import GRADES, NOT_GRADABLE, grade, question_outcomes

ABOVE, NOT_ABOVE = "above the threshold", "not above it"
VERDICTS = (NOT_GRADABLE, NOT_ABOVE, ABOVE)
SHARE = Rate("questions above the threshold", (ABOVE,), (ABOVE, NOT_ABOVE))
ASKED, KIND, THINKING = "asked", "question type", "thinking"
GROUPS = ("encoding, thinking off", "recall, thinking off", "recall, thinking on")
DRAWS = 1000


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """Share of the gradable questions of one group of one model whose grade is above the threshold.

    judge, corrected: of the corpus, under the judge and under people. sample_judge, sample_people, sample_change: of
    the questions labelled whole, weighted by the design and paired; None where the model has none. n: how many.
    """

    model: str
    asked: str
    judge: Estimate
    sample_judge: Estimate | None
    sample_people: Estimate | None
    sample_change: Estimate | None
    corrected: Estimate
    n: int


@dataclass(frozen=True, slots=True)
class QuestionImpact:
    """Of one judge: rows by model and group, and its fairness over models, kinds of questions and thinking."""

    rows: tuple[QuestionRow, ...]
    fairness: Fairness | None


def question_impact(
    corpus: Records, sample: Sample, judges: Sequence[str], setting: ProfileSetting, options: Options
) -> dict[str, QuestionImpact]:
    """What whole questions say, by judge. Raises AgreementError as `fact_table`."""
    records, labelled = question_study(corpus, sample, judges, setting)
    quick = replace(options, draws=DRAWS, rank=(), methods=(), by=(ASKED,), fair_by=(KIND, THINKING), strata=None)
    found: ImpactResult = score_impact(records, labelled, (SHARE,), judges, quick)
    return {name: QuestionImpact(_rows(judge), judge.fairness) for name, judge in found.judges.items()}


def _rows(judge: JudgeImpact) -> tuple[QuestionRow, ...]:
    rows = []
    for model, found in judge.models.items():
        for group in (each for each in GROUPS if each in found.by[ASKED]):
            level = found.by[ASKED][group]
            part = level.parts[SHARE.name]
            some = part.sample if part.sample is not None and part.sample.n else None
            rows.append(
                QuestionRow(
                    model,
                    group,
                    part.judge,
                    None if some is None else some.judge,
                    None if some is None else some.human,
                    None if some is None else some.delta,
                    part.human,
                    0 if some is None else some.n,
                )
            )
    return tuple(rows)


def question_study(
    corpus: Records, sample: Sample, judges: Sequence[str], setting: ProfileSetting
) -> tuple[Records, Sample]:
    """Responses to questions: the corpus with each question's verdict as its label, and the drawn ones under people.

    Questions with some labelled responses missing are kept as drawn but unfinished, so that they are counted.
    """
    tables = {name: fact_table(corpus, judge_outcomes(corpus, name, setting.labels)) for name in judges}
    first = next(iter(tables.values()))
    asked = responses_asked(corpus)
    there = asked > 0
    records = _records(corpus, first, there, {n: _verdicts(t, setting)[there] for n, t in tables.items()})
    people = fact_table(sample.records, people_outcomes(sample, setting))
    order = match_facts(corpus, first, sample.records, people)
    number = np.full(there.shape, -1, np.int64)
    number[there] = np.arange(int(there.sum()))
    drawn, inclusion, weight = _design(sample, people)
    told = people.counts.sum(axis=2)
    whole = (told > 0) & (told >= asked[order] - 1e-9)
    drawn &= number[order] >= 0
    shares = (np.eye(len(VERDICTS))[_verdicts(people, setting)] * whole[..., None])[drawn]
    status = tuple("labelled" if each else "unfinished" for each in whole[drawn])
    units = records.take(number[order][drawn])
    return records, Sample.of(
        units, shares, inclusion=inclusion[drawn], weight=weight[drawn], status=status, unit="item"
    )


def _verdicts(table: FactTable, setting: ProfileSetting) -> IntArray:
    """(F, 10) position in VERDICTS of each question."""
    return question_outcomes(grade(table.counts, setting.treatment), setting.threshold) + 1


def _records(corpus: Records, table: FactTable, there: np.ndarray, judges: dict[str, IntArray]) -> Records:
    fact, place = np.nonzero(there)
    names = corpus.fact.names if corpus.fact is not None else ()
    stratum, item = np.full(there.shape, -1, np.int64), np.full(there.shape, -1, np.int64)
    row, at = _places(corpus, table)
    used = at >= 0
    np.maximum.at(stratum, (row[used], at[used]), corpus.stratum.codes[used])
    if corpus.item is not None:
        np.maximum.at(item, (row[used], at[used]), corpus.item.codes[used])
    kinds, switch = ([GRADES[each][side] for each in place.tolist()] for side in (0, 1))
    return verdict_records(
        VERDICTS,
        model=Factor(table.model[fact], corpus.model.names),
        stratum=Factor(stratum[there], corpus.stratum.names),
        by={
            ASKED: Factor((place >= 2).astype(np.int64) + (place >= 6), GROUPS),
            KIND: Factor.of([str(kind) for kind in kinds]),
            THINKING: Factor.of(["on" if on else "off" for on in switch]),
        },
        judges=judges,
        item=Factor(item[there], corpus.item.names) if corpus.item is not None else Factor(table.fact[fact], names),
        fact=Factor(table.fact[fact], names),
    )


def _places(records: Records, table: FactTable) -> tuple[IntArray, IntArray]:
    """(R,) position in the table of each row's fact, and its place among GRADES, -1 where it enters none."""
    assert records.fact is not None
    width = len(records.fact.names)
    key = records.model.codes * width + records.fact.codes
    row: IntArray = np.searchsorted(table.model * width + table.fact, key)
    return row, np.where(records.technical, -1, grade_places(records))


def _design(sample: Sample, people: FactTable) -> tuple[np.ndarray, FloatArray, FloatArray]:
    """(F, 10) which questions were drawn, their inclusion probability, and the weight of their labelled responses."""
    row, at = _places(sample.records, people)
    used = at >= 0
    drawn = np.zeros(people.counts.shape[:2], np.bool_)
    inclusion, weight = np.ones(drawn.shape), np.zeros(drawn.shape)
    drawn[row[used], at[used]] = True
    np.minimum.at(inclusion, (row[used], at[used]), sample.inclusion[used])
    np.maximum.at(weight, (row[used], at[used]), sample.weight[used])
    return drawn, inclusion, weight
