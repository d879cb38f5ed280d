"""Coefficients as smooth functions of totals over units.

A statistic says what each unit contributes (`features`), and how the coefficient follows from the totals
(`evaluate`). From these two come standard errors (linearisation: the influence of a unit is gradient . features),
design weights, resampling by unit or item, jackknife and paired comparisons, once for all coefficients.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from agreement._types import AnyArray, BoolArray, FloatArray

_CHUNK = 1 << 18
_STEP = 1e-30


class Statistic(ABC):
    """One coefficient. `rows` is (G, R): codes with -1 for missing, or numbers with NaN if `numeric`."""

    numeric = False
    exchangeable = True
    """Whether it does not matter which coder gave which rating."""
    width: int
    """Number of features F."""

    @abstractmethod
    def eligible(self, rows: AnyArray) -> BoolArray:
        """(G,) whether the coefficient can use the row at all; the features of other rows are zero."""

    @abstractmethod
    def features(self, rows: AnyArray) -> FloatArray:
        """(G, F) contribution of one unit with that row to the totals."""

    @abstractmethod
    def evaluate(self, totals: AnyArray) -> AnyArray:
        """Coefficient for totals (..., F); NaN where undefined. Real or complex."""

    def smooth(self, totals: AnyArray, at: FloatArray) -> AnyArray:
        """The function whose derivative at `at` gives the influence; where a published variance differs, it is not
        `evaluate`.
        """
        return self.evaluate(totals)

    def observed(self, totals: FloatArray) -> float | None:
        """Observed agreement, where there is such a thing."""
        return None

    def expected(self, totals: FloatArray) -> float | None:
        """Agreement expected by chance, where there is such a thing."""
        return None

    def disagrees(self, rows: AnyArray) -> tuple[BoolArray, BoolArray] | None:
        """(G,) rows with any disagreement, and (G,) rows with full agreement, where that has a meaning."""
        return None

    @abstractmethod
    def why_undefined(self, totals: FloatArray) -> str:
        """The reason in words, called where `evaluate` gives NaN."""

    def notes(self, totals: FloatArray) -> tuple[str, ...]:
        """Remarks that belong beside the number."""
        return ()

    def totals(self, rows: AnyArray, mass: FloatArray) -> FloatArray:
        """(F,) or (B, F) totals for masses (G,) or (B, G)."""
        out = np.zeros((*mass.shape[:-1], self.width))
        for part in chunks(len(rows), self.width + rows.shape[1]):
            out += mass[..., part] @ self.features(rows[part])
        return out

    def gradient(self, totals: FloatArray) -> FloatArray:
        """(F,) derivative of `smooth` by complex step (Squire and Trapp 1998): exact to rounding."""
        shifted = totals + 1j * _STEP * np.eye(self.width)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.imag(self.smooth(shifted, totals)) / _STEP)

    def influence(self, rows: AnyArray, totals: FloatArray) -> FloatArray:
        """(G,) derivative of the coefficient by the mass of one unit with that row."""
        slope = self.gradient(totals)
        return np.concatenate(
            [self.features(rows[part]) @ slope for part in chunks(len(rows), self.width + rows.shape[1])]
            or [np.zeros(0)]
        )


def chunks(rows: int, width: int, cells: int = _CHUNK) -> Iterator[slice]:
    """Slices of rows that keep rows x width within `cells`."""
    step = max(cells // max(width, 1), 1)
    for start in range(0, rows, step):
        yield slice(start, start + step)


def label_counts(codes: AnyArray, q: int) -> FloatArray:
    """(G, q) number of coders who gave each label."""
    size = len(codes) * (q + 1)
    cells = (codes + 1) + np.arange(len(codes))[:, None] * (q + 1)
    return np.bincount(cells.ravel(), minlength=size).reshape(len(codes), q + 1)[:, 1:].astype(np.float64)


def ratio(top: AnyArray, bottom: AnyArray) -> Any:
    """top / bottom, NaN where bottom is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom != 0, top / np.where(bottom != 0, bottom, 1), np.nan)


def quadratic_form(left: AnyArray, matrix: FloatArray, right: AnyArray) -> Any:
    """left' matrix right over the last axis."""
    return ((left @ matrix) * right).sum(axis=-1)


NO_VARIATION = "no variation: chance-corrected agreement cannot be computed"
ONE_CODER = "only one coder: agreement needs two or more ratings of a unit"
NO_PAIR = "no unit has two ratings"
