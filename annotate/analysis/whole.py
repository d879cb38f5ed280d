"""From a study to its results: agreement of people, judges against people, score impact, each with what it needs."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agreement.impact import ImpactResult, Options, judge_scores, score_impact
from agreement.impact.records import Records, Sample
from agreement.scores.base import Score
from annotate.analysis.corpus import columns_of, load_corpus, load_sample, scores_of
from annotate.analysis.facts import coding_facts, count_facts, design_facts, study_facts
from annotate.analysis.judges import JudgeReport, Settings, judge_report
from annotate.analysis.labels import StudyLabels
from annotate.analysis.loading import load_labels
from annotate.analysis.people import people_agreement
from annotate.analysis.reference import Reference, reference_facts, study_reference
from annotate.analysis.second_source import check_judge, check_people
from annotate.analysis.source import Source, Tables, field_names
from annotate.conduct import conduct_facts
from annotate.results import SIMULATED, NotRun, Results
from annotate.studies import study_protocol
from db.errors import AnnotateError
from db.records import Protocol
from db.study import Study

NO_LABELS = "no human labels yet"


class NoAnswer(AnnotateError):
    """What was asked for cannot be had from this study."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be computed. ``by``: fields to break down by, None as the protocol says; ``judges``: None for all.

    ``lean``: of the score impact only what each score is and how far it moves, without other treatments and fairness.
    """

    by: tuple[str, ...] | None = None
    judges: tuple[str, ...] | None = None
    scores: tuple[str, ...] | None = None
    seed: int = 1
    draws: int = 4000
    level: float = 0.95
    target: str = "auto"
    methods: tuple[str, ...] = ()
    epsilon: float = 0.15
    names: bool = True
    lean: bool = False


@dataclass(frozen=True, slots=True)
class Loaded:
    """A study read once."""

    study: Source
    protocol: Protocol
    labels: StudyLabels
    reference: Reference

    @classmethod
    def of(cls, study: Study, wanted: Wanted) -> Loaded:
        protocol = study_protocol(study)
        labels = load_labels(study, protocol, names=wanted.names)
        return cls(study, protocol, labels, study_reference(labels))

    @property
    def answered(self) -> bool:
        """Whether somebody labelled anything."""
        rated = any(value is not None for row in self.labels.ratings for value in row)
        return bool(self.reference.human.usable.any()) or rated


def agreement_results(study: Study, wanted: Wanted = Wanted()) -> Results:
    """Agreement of people with each other and with the judges."""
    found = Loaded.of(study, wanted)
    return _with_agreement(_counted(study, found, wanted), found, wanted)


def full_results(study: Study, wanted: Wanted = Wanted()) -> Results:
    """Agreement and score impact."""
    found = Loaded.of(study, wanted)
    return _numbers(_counted(study, found, wanted), found, wanted)


def report_results(study: Study, wanted: Wanted = Wanted(), *, text: bool = True) -> Results:
    """Everything that a report shows. ``text`` False: without the text of any item."""
    from annotate.analysis.supplement import with_supplement

    found = Loaded.of(study, wanted)
    results = _numbers(_counted(study, found, wanted), found, wanted)
    return with_supplement(results, study, found.labels, found.reference, wanted, text=text)


def table_results(tables: Tables, protocol: Protocol, counts: Mapping[str, Any], wanted: Wanted) -> Results:
    """The numbers from the tables of a report alone. ``counts``: what the study is said to hold."""
    reference = study_reference(tables.labels)
    found = Loaded(tables, protocol, tables.labels, reference)
    empty = Results(
        study={}, counts=counts, design=None, coding={}, reference=reference_facts(tables.labels, reference)
    )
    return _numbers(empty, found, wanted)


def _numbers(results: Results, found: Loaded, wanted: Wanted) -> Results:
    results = _with_agreement(results, found, wanted)
    if not results.counts["judges"]:
        return _not_run(results, "score impact", "there is no judge in this study")
    return replace(results, impact=_impact(found, wanted, judge_only=not found.answered))


def impact_results(study: Study, wanted: Wanted = Wanted(), *, judge_only: bool = False) -> ImpactResult:
    """Scores under the judges' labels and, unless ``judge_only``, under people's. Raises NoAnswer without a judge."""
    protocol = study_protocol(study)
    if judge_only:
        return _impact_of(study, protocol, None, wanted)
    found = Loaded.of(study, wanted)
    if not found.answered:
        raise NoAnswer("Nobody has labelled anything yet.", "--judge-only gives the scores from the judge's labels.")
    return _impact(found, wanted, judge_only=False)


# --- agreement --------------------------------------------------------------------------------------


def _counted(study: Study, found: Loaded, wanted: Wanted) -> Results:
    return Results(
        study=study_facts(study, found.protocol),
        counts=count_facts(study),
        design=design_facts(study),
        coding=coding_facts(study, names=wanted.names),
        reference=reference_facts(found.labels, found.reference),
        conduct=conduct_facts(study, names=wanted.names),
    )


def _with_agreement(results: Results, found: Loaded, wanted: Wanted) -> Results:
    labels = found.labels
    by = _checked(found.study, wanted.by) if wanted.by is not None else _varying(labels, ("model", "condition"))
    if not found.answered:
        return _not_run(results, "agreement", NO_LABELS)
    results = replace(
        results, people=people_agreement(labels, by, confidence=wanted.level), checks=check_people(labels)
    )
    for name in _judges(found, wanted):
        if all(said == "(missing)" for said in labels.judges[name]):
            results = _not_run(results, f"judge {name} against people", "it gave no label to any drawn response")
            continue
        report = _judge(found, wanted, name, by)
        results = replace(
            results,
            judges={**results.judges, name: report},
            checks=(*results.checks, *check_judge(labels, name, found.reference.human.label)),
        )
    return results


def _judges(found: Loaded, wanted: Wanted) -> tuple[str, ...]:
    known = tuple(found.labels.judges)
    for name in wanted.judges or ():
        if name not in known:
            raise AnnotateError(f"There is no judge {name!r}.", f"Judges: {', '.join(known) or 'none'}.")
    return wanted.judges or known


def _judge(found: Loaded, wanted: Wanted, name: str, by: Sequence[str]) -> JudgeReport:
    corpus, sample = _tables(found, (), tuple(by), as_labels=True)
    settings = Settings(seed=wanted.seed, draws=wanted.draws, level=wanted.level, epsilon=wanted.epsilon)
    return judge_report(name, found.labels, corpus, sample, by, settings)


def _varying(labels: StudyLabels, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if len(set(labels.strata.get(name, ()))) > 1)


def _not_run(results: Results, what: str, why: str) -> Results:
    return replace(results, not_run=(*results.not_run, NotRun(what, why)))


# --- impact -----------------------------------------------------------------------------------------


def impact_of(found: Loaded, wanted: Wanted) -> ImpactResult:
    """Score impact of a study that was read already. Raises NoAnswer without a judge."""
    return _impact(found, wanted, judge_only=False)


def _impact(found: Loaded, wanted: Wanted, *, judge_only: bool) -> ImpactResult:
    return _impact_of(found.study, found.protocol, None if judge_only else found, wanted)


def _impact_of(study: Source, protocol: Protocol, found: Loaded | None, wanted: Wanted) -> ImpactResult:
    if any(rule.kind == "wikiprofile" for rule in protocol.scores):
        from annotate.analysis.profiles import profile_results

        return profile_results(study, protocol, found, wanted)
    scores = _chosen(scores_of(protocol), wanted.scores)
    by = _checked(study, wanted.by) if wanted.by is not None else _present(study, declared_by(protocol))
    strata = _resampled_within(study, protocol, wanted)
    columns = columns_of(study, protocol, scores, (*by, *strata), item=wanted.target == "population")
    if not columns.judges:
        raise NoAnswer("There is no judge in this study.", "Import its labels, or run one.")
    corpus, notes = load_corpus(study, protocol, columns, found.labels if found else None)
    sample = None
    if found is not None:
        sample = load_sample(study, protocol, columns, found.labels, found.reference, treated=not wanted.lean)
        if wanted.target == "auto" and everything_labelled(corpus, sample):
            return _impact_of(study, protocol, found, replace(wanted, target="population"))
    judges = wanted.judges if wanted.judges is not None else columns.judges
    options = options_of(wanted, by, strata)
    result = (
        judge_scores(corpus, scores, judges, options)
        if sample is None
        else score_impact(corpus, sample, scores, judges, options)
    )
    simulated = (SIMULATED,) if found is not None and found.labels.simulated else ()
    return replace(result, notes=(*simulated, *result.notes, *notes))


def _resampled_within(study: Source, protocol: Protocol, wanted: Wanted) -> tuple[str, ...]:
    """The field within which questions are resampled for the population: EHQ's are drawn by subcategory."""
    ehq = any(rule.kind == "ehq" for rule in protocol.scores)
    return _present(study, ("subcategory",)) if ehq and wanted.target == "population" else ()


