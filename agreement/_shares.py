"""Shares that were summed from weights: a last digit beyond 0 or 1 is rounding, more is a mistake of the caller."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agreement._types import FloatArray

ROUNDING = 1e-9


def as_shares(values: npt.ArrayLike) -> FloatArray:
    """The numbers as float64, those outside [0, 1] by at most 1e-9 set to its end; NaN and all others unchanged."""
    given = np.asarray(values, dtype=np.float64)
    inside = np.clip(given, 0.0, 1.0)
    return np.where(np.abs(given - inside) <= ROUNDING, inside, given)
