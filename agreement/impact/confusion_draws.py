"""Confusion counts of judge against people on the whole corpus, as posterior draws, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agreement.impact.case import Case
from agreement.impact.posterior_scores import cell_table
from agreement.impact.records import FloatArray


@dataclass(frozen=True, slots=True)
class ConfusionDraws:
    """Judge rows (O outcomes, then not a label, missing), people's columns.

    expected: (O + 2, O) post-stratified records. draws: (B, O + 2, O) completed records. seen: (O + 2, O) labels seen.
    """

    expected: FloatArray
    draws: FloatArray
    seen: FloatArray

    @property
    def records(self) -> float:
        return float(self.expected.sum())

    @property
    def labelled(self) -> int:
        return round(float(self.seen.sum()))


def confusion_draws(case: Case, *, draws: int, seed: int) -> ConfusionDraws:
    """Draws of the confusion matrix of a case of `Verdicts`, over the finite-population posterior of its cells."""
    from agreement.posterior import complete, expected_counts

    columns = np.ones(case.corpus.features.shape[2], np.bool_)
    cells = cell_table(case, columns).cells
    counts = complete(cells, draws=draws, seed=seed).counts
    rows = {name: j for j, name in enumerate((*case.outcomes, "(not a label)", "(missing)"))}
    place = np.array([rows[name] for name in cells.judge], np.int64)
    shape = (len(rows), len(case.outcomes))
    expected, drawn, seen = np.zeros(shape), np.zeros((draws, *shape)), np.zeros(shape)
    np.add.at(expected, place, expected_counts(cells))
    np.add.at(seen, place, cells.labelled)
    for g, j in enumerate(place):
        drawn[:, j] += counts[:, g]
    return ConfusionDraws(expected, drawn, seen)


def error_rate(confusion: FloatArray) -> FloatArray:
    """(...,) share of the records on which the judge's outcome is not people's; (..., O + 2, O) to one number."""
    total = confusion.sum(axis=(-2, -1))
    right = np.einsum("...kk->...", confusion[..., : confusion.shape[-1], :])
    return np.where(total > 0, 1 - right / np.where(total > 0, total, 1), np.nan)


def youden(confusion: FloatArray) -> FloatArray:
    """(..., O) Youden's J = sensitivity + specificity - 1 of each outcome against the rest (Youden 1950).

    NaN for an outcome that people give to no record, or to all.
    """
    size = confusion.shape[-1]
    people = confusion.sum(axis=-2)
    total = people.sum(axis=-1, keepdims=True)
    judged = confusion[..., :size, :].sum(axis=-1)
    both = np.einsum("...kk->...k", confusion[..., :size, :])
    others = total - people
    defined = (people > 0) & (others > 0)
    sensitivity = both / np.where(people > 0, people, 1)
    false_alarm = (judged - both) / np.where(others > 0, others, 1)
    return np.where(defined, sensitivity - false_alarm, np.nan)


def mean_youden(confusion: FloatArray) -> FloatArray:
    """(...,) mean of Youden's J over the outcomes for which it is defined; with two outcomes, their common J."""
    values = youden(confusion)
    defined = np.isfinite(values)
    count = defined.sum(axis=-1)
    mean: FloatArray = np.where(count > 0, np.where(defined, values, 0).sum(axis=-1) / np.maximum(count, 1), np.nan)
    return mean


def swapped_agreement(confusion: FloatArray, first: int, second: int) -> FloatArray:
    """(...,) agreement gained by exchanging the judge's outcomes `first` and `second`, as a share of all records."""
    total = confusion.sum(axis=(-2, -1))
    now = confusion[..., first, first] + confusion[..., second, second]
    then = confusion[..., first, second] + confusion[..., second, first]
    gain: FloatArray = np.where(total > 0, (then - now) / np.where(total > 0, total, 1), np.nan)
    return gain
