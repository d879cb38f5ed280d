"""What moves a score: the paired difference between people and judge, by cell of the confusion matrix.

People's totals are the judge's plus the change of each cell (judge says j, people say k). Along the straight path
between the two, each cell's share of the score's change is its directional derivative (Aumann and Shapley 1974), so
that the shares add to the difference for any score, and are plain sums where the score is a mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agreement.impact.case import Case
from agreement.impact.columns import NO_LABEL_NAMES
from agreement.impact.onsample import weighted_units
from agreement.impact.records import FloatArray, IntArray

STEPS = 64


@dataclass(frozen=True, slots=True)
class CellShift:
    """Judge says `judge`, people say `human`: units (a split label counts in parts), the records that they stand for,
    and what they add to people minus judge."""

    judge: str
    human: str
    units: float
    records: float
    contribution: float


def decompose(case: Case, part: str) -> tuple[CellShift, ...]:
    """The cells that move the part on the sample, largest first; empty where the part is undefined on either side."""
    data = weighted_units(case)
    units = case.sample.take(case.sample.paired)
    if not len(units):
        return ()
    scale = 1.0 if data.scale is None else data.scale / float(data.weight.sum())
    names = (*case.outcomes, *NO_LABEL_NAMES.values())
    weight = units.weight[:, None] * units.shares * scale
    change = units.features[:, :-2] - units.judge[:, None, :]
    cells, where = _cells(units.judged, units.shares)
    shifts = np.stack([np.einsum("nk,nkd->d", weight * (where == c), change) for c in range(len(cells))])
    start = data.totals(data.weight)[0]
    parts = _along(case, case.score.parts.index(part), start, shifts)
    if parts is None:
        return ()
    found = [
        CellShift(
            names[j],
            case.outcomes[k],
            float(units.shares[units.judged == j, k].sum()),
            float(weight[units.judged == j, k].sum()),
            float(parts[c]),
        )
        for c, (j, k) in enumerate(cells)
    ]
    return tuple(sorted((s for s in found if s.judge != s.human), key=lambda s: -abs(s.contribution)))


def _cells(judged: IntArray, shares: FloatArray) -> tuple[list[tuple[int, int]], IntArray]:
    """The confusion cells that occur, and (n, O) the cell of each unit and outcome (-1 where the share is zero)."""
    outcomes = shares.shape[1]
    key = np.where(shares > 0, judged[:, None] * outcomes + np.arange(outcomes), -1)
    used = np.unique(key[key >= 0])
    where = np.where(key >= 0, np.searchsorted(used, key), -1)
    return [(int(k) // outcomes, int(k) % outcomes) for k in used], where


def _along(case: Case, index: int, start: FloatArray, shifts: FloatArray) -> FloatArray | None:
    """(cells,) what each shift adds to the part on the way from `start` to `start + sum of shifts`."""
    total = shifts.sum(axis=0)
    ends = case.score.values(np.stack([start, start + total]))[:, index]
    if not np.isfinite(ends).all():
        return None
    step = 1 / STEPS
    middles = start + (np.arange(STEPS)[:, None] + 0.5) * step * total
    half = 0.5 * step
    ahead = case.score.values(middles[:, None] + half * shifts[None])[..., index]
    behind = case.score.values(middles[:, None] - half * shifts[None])[..., index]
    parts: FloatArray = np.nan_to_num(ahead - behind).sum(axis=0)
    rest = float(ends[1] - ends[0] - parts.sum())
    scale = np.abs(parts).sum()
    return parts + rest * np.abs(parts) / scale if scale else parts
