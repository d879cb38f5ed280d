"""Everything that is said of a study, in one frozen object: terminal, Markdown and HTML are drawn from it alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from annotate.plain import key_of, plain

if TYPE_CHECKING:
    from agreement.against_people import JudgeAgreement
    from agreement.impact.result import ImpactResult
    from annotate.analysis.judges import JudgeReport
    from annotate.analysis.people import PeopleAgreement
    from annotate.analysis.second_source import Check
    from annotate.analysis.supplement import Supplement

SCHEMA = "annotate-results/1"
SIMULATED = (
    "Some of the human labels in this study are SIMULATED: "
    "they show how the tool works and say nothing about any model."
)


@dataclass(frozen=True, slots=True)
class NotRun:
    """Something that a reader might look for and that could not be had, with the reason."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Results:
    """The numbers of a study. No path, user or time is in it: the same study, seed and versions give the same bytes.

    study: title, protocol, labels, versions. counts: what the study holds. design: the sample, None before a draw.
    coding: progress of each coder and what became of the units. reference: how the human labels came about.
    conduct: what was frozen, looks at interim results, training, checks and reviews.
    """

    study: Mapping[str, Any]
    counts: Mapping[str, Any]
    design: Mapping[str, Any] | None
    coding: Mapping[str, Any]
    reference: Mapping[str, Any]
    conduct: Mapping[str, Any] = field(default_factory=dict)
    people: PeopleAgreement | None = None
    judges: Mapping[str, JudgeReport] = field(default_factory=dict)
    impact: ImpactResult | None = None
    checks: tuple[Check, ...] = ()
    not_run: tuple[NotRun, ...] = ()
    notes: tuple[str, ...] = ()
    more: Supplement | None = None
    impact_facts: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    """The impact as plain values where that was made already: it is most of a report, and takes a second."""

    def to_dict(self) -> dict[str, Any]:
        """results.json: plain values, keys in a fixed order."""
        return {
            "schema": SCHEMA,
            "study": plain(self.study),
            "counts": plain(self.counts),
            "design": plain(self.design),
            "coding": plain(self.coding),
            "reference": plain(self.reference),
            "conduct": plain(self.conduct),
            "people": None if self.people is None else plain(self.people),
            "judges": {name: judge_facts(report) for name, report in self.judges.items()},
            "impact": None if self.impact is None else _impact(self.impact_facts or self.impact.to_dict()),
            "checks": plain(self.checks),
            "not_run": plain(self.not_run),
            "notes": list(self.notes),
            **({} if self.more is None else plain(self.more)),
        }


def _impact(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Every judge under ``judges``; the main one's models are not repeated beside them, as `impact --json` has them."""
    return {key: value for key, value in facts.items() if key != "models"}


def judge_facts(report: JudgeReport) -> dict[str, Any]:
    """One judge against people as plain values."""
    return agreement_facts(report.overall) | {
        "by": {
            variable: {level: agreement_facts(found) for level, found in levels.items()}
            for variable, levels in report.by.items()
        },
        "unresolved": report.n_unresolved,
        "unresolved_dropped": {key_of(name): value for name, value in report.dropped.items()},
        "ceiling": None if report.ceiling is None else plain(report.ceiling) | {"sentence": report.ceiling.sentence},
        "no_ceiling": report.no_ceiling or None,
        "alt_test": plain(report.alt_test),
        "no_alt_test": report.no_alt_test or None,
    }


def agreement_facts(found: JudgeAgreement) -> dict[str, Any]:
    """Matrix, measures and warnings of one judge on one set of records."""
    matrix = found.matrix
    return {
        "n": matrix.n,
        "matrix": {
            "rows_judge": list(matrix.rows),
            "columns_human": list(matrix.labels),
            "counts": plain(matrix.counts),
            "totals": plain(matrix.totals),
            "shares": plain(matrix.totals / (matrix.totals.sum() or 1.0)),
            "estimator": matrix.estimator,
            "unlabelled": matrix.unlabelled,
        },
        "measures": {key_of(m.name): plain(m.interval) for m in found.measures if m.label is None},
        "labels": {
            label: {key_of(m.name): plain(m.interval) for m in found.measures if m.label == label}
            for label in matrix.labels
        },
        "target": found.target,
        "method": found.method,
        "warnings": list(found.warnings),
        "notes": list(found.notes),
    }
