"""Score impact from end to end: `score_impact` with people's labels, `judge_scores` without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agreement.errors import AgreementError
from agreement.impact.case import Case, build_cases
from agreement.impact.decompose import decompose
from agreement.impact.estimate import Estimate, undefined
from agreement.impact.fairness import Fairness, fairness
from agreement.impact.levels import level_impacts
from agreement.impact.named import named_estimates
from agreement.impact.oncorpus import CorpusPart, CorpusResult, corpus_parts, judge_parts
from agreement.impact.onsample import sample_parts
from agreement.impact.pooling import MARGIN, Pooling, pooling_test
from agreement.impact.ranking import Ranking, rank_models
from agreement.impact.records import Records, Sample
from agreement.impact.reliability import reliability
from agreement.impact.resample import Questions, resample_questions
from agreement.impact.result import ImpactResult, JudgeImpact, ModelImpact, PartImpact
from agreement.impact.sentences import NO_SAMPLE, model_sentence
from agreement.impact.settle import LabelsNeeded, Standing, labels_needed
from agreement.impact.smallsample import steadied
from agreement.impact.streams import stream
from agreement.impact.threads import one_thread
from agreement.impact.thresholds import ThresholdSweep, sweep_thresholds
from agreement.impact.treatments import dropped_unresolved, skip_bounds, treatment_rows
from agreement.scores.base import Score
from agreement.scores.nas import Reasoned
from agreement.scores.verdicts import Verdicts

TARGETS = ("corpus", "population")


@dataclass(frozen=True, slots=True)
class Options:
    """What to compute, and how.

    target: "corpus", the records at hand, or "population", the questions they stand for (needs `item`). strata: the
    variable within which questions are resampled for the population. by: stratum variables to break scores down by.
    draws: of the posterior and the resamples, 1,000 at least and 4,000 for a ranking. by_draws: for the breakdowns.
    rank: parts to rank models on (None: the headline of every score that ranks models). methods: further estimators by
    name, "ppi++", "difference", "pseudo-outcomes". margin: of the equivalence test for pooling. fair: whether to test
    fairness, over models and over `fair_by` (None: `by`).
    """

    target: str = "corpus"
    strata: str | None = None
    by: tuple[str, ...] = ()
    draws: int = 4000
    by_draws: int = 1000
    seed: int = 0
    level: float = 0.95
    rank: tuple[str, ...] | None = None
    methods: tuple[str, ...] = ()
    margin: float = MARGIN
    fair: bool = True
    fair_by: tuple[str, ...] | None = None
    permutations: int = 1999


DEFAULT = Options()


def judge_scores(
    corpus: Records, scores: Sequence[Score], judges: Sequence[str] | None = None, options: Options = DEFAULT
) -> ImpactResult:
    """Every score from the judges' labels alone; people's side is undefined with its reason."""
    return score_impact(corpus, None, scores, judges, options)


def score_impact(
    corpus: Records,
    sample: Sample | None,
    scores: Sequence[Score],
    judges: Sequence[str] | None = None,
    options: Options = DEFAULT,
) -> ImpactResult:
    """How much scores and ranking change when people's labels take the place of the judge's.

    corpus: all records, as counted cells (the sampled ones included). sample: the drawn units with people's labels, or
    None. scores: of the protocol; names of their parts must differ. judges: names, the main one first; None: all.
    Raises AgreementError on input that no number can be computed from.
    """
    names = _checked(corpus, sample, scores, judges, options)
    with one_thread():
        questions = None
        if options.target == "population":
            questions = resample_questions(corpus, options.draws, options.seed, options.strata)
        found = {name: _one_judge(corpus, sample, scores, name, options, questions) for name in names}
    return ImpactResult(
        found,
        tuple(part for score in scores for part in score.parts),
        options.target,
        options.level,
        options.draws,
        options.seed,
        int(corpus.count.sum()),
        0 if sample is None else len(sample),
        sample is None,
        _convention(sample, options),
        _warnings(corpus, scores),
    )


def _checked(
    corpus: Records, sample: Sample | None, scores: Sequence[Score], judges: Sequence[str] | None, options: Options
) -> tuple[str, ...]:
    parts = [part for score in scores for part in score.parts]
    doubled = {part for part in parts if parts.count(part) > 1}
    if doubled:
        raise AgreementError(f"two scores have a part named {sorted(doubled)[0]!r}: give one of them another name")
    if options.target not in TARGETS:
        raise AgreementError(f"target {options.target!r} is not one of {', '.join(TARGETS)}")
    unknown = [part for part in options.rank or () if part not in parts]
    if unknown:
        raise AgreementError(f"cannot rank on {unknown[0]!r}: the parts are {', '.join(parts)}")
    if sample is not None and sample.records.labels != corpus.labels:
        raise AgreementError("corpus and sample must declare the same labels in the same order")
    if sample is not None and set(sample.records.model.names) - set(corpus.model.names):
        strange = sorted(set(sample.records.model.names) - set(corpus.model.names))
        raise AgreementError(f"model {strange[0]!r} has sampled units but no record in the corpus")
    names = tuple(judges) if judges is not None else tuple(dict.fromkeys((*corpus.judges, *corpus.ratings)))
    if not names:
        raise AgreementError("no judge: give the labels or ratings of at least one")
    return names


def _one_judge(
    corpus: Records,
    sample: Sample | None,
    scores: Sequence[Score],
    judge: str,
    options: Options,
    questions: Questions | None,
) -> JudgeImpact:
    cases = {score.name: build_cases(score, judge, corpus, sample) for score in scores}
    results = {
        name: {model: _corpus(case, sample, options, questions) for model, case in found.items()}
        for name, found in cases.items()
    }
    ranked = options.rank if options.rank is not None else tuple(score.headline for score in scores if score.ranked)
    rankings = {} if sample is None else _rankings(scores, results, ranked, options)
    models = {
        model: _model(model, corpus, sample, scores, judge, cases, results, rankings, options, questions)
        for model in corpus.model.names
    }
    notes = dict.fromkeys(note for found in results.values() for result in found.values() for note in result.notes)
    if sample is None:
        return JudgeImpact(judge, models, {}, {}, None, {}, (), (), tuple(notes))
    fair = _fairness(corpus, sample, scores, judge, options) if options.fair else None
    sweeps = _sweeps(corpus, sample, scores, judge, options)
    treatments = treatment_rows(corpus, sample, scores, judge, options.by_draws, options.seed, options.level, questions)
    notes |= dict.fromkeys(f"{row.treatment}: {row.caution}" for row in treatments if row.caution)
    pooling = tuple(test for test in (_pooling(scores, cases, part, options) for part in ranked) if test is not None)
    return JudgeImpact(
        judge,
        models,
        rankings,
        {part: _needed(part, ranking, cases, results, scores, options) for part, ranking in rankings.items()},
        fair,
        sweeps,
        treatments,
        pooling,
        tuple(notes),
    )


def _fairness(corpus: Records, sample: Sample, scores: Sequence[Score], judge: str, options: Options) -> Fairness:
    """Fairness of the verdicts behind the first score, and behind those that ask the same of other records."""
    beside = tuple(score for score in scores[1:] if _asks_the_same(scores[0], score))
    cases = build_cases(Verdicts(scores[0], corpus.labels, beside), judge, corpus, sample)
    return fairness(
        cases,
        corpus,
        sample,
        options.by if options.fair_by is None else options.fair_by,
        draws=options.by_draws,
        seed=options.seed,
        level=options.level,
        permutations=options.permutations,
    )


def _asks_the_same(first: Score, other: Score) -> bool:
    """Whether two scores are about the same ratings of reasons, cut at the same threshold."""
    if not isinstance(first, Reasoned) or not isinstance(other, Reasoned):
        return False
    return not (first.coded or other.coded or other.judge_free) and first.threshold == other.threshold


def _sweeps(
    corpus: Records, sample: Sample, scores: Sequence[Score], judge: str, options: Options
) -> dict[str, ThresholdSweep]:
    """A threshold sweep for every rated score, where the judge rates."""
    if judge not in corpus.ratings:
        return {}
    rated = [s for s in scores if isinstance(s, Reasoned) and not s.judge_free and not s.coded]
    return {
        score.name: sweep_thresholds(score, judge, corpus, sample, seed=options.seed, level=options.level)
        for score in rated
    }


def _corpus(case: Case, sample: Sample | None, options: Options, questions: Questions | None) -> CorpusResult:
    if sample is not None:
        return corpus_parts(case, draws=options.draws, seed=options.seed, level=options.level, questions=questions)
    judged = judge_parts(case, level=options.level, questions=questions)
    nothing, empty = undefined(NO_SAMPLE), np.full(1, np.nan)
    return CorpusResult({p: CorpusPart(e, nothing, nothing, empty, drawn) for p, (e, drawn) in judged.items()}, ())


def _rankings(
    scores: Sequence[Score],
    results: Mapping[str, Mapping[str, CorpusResult]],
    ranked: tuple[str, ...],
    options: Options,
) -> dict[str, Ranking]:
    found = {}
    for part in ranked:
        parts = {m: result.parts[part] for m, result in results[_score_of(scores, part).name].items()}
        judged = {m: p.judge_draws for m, p in parts.items() if p.judge_draws is not None}
        found[part] = rank_models(
            part,
            {m: _value(p.judge) for m, p in parts.items()},
            {m: _value(p.human) for m, p in parts.items()},
            {m: p.draws for m, p in parts.items()},
            judge_draws=judged if len(judged) == len(parts) else None,
            level=options.level,
        )
    return found


def _model(
    model: str,
    corpus: Records,
    sample: Sample | None,
    scores: Sequence[Score],
    judge: str,
    cases: Mapping[str, Mapping[str, Case]],
    results: Mapping[str, Mapping[str, CorpusResult]],
    rankings: Mapping[str, Ranking],
    options: Options,
    questions: Questions | None,
) -> ModelImpact:
    own = {score.name: cases[score.name][model] for score in scores}
    parts: dict[str, PartImpact] = {}
    for score in scores:
        parts |= _parts(own[score.name], results[score.name][model], sample, options)
    first, headline = own[scores[0].name], parts[scores[0].headline]
    labels = corpus.judges.get(judge)
    mine = corpus.model.mask(model)
    counted = [0, 0] if labels is None else [int(corpus.count[mine & (labels == code)].sum()) for code in (-1, -2)]
    sentence = model_sentence(
        scores[0].headline, headline.judge, headline.human, headline.delta, model, rankings.get(scores[0].headline)
    )
    return ModelImpact(
        model,
        parts,
        first.n_records,
        int(first.sample.paired.sum()),
        {score.name: score.details(own[score.name].judge_totals()) for score in scores},
        {name: case.excluded for name, case in own.items()},
        {name: case.lost for name, case in own.items()},
        counted[0],
        counted[1],
        level_impacts(own, corpus, sample, options.by, options.by_draws, options.seed, options.level, questions),
        reliability(own, corpus, sample),
        sentence,
    )


def _parts(case: Case, result: CorpusResult, sample: Sample | None, options: Options) -> dict[str, PartImpact]:
    corpus = result.parts
    if sample is None:
        return {part: PartImpact(part, c.judge, c.human, c.delta) for part, c in corpus.items()}
    rng = stream(options.seed, "sample", case.score.name, case.model)
    finite = options.target == "corpus"
    found = sample_parts(case, draws=options.draws, rng=rng, level=options.level, finite=finite)
    dropped = dropped_unresolved(case, sample)
    skips = skip_bounds(case, sample)
    return {
        part: PartImpact(
            part,
            c.judge,
            c.human,
            c.delta,
            steadied(case, part, found[part], c),
            named_estimates(case, part, options.methods, options.level),
            decompose(case, part),
            dropped.get(part),
            skips.get(part),
            _without_non_labels(case, part),
        )
        for part, c in corpus.items()
    }


def _without_non_labels(case: Case, part: str) -> float | None:
    """The judge's value over the records that it gave a label, where it gave none to some that need one."""
    silent = (case.corpus.judged >= len(case.outcomes)) & ~case.corpus.settled
    if not silent.any() or not (case.corpus.judge[silent] != 0).any():
        return None
    totals = (case.corpus.count * ~silent) @ case.corpus.judge
    value = float(case.score.values(totals)[case.score.parts.index(part)])
    return value if np.isfinite(value) else None


