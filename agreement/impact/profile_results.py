"""Score impact on knowledge profiles, whichever way people's labels were sampled: whole facts, questions or responses.

Whole facts: everything of score impact, a fact being a record. Whole questions: multiple imputation. Single responses,
or none: the judge's profiles alone, with the reason why they cannot be corrected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agreement.errors import AgreementError
from agreement.impact.engine import DEFAULT, Options, judge_scores
from agreement.impact.estimate import Estimate, point, undefined
from agreement.impact.profile_impact import (
    ImputedProfiles,
    ProfileSetting,
    fact_study,
    imputed_profiles,
    profile_impact,
)
from agreement.impact.profile_tables import profile_tables
from agreement.impact.records import Records, Sample
from agreement.impact.result import ImpactResult, JudgeImpact, ModelImpact, PartImpact
from agreement.impact.sentences import model_sentence
from agreement.impact.threads import one_thread
from agreement.scores.profiles import Profiles

KNOWN = "known for every record"
USUAL = ProfileSetting()
FACTS, QUESTIONS, RESPONSES, NONE = "facts", "questions", "responses", "none"


def profiles_under_people(
    corpus: Records,
    sample: Sample | None,
    judges: Sequence[str] | None = None,
    setting: ProfileSetting = USUAL,
    options: Options = DEFAULT,
) -> ImpactResult:
    """Profiles under judges and people, with the tables of every treatment and threshold beside them."""
    names = tuple(judges) if judges is not None else tuple(corpus.judges)
    if not names:
        raise AgreementError("no judge: give the labels of at least one")
    with one_thread():
        return _under_people(corpus, sample, names, setting, options)


def _under_people(
    corpus: Records, sample: Sample | None, names: Sequence[str], setting: ProfileSetting, options: Options
) -> ImpactResult:
    whole, why = labelled_whole(corpus, sample, names[0], setting)
    if whole == FACTS:
        result = profile_impact(corpus, sample, names, setting, options)
    elif whole == QUESTIONS and sample is not None:
        result = _by_questions(corpus, sample, names, setting, options)
    else:
        result = _judge_only(corpus, names, setting, options)
    usable = sample if whole in (FACTS, QUESTIONS) else None
    tables = {name: profile_tables(corpus, usable, name, setting, options, whole == FACTS) for name in names}
    notes = (why,) if why and whole == RESPONSES else ()
    return replace(result, profiles=tables, notes=(*result.notes, *notes))


def labelled_whole(
    corpus: Records, sample: Sample | None, judge: str, setting: ProfileSetting = USUAL
) -> tuple[str, str]:
    """What people labelled whole (facts, questions, responses or none), and why not more."""
    if sample is None or not (sample.shares.sum(axis=1) > 0).any():
        return NONE, "no human labels"
    try:
        fact_study(corpus, sample, [judge], setting)
    except AgreementError as error:
        return (QUESTIONS if "imputed_profiles" in str(error) else RESPONSES), str(error)
    return FACTS, ""


def _judge_only(corpus: Records, judges: Sequence[str], setting: ProfileSetting, options: Options) -> ImpactResult:
    facts, _ = fact_study(corpus, None, judges, setting)
    return judge_scores(facts, (Profiles("paper"), Profiles("consistent")), judges, options)


def _by_questions(
    corpus: Records, sample: Sample, judges: Sequence[str], setting: ProfileSetting, options: Options
) -> ImpactResult:
    """The result as it would be from whole facts, people's side being imputed."""
    base = _judge_only(corpus, judges, setting, options)
    found: dict[str, JudgeImpact] = {}
    for name in judges:
        imputed = imputed_profiles(
            corpus, sample, name, setting, seed=options.seed, level=options.level, target=options.target
        )
        own = base.judges[name]
        rankings = {} if imputed.ranking is None else {imputed.ranking.part: imputed.ranking}
        models = {model: _model(model, each, imputed) for model, each in own.models.items()}
        found[name] = replace(own, models=models, rankings=rankings, notes=(*own.notes, imputed.note))
    convention = "whole questions, drawn as one; people's side of the corpus by multiple imputation"
    return replace(
        base,
        judges=found,
        parts=Profiles("paper").parts,
        labelled=len(sample),
        judge_only=False,
        convention=convention,
    )


def _model(model: str, judged: ModelImpact, imputed: ImputedProfiles) -> ModelImpact:
    human, delta, fixed = imputed.human[model], imputed.delta[model], imputed.judge[model]
    parts = {part: PartImpact(part, _fixed(fixed, part), human[part], delta[part]) for part in human}
    headline = Profiles("paper").headline
    head = parts[headline]
    sentence = model_sentence(headline, head.judge, head.human, head.delta, model, imputed.ranking)
    return replace(judged, parts=parts, n_labelled=imputed.whole[model], sentence=sentence)


def _fixed(values: Mapping[str, float], part: str) -> Estimate:
    return point(values[part], Profiles("paper").why(part), KNOWN) if part in values else undefined("not computed")
