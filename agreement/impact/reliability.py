"""The reliability tables behind EHQ3: accuracy against stated confidence, under the judge and under people."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from agreement.impact.case import Case
from agreement.impact.records import Records, Sample
from agreement.scores.ehq import CalibrationBin, Ehq, calibration_bins


def reliability(
    cases: Mapping[str, Case], corpus: Records, sample: Sample | None
) -> dict[str, tuple[CalibrationBin, ...]]:
    """Ten confidence bins under "judge" (the whole corpus) and "human" (the sample, weighted), of the first EHQ score.

    cases: one model's case of each score. Empty when no score is EHQ.
    """
    case = next((c for c in cases.values() if isinstance(c.score, Ehq)), None)
    if case is None or not isinstance(case.score, Ehq):
        return {}
    q = len(corpus.labels)
    known = case.corpus.judged < q
    counts = np.zeros((len(known), q))
    counts[np.flatnonzero(known), case.corpus.judged[known]] = case.corpus.count[known]
    found = {"judge": calibration_bins(corpus.take(case.corpus.rows), counts, case.score.roles)}
    if sample is not None and len(case.sample):
        weighted = case.sample.weight[:, None] * case.sample.shares
        found["human"] = calibration_bins(sample.records.take(case.sample.units), weighted, case.score.roles)
    return found