def _needed(
    part: str,
    ranking: Ranking,
    cases: Mapping[str, Mapping[str, Case]],
    results: Mapping[str, Mapping[str, CorpusResult]],
    scores: Sequence[Score],
    options: Options,
) -> dict[tuple[str, str], LabelsNeeded]:
    name = _score_of(scores, part).name
    population = options.target == "population"
    found = {}
    for pair in ranking.pairs:
        if pair.settled or pair.difference.value is None:
            continue
        sides = [results[name][m].parts[part] for m in (pair.first, pair.second)]
        shared = 0.0
        if population and sides[0].judge_draws is not None and sides[1].judge_draws is not None:
            shared = float(np.nanvar(sides[0].judge_draws - sides[1].judge_draws)) / 2
        standing = [
            _standing(cases[name][m], side.human, shared, population)
            for m, side in zip((pair.first, pair.second), sides, strict=True)
        ]
        if any(s.se == 0 and s.labelled == 0 for s in standing):
            continue
        ends = None
        if pair.difference.low is not None and pair.difference.high is not None:
            ends = (pair.difference.low, pair.difference.high)
        found[pair.first, pair.second] = labels_needed(pair.difference.value, standing[0], standing[1], ends)
    return found


def _standing(case: Case, human: Estimate, questions: float, population: bool) -> Standing:
    se = human.se or 0.0
    return Standing(se, max(len(case.sample), 1), max(case.open_records(), 1), min(questions, se**2), population)


