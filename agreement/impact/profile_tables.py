"""Knowledge profiles as the reader of WikiProfile knows them: each treatment, each threshold, each kind of question.

Every number stands under the judge, under people on what they labelled whole, and corrected for the whole corpus.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from agreement.impact.engine import Options
from agreement.impact.estimate import Estimate, undefined
from agreement.impact.profile_grades import GradeRow, grade_rows
from agreement.impact.profile_impact import ProfileSetting, imputed_profiles, profile_impact
from agreement.impact.profile_impact import profile_table as judged_table
from agreement.impact.records import Records, Sample
from agreement.scores.profiles import Profiles
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
    """Treatments at the protocol's threshold, thresholds under its treatment, and grades."""

    treatment: str
    threshold: float
    rows: tuple[ProfileRow, ...]
    kept: tuple[KeptRow, ...]
    grades: tuple[GradeRow, ...]


def profile_tables(
    corpus: Records, sample: Sample | None, judge: str, setting: ProfileSetting, options: Options, whole_facts: bool
) -> ProfileTables:
    """All tables of one judge. sample: None where people's labels cannot be used."""
    settings = [replace(setting, treatment=treatment) for treatment in TREATMENTS]
    settings += [replace(setting, threshold=threshold) for threshold in THRESHOLDS if threshold != setting.threshold]
    rows: list[ProfileRow] = []
    kept: list[KeptRow] = []
    for each in settings:
        shares = judged_table(corpus, judge, each)
        kept += [_kept(model, each, found) for model, found in shares.items()]
        rows += _rows(corpus, sample, judge, each, options, whole_facts, shares)
    grades = grade_rows(corpus, sample, judge, setting, options)
    return ProfileTables(setting.treatment, setting.threshold, tuple(rows), tuple(kept), tuple(grades))


def _kept(model: str, setting: ProfileSetting, shares: ProfileShares) -> KeptRow:
    inference = round((shares.direct_inference or 0.0) * shares.facts / 100)
    gone = round((shares.other_or_partially or 0.0) * shares.facts / 100)
    return KeptRow(model, setting.treatment, setting.threshold, shares.facts, shares.kept, gone, inference)


def _rows(
    corpus: Records,
    sample: Sample | None,
    judge: str,
    setting: ProfileSetting,
    options: Options,
    whole_facts: bool,
    shares: dict[str, ProfileShares],
) -> Iterator[ProfileRow]:
    found = _under_people(corpus, sample, judge, setting, options, whole_facts)
    for model in corpus.model.names:
        for part in Profiles("paper").parts:
            share = shares[model].paper[SPELLED.get(part, part)]
            people, corrected = found[model, part] if found else (undefined(NOBODY), undefined(NOBODY))
            value = None if share is None else share / 100
            yield ProfileRow(model, setting.treatment, setting.threshold, part, value, people, corrected)


def _under_people(
    corpus: Records, sample: Sample | None, judge: str, setting: ProfileSetting, options: Options, whole_facts: bool
) -> dict[tuple[str, str], tuple[Estimate, Estimate]]:
    """(people on what they labelled, corrected) by model and part."""
    if sample is None:
        return {}
    if not whole_facts:
        imputed = imputed_profiles(
            corpus, sample, judge, setting, seed=options.seed, level=options.level, target=options.target
        )
        return {(m, p): (undefined(NO_FACT), e) for m, parts in imputed.human.items() for p, e in parts.items()}
    quick = replace(options, draws=DRAWS, fair=False, rank=(), by=(), methods=())
    result = profile_impact(corpus, sample, [judge], setting, quick)
    return {
        (model, part): (undefined(NOBODY) if each.sample is None else each.sample.human, each.human)
        for model, found in result.main.models.items()
        for part, each in found.parts.items()
    }
