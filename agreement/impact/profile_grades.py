"""The grades g(q) behind knowledge profiles: their means under judge and people, and corrected for the whole corpus.

The correction is a difference estimator on totals (Sarndal, Swensson and Wretman 1992, ch. 6): what judge and people
say of the labelled questions is added to what the judge says of all. A question that cannot be graded under a label
leaves that side's numerator and denominator, so the mean is a ratio of two corrected totals, linearised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from agreement.impact.engine import Options
from agreement.impact.estimate import Estimate, normal, undefined
from agreement.impact.profile_impact import ProfileSetting, match_facts, people_outcomes, responses_asked
from agreement.impact.records import BoolArray, FloatArray, IntArray, Records, Sample
from agreement.scores.profiles import FactTable, fact_table, judge_outcomes
from agreement.scores.wikiprofile import GRADES, grade

METHOD = "difference estimator on questions"
FEW = 5
FEW_DIFFER = "no interval: judge and people grade fewer than 5 of the labelled questions differently"
NOBODY, UNGRADED = "no human labels", "no question can be graded"


@dataclass(frozen=True, slots=True)
class GradeRow:
    """The mean grade g(q) of one kind of question of one model.

    judge: over all gradable questions. judge_labelled, people: over those labelled whole, weighted by the design;
    corrected: over the corpus under people's labels. questions, gradable (under the judge), labelled: how many there
    are.
    """

    model: str
    question_type: str
    thinking: bool
    judge: float | None
    judge_labelled: float | None
    people: float | None
    corrected: Estimate
    questions: int
    gradable: int
    labelled: int


@dataclass(frozen=True, slots=True)
class Graded:
    """Grades (F, 10) under the judge and, where a question is labelled whole, under people; NaN: not gradable.

    there: questions that were asked. weight: design weight of the labelled ones.
    """

    judge: FloatArray
    people: FloatArray
    there: BoolArray
    whole: BoolArray
    weight: FloatArray


def grade_rows(
    corpus: Records, sample: Sample | None, judge: str, setting: ProfileSetting, options: Options
) -> Iterator[GradeRow]:
    """One row for each model and kind of question that was asked."""
    table = fact_table(corpus, judge_outcomes(corpus, judge, setting.labels))
    graded = _graded(corpus, sample, table, setting)
    for m, model in enumerate(corpus.model.names):
        for at, (kind, thinking) in enumerate(GRADES):
            there = (table.model == m) & graded.there[:, at]
            if not there.any():
                continue
            judged, told, whole = graded.judge[there, at], graded.people[there, at], graded.whole[there, at]
            weight = graded.weight[there, at]
            corrected = corrected_grade(
                judged, told, whole, weight, options.level, population=options.target == "population"
            )
            yield GradeRow(
                model,
                kind,
                thinking,
                _mean(judged, np.ones(len(judged))),
                _mean(judged[whole], weight[whole]),
                _mean(told[whole], weight[whole]),
                corrected,
                int(there.sum()),
                int(np.isfinite(judged).sum()),
                int(whole.sum()),
            )


def corrected_grade(
    judged: FloatArray, told: FloatArray, whole: BoolArray, weight: FloatArray, level: float, *, population: bool
) -> Estimate:
    """The mean grade of N questions under people's labels.

    judged: (N,) grades, NaN where not gradable. told: the same under people where `whole`. weight: of the labelled
    ones; those of equal weight were drawn alike. population: for the questions that these stand for.
    """
    if not whole.any():
        return undefined(NOBODY, METHOD)
    by_judge, by_people = _totals_of(judged), _totals_of(told)[whole]
    moved = by_people - by_judge[whole]
    groups, group, number = np.unique(np.round(weight[whole], 9), return_inverse=True, return_counts=True)
    sizes = groups * number * (len(whole) / float((groups * number).sum()))
    means = np.stack([np.bincount(group, moved[:, k]) / number for k in (0, 1)], axis=1)
    graded, gradable = by_judge.sum(axis=0) + sizes @ means
    if gradable <= 0:
        return undefined(UNGRADED, METHOD)
    value = graded / gradable
    if int((np.abs(moved) > 1e-12).any(axis=1).sum()) < FEW and not whole.all():
        return Estimate(float(np.clip(value, 0, 1)), method=METHOD, level=level, note=FEW_DIFFER)
    error = (moved[:, 0] - value * moved[:, 1]) / gradable
    variance = _variance(error, group, number, sizes)
    if population:
        own = (by_people[:, 0] - value * by_people[:, 1]) * len(whole) / gradable
        variance += float(own.var(ddof=1)) / len(whole) if len(own) > 1 else float("nan")
    freedom = max(int(number.sum()) - len(groups), 1)
    quantile = float(stdtrit(freedom, (1 + level) / 2))
    return normal(
        float(value), variance**0.5, quantile=quantile, level=level, method=METHOD, why=UNGRADED, bounds=(0.0, 1.0)
    )


def _variance(error: FloatArray, group: IntArray, number: IntArray, sizes: FloatArray) -> float:
    """Of the sum over groups of size times mean error, groups sampled without replacement."""
    mean = np.bincount(group, error) / number
    squares = np.bincount(group, (error - mean[group]) ** 2)
    spread = np.where(number > 1, squares / np.maximum(number - 1, 1), np.where(sizes > number + 1e-9, np.nan, 0.0))
    left = np.maximum(1 - number / sizes, 0.0)
    return float((sizes**2 * left * spread / number).sum())


def _totals_of(grades: FloatArray) -> FloatArray:
    """(N, 2) what each question adds to the sum of grades and to the number of gradable questions."""
    held = np.isfinite(grades)
    return np.stack([np.where(held, grades, 0.0), held], axis=1).astype(np.float64)


def _graded(corpus: Records, sample: Sample | None, judged: FactTable, setting: ProfileSetting) -> Graded:
    asked = responses_asked(corpus)
    told, weight, whole = np.full(asked.shape, np.nan), np.ones(asked.shape), np.zeros(asked.shape, np.bool_)
    if sample is not None:
        people = fact_table(sample.records, people_outcomes(sample, setting))
        order = match_facts(corpus, judged, sample.records, people)
        told[order], weight[order] = grade(people.counts, setting.treatment), _weights(sample)
        labelled = people.counts.sum(axis=2)
        whole[order] = (labelled > 0) & (labelled >= asked[order] - 1e-9)
    return Graded(grade(judged.counts, setting.treatment), told, asked > 0, whole, weight)


def _weights(sample: Sample) -> FloatArray:
    """(F, 10) design weight of each sampled question: that of its responses, which are drawn together."""
    each = np.zeros((len(sample.records), 4))
    each[:, 0] = 1
    number = fact_table(sample.records, each).counts.sum(axis=2)
    total = fact_table(sample.records, each * sample.weight[:, None]).counts.sum(axis=2)
    found: FloatArray = np.where(number > 0, total / np.maximum(number, 1), 1.0)
    return found


def _mean(grades: FloatArray, weight: FloatArray) -> float | None:
    held = np.isfinite(grades)
    return float(np.average(grades[held], weights=weight[held])) if held.any() else None
