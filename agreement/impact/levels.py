"""Scores by category, subcategory, cue or any other stratum variable, per model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from agreement.impact.case import Case
from agreement.impact.estimate import undefined
from agreement.impact.oncorpus import corpus_parts, judge_parts
from agreement.impact.onsample import sample_parts
from agreement.impact.records import Records, Sample
from agreement.impact.resample import Questions
from agreement.impact.result import LevelImpact, PartImpact
from agreement.impact.sentences import NO_SAMPLE
from agreement.impact.smallsample import steadied
from agreement.impact.streams import stream


def level_impacts(
    cases: Mapping[str, Case],
    corpus: Records,
    sample: Sample | None,
    by: Sequence[str],
    draws: int,
    seed: int,
    level: float,
    questions: Questions | None = None,
) -> dict[str, dict[str, LevelImpact]]:
    """Per variable and level, the parts of every score of one model; levels without a record of the model are left out.

    cases: the model's case of each score, by score name. questions: resampled ones, for the population.
    """
    some = None if questions is None else questions.head(draws)
    found: dict[str, dict[str, LevelImpact]] = {}
    for variable in by:
        rows = corpus.factor(variable)
        units = None if sample is None else sample.records.factor(variable)
        found[variable] = {}
        for value in rows.names:
            mask = rows.mask(value)
            held = np.zeros(0, np.bool_) if units is None else units.mask(value)
            parts = [case.restrict(mask, held) for case in cases.values()]
            if any(part.n_records for part in parts):
                found[variable][value] = _level(parts, variable, value, sample is not None, draws, seed, level, some)
    return found


def _level(
    cases: Sequence[Case],
    variable: str,
    value: str,
    labelled: bool,
    draws: int,
    seed: int,
    level: float,
    questions: Questions | None,
) -> LevelImpact:
    parts: dict[str, PartImpact] = {}
    details: dict[str, float | None] = {}
    for case in cases:
        if not case.n_records:
            continue
        details |= case.score.details(case.judge_totals())
        if labelled:
            parts |= _with_labels(case, variable, value, draws, seed, level, questions)
        else:
            parts |= _judge_alone(case, level, questions)
    first = next(case for case in cases if case.n_records)
    return LevelImpact(parts, first.n_records, int(first.sample.paired.sum()), details)


def _judge_alone(case: Case, level: float, questions: Questions | None) -> dict[str, PartImpact]:
    nothing = undefined(NO_SAMPLE)
    found = judge_parts(case, level=level, questions=questions)
    return {part: PartImpact(part, e, nothing, nothing) for part, (e, _) in found.items()}


def _with_labels(
    case: Case, variable: str, value: str, draws: int, seed: int, level: float, questions: Questions | None
) -> dict[str, PartImpact]:
    corpus = corpus_parts(case, draws=draws, seed=seed, level=level, questions=questions).parts
    rng = stream(seed, "sample", case.score.name, case.model, variable, value)
    found = sample_parts(case, draws=draws, rng=rng, level=level, finite=questions is None)
    return {
        part: PartImpact(part, c.judge, c.human, c.delta, steadied(case, part, found[part], c))
        for part, c in corpus.items()
    }
