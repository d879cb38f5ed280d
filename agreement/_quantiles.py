"""Quantiles, loaded when first needed: scipy costs more to import than everything else here."""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist

_STANDARD = NormalDist()


def normal_quantile(p: float) -> float:
    """Standard normal quantile."""
    return _STANDARD.inv_cdf(p)


def normal_cdf(x: float) -> float:
    """Standard normal distribution function."""
    return _STANDARD.cdf(x)


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: float) -> float:
    """Student's t quantile."""
    from scipy.special import stdtrit

    return float(stdtrit(df, p))


def f_quantile(p: float, df1: float, df2: float) -> float:
    """F quantile."""
    from scipy.special import fdtri

    return float(fdtri(df1, df2, p))
