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
from agreement.impact.records import WITHOUT_LABEL, FloatArray, IntArray, Records, Sample
from agreement.impact.result import ImpactResult
from agreement.scores.base import position
from agreement.scores.profiles import FactTable, Profiles, fact_table, judge_outcomes, profiles_of
from agreement.scores.wikiprofile import (
    FACT_LABELS,
    LABELS,
    THRESHOLD,
    ProfileShares,
    Treatment,
    profile_shares,
)

SINGLE_RESPONSES = (
    "single responses were sampled: the correlation within a question is unknown and profiles cannot be corrected; "
    "sample whole questions or whole facts"
)


@dataclass(frozen=True, slots=True)
class ProfileSetting:
    """How PARTIALLY and OTHER are treated ("fact", "pair", "partial"), the threshold of a grade, the labels' names."""

    treatment: Treatment = "pair"
    threshold: float = THRESHOLD
    labels: tuple[str, ...] = LABELS


def profile_table(corpus: Records, judge: str, setting: ProfileSetting = ProfileSetting()) -> dict[str, ProfileShares]:
    """Each model's row of the profile table under a judge's labels."""
    table = fact_table(corpus, judge_outcomes(corpus, judge, setting.labels))
    return shares_of(table, corpus.model.names, setting)


def shares_of(table: FactTable, models: Sequence[str], setting: ProfileSetting) -> dict[str, ProfileShares]:
    """Each model's row of the profile table, from its counted facts."""
    profiles = profiles_of(table, setting.treatment, setting.threshold)
    width = len(FACT_LABELS)
    counts = np.bincount(table.model * width + profiles, minlength=len(models) * width).reshape(-1, width)
    return {model: profile_shares(counts[m].astype(np.float64)) for m, model in enumerate(models)}


def profile_sweep(
    corpus: Records, judge: str, thresholds: Sequence[float], treatment: Treatment = "pair"
) -> dict[float, dict[str, ProfileShares]]:
    """The profile table at several thresholds of a grade (.5 to .99)."""
    table = fact_table(corpus, judge_outcomes(corpus, judge, ProfileSetting().labels))
    return {t: shares_of(table, corpus.model.names, ProfileSetting(treatment, t)) for t in thresholds}


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


def responses_asked(corpus: Records) -> FloatArray:
    """(F, 10) responses to each question of each fact, with or without a label."""
    each = np.zeros((len(corpus), len(LABELS)))
    each[:, 0] = corpus.count
    asked: FloatArray = fact_table(corpus, each).counts.sum(axis=2)
    return asked


def people_outcomes(sample: Sample, setting: ProfileSetting) -> FloatArray:
    """(n, 4) people's shares, correct to other; zero where there is no usable label."""
    at = position(sample.records.labels, setting.labels, "profiles")
    return sample.shares[:, at] * ~sample.has(*WITHOUT_LABEL)[:, None]


def _fact_records(corpus: Records, first: FactTable, tables: dict[str, FactTable], setting: ProfileSetting) -> Records:
    size = len(first.fact)
    names = corpus.fact.names if corpus.fact is not None else ()
    fact = Factor(first.fact, names)
    return verdict_records(
        FACT_LABELS,
        model=Factor(first.model, corpus.model.names),
        stratum=_fact_stratum(corpus, size, first),
        by={},
        judges={name: profiles_of(table, setting.treatment, setting.threshold) for name, table in tables.items()},
        item=fact,
        fact=fact,
    )


def verdict_records(
    labels: tuple[str, ...],
    *,
    model: Factor,
    stratum: Factor,
    by: dict[str, Factor],
    judges: dict[str, IntArray],
    item: Factor,
    fact: Factor,
) -> Records:
    """Records of verdicts worked out from several responses each, which have no rating, confidence or outcome."""
    size = len(model.codes)
    empty, flags = np.full(size, -1, np.int64), np.full(size, -1, np.int8)
    return Records(
        labels=labels,
        count=np.ones(size, np.int64),
        model=model,
        condition=Factor.single(size),
        stratum=stratum,
        by=by,
        judges=judges,
        ratings={},
        confidence=empty,
        grid=np.full(size, 100, np.int64),
        confidence_usable=np.ones(size, np.bool_),
        correct=flags,
        abstained=flags,
        searched=flags,
        technical=np.zeros(size, np.bool_),
        item=item,
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
