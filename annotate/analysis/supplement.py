"""What a report holds beyond agreement and impact: the flow of counts, errors to look at, provenance, checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from annotate.analysis.flow import flow_facts
from annotate.analysis.judge_scores import score_facts
from annotate.analysis.labels import StudyLabels
from annotate.analysis.oneself import coders_oneself, judges_oneself
from annotate.analysis.provenance import provenance_facts
from annotate.analysis.reference import Reference
from annotate.analysis.worst_errors import worst_errors
from annotate.plain import plain
from annotate.results import NotRun, Results
from db.export_rows import unit_texts
from db.records import MISSING_LABEL
from db.study import Study

if TYPE_CHECKING:
    from annotate.analysis.whole import Wanted


NO_WHOLE = "knowledge profiles need whole questions or whole facts, and people labelled single responses"


@dataclass(frozen=True, slots=True)
class Supplement:
    """flow: see ``flow_facts``. oneself: agreement of each coder with themselves; judges_oneself: of each judge that
    replied several times. scores, errors: by judge.

    attempts: labels on responses that look as if they tried to set their own grade. provenance: ``provenance_facts``.
    """

    flow: Mapping[str, Any]
    oneself: Mapping[str, Any] = field(default_factory=dict)
    judges_oneself: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, Any] = field(default_factory=dict)
    errors: Mapping[str, Any] = field(default_factory=dict)
    attempts: tuple[Any, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)


def with_supplement(
    results: Results, study: Study, labels: StudyLabels, reference: Reference, wanted: Wanted, *, text: bool
) -> Results:
    """The results with everything else that a report shows. ``text`` False: no text of any item is in them."""
    settings = {"by": wanted.by, "seed": wanted.seed, "draws": wanted.draws, "level": wanted.level}
    impact = None if results.impact is None or results.impact.judge_only else results.impact.to_dict()
    judged = [judge for judge in labels.judges if judge in results.judges]
    found = Supplement(
        flow=flow_facts(study, results.counts, results.design, results.reference),
        oneself=coders_oneself(study, labels.labels, wanted),
        judges_oneself=judges_oneself(study, list(labels.judges), wanted),
        scores={judge: score_facts(labels, reference, judge, seed=wanted.seed, level=wanted.level) for judge in judged},
        errors={} if impact is None else worst_errors(study, labels, reference, impact, text=text),
        attempts=tuple(_attempts(study, labels, reference, judged)),
        provenance=provenance_facts(study, results.design, settings),
    )
    missing = _missing(results, found, labels, impact)
    return replace(results, more=found, not_run=(*results.not_run, *missing), impact_facts=impact)


def _attempts(study: Study, labels: StudyLabels, reference: Reference, judges: list[str]) -> Iterator[dict[str, Any]]:
    from annotate.judges.injection import injection_report

    place = {unit: at for at, unit in enumerate(labels.units)}
    texts = [(place[unit], text) for unit, text in unit_texts(study) if unit in place]
    given = {
        judge: {at: said for at, said in enumerate(labels.judges[judge]) if said != MISSING_LABEL} for judge in judges
    }
    people = {at: label for at, label in enumerate(reference.human.label) if label is not None}
    pairs = [(judge, "people", given[judge], people) for judge in judges]
    pairs += [(a, b, given[a], given[b]) for a, b in combinations(judges, 2)]
    for one, other, first, second in pairs:
        found = injection_report(texts, first, second, (one, other))
        if found.attempts.n:
            shares = {"attempts_share": found.attempts.share, "others_share": found.others.share}
            yield plain(found) | shares | {"excess": found.excess}


def _missing(
    results: Results, found: Supplement, labels: StudyLabels, impact: Mapping[str, Any] | None
) -> Iterator[NotRun]:
    """Every check that a reader may look for and that this study cannot answer."""
    if results.people is None and len(labels.coders) < 2:
        yield NotRun("Agreement between people", "one coder or none labelled the sample")
    if not found.oneself:
        yield NotRun("Agreement of coders with themselves", "no unit was given to a coder twice")
    if labels.final is None:
        yield NotRun("Adjudication", "no final label was given; where coders differ the majority or a split stands")
    for judge, report in results.judges.items():
        if report.ceiling is None:
            yield NotRun(f"Human ceiling, judge {judge}", report.no_ceiling)
        if report.alt_test is None:
            yield NotRun(f"Alternative annotator test, judge {judge}", report.no_alt_test)
        if found.scores.get(judge, {}).get("reason"):
            yield NotRun(f"Calibration, judge {judge}", found.scores[judge]["reason"])
        sides = None if impact is None else impact["judges"].get(judge)
        if sides is not None and not sides["thresholds"]:
            yield NotRun(f"Threshold sweep, judge {judge}", "no rating of the judge is cut at a threshold here")
        if sides is not None and (sides["fairness"] is None or len(sides["fairness"]["levels"]) < 2):
            yield NotRun(f"Fairness, judge {judge}", "there is one model and one stratum only")
    if results.judges and results.impact is not None and results.impact.judge_only:
        yield NotRun("Scores under people, and fairness of judges", NO_WHOLE)
    if results.judges and not found.attempts:
        yield NotRun("Responses that try to set their own grade", "no drawn response looks like one")
    for check in results.checks:
        if check.agrees is None:
            yield NotRun(f"Second source, {check.quantity}", check.note)
