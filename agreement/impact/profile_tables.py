"""Knowledge profiles as the reader of WikiProfile knows them: each treatment, each threshold, each kind of question.

Every number stands under the judge, under people on what they labelled whole, and corrected for the whole corpus.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from agreement.impact.engine import Options
from agreement.impact.estimate import Estimate, undefined
from agreement.impact.profile_grades import GradeRow, grade_rows
from agreement.impact.profile_impact import ProfileSetting, profile_impact, shares_of
from agreement.impact.profile_imputation import ImputedProfiles
from agreement.impact.profile_questions import QuestionRow
from agreement.impact.records import Records, Sample
from agreement.scores.profiles import Profiles, fact_table, judge_outcomes
from agreement.scores.wikiprofile import ProfileShares, Treatment

TREATMENTS: tuple[Treatment, ...] = ("fact", "pair", "partial")
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.99)
DRAWS = 1000
SPELLED = {"knows with thinking": "knows_with_thinking"}
NOBODY = "no human labels"
NO_FACT = "no fact has all its questions labelled"


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """One rate or profile share of one model under one treatment and threshold.

    judge: on the whole corpus. people: on the facts that were labelled whole. corrected: the corpus under people's
    labels.
    """

    model: str
    treatment: str
    threshold: float
    part: str
    judge: float | None
    people: Estimate
    corrected: Estimate


@dataclass(frozen=True, slots=True)
class KeptRow:
    """How many facts a treatment keeps, under the judge."""

    model: str
    treatment: str
    threshold: float
    facts: int
    kept: int
    not_gradable: int
    direct_inference: int


@dataclass(frozen=True, slots=True)
class ProfileTables:
    """Treatments at the protocol's threshold, thresholds under its treatment, grades, and whole questions."""

    treatment: str
    threshold: float
    rows: tuple[ProfileRow, ...]
    kept: tuple[KeptRow, ...]
    grades: tuple[GradeRow, ...]
    questions: tuple[QuestionRow, ...] = ()


def table_settings(setting: ProfileSetting) -> tuple[ProfileSetting, ...]:
    """What the tables are computed under, `setting` among it: the treatments, then the other thresholds."""
    treatments = [replace(setting, treatment=treatment) for treatment in TREATMENTS]
    return (*treatments, *(replace(setting, threshold=each) for each in THRESHOLDS if each != setting.threshold))


def profile_tables(
    corpus: Records,
    sample: Sample | None,
    judge: str,
    setting: ProfileSetting,
    options: Options,
    imputed: Mapping[ProfileSetting, ImputedProfiles] | None = None,
) -> ProfileTables:
    """All tables of one judge.

    sample: None where people's labels cannot be used. imputed: under each of `table_settings`, where people labelled
    whole questions and not whole facts.
    """
    table = fact_table(corpus, judge_outcomes(corpus, judge, setting.labels))
    rows: list[ProfileRow] = []
    kept: list[KeptRow] = []
    for each in table_settings(setting):
        shares = shares_of(table, corpus.model.names, each)
        kept += [_kept(model, each, found) for model, found in shares.items()]
        if imputed is not None:
            people = _imputed(imputed[each])
        else:
            people = {} if sample is None else _labelled(corpus, sample, judge, each, options)
        rows += _rows(each, shares, people)
    grades = grade_rows(corpus, sample, judge, setting, options)
    return ProfileTables(setting.treatment, setting.threshold, tuple(rows), tuple(kept), tuple(grades))


def _kept(model: str, setting: ProfileSetting, shares: ProfileShares) -> KeptRow:
    inference = round((shares.direct_inference or 0.0) * shares.facts / 100)
    gone = round((shares.other_or_partially or 0.0) * shares.facts / 100)
    return KeptRow(model, setting.treatment, setting.threshold, shares.facts, shares.kept, gone, inference)


def _rows(
    setting: ProfileSetting,
    shares: Mapping[str, ProfileShares],
    people: Mapping[tuple[str, str], tuple[Estimate, Estimate]],
) -> Iterator[ProfileRow]:
    """people: (on what they labelled, corrected) by model and part; empty where there is none."""
    nobody = (undefined(NOBODY), undefined(NOBODY))
    for model, found in shares.items():
        for part in Profiles("paper").parts:
            share = found.paper[SPELLED.get(part, part)]
            value = None if share is None else share / 100
            told, corrected = people[model, part] if people else nobody
            yield ProfileRow(model, setting.treatment, setting.threshold, part, value, told, corrected)


def _imputed(found: ImputedProfiles) -> dict[tuple[str, str], tuple[Estimate, Estimate]]:
    return {
        (model, part): (undefined(NO_FACT), estimate)
        for model, parts in found.human.items()
        for part, estimate in parts.items()
    }


def _labelled(
    corpus: Records, sample: Sample, judge: str, setting: ProfileSetting, options: Options
) -> dict[tuple[str, str], tuple[Estimate, Estimate]]:
    quick = replace(options, draws=DRAWS, fair=False, rank=(), by=(), methods=())
    result = profile_impact(corpus, sample, [judge], setting, quick)
    return {
        (model, part): (undefined(NOBODY) if each.sample is None else each.sample.human, each.human)
        for model, found in result.main.models.items()
        for part, each in found.parts.items()
    }
