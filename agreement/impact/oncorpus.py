"""The whole corpus under people's labels: each part with the estimator that is right for it, and its draws.

Parts that are ratios of totals come from the finite-population posterior; other functions of totals (calibration) from
the difference estimator. Both give draws, on which the ranking rests.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from agreement.impact.case import Case
from agreement.impact.difference_totals import difference_totals
from agreement.impact.estimate import Estimate, centred, from_draws, point, undefined
from agreement.impact.posterior_scores import KNOWN, CorpusTotals, posterior_totals
from agreement.impact.records import BoolArray, FloatArray
from agreement.impact.resample import Questions
from agreement.impact.streams import stream

NO_LABELS = "no human label for this model"
MIXED = (
    "units of one stratum and judge label were drawn with different probabilities; "
    "the weighted difference estimator takes the place of the posterior"
)


@dataclass(frozen=True, slots=True)
class CorpusPart:
    """One part on the whole corpus. judge: the judge alone. human: under people's labels. delta: people minus judge.

    draws, judge_draws: (B,) for ranking, NaN where undefined; judge_draws is None where the judge's value is fixed.
    """

    judge: Estimate
    human: Estimate
    delta: Estimate
    draws: FloatArray
    judge_draws: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class CorpusResult:
    """All parts of one case, and sentences about cells without labels."""

    parts: dict[str, CorpusPart]
    notes: tuple[str, ...]


def corpus_parts(
    case: Case, *, draws: int, seed: int, level: float = 0.95, questions: Questions | None = None
) -> CorpusResult:
    """Every part of the score on the whole corpus (with `questions`: in the population of questions)."""
    if case.open_records() and not len(case.sample):
        return _without_labels(case, draws, level, questions)
    means = _mean_columns(case)
    others = [part for part in case.score.parts if case.score.ratio(part) is None]
    parts: dict[str, CorpusPart] = {}
    notes: list[str] = []
    if len(others) < len(case.score.parts) and mixed_inclusion(case):
        others = list(case.score.parts)
        notes.append(f"model {case.model}: {MIXED}")
    if len(others) < len(case.score.parts):
        totals = posterior_totals(case, means, draws=draws, seed=seed, questions=questions)
        parts |= {p: _mean_part(case, p, totals, level) for p in case.score.parts if p not in others}
        notes += totals.notes
    if others:
        rng = stream(seed, "totals", case.score.name, case.model)
        found = difference_totals(case, draws=draws, rng=rng, questions=questions)
        if found is not None:
            parts |= {part: _other_part(case, part, found, level) for part in others}
            notes += [note for note in found.notes if note not in notes]
    return CorpusResult({part: parts[part] for part in case.score.parts}, tuple(notes))


def mixed_inclusion(case: Case) -> bool:
    """Whether units of one design stratum and judge outcome have different inclusion probabilities."""
    units = case.sample
    cell = units.stratum * (len(case.outcomes) + 2) + units.judged
    _, group = np.unique(cell, return_inverse=True)
    low, high = np.full(group.max(initial=0) + 1, np.inf), np.zeros(group.max(initial=0) + 1)
    np.minimum.at(low, group, units.inclusion)
    np.maximum.at(high, group, units.inclusion)
    return bool((high - low > 1e-9).any())


def judge_parts(
    case: Case, *, level: float = 0.95, questions: Questions | None = None
) -> dict[str, tuple[Estimate, FloatArray | None]]:
    """Each part under the judge alone, with its draws when questions are resampled."""
    values = case.score.values(case.judge_totals())
    if questions is None:
        return {
            part: (point(float(values[i]), case.score.why(part), KNOWN), None)
            for i, part in enumerate(case.score.parts)
        }
    totals = questions.totals(case.corpus.rows, case.corpus.count[:, None] * case.corpus.judge)
    drawn = case.score.values(totals)
    return {
        part: (_judge(case, part, float(values[i]), drawn[:, i], level), drawn[:, i])
        for i, part in enumerate(case.score.parts)
    }


def _mean_columns(case: Case) -> BoolArray:
    columns = np.zeros(case.corpus.features.shape[2], np.bool_)
    for part in case.score.parts:
        ratio = case.score.ratio(part)
        if ratio is not None:
            columns |= (ratio.numerator != 0) | (ratio.denominator != 0)
    return columns


def _without_labels(case: Case, draws: int, level: float, questions: Questions | None) -> CorpusResult:
    nothing = undefined(NO_LABELS)
    empty = np.full(draws, np.nan)
    judged = judge_parts(case, level=level, questions=questions)
    parts = {part: CorpusPart(found, nothing, nothing, empty, drawn) for part, (found, drawn) in judged.items()}
    return CorpusResult(parts, (f"model {case.model} has no human label: only the judge's score is given",))


def _mean_part(case: Case, part: str, totals: CorpusTotals, level: float) -> CorpusPart:
    i, why = case.score.parts.index(part), case.score.why(part)
    judge, value = (float(case.score.values(t)[i]) for t in (totals.judge, totals.human))
    drawn = case.score.values(totals.draws)[:, i]
    judge_drawn = None if totals.judge_draws is None else case.score.values(totals.judge_draws)[:, i]
    shift = drawn - (judge if judge_drawn is None else judge_drawn)
    return CorpusPart(
        _judge(case, part, judge, judge_drawn, level),
        from_draws(value, drawn, level=level, method=totals.method, why=why),
        from_draws(value - judge, shift, level=level, method=totals.method, why=why),
        drawn,
        judge_drawn,
    )


def _other_part(case: Case, part: str, totals: CorpusTotals, level: float) -> CorpusPart:
    i, why = case.score.parts.index(part), case.score.why(part)
    judge, value = (float(case.score.values(t)[i]) for t in (totals.judge, totals.human))
    drawn = case.score.values(totals.draws)[:, i]
    quantile = float(stdtrit(totals.freedom or 1, (1 + level) / 2))
    low, high = case.score.bounds
    human = centred(value, drawn, quantile=quantile, level=level, method=totals.method, why=why, bounds=(low, high))
    judge_drawn = None if totals.judge_draws is None else case.score.values(totals.judge_draws)[:, i]
    opened = case.score.open_upper(totals.human, totals.draws).get(part)
    if opened is not None and human.high is not None:
        human = replace(human, high=max(human.high, opened.upper), note=opened.note)
    if judge_drawn is None:
        delta = _shifted(human, judge)
    else:
        delta = centred(
            value - judge, drawn - judge_drawn, quantile=quantile, level=level, method=totals.method, why=why,
            bounds=(low - high, high - low),
        )  # fmt: skip
    return CorpusPart(
        _judge(case, part, judge, judge_drawn, level), human, delta, _recentred(human, drawn), judge_drawn
    )


def _judge(case: Case, part: str, value: float, drawn: FloatArray | None, level: float) -> Estimate:
    why = case.score.why(part)
    if drawn is None:
        return point(value, why, KNOWN)
    return from_draws(value, drawn, level=level, method="bootstrap of questions", why=why)


def _shifted(human: Estimate, judge: float) -> Estimate:
    if human.value is None or human.low is None or human.high is None:
        return human
    if not np.isfinite(judge):
        return undefined("undefined under the judge", human.method)
    return replace(human, value=human.value - judge, low=human.low - judge, high=human.high - judge)


def _recentred(human: Estimate, drawn: FloatArray) -> FloatArray:
    """Draws around the bias-corrected value, for the ranking."""
    if human.value is None:
        return np.full(len(drawn), np.nan)
    moved: FloatArray = human.value + drawn - np.nanmean(drawn)
    return moved
