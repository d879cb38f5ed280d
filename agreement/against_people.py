"""A judge against people on the whole corpus: the confusion matrix and every number of it with an interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from agreement.cell_resampling import bootstrap_totals, linear_errors
from agreement.cells import Cells, FloatArray
from agreement.confusion_matrix import Confusion, corpus_confusion, judge_rows
from agreement.errors import AgreementError
from agreement.intervals import Interval, bootstrap_interval, posterior_interval, t_interval
from agreement.judge_checks import judge_warnings
from agreement.matrix_measures import OVERALL, PER_LABEL, SIGNED, occurring, used_by_people, why_undefined
from agreement.posterior import Target, complete

Method = Literal["posterior", "linearised", "bootstrap"]
POSTERIOR = "finite-population posterior"
SMALL = 5


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
    if method not in ("posterior", "linearised", "bootstrap"):
        raise AgreementError(f"method {method!r}: expected posterior, linearised or bootstrap")
    output, rows = judge_rows(cells.judge, cells.labels)
    completion = complete(cells, draws=draws, seed=seed, target=target)
    matrix = corpus_confusion(cells)
    keep = [rows.index(name) for name in matrix.rows]
    posterior = _by_judge(completion.counts.astype(np.float64), output, len(rows))[:, keep]
    names, values = _all(matrix, matrix.totals)
    _, drawn = _all(matrix, posterior)
    found = [posterior_interval(float(v), drawn[:, i], level=level) for i, v in enumerate(values)]
    if method == "bootstrap":
        totals = bootstrap_totals(cells, draws=draws, seed=seed, target=target)
        sample = _all(matrix, _by_judge(totals, output, len(rows))[:, keep])[1]
        named = "bootstrap, rescaled within cells"
        other = [bootstrap_interval(float(v), sample[:, i], level=level, method=named) for i, v in enumerate(values)]
        found = _where_large(matrix, names, other, found, cells)
    if method == "linearised":
        gradient = _gradient(lambda m: _all(matrix, m)[1], matrix.totals)
        errors, df = linear_errors(cells, gradient, [keep.index(r) for r in output], target)
        other = [
            t_interval(float(v), float(e), df, level=level, lowest=-1 if name in SIGNED else 0, method="linearised")
            for (name, _), v, e in zip(names, values, errors, strict=True)
        ]
        found = _where_large(matrix, names, other, found, cells)
    measures = tuple(
        Measure(name, label, _explained(each, name, label, matrix))
        for (name, label), each in zip(names, found, strict=True)
    )
    high = next(m.interval.high for m in measures if m.name == "kappa" and m.label is None)
    warnings = judge_warnings(matrix, judge, kappa_high=high)
    return JudgeAgreement(judge, matrix, measures, warnings, _notes(cells, completion.notes), target, method, seed)


Name = tuple[str, str | None]


def point_measures(matrix: Confusion) -> dict[Name, float | None]:
    """Every number of one matrix without intervals, keyed (name, label or None); None where it is 0/0."""
    names, values = _all(matrix, matrix.totals)
    return {name: float(v) if np.isfinite(v) else None for name, v in zip(names, values, strict=True)}


def _all(matrix: Confusion, m: FloatArray) -> tuple[list[Name], FloatArray]:
    """Names of all numbers and their values (..., K) for matrices m (..., J, q)."""
    occur, used = occurring(matrix.totals), used_by_people(matrix.totals)
    names: list[Name] = [(name, None) for name in OVERALL]
    columns = [np.asarray(function(m, occur, used))[..., None] for function in OVERALL.values()]
    for name, per_label in PER_LABEL.items():
        names += [(name, label) for label in matrix.labels]
        columns.append(per_label(m))
    return names, np.concatenate(columns, axis=-1)


def _by_judge(counts: FloatArray, output: np.ndarray[tuple[int], np.dtype[np.int64]], rows: int) -> FloatArray:
    """(B, rows, q) counts (B, G, q) summed over the cells of each judge output."""
    onehot = np.eye(rows)[output]
    summed: FloatArray = np.einsum("bgc,gj->bjc", counts, onehot, optimize=True)
    return summed


def _gradient(function: Callable[[FloatArray], FloatArray], at: FloatArray) -> FloatArray:
    """(K, J, q) derivatives of K scale-free numbers by central differences; a step is a millionth of the corpus."""
    step = 1e-6 * max(float(at.sum()), 1e-300)
    moves = step * np.eye(at.size).reshape(at.size, *at.shape)
    slopes = (function(at + moves) - function(at - moves)) / (2 * step)
    return np.moveaxis(slopes, -1, 0).reshape(-1, *at.shape)


def _where_large(
    matrix: Confusion, names: list[Name], chosen: list[Interval], fallback: list[Interval], cells: Cells
) -> list[Interval]:
    """The chosen interval where enough labels carry it, else the posterior under a name that says why."""
    result = []
    for (name, label), want, safe in zip(names, chosen, fallback, strict=True):
        why = _too_small(matrix, name, label)
        if why is None and want.undefined is None and want.low is None:
            why = "a cell has too few labels"
        result.append(want if why is None else _renamed(safe, f"{POSTERIOR} ({why})"))
    return result


def _too_small(matrix: Confusion, name: str, label: str | None) -> str | None:
    """Whether fewer than 5 labelled units speak for or against the number, as a proportion is read."""
    m, q = matrix.counts, len(matrix.labels)
    hit, said, true = np.diagonal(m[:q]), m[:q].sum(axis=1), m.sum(axis=0)
    against = said + true - 2 * hit
    if label is None:
        pairs = [(hit.sum(), m.sum() - hit.sum())]
        if name.startswith(("macro", "balanced")):
            pairs += [(hit[k], against[k]) for k in range(q) if true[k]]
    else:
        k = matrix.labels.index(label)
        fixed = (SMALL, SMALL)
        pairs = [
            {
                "precision": (hit[k], said[k] - hit[k]),
                "recall": (hit[k], true[k] - hit[k]),
                "human share": (true[k], m.sum() - true[k]),
                "judge share": fixed,
            }.get(name, (hit[k], against[k]))
        ]
        if name == "human share" and _settled(m, k):
            return "a judge label whose records all get the same answer"
    smallest = min(min(pair) for pair in pairs)
    return f"fewer than {SMALL} labels in a cell it needs" if smallest < SMALL else None


def _settled(counts: FloatArray, label: int) -> bool:
    """A judge output whose labelled units all have the label, or none: its Wald variance is a false 0."""
    seen = counts.sum(axis=1)
    return bool(((counts[:, label] == 0) | (counts[:, label] == seen))[seen > 0].any())


def _renamed(interval: Interval, method: str) -> Interval:
    return Interval(
        interval.value, interval.low, interval.high, interval.level, method,
        interval.draws, interval.undefined_draws, interval.undefined,
    )  # fmt: skip


def _explained(interval: Interval, name: str, label: str | None, matrix: Confusion) -> Interval:
    """0/0 in the estimate gets its reason in words."""
    if interval.undefined is None or not interval.undefined.startswith("the estimate is 0/0"):
        return interval
    k = None if label is None else matrix.labels.index(label)
    reason = why_undefined(name, matrix.labels, matrix.totals, k)
    return Interval(None, None, None, interval.level, interval.method, interval.draws, interval.undefined_draws, reason)


def _notes(cells: Cells, notes: tuple[str, ...]) -> tuple[str, ...]:
    if (cells.n_labelled == cells.size).all():
        return (*notes, "every record of the corpus is labelled: for these records nothing is left to estimate")
    return notes
