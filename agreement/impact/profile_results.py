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
from agreement.impact.profile_impact import ProfileSetting, fact_study, profile_impact
from agreement.impact.profile_imputation import ImputedProfiles, imputed_settings
from agreement.impact.profile_questions import QuestionImpact, question_impact
from agreement.impact.profile_tables import profile_tables, table_settings
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
    imputed: dict[str, dict[ProfileSetting, ImputedProfiles]] = {}
    if whole == FACTS:
        result = profile_impact(corpus, sample, names, setting, replace(options, fair=False))
    elif whole == QUESTIONS and sample is not None:
        imputed = {name: _imputed(corpus, sample, name, setting, options) for name in names}
        main = {name: found[setting] for name, found in imputed.items()}
        result = _by_questions(corpus, sample, main, setting, options)
    else:
        result = _judge_only(corpus, names, setting, options)
    usable = sample if whole in (FACTS, QUESTIONS) else None
    tables = {name: profile_tables(corpus, usable, name, setting, options, imputed.get(name)) for name in names}
    if usable is not None:
        asked = question_impact(corpus, usable, names, setting, options)
        tables = {name: replace(table, questions=asked[name].rows) for name, table in tables.items()}
        result = _with_fairness(result, asked)
    notes = (why,) if why and whole == RESPONSES else ()
    return replace(result, profiles=tables, notes=(*result.notes, *notes))


def _with_fairness(result: ImpactResult, asked: Mapping[str, QuestionImpact]) -> ImpactResult:
    """The judges with their fairness in questions, which are more than facts and differ by kind."""
    judges = {name: replace(judge, fairness=asked[name].fairness) for name, judge in result.judges.items()}
    return replace(result, judges=judges)


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


def _imputed(
    corpus: Records, sample: Sample, judge: str, setting: ProfileSetting, options: Options
) -> dict[ProfileSetting, ImputedProfiles]:
    settings = table_settings(setting)
    seed, level, target = options.seed, options.level, options.target
    return imputed_settings(corpus, sample, judge, settings, seed=seed, level=level, target=target)


def _by_questions(
    corpus: Records,
    sample: Sample,
    imputed: Mapping[str, ImputedProfiles],
    setting: ProfileSetting,
    options: Options,
) -> ImpactResult:
    """The result as it would be from whole facts, people's side being imputed (by judge)."""
    base = _judge_only(corpus, tuple(imputed), setting, options)
    found: dict[str, JudgeImpact] = {}
    for name, each in imputed.items():
        own = base.judges[name]
        rankings = {} if each.ranking is None else {each.ranking.part: each.ranking}
        models = {model: _model(model, under, each) for model, under in own.models.items()}
        found[name] = replace(own, models=models, rankings=rankings, notes=(*own.notes, each.note))
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
