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
    """One coefficient. `rows` is (G, R): codes with -1 for missing, or numbers with NaN if `numeric`.

    If `exchangeable` (it does not matter which coder gave which rating), `rows` may also be (G, q) counts of labels,
    as floats.
    """

    numeric = False
    exchangeable = True
    q = 0
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

    def describe(self, totals: FloatArray) -> tuple[float, float | None, float | None]:
        """The coefficient, observed agreement and that expected by chance, the last two where there is such a thing."""
        return float(self.evaluate(totals)), None, None

    def disagrees(self, rows: AnyArray) -> tuple[BoolArray, BoolArray] | None:
        """(G,) rows with any disagreement, and (G,) rows with full agreement, where that has a meaning."""
        return None

    def all_or_nothing(self, rows: AnyArray) -> bool:
        """Whether each unit either agrees or disagrees, with nothing between: then few agreements are as bad as few
        disagreements for a standard error.
        """
        return False

    @abstractmethod
    def why_undefined(self, totals: FloatArray) -> str:
        """The reason in words, called where `evaluate` gives NaN."""

    def null_se(self, totals: FloatArray) -> float | None:
        """Standard error if the coders were independent, where there is a formula."""
        return None

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
    """(G, q) number of coders who gave each label; rows that are counts already stay as they are."""
    if codes.dtype.kind == "f":
        return codes
    size = len(codes) * (q + 1)
    cells = (codes + 1) + np.arange(len(codes))[:, None] * (q + 1)
    return np.bincount(cells.ravel(), minlength=size).reshape(len(codes), q + 1)[:, 1:].astype(np.float64)


def ratings_of(rows: AnyArray) -> AnyArray:
    """(G,) ratings of a unit, from codes or from label counts."""
    return np.asarray(rows.sum(axis=1) if rows.dtype.kind == "f" else (rows >= 0).sum(axis=1))


def numbers_in(rows: FloatArray) -> AnyArray:
    """(G,) numbers of a unit, NaN not counted; by column, since numpy sums over a short last axis slowly."""
    found = np.zeros(len(rows), np.int64)
    for column in rows.T:
        found += ~np.isnan(column)
    return found


def ratio(top: AnyArray, bottom: AnyArray) -> Any:
    """top / bottom, NaN where bottom is 0. Division warnings are the caller's to silence (`estimate` does)."""
    return np.where(bottom != 0, np.divide(top, bottom), np.nan)


def less_one(n: AnyArray) -> AnyArray:
    """n - 1 for Krippendorff's small-sample factor; NaN where design weights leave it no meaning."""
    return np.where(np.real(n) > 1, n - 1, np.nan)


def quadratic_form(left: AnyArray, matrix: FloatArray, right: AnyArray) -> Any:
    """left' matrix right over the last axis."""
    return ((left @ matrix) * right).sum(axis=-1)


NO_VARIATION = "no variation: chance-corrected agreement cannot be computed"
ONE_CODER = "only one coder: agreement needs two or more ratings of a unit"
TOO_LIGHT = "the design weights add to one rating or less: give 1 / inclusion probability, not shares"
NO_PAIR = "no unit has two ratings"