def _pooling(
    scores: Sequence[Score], cases: Mapping[str, Mapping[str, Case]], part: str, options: Options
) -> Pooling | None:
    """The equivalence test on the part, or on the first mean of its score where the part itself is none."""
    score = _score_of(scores, part)
    means = [p for p in (part, *score.parts) if score.ratio(p) is not None]
    if not means:
        return None
    return pooling_test(cases[score.name], means[0], margin=options.margin, seed=options.seed)


def _score_of(scores: Sequence[Score], part: str) -> Score:
    return next(score for score in scores if part in score.parts)


def _value(estimate: Estimate) -> float:
    return float("nan") if estimate.value is None else estimate.value


def _warnings(corpus: Records, scores: Sequence[Score]) -> tuple[str, ...]:
    found = []
    for score in scores:
        for model in corpus.model.names:
            found += [f"model {model}: {text}" for text in score.warnings(corpus.take(corpus.model.mask(model)))]
    return tuple(dict.fromkeys(found))


def _convention(sample: Sample | None, options: Options) -> str:
    target = "this corpus" if options.target == "corpus" else "the population of such questions"
    if sample is None:
        return f"judge labels alone, for {target}"
    means = (
        "finite-population posterior for means" if options.target == "corpus" else "posterior with questions resampled"
    )
    return (
        f"for {target}; units drawn by {sample.unit}, weights 1/inclusion, Hajek ratios on the sample; {means}, "
        f"difference estimator on totals for other functions; {options.draws} draws, seed {options.seed}"
    )
