"""WikiProfile under people's labels: from labelled responses to profiles of facts.

Where whole facts were sampled, a fact is a record and its profile a label: everything of score impact applies to facts.
Where only whole questions were sampled, a question's verdict (above the threshold, not above, not gradable) is
completed by multiple imputation from the judge's verdict and grade, jointly over its responses. Single responses leave
the correlation within a question unknown: refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agreement.errors import AgreementError
from agreement.impact.columns import Factor
from agreement.impact.engine import DEFAULT, Options, score_impact
from agreement.impact.estimate import Estimate, from_draws
from agreement.impact.imputation import CompletionInput, complete_labels
from agreement.impact.ranking import Ranking, rank_models
from agreement.impact.records import WITHOUT_LABEL, BoolArray, FloatArray, IntArray, Records, Sample
from agreement.impact.result import ImpactResult
from agreement.impact.streams import stream
from agreement.scores.base import position
from agreement.scores.profiles import FactTable, Profiles, fact_table, judge_outcomes, profiles_of
from agreement.scores.wikiprofile import (
    FACT_LABELS,
    GRADES,
    LABELS,
    THRESHOLD,
    UNGRADABLE,
    ProfileShares,
    Treatment,
    fact_profiles,
    grade,
    profile_shares,
    question_outcomes,
)

SINGLE_RESPONSES = (
    "single responses were sampled: the correlation within a question is unknown and profiles cannot be corrected; "
    "sample whole questions or whole facts"
)
METHOD = "multiple imputation"


@dataclass(frozen=True, slots=True)
class ProfileSetting:
    """How PARTIALLY and OTHER are treated ("fact", "pair", "partial"), the threshold of a grade, the labels' names."""

    treatment: Treatment = "pair"
    threshold: float = THRESHOLD
    labels: tuple[str, ...] = LABELS


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


def profile_table(corpus: Records, judge: str, setting: ProfileSetting = ProfileSetting()) -> dict[str, ProfileShares]:
    """Each model's row of the profile table under a judge's labels."""
    table = fact_table(corpus, judge_outcomes(corpus, judge, setting.labels))
    profiles = profiles_of(table, setting.treatment, setting.threshold)
    return {
        model: profile_shares(np.bincount(profiles[table.model == m], minlength=len(FACT_LABELS)).astype(np.float64))
        for m, model in enumerate(corpus.model.names)
    }


def profile_sweep(
    corpus: Records, judge: str, thresholds: Sequence[float], treatment: Treatment = "pair"
) -> dict[float, dict[str, ProfileShares]]:
    """The profile table at several thresholds of a grade (.5 to .99)."""
    return {t: profile_table(corpus, judge, ProfileSetting(treatment, t)) for t in thresholds}


def profile_impact(
    corpus: Records,
    sample: Sample | None,
    judges: Sequence[str] | None = None,
    setting: ProfileSetting = ProfileSetting(),
    options: Options = DEFAULT,
) -> ImpactResult:
    """Score impact on profiles, from a sample of whole facts; raises AgreementError when facts are incomplete."""
    names = tuple(judges) if judges is not None else tuple(corpus.judges)
    facts, labelled = fact_study(corpus, sample, names, setting)
    return score_impact(facts, labelled, (Profiles("paper"), Profiles("consistent")), names, options)


def fact_study(
    corpus: Records, sample: Sample | None, judges: Sequence[str], setting: ProfileSetting = ProfileSetting()
) -> tuple[Records, Sample | None]:
    """Responses to facts: the corpus with each fact's profile as its label, and the facts that people labelled whole.

    Facts with some labelled responses missing are kept as drawn but unfinished, so that they are counted.
    """
    tables = {name: fact_table(corpus, judge_outcomes(corpus, name, setting.labels)) for name in judges}
    first = next(iter(tables.values()))
    facts = _fact_records(corpus, first, tables, setting)
    if sample is None:
        return facts, None
    people = fact_table(sample.records, people_outcomes(sample, setting))
    order = match_facts(corpus, first, sample.records, people)
    asked = responses_asked(corpus)[order]
    whole = (people.counts.sum(axis=2) >= asked - 1e-9).all(axis=1)
    if not whole.any():
        raise AgreementError(_why_incomplete(people, asked))
    profiles = profiles_of(people, setting.treatment, setting.threshold)
    shares = np.eye(len(FACT_LABELS))[profiles] * whole[:, None]
    inclusion, weight = _fact_design(sample, people)
    status = tuple("labelled" if w else "unfinished" for w in whole)
    return facts, Sample.of(facts.take(order), shares, inclusion=inclusion, weight=weight, status=status, unit="item")


