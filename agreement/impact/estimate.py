"""A number with its interval and its name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
MAX_UNDEFINED = 0.05


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate with its interval; `value` is None where `reason` says why, bounds are None where there is none.

    se: standard error (sd of the draws for resampling methods). method: the name to print next to the number.
    draws, undefined_draws: how many draws were used, and left out because the number was 0/0 in them.
    note: what a reader must be told.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    method: str = ""
    level: float = 0.95
    draws: int = 0
    undefined_draws: int = 0
    reason: str | None = None
    note: str | None = None

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def undefined(reason: str, method: str = "") -> Estimate:
    return Estimate(None, method=method, reason=reason)


def point(value: float, why: str, method: str = "") -> Estimate:
    """A value without an interval, or undefined with `why` where it is NaN."""
    return Estimate(float(value), method=method) if np.isfinite(value) else undefined(why, method)


def from_draws(value: float, draws: FloatArray, *, level: float, method: str, why: str) -> Estimate:
    """Quantiles of the draws (type 7 of Hyndman and Fan 1996), widened to hold the value.

    Draws where the number is undefined are left out and counted; more than 5 % of them make it undefined.
    """
    defined = draws[np.isfinite(draws)]
    lost = len(draws) - len(defined)
    if not np.isfinite(value):
        return undefined(why, method)
    if lost > MAX_UNDEFINED * len(draws):
        return Estimate(
            None,
            method=method,
            level=level,
            draws=len(defined),
            undefined_draws=lost,
            reason=f"undefined in {lost} of {len(draws)} draws: too few labels to say",
        )
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(
        float(value),
        min(float(low), float(value)),
        max(float(high), float(value)),
        float(defined.std(ddof=1)),
        method,
        level,
        len(defined),
        lost,
    )


def centred(
    value: float,
    draws: FloatArray,
    *,
    quantile: float,
    level: float,
    method: str,
    why: str,
    bounds: tuple[float, float],
) -> Estimate:
    """Bias-corrected estimate 2 S - mean(S*) with +- quantile * sd(S*), clipped to the score's bounds.

    For functions that noise pushes to one side, such as a calibration error, whose percentile interval is off twice.
    """
    defined = draws[np.isfinite(draws)]
    lost = len(draws) - len(defined)
    if not np.isfinite(value):
        return undefined(why, method)
    if lost > MAX_UNDEFINED * len(draws):
        return undefined(f"undefined in {lost} of {len(draws)} draws: too few labels to say", method)
    spread = float(defined.std(ddof=1))
    middle = float(2 * value - defined.mean())
    low, high, middle = np.clip([middle - quantile * spread, middle + quantile * spread, middle], *bounds)
    return Estimate(float(middle), float(low), float(high), spread, method, level, len(defined), lost)


def normal(
    value: float,
    se: float,
    *,
    quantile: float,
    level: float,
    method: str,
    why: str,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Estimate:
    """value +- quantile * se, clipped to the bounds."""
    if not np.isfinite(value):
        return undefined(why, method)
    if not np.isfinite(se):
        return Estimate(float(value), method=method, level=level, note="no interval: fewer than two units in a stratum")
    low, high = np.clip([value - quantile * se, value + quantile * se], *bounds)
    return Estimate(float(value), float(low), float(high), float(se), method, level)
