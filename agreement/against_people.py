"""A judge against people on the whole corpus: the confusion matrix and every number of it with an interval."""

from __future__ import annotations

from dataclasses import dataclass

from agreement.cells import Cells
from agreement.confusion_matrix import Confusion
from agreement.errors import AgreementError
from agreement.intervals import Interval
from agreement.judge_checks import judge_warnings
from agreement.measure_intervals import Method, completed, measure_intervals, point_measures
from agreement.posterior import Target

__all__ = ["JudgeAgreement", "Measure", "judge_agreement", "point_measures"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a confusion matrix; label is None for a number of the whole matrix."""

    name: str
    label: str | None
    interval: Interval


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """A judge against people.

    matrix: post-stratified confusion of the corpus. measures: all numbers, the overall ones first.
    warnings: the judge is constant, reversed or mostly not a label. notes: where labels were missing or borrowed.
    """

    judge: str
    matrix: Confusion
    measures: tuple[Measure, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    target: Target
    method: Method
    seed: int

    def get(self, name: str, label: str | None = None) -> Interval:
        """The number of that name; raises AgreementError when there is none."""
        for measure in self.measures:
            if (measure.name, measure.label) == (name, label):
                return measure.interval
        known = sorted({m.name for m in self.measures if (m.label is None) == (label is None)})
        raise AgreementError(f"no number {name!r} for label {label!r}: there are {', '.join(known)}")


def judge_agreement(
    cells: Cells,
    *,
    seed: int,
    judge: str = "judge",
    method: Method = "posterior",
    target: Target = "corpus",
    draws: int = 4000,
    level: float = 0.95,
) -> JudgeAgreement:
    """Confusion of a judge with people and everything derived from it, with intervals.

    cells: the corpus with the labels seen (`agreement.cells.tabulate`); pass `cells.take(cells.where(model=M))` for one
    model. method: "posterior" (default), "linearised" (Taylor, post-stratified, t quantile) or "bootstrap" (rescaled,
    Rao and Wu 1988). Under the last two, a number that rests on fewer than 5 agreements or disagreements, or on a cell
    with a single label, gets the posterior interval, which says so in its name.
    target: "corpus", these records; "population", the source they came from.
    """
    corpus = completed(cells, seed=seed, draws=draws, target=target, level=level)
    found = dict(zip(corpus.names, measure_intervals(corpus, method, seed=seed), strict=True))
    measures = tuple(Measure(name, label, interval) for (name, label), interval in found.items())
    warnings = judge_warnings(corpus.matrix, judge, kappa_high=found["kappa", None].high)
    notes = _notes(cells, corpus.completion.notes)
    return JudgeAgreement(judge, corpus.matrix, measures, warnings, notes, target, method, seed)


def _notes(cells: Cells, notes: tuple[str, ...]) -> tuple[str, ...]:
    if (cells.n_labelled == cells.size).all():
        return (*notes, "every record of the corpus is labelled: for these records nothing is left to estimate")
    return notes
