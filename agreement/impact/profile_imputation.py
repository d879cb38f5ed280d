"""Profiles of the whole corpus where people labelled whole questions: verdicts completed by multiple imputation.

A completion is of every question of every fact, so its cost grows with the number of distinct questions, not with that
of responses. Settings that ask for the same verdicts (treatments "fact" and "pair" at one threshold) share one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from agreement.errors import AgreementError
from agreement.impact.estimate import Estimate, from_draws
from agreement.impact.imputation import DRAWS, CompletionInput, LabelArray, complete_labels
from agreement.impact.profile_impact import (
    SINGLE_RESPONSES,
    ProfileSetting,
    match_facts,
    people_outcomes,
    responses_asked,
)
from agreement.impact.ranking import Ranking, rank_models
from agreement.impact.records import BoolArray, FloatArray, IntArray, Records, Sample
from agreement.impact.streams import stream
from agreement.scores.profiles import FactTable, Profiles, fact_table, judge_outcomes
from agreement.scores.wikiprofile import FACT_LABELS, GRADES, Treatment, fact_profiles, grade, question_outcomes

METHOD = "multiple imputation"
SCORE = Profiles("paper")
USUAL = ProfileSetting()
_PLACES = 3.0 ** np.arange(len(GRADES) - 1, -1, -1, dtype=np.float32)  # of a pattern's digits
# Per model: (P,) parts under the judge, (D, P) people minus judge and (D, P) under completed verdicts of people.
_Draws = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, slots=True)
class ImputedProfiles:
    """Profiles where whole questions, not whole facts, were labelled: estimates by model and part, with the ranking.

    delta: people minus judge. whole: questions with all responses labelled, by model.
    """

    judge: dict[str, dict[str, float]]
    human: dict[str, dict[str, Estimate]]
    delta: dict[str, dict[str, Estimate]]
    whole: dict[str, int]
    ranking: Ranking | None
    questions: int
    labelled: int
    note: str


def imputed_profiles(
    corpus: Records,
    sample: Sample,
    judge: str,
    setting: ProfileSetting = USUAL,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    level: float = 0.95,
    target: str = "corpus",
) -> ImputedProfiles:
    """Profiles of the whole corpus from a sample of whole questions; raises AgreementError when none is whole.

    target: "population" also resamples the facts, the same ones for all models, in every completed corpus.
    """
    found = imputed_settings(corpus, sample, judge, (setting,), draws=draws, seed=seed, level=level, target=target)
    return found[setting]


def imputed_settings(
    corpus: Records,
    sample: Sample,
    judge: str,
    settings: Sequence[ProfileSetting],
    *,
    draws: int = DRAWS,
    seed: int = 0,
    level: float = 0.95,
    target: str = "corpus",
) -> dict[ProfileSetting, ImputedProfiles]:
    """`imputed_profiles` under each of several settings, whose labels have the same names."""
    labelled = _labelled_questions(corpus, sample, judge, settings[0])
    times = _fact_times(corpus, draws, seed) if target == "population" else None
    drawn: dict[ProfileSetting, dict[str, _Draws]] = {setting: {} for setting in settings}
    for m, model in enumerate(corpus.model.names):
        mine = labelled.judged.model == m
        counts, people, whole = labelled.judged.counts[mine], labelled.people[mine], labelled.whole[mine]
        taken = np.ones((1, len(counts))) if times is None else times[:, labelled.judged.fact[mine]]
        for alike in _alike(settings):
            completed = _completed(counts, people, whole, alike[0], draws, stream(seed, "profiles", model))
            for setting in alike:
                drawn[setting][model] = _drawn_parts(counts, completed, setting, taken)
    return {setting: labelled.summary(found, level) for setting, found in drawn.items()}


@dataclass(frozen=True, slots=True)
class _Labelled:
    """Facts under the judge, (F, 10, 4) people's labels of them, and (F, 10) questions asked and labelled whole."""

    judged: FactTable
    people: FloatArray
    asked: BoolArray
    whole: BoolArray

    def summary(self, drawn: Mapping[str, _Draws], level: float) -> ImputedProfiles:
        judge = {model: dict(zip(SCORE.parts, fixed.tolist(), strict=True)) for model, (fixed, _, _) in drawn.items()}
        human = {model: _estimates(told, np.nanmean(told, axis=0), level) for model, (_, _, told) in drawn.items()}
        delta = {
            model: _estimates(moved, np.nanmean(told, axis=0) - fixed, level)
            for model, (fixed, moved, told) in drawn.items()
        }
        complete = {model: int(self.whole[self.judged.model == m].sum()) for m, model in enumerate(drawn)}
        ranking = _ranked(judge, human, {model: told for model, (_, _, told) in drawn.items()}, level)
        questions, labelled = int(self.asked.sum()), int(self.whole.sum())
        note = (
            f"{labelled} of {questions} questions have all their responses labelled; the others are imputed "
            "as if people's verdicts on a fact's questions hang together only through the judge's grades: "
            "label whole facts to do without that"
        )
        return ImputedProfiles(judge, human, delta, complete, ranking, questions, labelled, note)


def _labelled_questions(corpus: Records, sample: Sample, judge: str, setting: ProfileSetting) -> _Labelled:
    judged = fact_table(corpus, judge_outcomes(corpus, judge, setting.labels))
    told = fact_table(sample.records, people_outcomes(sample, setting))
    people, asked = np.zeros(judged.counts.shape), responses_asked(corpus)
    people[match_facts(corpus, judged, sample.records, told)] = told.counts
    number = people.sum(axis=2)
    whole = (number > 0) & (number >= asked - 1e-9)
    if not whole.any():
        raise AgreementError(SINGLE_RESPONSES)
    return _Labelled(judged, people, asked > 0, whole)


