"""Intervals of a proportion that hold when counts are small: never outside [0, 1], never of width 0 by accident."""

from __future__ import annotations

from collections.abc import Callable

from agreement._quantiles import normal_quantile
from agreement._shares import ROUNDING
from agreement.errors import AgreementError
from agreement.intervals import Interval

SMALL = 5


def wilson_interval(share: float, n: float, *, level: float = 0.95) -> Interval:
    """Wilson (1927) score interval of a share of n units (or an effective size). Raises AgreementError for n <= 0."""
    share = _checked(share, n)
    z2 = normal_quantile(0.5 + level / 2) ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = (z2 * (share * (1 - share) / n + z2 / (4 * n * n))) ** 0.5 / (1 + z2 / n)
    return Interval(share, max(min(centre - half, share), 0.0), min(max(centre + half, share), 1.0), level, "Wilson")


def jeffreys_interval(share: float, n: float, *, level: float = 0.95) -> Interval:
    """Equal-tailed under the Beta(1/2, 1/2) prior, closed at 0 or 1 for none or all (Brown, Cai and DasGupta 2001)."""
    from scipy.special import betaincinv

    share = _checked(share, n)
    a, b, tail = share * n + 0.5, n - share * n + 0.5, (1 - level) / 2
    low = 0.0 if share == 0 else float(betaincinv(a, b, tail))
    high = 1.0 if share == 1 else float(betaincinv(a, b, 1 - tail))
    return Interval(share, low, high, level, "Jeffreys")


def area_interval(area: float, positives: float, negatives: float, *, level: float = 0.95) -> Interval:
    """Area under a ROC curve from few units, or 0 or 1: a score interval like Wilson's (Newcombe 2006, method 5).

    The bounds are the areas from which the observed one is z standard errors away, by the variance
    A (1 - A) [1 + k ((1 - A) / (2 - A) + A / (1 + A))] / (m n), k = (m + n) / 2 - 1.
    """
    area = _checked(area, min(positives, negatives))
    z, k = normal_quantile(0.5 + level / 2), (positives + negatives) / 2 - 1

    def gap(a: float) -> float:
        spread = a * (1 - a) * (1 + k * ((1 - a) / (2 - a) + a / (1 + a))) / (positives * negatives)
        return (area - a) ** 2 - z * z * spread

    return Interval(area, _root(gap, area, 0.0), _root(gap, area, 1.0), level, "Newcombe, small sample")


def _root(gap: Callable[[float], float], inside: float, outside: float) -> float:
    """Where `gap` turns positive between the observed area and the end of its range."""
    if gap(outside) <= 0 or inside == outside:
        return outside
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if gap(middle) <= 0 else (inside, middle)
    return outside


def is_small(hits: float, n: float) -> bool:
    """Fewer than 5 hits or misses: too few for a normal approximation."""
    return min(hits, n - hits) < SMALL


def _checked(share: float, n: float) -> float:
    """The share, a last digit beyond 0 or 1 cut off: weights that sum to 1 need not do so exactly."""
    inside = min(max(share, 0.0), 1.0)
    if not abs(share - inside) <= ROUNDING:
        raise AgreementError(f"a share is {share:g}, expected 0 to 1")
    if not n > 0:
        raise AgreementError(f"n is {n:g}: no unit, no interval")
    return inside
