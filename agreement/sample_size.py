"""How many labels a number of given precision needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement._quantiles import normal_quantile
from agreement._types import FloatArray
from agreement.errors import AgreementError


@dataclass(frozen=True, slots=True)
class SampleSize:
    """n: units needed (the next whole number above `exact`). convention: formula and planning values, for print."""

    n: int
    exact: float
    convention: str


def kappa_sample_size(
    kappa: float, shares: float | Sequence[float], width: float, *, level: float = 0.95
) -> SampleSize:
    """Units that two coders must both label for an interval of Cohen's kappa of full width `width`.

    kappa: the value planned for. shares: label shares, the same for both coders: one number for two labels, or all of
    them, adding to 1. From the large-sample variance of Fleiss, Cohen and Everitt (1969) at p_kl = kappa pi_k 1[k=l] +
    (1 - kappa) pi_k pi_l; for two labels it equals Donner and Eliasziw (1992). Raises AgreementError on other values.
    """
    marginals = _marginals(shares)
    _between("kappa", kappa, -1, 1)
    _positive("width", width)
    table = kappa * np.diag(marginals) + (1 - kappa) * np.outer(marginals, marginals)
    if (table < 0).any():
        raise AgreementError(f"kappa {kappa:g} cannot occur with shares {', '.join(f'{p:g}' for p in marginals)}")
    exact = 4 * _quantile(level) ** 2 * kappa_variance(table) / width**2
    named = f"Fleiss-Cohen-Everitt variance at kappa {kappa:g}, {len(marginals)} labels, two coders"
    return SampleSize(_up(exact), exact, named)


def kappa_variance(table: npt.ArrayLike) -> float:
    """n times the variance of Cohen's kappa from the table of cell shares (Fleiss, Cohen and Everitt 1969)."""
    p = np.asarray(table, np.float64)
    row, column = p.sum(axis=1), p.sum(axis=0)
    chance, same = float(row @ column), np.diag(p)
    if chance >= 1:
        raise AgreementError("one label only: kappa has no variance")
    kappa = (float(same.sum()) - chance) / (1 - chance)
    agree = float((same * (1 - (row + column) * (1 - kappa)) ** 2).sum())
    apart = (column[:, None] + row[None, :]) ** 2 * p
    disagree = (1 - kappa) ** 2 * float(apart.sum() - np.trace(apart))
    return (agree + disagree - (kappa - chance * (1 - kappa)) ** 2) / (1 - chance) ** 2


def pilot_sample_size(n_pilot: int, width_pilot: float, width: float) -> SampleSize:
    """Units for any coefficient by scaling a pilot's interval: width falls with the square root of n."""
    _positive("n_pilot", n_pilot)
    _positive("width_pilot", width_pilot)
    _positive("width", width)
    exact = n_pilot * (width_pilot / width) ** 2
    return SampleSize(_up(exact), exact, f"pilot of {n_pilot} units with width {width_pilot:g}, scaled")


def rate_sample_size(
    rate: float, width: float, *, correlation: float = 0.0, corpus: int | None = None, level: float = 0.95
) -> SampleSize:
    """Labels for a rate corrected by a judge, interval of full width `width`.

    correlation: of human and judge indicator in [-1, 1]; the judge saves the factor 1 - correlation^2 (Angelopoulos,
    Duchi and Zrnic 2023; Cochran 1977, 7.3). corpus: N records, all with judge labels; the interval is then for them
    and n shrinks to n / (1 + n / N).
    """
    _between("rate", rate, 0, 1)
    _between("correlation", correlation, -1, 1)
    _positive("width", width)
    spread = rate * (1 - rate) * (1 - correlation**2)
    exact = _finite(_quantile(level) ** 2 * spread / (width / 2) ** 2, corpus)
    return SampleSize(_up(exact), exact, f"rate {rate:g}, judge correlation {correlation:g}{_corpus(corpus)}")


def difference_sample_size(
    rate_a: float,
    rate_b: float,
    *,
    correlation_a: float = 0.0,
    correlation_b: float = 0.0,
    corpus: int | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> SampleSize:
    """Labels *per model* that settle the difference of two models' rates with the given chance.

    The two samples are drawn separately; correlations as in `rate_sample_size`, corpus: N records per model.
    Raises AgreementError when the rates are equal: no number of labels settles a tie.
    """
    if rate_a == rate_b:
        raise AgreementError("the rates are equal: no number of labels settles a tie")
    _between("power", power, 0, 1)
    spread = 0.0
    for rate, correlation in ((rate_a, correlation_a), (rate_b, correlation_b)):
        _between("rate", rate, 0, 1)
        _between("correlation", correlation, -1, 1)
        spread += rate * (1 - rate) * (1 - correlation**2)
    both = _quantile(level) + normal_quantile(power)
    exact = _finite(both**2 * spread / (rate_a - rate_b) ** 2, corpus)
    named = f"difference {abs(rate_a - rate_b):g} of two models, power {power:g}{_corpus(corpus)}, labels per model"
    return SampleSize(_up(exact), exact, named)


def _finite(n: float, corpus: int | None) -> float:
    if corpus is None:
        return n
    _positive("corpus", corpus)
    return n / (1 + n / corpus)


def _corpus(corpus: int | None) -> str:
    return "" if corpus is None else f", corpus of {corpus}"


def _marginals(shares: float | Sequence[float]) -> FloatArray:
    if isinstance(shares, (int, float)):
        _between("share", shares, 0, 1)
        return np.array([shares, 1 - shares])
    marginals = np.asarray(shares, np.float64)
    if len(marginals) < 2 or np.any(marginals < 0) or abs(marginals.sum() - 1) > 1e-9:
        raise AgreementError("shares must be at least two numbers that are not negative and add to 1")
    return marginals


def _quantile(level: float) -> float:
    _between("level", level, 0, 1)
    return normal_quantile(0.5 + level / 2)


def _up(exact: float) -> int:
    """The next whole number, without a unit more for the rounding of an exact one."""
    return math.ceil(exact - 1e-9)


def _between(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise AgreementError(f"{name} is {value:g}, expected a number between {low} and {high}")


def _positive(name: str, value: float) -> None:
    if not value > 0:
        raise AgreementError(f"{name} is {value:g}, expected a number above 0")