def imputed_profiles(
    corpus: Records,
    sample: Sample,
    judge: str,
    setting: ProfileSetting = ProfileSetting(),
    *,
    draws: int = 200,
    seed: int = 0,
    level: float = 0.95,
    target: str = "corpus",
) -> ImputedProfiles:
    """Profiles of the whole corpus from a sample of whole questions; raises AgreementError when none is whole.

    target: "population" also resamples the facts, the same ones for all models, in every completed corpus.
    """
    score = Profiles("paper")
    judged, people = (
        fact_table(corpus, judge_outcomes(corpus, judge, setting.labels)),
        fact_table(sample.records, people_outcomes(sample, setting)),
    )
    order = match_facts(corpus, judged, sample.records, people)
    asked, told = responses_asked(corpus), np.zeros(judged.counts.shape[:2])
    told[order] = people.counts.sum(axis=2)
    whole = (told > 0) & (told >= asked - 1e-9)
    if not whole.any():
        raise AgreementError(SINGLE_RESPONSES)
    verdicts = np.full(whole.shape, UNGRADABLE, np.int64)
    verdicts[order] = question_outcomes(grade(people.counts, setting.treatment), setting.threshold)
    times = _fact_times(corpus, draws, seed) if target == "population" else None
    fixed, drawn, moved, complete = {}, {}, {}, {}
    for m, model in enumerate(corpus.model.names):
        mine = judged.model == m
        rng = stream(seed, "profiles", model)
        taken = None if times is None else times[:, judged.fact[mine]]
        found = _one_model(judged.counts[mine], whole[mine], verdicts[mine], setting, draws, rng, taken)
        fixed[model], judge_drawn, drawn[model] = found
        moved[model], complete[model] = drawn[model] - judge_drawn, int(whole[mine].sum())
    human = {model: _estimates(values, np.nanmean(values, axis=0), score, level) for model, values in drawn.items()}
    delta = {
        model: _estimates(moved[model], np.nanmean(drawn[model], axis=0) - fixed[model], score, level)
        for model in drawn
    }
    judge_values = {m: dict(zip(score.parts, v.tolist(), strict=True)) for m, v in fixed.items()}
    at = score.parts.index(score.headline)
    ranking = _ranked(score.headline, judge_values, human, {m: v[:, at] for m, v in drawn.items()}, level)
    note = (
        f"{int(whole.sum())} of {int((asked > 0).sum())} questions have all their responses labelled; the others are "
        "imputed as if people's verdicts on a fact's questions hang together only through the judge's grades: label "
        "whole facts to do without that"
    )
    return ImputedProfiles(
        judge_values, human, delta, complete, ranking, int((asked > 0).sum()), int(whole.sum()), note
    )


def _estimates(draws: FloatArray, values: FloatArray, score: Profiles, level: float) -> dict[str, Estimate]:
    return {
        part: from_draws(float(values[i]), draws[:, i], level=level, method=METHOD, why=score.why(part))
        for i, part in enumerate(score.parts)
    }


def _fact_times(corpus: Records, draws: int, seed: int) -> FloatArray:
    """(D, facts) how often each fact is taken in each draw."""
    assert corpus.fact is not None
    size = len(corpus.fact.names)
    times: IntArray = stream(seed, "facts").multinomial(size, np.full(size, 1 / size), size=draws)
    return times.astype(np.float64)


def responses_asked(corpus: Records) -> FloatArray:
    """(F, 10) responses to each question of each fact, with or without a label."""
    each = np.zeros((len(corpus), len(LABELS)))
    each[:, 0] = corpus.count
    asked: FloatArray = fact_table(corpus, each).counts.sum(axis=2)
    return asked


