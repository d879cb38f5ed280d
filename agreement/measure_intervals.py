"""Every number of a confusion matrix with an interval, by posterior, linearisation or bootstrap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from agreement._types import FloatArray, IntArray
from agreement.cell_resampling import bootstrap_totals, linear_errors
from agreement.cells import Cells
from agreement.confusion_matrix import Confusion, corpus_confusion, judge_rows
from agreement.errors import AgreementError
from agreement.intervals import Interval, bootstrap_interval, posterior_interval, t_interval
from agreement.matrix_measures import OVERALL, PER_LABEL, SIGNED, occurring, used_by_people, why_undefined
from agreement.posterior import Completion, Target, complete

Method = Literal["posterior", "linearised", "bootstrap"]
Name = tuple[str, str | None]
POSTERIOR = "finite-population posterior"
SMALL = 5


@dataclass(frozen=True, slots=True)
class Corpus:
    """Cells with their matrix; output: (G,) matrix row of each cell; names, values: all numbers of the estimate."""

    cells: Cells
    matrix: Confusion
    output: IntArray
    names: list[Name]
    values: FloatArray
    completion: Completion
    level: float
    target: Target

    def measured(self, totals: FloatArray) -> FloatArray:
        """(B, K) numbers of totals per cell (B, G, q)."""
        onehot = np.eye(len(self.matrix.rows))[self.output]
        summed: FloatArray = np.einsum("bgc,gj->bjc", totals, onehot, optimize=True)
        return all_measures(self.matrix, summed)[1]


def completed(cells: Cells, *, seed: int, draws: int, target: Target, level: float) -> Corpus:
    """The corpus, its estimate and its posterior draws."""
    matrix = corpus_confusion(cells)
    place = {name: row for row, name in enumerate(matrix.rows)}
    codes, rows = judge_rows(cells.judge, cells.labels)
    output = np.array([place[rows[code]] for code in codes], dtype=np.int64)
    names, values = all_measures(matrix, matrix.totals)
    completion = complete(cells, draws=draws, seed=seed, target=target)
    return Corpus(cells, matrix, output, names, values, completion, level, target)


def measure_intervals(
    corpus: Corpus, method: Method, *, seed: int, posterior: list[Interval] | None = None
) -> list[Interval]:
    """The interval of every number of `corpus.names`, undefined ones with their reason.

    posterior: these intervals by posterior, where they are known already: the others fall back on them.
    Raises AgreementError on a method that is not known.
    """
    if method not in ("posterior", "linearised", "bootstrap"):
        raise AgreementError(f"method {method!r}: expected posterior, linearised or bootstrap")
    found = posterior if posterior is not None else _posterior(corpus)
    if method == "bootstrap":
        found = _where_large(corpus, _bootstrap(corpus, seed), found)
    if method == "linearised":
        found = _where_large(corpus, _linearised(corpus), found)
    return [_explained(each, *name, corpus.matrix) for each, name in zip(found, corpus.names, strict=True)]


def _posterior(corpus: Corpus) -> list[Interval]:
    drawn = corpus.measured(corpus.completion.counts.astype(np.float64))
    return [posterior_interval(float(v), drawn[:, i], level=corpus.level) for i, v in enumerate(corpus.values)]


def _bootstrap(corpus: Corpus, seed: int) -> list[Interval]:
    draws = len(corpus.completion.counts)
    drawn = corpus.measured(bootstrap_totals(corpus.cells, draws=draws, seed=seed, target=corpus.target))
    named = "bootstrap, rescaled within cells"
    return [
        bootstrap_interval(float(v), drawn[:, i], level=corpus.level, method=named) for i, v in enumerate(corpus.values)
    ]


def _linearised(corpus: Corpus) -> list[Interval]:
    gradient = _gradient(lambda m: all_measures(corpus.matrix, m)[1], corpus.matrix.totals)
    errors, df = linear_errors(corpus.cells, gradient, corpus.output, corpus.target)
    return [
        t_interval(float(v), float(e), df, level=corpus.level, lowest=-1 if n in SIGNED else 0, method="linearised")
        for (n, _), v, e in zip(corpus.names, corpus.values, errors, strict=True)
    ]


def point_measures(matrix: Confusion) -> dict[Name, float | None]:
    """Every number of one matrix without intervals, keyed (name, label or None); None where it is 0/0."""
    names, values = all_measures(matrix, matrix.totals)
    return {name: float(v) if np.isfinite(v) else None for name, v in zip(names, values, strict=True)}


def all_measures(matrix: Confusion, m: FloatArray) -> tuple[list[Name], FloatArray]:
    """Names of all numbers and their values (..., K) for matrices m (..., J, q)."""
    occur, used = occurring(matrix.totals), used_by_people(matrix.totals)
    names: list[Name] = [(name, None) for name in OVERALL]
    columns = [np.asarray(function(m, occur, used))[..., None] for function in OVERALL.values()]
    for name, per_label in PER_LABEL.items():
        names += [(name, label) for label in matrix.labels]
        columns.append(per_label(m))
    return names, np.concatenate(columns, axis=-1)


def _gradient(function: Callable[[FloatArray], FloatArray], at: FloatArray) -> FloatArray:
    """(K, J, q) derivatives of K scale-free numbers by central differences; a step is a millionth of the corpus."""
    step = 1e-6 * max(float(at.sum()), 1e-300)
    moves = step * np.eye(at.size).reshape(at.size, *at.shape)
    slopes = (function(at + moves) - function(at - moves)) / (2 * step)
    return np.moveaxis(slopes, -1, 0).reshape(-1, *at.shape)


def _where_large(corpus: Corpus, chosen: list[Interval], fallback: list[Interval]) -> list[Interval]:
    """The chosen interval where enough labels carry it, else the posterior under a name that says why."""
    result = []
    for (name, label), want, safe in zip(corpus.names, chosen, fallback, strict=True):
        why = _too_small(corpus.matrix, name, label)
        if why is None and want.undefined is None and want.low is None:
            why = "a cell has too few labels"
        result.append(want if why is None else replace(safe, method=f"{POSTERIOR} ({why})"))
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


def _explained(interval: Interval, name: str, label: str | None, matrix: Confusion) -> Interval:
    """0/0 in the estimate gets its reason in words."""
    if interval.undefined is None or not interval.undefined.startswith("the estimate is 0/0"):
        return interval
    k = None if label is None else matrix.labels.index(label)
    reason = why_undefined(name, matrix.labels, matrix.totals, k)
    return replace(interval, undefined=reason)
