"""An estimate with the quantiles of its posterior draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement._quantiles import t_quantile
from agreement._types import FloatArray

MAX_UNDEFINED = 0.05


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with its interval; `value`, `low` and `high` are None where `undefined` says why.

    `low` and `high` alone are None where there is a number but no interval; `method` then says why.

    draws: draws used; undefined_draws: draws in which the number was 0/0 and that were left out.
    method: the name of the interval, for print.
    """

    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    draws: int = 0
    undefined_draws: int = 0
    undefined: str | None = None


def posterior_interval(
    estimate: float | None, draws: npt.ArrayLike, *, level: float = 0.95, method: str = "finite-population posterior"
) -> Interval:
    """Quantiles (linear interpolation, type 7 of Hyndman and Fan 1996) of the draws, widened to hold the estimate.

    draws: (B,) with NaN where the number is undefined. More than 5 % of such draws make the number undefined.
    """
    values = np.asarray(draws, dtype=np.float64)
    defined: FloatArray = values[np.isfinite(values)]
    lost = len(values) - len(defined)
    reason = _why(estimate, len(values), lost)
    if reason is not None or estimate is None:
        return Interval(None, None, None, level, method, len(defined), lost, reason)
    tail = (1 - level) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Interval(estimate, min(float(low), estimate), max(float(high), estimate), level, method, len(defined), lost)


def bootstrap_interval(
    estimate: float | None, draws: npt.ArrayLike, *, level: float = 0.95, method: str = "percentile bootstrap"
) -> Interval:
    """The same for bootstrap draws. Here undefined draws cost the interval, not the number: it is the sample's own."""
    found = posterior_interval(estimate, draws, level=level, method=method)
    if found.undefined is None or estimate is None or not np.isfinite(estimate):
        return found
    said = f"{method}: no interval, {found.undefined}"
    return Interval(estimate, None, None, level, said, found.draws, found.undefined_draws)


def _why(estimate: float | None, total: int, lost: int) -> str | None:
    if estimate is None or not np.isfinite(estimate):
        return "the estimate is 0/0: nothing to divide by"
    if not total:
        return "no draws"
    if lost > MAX_UNDEFINED * total:
        return f"undefined in {lost} of {total} draws: too few labels to say"
    return None


def t_interval(
    estimate: float, se: float, df: float, *, level: float = 0.95, lowest: float = 0.0, method: str = "t"
) -> Interval:
    """estimate +- t se, cut at [lowest, 1]. se NaN: there is no interval; df < 1 likewise."""
    if not np.isfinite(estimate):
        return Interval(None, None, None, level, method, undefined="the estimate is 0/0: nothing to divide by")
    if not np.isfinite(se) or df < 1:
        return Interval(estimate, None, None, level, method)
    half = t_quantile(0.5 + level / 2, df) * se
    return Interval(estimate, max(estimate - half, lowest), min(estimate + half, 1.0), level, method)
