"""The confusion matrix of a judge against people: judge rows, human columns, design weights.

Judge output that is no label has a row of its own, "(not a label)"; no output has "(missing)". Both stay in the total.
From a sample that was stratified on the judge's label, the bare counts are no estimate of anything but precision: the
matrix holds weighted totals, and its counts are there to be read beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement.cells import MISSING, NOT_A_LABEL, Cells, FloatArray, label_shares
from agreement.errors import AgreementError
from agreement.posterior import expected_counts
from agreement.ratings_codes import label_codes, object_table


@dataclass(frozen=True, slots=True)
class Confusion:
    """A judge against people.

    rows: J judge outputs, the declared labels first. labels: the q human labels.
    totals: (J, q) estimated numbers of records. counts: (J, q) labelled units behind them, unweighted (a unit with a
    split label counts 1/m in m columns). estimator: how totals came from counts.
    unlabelled: units given that have no human label and are in no cell.
    population: corpus size that shares are of; None: of the sum of totals.
    """

    rows: tuple[str, ...]
    labels: tuple[str, ...]
    totals: FloatArray
    counts: FloatArray
    estimator: str
    unlabelled: int = 0
    population: float | None = None

    @property
    def shares(self) -> FloatArray:
        """(J, q) shares of all records; zeros when the matrix is empty."""
        total = self.population or float(self.totals.sum())
        return self.totals / total if total else np.zeros_like(self.totals)

    @property
    def n(self) -> int:
        """Labelled units in the matrix."""
        return round(float(self.counts.sum()))

    @property
    def not_labels(self) -> float:
        """Share of the records whose judge output is no label or missing."""
        return float(self.shares[len(self.labels) :].sum())


def confusion(
    judge: Sequence[Any],
    human: Any,
    *,
    labels: Sequence[str] | None = None,
    weights: npt.ArrayLike | None = None,
    population: float | None = None,
) -> Confusion:
    """Confusion matrix of n records.

    judge: n outputs; None, NaN or "(missing)" is missing, anything not in `labels` is not a label. human: n labels, or
    mappings of labels to shares, None where there is none; or an (n, q) array of shares. labels: the declared labels;
    None takes those seen, in sorted order, and the estimator says so. weights: (n,) design weights 1/pi; without them
    every record counts once, which is right for a census or a simple random sample only.
    population: the known corpus size N. With it totals are Horvitz-Thompson sums as shares of N; without it shares are
    of the summed weights (Hajek 1971). Raises AgreementError on a human label that is not declared.
    """
    declared = tuple(labels) if labels is not None else _seen(judge, human)
    shares = _human_shares(declared, human)
    output, rows = judge_rows(judge, declared)
    w = np.ones(len(shares)) if weights is None else np.asarray(weights, np.float64)
    if not len(output) == len(shares) == len(w):
        raise AgreementError(
            f"{len(output)} judge outputs, {len(shares)} human labels, {len(w)} weights: one per record"
        )
    if not np.all(np.isfinite(w) & (w >= 0)):
        raise AgreementError("weights must be finite and not negative")
    totals, counts = (_spread(output, shares * x[:, None], len(rows)) for x in (w, np.ones(len(w))))
    estimator = _estimator(weights is not None, population) + ("" if labels is not None else ", labels seen")
    unlabelled = int((shares.sum(axis=1) == 0).sum())
    return _trim(rows, declared, totals, counts, estimator, unlabelled, population)


def corpus_confusion(cells: Cells) -> Confusion:
    """The whole corpus by judge and human label, post-stratified: its row sums are the known judge counts."""
    output, rows = judge_rows(cells.judge, cells.labels)
    totals = _spread(output, expected_counts(cells), len(rows))
    counts = _spread(output, cells.labelled, len(rows))
    unlabelled = int((cells.size - cells.n_labelled).sum())
    return _trim(rows, cells.labels, totals, counts, "post-stratified by cell", unlabelled)


def judge_rows(judge: Sequence[Any], labels: tuple[str, ...]) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """(n,) row of each judge output, and the q + 2 row names: labels, "(not a label)", "(missing)"."""
    codes = label_codes(list(judge), (*labels, MISSING))[:, 0]
    q = len(labels)
    rows = np.select([codes == -1, codes == q, codes == -2], [q + 1, q + 1, q], codes)
    return rows, (*labels, NOT_A_LABEL, MISSING)


def _trim(
    rows: tuple[str, ...],
    labels: tuple[str, ...],
    totals: FloatArray,
    counts: FloatArray,
    estimator: str,
    unlabelled: int,
    population: float | None = None,
) -> Confusion:
    """Leave out the two extra rows where nothing is in them."""
    keep = [j for j in range(len(rows)) if j < len(labels) or totals[j].sum() > 0]
    names = tuple(rows[j] for j in keep)
    return Confusion(names, labels, totals[keep], counts[keep], estimator, unlabelled, population)


def _spread(output: npt.NDArray[np.int64], values: FloatArray, rows: int) -> FloatArray:
    return np.stack([np.bincount(output, values[:, k], rows) for k in range(values.shape[1])], axis=1)


def _human_shares(labels: tuple[str, ...], human: Any) -> FloatArray:
    if isinstance(human, np.ndarray) and human.ndim == 2:
        return np.asarray(human, np.float64)
    entries = human if any(isinstance(entry, dict) for entry in human) else None
    if entries is not None:
        return label_shares(labels, entries)
    codes = label_codes(object_table(human), labels)[:, 0]
    if (codes == -2).any():
        where = int(np.flatnonzero(codes == -2)[0])
        raise AgreementError(f"record {where}: human label {list(human)[where]!r} is not one of {', '.join(labels)}")
    return np.where(codes[:, None] >= 0, np.eye(len(labels))[codes], 0.0)


def _seen(judge: Sequence[Any], human: Any) -> tuple[str, ...]:
    values = [value for value in object_table([[v] for v in (*judge, *human)]).ravel() if _is_label(value)]
    return tuple(sorted(set(values), key=str))


def _is_label(value: Any) -> bool:
    return value is not None and value == value and value not in (NOT_A_LABEL, MISSING)


def _estimator(weighted: bool, population: float | None) -> str:
    if not weighted:
        return "each record counts once"
    return "Hajek" if population is None else f"Horvitz-Thompson, N = {population:g}"