def options_of(wanted: Wanted, by: Sequence[str], strata: Sequence[str] = ()) -> Options:
    """How score impact is computed."""
    return Options(
        target="population" if wanted.target == "population" else "corpus",
        strata=next(iter(strata), None),
        by=tuple(by),
        draws=wanted.draws,
        seed=wanted.seed,
        level=wanted.level,
        methods=wanted.methods,
        fair=not wanted.lean,
    )


def _checked(study: Source, by: Sequence[str]) -> tuple[str, ...]:
    """The fields, each of which the study's items must have."""
    known = ("model", "condition", *field_names(study))
    for name in by:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Fields: {', '.join(known)}."
            raise AnnotateError(f"There is no field {name!r} to break down by.", hint)
    return tuple(by)


def _present(study: Source, by: Sequence[str]) -> tuple[str, ...]:
    """Those of the protocol's fields that this study's items have."""
    known = field_names(study)
    return tuple(name for name in by if name in known)


def declared_by(protocol: Protocol) -> tuple[str, ...]:
    """The fields that the protocol's scores are broken down by."""
    named = (name for rule in protocol.scores for name in _names(rule.options.get("by", ())))
    return tuple(dict.fromkeys(named))


def _names(value: Any) -> tuple[str, ...]:
    return tuple(str(each) for each in value)


def _chosen(scores: Sequence[Score], wanted: Sequence[str] | None) -> tuple[Score, ...]:
    if not wanted:
        return tuple(scores)
    known = {score.name for score in scores} | {part for score in scores for part in score.parts}
    for name in wanted:
        if name not in known:
            raise AnnotateError(f"There is no score {name!r}.", f"Scores: {', '.join(sorted(known))}.")
    return tuple(score for score in scores if score.name in wanted or set(score.parts) & set(wanted))


def everything_labelled(corpus: Records, sample: Sample) -> bool:
    """Whether nothing of the corpus is left to estimate."""
    usable = sample.has(*("labelled", "unresolved"))
    open_records = int(corpus.count[~corpus.technical].sum())
    return int(usable.sum()) >= open_records and bool(np.allclose(sample.inclusion, 1))


def _tables(found: Loaded, scores: Sequence[Score], by: tuple[str, ...], *, as_labels: bool) -> tuple[Records, Sample]:
    columns = columns_of(found.study, found.protocol, scores, by, item=False)
    corpus, _ = load_corpus(found.study, found.protocol, columns, found.labels, as_labels=as_labels)
    sample = load_sample(found.study, found.protocol, columns, found.labels, found.reference, as_labels=as_labels)
    return corpus, sample
