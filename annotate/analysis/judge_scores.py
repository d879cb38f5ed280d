"""What a judge's own score is worth: calibration against people and the area under the ROC curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agreement import calibration
from agreement.curves import roc_curve
from annotate.analysis.labels import StudyLabels
from annotate.analysis.reference import Reference
from annotate.plain import plain

BINS = 10


def score_facts(labels: StudyLabels, reference: Reference, judge: str, *, seed: int, level: float) -> dict[str, Any]:
    """Calibration of one judge's score, or under ``reason`` why there is none.

    A score that orders the judge's labels (every unit that it calls X lies above all others) is read as the
    probability of X; any other as its confidence in the label that it gave.
    """
    scores = labels.judge_ratings.get(judge, ())
    known = [float(value) for value in scores if value is not None]
    if not known:
        return {"reason": "the judge gave no score with its labels"}
    scale = 100.0 if max(known) > 1 else 1.0
    if min(known) < 0 or max(known) > 100:
        return {"reason": "its scores are neither in 0 to 1 nor in 0 to 100, and so no probabilities"}
    if len(set(known)) < 2:
        return {"reason": "its score is the same for every unit"}
    said, q = labels.judges[judge], {label: at for at, label in enumerate(labels.labels)}
    top = _top(said, scores, labels.labels)
    usable = reference.human.usable
    positive: list[float | None] = []
    for at, label in enumerate(said):
        target = top or label
        positive.append(float(reference.shares[at, q[target]]) if usable[at] and target in q else None)
    given = [None if value is None else float(value) / scale for value in scores]
    options: dict[str, Any] = {
        "weights": np.where(reference.weights.weights > 0, reference.weights.weights, 0.0),
        "stratum": labels.design,
        "seed": seed,
        "level": level,
    }
    numbers = np.array([np.nan if value is None else value for value in given], np.float64)
    right = np.array([np.nan if value is None else value for value in positive], np.float64)
    found = calibration(numbers, right, bins=BINS, **options)
    area = roc_curve(numbers, right, **options).area
    return {
        "reason": None,
        "of": top,
        "meaning": f"the probability of {top}" if top else "its confidence in its own label",
        "auc": plain(area),
        **plain(found),
    }


def _top(said: Sequence[str], scores: Sequence[float | None], labels: Sequence[str]) -> str | None:
    """The label whose scores all lie at or above all others', where there is one."""
    by: dict[bool, list[float]]
    for label in labels:
        by = {True: [], False: []}
        for given, score in zip(said, scores, strict=True):
            if score is not None and given in labels:
                by[given == label].append(score)
        if by[True] and by[False] and min(by[True]) >= max(by[False]):
            return label
    return None