def _alike(settings: Iterable[ProfileSetting]) -> Iterator[list[ProfileSetting]]:
    """Settings under which a question has the same grade and verdict."""
    groups: dict[tuple[bool, float], list[ProfileSetting]] = {}
    for setting in settings:
        groups.setdefault((setting.treatment == "partial", setting.threshold), []).append(setting)
    yield from groups.values()


def _completed(
    counts: FloatArray,
    people: FloatArray,
    whole: BoolArray,
    setting: ProfileSetting,
    draws: int,
    rng: np.random.Generator,
) -> IntArray:
    """(D, F) the pattern of people's completed verdicts on each fact (F, 10, 4) of one model."""
    verdicts = question_outcomes(grade(people, setting.treatment), setting.threshold)
    labels = complete_labels(_question_input(counts, whole, verdicts, setting), draws=draws, rng=rng)
    return _patterns(labels.reshape(draws, len(counts), len(GRADES)))


def _drawn_parts(counts: FloatArray, completed: IntArray, setting: ProfileSetting, times: FloatArray) -> _Draws:
    """Parts of the facts (F, 10, 4) of one model, each taken (D or 1, F) times."""
    rows = _feature_rows()
    verdicts = question_outcomes(grade(counts, setting.treatment), setting.threshold)
    own = _patterns((verdicts + 1).astype(np.int8)[None])
    fixed = SCORE.values(_profile_counts(own, setting.treatment, np.ones((1, len(counts)))) @ rows)[0]
    judged = SCORE.values(_profile_counts(own, setting.treatment, times) @ rows)
    told = SCORE.values(_profile_counts(completed, setting.treatment, times) @ rows)
    return fixed, told - judged, told


def _question_input(
    counts: FloatArray, whole: BoolArray, verdicts: IntArray, setting: ProfileSetting
) -> CompletionInput:
    """Questions of one model: the judge's verdict as cell, and beside it three covariates.

    How far the judge's grade is from the threshold, in log odds (half a response added to each side); the mean of that
    over the fact's other questions; and the kind of question. The other questions matter because a profile is about
    several at once: a grade just below the threshold is more often truly above it in a fact that is known otherwise.
    """
    grades = grade(counts, setting.treatment)
    held = np.isfinite(grades)
    odds = np.log((counts[..., 0] + 0.5) / (counts[..., 1] + 0.5)) - np.log(setting.threshold / (1 - setting.threshold))
    odds = np.where(held, odds, 0.0)
    others = (odds.sum(axis=1, keepdims=True) - odds) / np.maximum(held.sum(axis=1, keepdims=True) - held, 1)
    kind = np.tile(np.arange(len(GRADES)), len(counts))
    shares = np.eye(3)[verdicts.ravel() + 1] * whole.ravel()[:, None]
    covariates = np.column_stack([odds.ravel(), others.ravel(), ~held.ravel(), np.eye(len(GRADES))[kind]])
    cell = question_outcomes(grades, setting.threshold).ravel() + 1
    return CompletionInput(cell, np.ones((3, 3), np.bool_), covariates, shares)


# --- counting patterns --------------------------------------------------------------------------------


def _patterns(verdicts: LabelArray) -> IntArray:
    """(...,) the ten verdicts (..., 10) of each fact, 0 to 2, as one number of ten digits."""
    numbers: FloatArray = verdicts.astype(np.float32) @ _PLACES  # whole and below 3 ** 10: exact
    return numbers.astype(np.int64)


def _profile_counts(patterns: IntArray, treatment: Treatment, times: FloatArray) -> FloatArray:
    """(D, 7) facts by FACT_LABELS of patterns (D or 1, F), each fact taken (D or 1, F) times."""
    profiles = _profile_of_pattern(treatment)[patterns]
    return np.stack([((profiles == k) * times).sum(axis=1) for k in range(len(FACT_LABELS))], axis=1)


@cache
def _profile_of_pattern(treatment: Treatment) -> LabelArray:
    """(3 ** 10,) the profile of every pattern of ten verdicts."""
    verdicts = np.indices((3,) * len(GRADES)).reshape(len(GRADES), -1).T - 1
    return fact_profiles(verdicts, treatment).astype(np.int8)


@cache
def _feature_rows() -> FloatArray:
    """(7, d) features of a fact of each label under the profile score."""
    one = Records.from_columns(FACT_LABELS, ["m"], judges={"j": [FACT_LABELS[0]]})
    return SCORE.features(one)[0, : len(FACT_LABELS)]


def _fact_times(corpus: Records, draws: int, seed: int) -> FloatArray:
    """(D, facts) how often each fact is taken in each draw."""
    assert corpus.fact is not None
    size = len(corpus.fact.names)
    times: IntArray = stream(seed, "facts").multinomial(size, np.full(size, 1 / size), size=draws)
    return times.astype(np.float64)


# --- what is said of the draws ------------------------------------------------------------------------


def _estimates(draws: FloatArray, values: FloatArray, level: float) -> dict[str, Estimate]:
    return {
        part: from_draws(float(values[i]), draws[:, i], level=level, method=METHOD, why=SCORE.why(part))
        for i, part in enumerate(SCORE.parts)
    }


def _ranked(
    judge: Mapping[str, Mapping[str, float]],
    human: Mapping[str, Mapping[str, Estimate]],
    draws: Mapping[str, FloatArray],
    level: float,
) -> Ranking:
    part = SCORE.headline
    at = SCORE.parts.index(part)
    values = {model: parts[part].value for model, parts in human.items()}
    return rank_models(
        part,
        {model: parts[part] for model, parts in judge.items()},
        {model: np.nan if value is None else value for model, value in values.items()},
        {model: told[:, at] for model, told in draws.items()},
        level=level,
    )
