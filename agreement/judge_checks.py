"""Plain sentences about a judge that cannot be what it should be: constant, reversed, or mostly not a label."""

from __future__ import annotations

import numpy as np

from agreement.cells import FloatArray
from agreement.confusion_matrix import Confusion
from agreement.matrix_measures import agreement, judged, kappa, people

NEARLY_ALL = 0.99
CLEARLY_NEGATIVE = -0.1
MUCH_BETTER = 0.2


def judge_warnings(matrix: Confusion, judge: str, *, kappa_high: float | None = None) -> tuple[str, ...]:
    """What a reader must be told about the judge named `judge`.

    kappa_high: upper end of an interval of its kappa, where there is one: the judge counts as reversed when it is below
    0; without an interval, when kappa is below -0.1.
    """
    found = [_constant(matrix, judge), _reversed(matrix, judge, kappa_high), _no_label(matrix, judge)]
    return tuple(text for text in found if text)


def _constant(matrix: Confusion, judge: str) -> str:
    said, true = judged(matrix.totals), people(matrix.totals)
    if not said.sum() or (true > 0).sum() < 2:
        return ""
    top = int(said.argmax())
    share = said[top] / said.sum()
    if share == 1:
        return f"judge {judge} is constant: it says {matrix.labels[top]} whatever the response is"
    if share >= NEARLY_ALL and true[top] / true.sum() < share - 0.05:
        return f"judge {judge} is nearly constant: {share:.1%} of its labels are {matrix.labels[top]}"
    return ""


def _reversed(matrix: Confusion, judge: str, high: float | None) -> str:
    value = float(kappa(matrix.totals))
    if not (high < 0 if high is not None else value < CLEARLY_NEGATIVE):
        return ""
    text = f"judge {judge} agrees less than chance would (kappa {value:.2f}): the labels may be reversed"
    order = _best_reading(matrix.totals)
    better = float(agreement(matrix.totals[order])) if order is not None else 0.0
    if better - float(agreement(matrix.totals)) < MUCH_BETTER:
        return text
    swaps = [f"{matrix.labels[j]} as {matrix.labels[c]}" for c, j in enumerate(order or []) if j != c]
    return f"{text}; reading {', '.join(swaps[: len(matrix.labels)])} would raise agreement to {better:.0%}"


def _best_reading(totals: FloatArray) -> list[int] | None:
    """For each human label the judge label that would be its best partner, one to one."""
    from scipy.optimize import linear_sum_assignment  # type: ignore[attr-defined]

    q = totals.shape[1]
    rows, columns = linear_sum_assignment(-totals[:q])
    order = [0] * q
    for row, column in zip(rows, columns, strict=True):
        order[int(column)] = int(row)
    return order


def _no_label(matrix: Confusion, judge: str) -> str:
    share = matrix.not_labels
    if share <= 0.5:
        return ""
    q = len(matrix.labels)
    totals = matrix.totals[q:].sum(axis=1) / matrix.totals.sum()
    parts = ", ".join(f"{name} {part:.0%}" for name, part in zip(matrix.rows[q:], totals, strict=True))
    count = int(np.rint(matrix.counts[q:].sum()))
    return (
        f"judge {judge}: {share:.0%} of its outputs are no label ({parts}; {count} of {matrix.n} labelled units): "
        "its agreement says little about the labels it does give"
    )
