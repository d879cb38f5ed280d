"""Judges that give a score or a probability: the labelled units they are measured on."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement._shares import as_shares
from agreement._types import FloatArray, IntArray
from agreement.errors import AgreementError
from agreement.ratings_codes import group_codes


@dataclass(frozen=True, slots=True)
class Scored:
    """n units in ascending order of their score.

    positive: (n,) share of the human label that is the positive one, 0 to 1 (a split label counts in part). weight:
    design weights. stratum: (n,) code of the stratum resampled in. excluded: units without a score or a human label.
    """

    score: FloatArray
    positive: FloatArray
    weight: FloatArray
    stratum: IntArray
    excluded: int


def scored_units(
    scores: npt.ArrayLike,
    positive: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    stratum: Sequence[Hashable] | None = None,
) -> Scored:
    """Check and sort n scores and labels, None or NaN where missing. Raises AgreementError on bad values."""
    s, y = np.asarray(scores, dtype=np.float64), as_shares(positive)
    w = np.ones(len(s)) if weights is None else np.asarray(weights, np.float64)
    if not len(s) == len(y) == len(w) or (stratum is not None and len(stratum) != len(s)):
        raise AgreementError(f"{len(s)} scores, {len(y)} labels, {len(w)} weights: give one of each per unit")
    if not np.all(np.isfinite(w) & (w >= 0)):
        raise AgreementError("weights must be finite and not negative")
    use = np.isfinite(s) & np.isfinite(y) & (w > 0)
    outside = use & ((y < 0) | (y > 1))
    if outside.any():
        where = int(np.flatnonzero(outside)[0])
        raise AgreementError(f"unit {where}: positive is {y[where]:g}, expected 0, 1 or a share between")
    codes = np.zeros(len(s), np.int64)
    if stratum is not None:
        codes = group_codes(stratum)[0]
    order = np.flatnonzero(use)[np.argsort(s[use], kind="stable")]
    return Scored(s[order], y[order], w[order], codes[order], int((~use).sum()))


def resampled_weights(units: Scored, draws: int, seed: int) -> FloatArray:
    """(B, n) design weights times how often a bootstrap within strata draws each unit."""
    stream = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(4,))))
    drawn = np.zeros((draws, len(units.score)))
    for h in np.unique(units.stratum):
        members = np.flatnonzero(units.stratum == h)
        drawn[:, members] = stream.multinomial(len(members), np.full(len(members), 1 / len(members)), size=draws)
    return drawn * units.weight