def _one_model(
    counts: FloatArray,
    whole: BoolArray,
    verdicts: IntArray,
    setting: ProfileSetting,
    draws: int,
    rng: np.random.Generator,
    times: FloatArray | None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Parts of the facts (F, 10, 4) of one model: (P,) under the judge, (D or 1, P) the same with resampled facts, and
    (D, P) under completed human verdicts. times: (D, F) of each fact, None where the corpus is the target."""
    score = Profiles("paper")
    own = question_outcomes(grade(counts, setting.treatment), setting.threshold)
    once = np.ones((1, len(counts)))
    fixed = score.values(_profile_counts(own[None], setting, once) @ _feature_rows())[0]
    judged = (
        fixed[None] if times is None else score.values(_profile_counts(own[None], setting, times) @ _feature_rows())
    )
    labels = complete_labels(_question_input(counts, whole, verdicts, setting), draws=draws, rng=rng)
    completed = labels.reshape(draws, len(counts), len(GRADES)) - 1
    taken = once if times is None else times
    return fixed, judged, score.values(_profile_counts(completed, setting, taken) @ _feature_rows())


def _ranked(
    part: str,
    judge: dict[str, dict[str, float]],
    human: dict[str, dict[str, Estimate]],
    draws: dict[str, FloatArray],
    level: float,
) -> Ranking:
    values = {m: parts[part].value for m, parts in human.items()}
    return rank_models(
        part,
        {m: parts[part] for m, parts in judge.items()},
        {m: np.nan if value is None else value for m, value in values.items()},
        draws,
        level=level,
    )


def people_outcomes(sample: Sample, setting: ProfileSetting) -> FloatArray:
    """(n, 4) people's shares, correct to other; zero where there is no usable label."""
    at = position(sample.records.labels, setting.labels, "profiles")
    return sample.shares[:, at] * ~sample.has(*WITHOUT_LABEL)[:, None]


def _fact_records(corpus: Records, first: FactTable, tables: dict[str, FactTable], setting: ProfileSetting) -> Records:
    size = len(first.fact)
    names = corpus.fact.names if corpus.fact is not None else ()
    fact = Factor(first.fact, names)
    empty, flags = np.full(size, -1, np.int64), np.full(size, -1, np.int8)
    return Records(
        labels=FACT_LABELS,
        count=np.ones(size, np.int64),
        model=Factor(first.model, corpus.model.names),
        condition=Factor.single(size),
        stratum=_fact_stratum(corpus, size, first),
        by={},
        judges={name: profiles_of(table, setting.treatment, setting.threshold) for name, table in tables.items()},
        ratings={},
        confidence=empty,
        grid=np.full(size, 100, np.int64),
        confidence_usable=np.ones(size, np.bool_),
        correct=flags,
        abstained=flags,
        searched=flags,
        technical=np.zeros(size, np.bool_),
        item=fact,
        fact=fact,
    )


def _fact_stratum(corpus: Records, size: int, first: FactTable) -> Factor:
    """The design stratum of each fact, where all its responses share one; else one stratum for all."""
    if corpus.fact is None:
        return Factor.single(size)
    row = _rows_of(corpus, first)
    low, high = np.full(size, np.iinfo(np.int64).max), np.full(size, -1, np.int64)
    np.minimum.at(low, row, corpus.stratum.codes)
    np.maximum.at(high, row, corpus.stratum.codes)
    return Factor(high, corpus.stratum.names) if (low == high).all() else Factor.single(size)


def _rows_of(records: Records, table: FactTable) -> IntArray:
    """(R,) position in the table of each row's fact."""
    assert records.fact is not None
    width = len(records.fact.names)
    return np.searchsorted(table.model * width + table.fact, records.model.codes * width + records.fact.codes)


def match_facts(corpus: Records, whole: FactTable, sampled: Records, part: FactTable) -> IntArray:
    """(facts of the sample,) their positions among the facts of the corpus."""
    assert corpus.fact is not None
    assert sampled.fact is not None
    place = {
        (corpus.model.names[m], corpus.fact.names[f]): i
        for i, (m, f) in enumerate(zip(whole.model, whole.fact, strict=True))
    }
    keys = [(sampled.model.names[m], sampled.fact.names[f]) for m, f in zip(part.model, part.fact, strict=True)]
    missing = [key for key in keys if key not in place]
    if missing:
        raise AgreementError(f"fact {missing[0][1]!r} of model {missing[0][0]!r} is sampled but not in the corpus")
    return np.array([place[key] for key in keys], np.int64)


def _why_incomplete(people: FactTable, asked: FloatArray) -> str:
    told = people.counts.sum(axis=2)
    if ((told > 0) & (told >= asked - 1e-9)).any():
        return "no fact has all its responses labelled, only single questions: use imputed_profiles"
    return SINGLE_RESPONSES


def _fact_design(sample: Sample, people: FactTable) -> tuple[FloatArray, FloatArray]:
    """Inclusion probability and weight of each fact: those of its responses, which are drawn together."""
    row = _rows_of(sample.records, people)
    inclusion, weight = np.ones(len(people.fact)), np.zeros(len(people.fact))
    np.minimum.at(inclusion, row, sample.inclusion)
    np.maximum.at(weight, row, sample.weight)
    return inclusion, weight


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


def _profile_counts(outcomes: IntArray, setting: ProfileSetting, times: FloatArray) -> FloatArray:
    """(D, 7) facts by FACT_LABELS for question outcomes (D or 1, F, 10), each fact taken (D or 1, F) times."""
    profiles = fact_profiles(outcomes, setting.treatment)
    return np.stack([((profiles == k) * times).sum(axis=1) for k in range(len(FACT_LABELS))], axis=1)


def _feature_rows() -> FloatArray:
    """(7, d) features of a fact of each label under the profile score."""
    one = Records.from_columns(FACT_LABELS, ["m"], judges={"j": [FACT_LABELS[0]]})
    return Profiles("paper").features(one)[0, : len(FACT_LABELS)]
