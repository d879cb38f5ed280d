"""How many units to draw from each stratum.

All rules share one frame: a measure a_h per stratum, n_h proportional to it between a floor and the stratum's size. A
stratum whose share exceeds its size is taken whole and the rest allocated again (Cochran 1977, 5.8); whole numbers come
from the largest remainders.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from agreement._shares import as_shares
from agreement._types import FloatArray, IntArray
from agreement.errors import AgreementError

Allocation = Literal["proportional", "equal", "sqrt", "neyman"]
EXPONENTS = {"proportional": 1.0, "equal": 0.0, "sqrt": 0.5}


def allocate(
    sizes: Sequence[int],
    n: int,
    method: Allocation = "sqrt",
    *,
    deviations: npt.ArrayLike | None = None,
    floor: int = 2,
) -> IntArray:
    """Sample sizes of H strata that add to n (or to the corpus where n is larger).

    sizes: N_h. method: n_h proportional to N_h, to 1, to the square root of N_h (power allocation, Bankier 1988), or to
    N_h S_h (Neyman 1934), for which `deviations` gives S_h. floor: the least per stratum, or all of a smaller stratum.
    Raises AgreementError when n cannot give every stratum its floor.
    """
    whole = _sizes(sizes)
    if method == "neyman":
        if deviations is None:
            raise AgreementError("neyman allocation needs the standard deviation of each stratum (deviations=)")
        spread = np.asarray(deviations, np.float64)
        if spread.shape != whole.shape or not np.all(spread >= 0):
            raise AgreementError(f"deviations: expected {len(whole)} numbers, none negative, one per stratum")
        return bounded(whole * spread, whole, n, floor)
    if method not in EXPONENTS:
        raise AgreementError(f"allocation {method!r}: expected proportional, equal, sqrt or neyman")
    return bounded(np.where(whole > 0, whole.astype(np.float64) ** EXPONENTS[method], 0), whole, n, floor)


def binary_deviations(shares: npt.ArrayLike) -> FloatArray:
    """S_h = sqrt(p (1 - p)) of an indicator with share p in each stratum."""
    p = as_shares(shares)
    if not np.all((p >= 0) & (p <= 1)):
        raise AgreementError("shares must lie between 0 and 1")
    return np.sqrt(p * (1 - p))


def allocate_for_many(
    sizes: Sequence[int],
    n: int,
    variances: npt.ArrayLike,
    totals: npt.ArrayLike,
    *,
    criterion: Literal["sum", "max"] = "max",
    floor: int = 2,
) -> IntArray:
    """Allocation for T targets at once (a label's share in a model each, say).

    variances: (T, H) variance of each target inside each stratum; totals: (T,) the target's total, by which its error
    is made relative. "sum" minimises the summed relative variances, for which n_h is proportional to
    N_h sqrt(sum_t S_th^2 / Y_t^2); "max" the largest of them (Bethel 1989), by reweighting the targets.
    """
    whole = _sizes(sizes)
    squares = np.atleast_2d(np.asarray(variances, np.float64))
    scale = np.asarray(totals, np.float64)
    if squares.shape != (len(scale), len(whole)) or not np.all(scale > 0) or not np.all(squares >= 0):
        raise AgreementError(f"variances must be targets x {len(whole)} strata, with a positive total for each target")
    relative = squares / scale[:, None] ** 2
    weights = np.full(len(scale), 1 / len(scale))
    for _ in range(300 if criterion == "max" else 0):
        n_h = _water_fill(_measure(whole, weights @ relative), *_bounds(whole, n, floor))
        errors = relative @ (whole**2 * np.where(n_h > 0, 1 / np.maximum(n_h, 1e-9) - 1 / np.maximum(whole, 1), 0))
        if not errors.any():
            break
        weights = weights * np.sqrt(errors / errors.mean())
        weights /= weights.sum()
    return bounded(_measure(whole, weights @ relative), whole, n, floor)


def bounded(measure: FloatArray, sizes: IntArray, n: int, floor: int) -> IntArray:
    """Whole n_h proportional to `measure` between the floor and N_h, adding to min(n, N)."""
    low, high, total = _bounds(sizes, n, floor)
    exact = _water_fill(measure, low, high, total)
    found = np.floor(exact + 1e-9).astype(np.int64)
    remainder = np.where(found < high, exact - found, -1.0)
    order = np.lexsort((np.arange(len(sizes)), -np.round(remainder, 9)))
    found[order[: total - int(found.sum())]] += 1
    return found


def _water_fill(measure: FloatArray, low: FloatArray, high: FloatArray, total: int) -> FloatArray:
    """clip(c * measure, low, high) with the c that makes it add to `total`; strata of measure 0 come last."""
    if float(high[measure > 0].sum() + low[measure <= 0].sum()) < total:
        spare = np.where(measure > 0, high, low)
        rest = np.where(measure > 0, 0, high - low)
        filled: FloatArray = spare + rest * ((total - spare.sum()) / rest.sum())
        return filled
    active = measure > 0
    marks = np.unique(np.concatenate([low[active] / measure[active], high[active] / measure[active]]))
    sums = np.array([np.clip(c * measure, low, high).sum() for c in marks])
    k = min(int(np.searchsorted(sums, total)), len(marks) - 1)  # everything, but for a last digit of the sum
    c = float(marks[k])
    if k > 0 and sums[k] > total:
        c -= float((sums[k] - total) / (sums[k] - sums[k - 1]) * (marks[k] - marks[k - 1]))
    level: FloatArray = np.clip(c * measure, low, high)
    return level


def _measure(sizes: IntArray, squares: FloatArray) -> FloatArray:
    return np.asarray(sizes * np.sqrt(squares), np.float64)


def _bounds(sizes: IntArray, n: int, floor: int) -> tuple[FloatArray, FloatArray, int]:
    low = np.minimum(floor, sizes)
    if n < low.sum() and n < sizes.sum():
        raise AgreementError(
            f"n={n} cannot give each of {int((sizes > 0).sum())} strata {floor} units",
            f"Take n of at least {int(low.sum())}, or fewer strata.",
        )
    return low.astype(np.float64), sizes.astype(np.float64), int(min(n, sizes.sum()))


def _sizes(sizes: Sequence[int]) -> IntArray:
    whole = np.asarray(sizes)
    if whole.ndim != 1 or not len(whole) or np.any(whole < 0) or np.any(whole != np.floor(whole)):
        raise AgreementError("sizes must be whole numbers of records, one per stratum")
    return whole.astype(np.int64)
