"""Intervals of a judge's numbers where everything is labelled and items have several units: items are resampled.

Answers to one question are alike, so that units are not independent and an interval that resamples units is too narrow.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from agreement.against_people import JudgeAgreement, Measure
from agreement.cells import FloatArray
from agreement.confusion_matrix import judge_rows
from agreement.impact import Sample
from agreement.impact.columns import NO_LABEL_NAMES
from agreement.intervals import posterior_interval
from agreement.matrix_measures import OVERALL, PER_LABEL, occurring, used_by_people

METHOD = "bootstrap over items"
BATCH = 500


def with_items_resampled(
    found: JudgeAgreement, sample: Sample, judge: str, *, seed: int, draws: int, level: float
) -> JudgeAgreement:
    """The same numbers with the intervals of a bootstrap over items, all units of an item together."""
    matrices = _draws(found, sample, judge, seed, draws)
    occur, used = occurring(found.matrix.totals), used_by_people(found.matrix.totals)
    drawn: dict[tuple[str, str | None], FloatArray] = {
        (name, None): function(matrices, occur, used) for name, function in OVERALL.items()
    }
    for name, per_label in PER_LABEL.items():
        values = per_label(matrices)
        drawn |= {(name, label): values[:, k] for k, label in enumerate(found.matrix.labels)}
    measures = tuple(_again(each, drawn[each.name, each.label], level) for each in found.measures)
    return replace(found, measures=measures, target="population", method="bootstrap")


def _again(measure: Measure, draws: FloatArray, level: float) -> Measure:
    if measure.interval.value is None:
        return measure
    return Measure(
        measure.name, measure.label, posterior_interval(measure.interval.value, draws, level=level, method=METHOD)
    )


def _draws(found: JudgeAgreement, sample: Sample, judge: str, seed: int, draws: int) -> FloatArray:
    """(draws, rows, q) confusion matrices of resampled items."""
    each = _per_item(found, sample, judge)
    rng = np.random.Generator(np.random.PCG64(seed))
    even = np.full(len(each), 1 / len(each))
    shape = each.shape[1:]
    flat = each.reshape(len(each), -1)
    parts = [
        rng.multinomial(len(each), even, size=min(BATCH, draws - at)).astype(np.float64) @ flat
        for at in range(0, draws, BATCH)
    ]
    return np.concatenate(parts).reshape(draws, *shape)


def _per_item(found: JudgeAgreement, sample: Sample, judge: str) -> FloatArray:
    """(items, rows, q) what each item adds to the confusion matrix."""
    records = sample.records
    assert records.item is not None
    codes = records.judges[judge]
    said = [records.labels[code] if code >= 0 else NO_LABEL_NAMES[int(code)] for code in codes]
    rows, names = judge_rows(said, records.labels)
    kept = np.array([found.matrix.rows.index(name) if name in found.matrix.rows else -1 for name in names])[rows]
    use = (kept >= 0) & ~records.technical & (sample.shares.sum(axis=1) > 0)
    added = np.zeros((len(records.item.names), len(found.matrix.rows), len(records.labels)))
    np.add.at(added, (records.item.codes[use], kept[use]), sample.shares[use])
    return added[np.unique(records.item.codes)]
