"""What every coefficient returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One number with its interval, what it was computed from, and the names of the choices behind it.

    value: the coefficient, or None where `undefined` says why it cannot be had.
    se: its standard error, None where there is none to be had (`notes` then says why). se_null: under independence
    of two coders (for a test that kappa is 0), Cohen's kappa only.
    low, high: the interval at confidence `level` (0.95 means 95 %); `interval` names the method.
    n_units: units the number rests on; n_ignored: units given that it could not use (too few ratings).
    n_ratings, n_coders: ratings in the units used, and coders who gave at least one rating.
    convention: which published form, which weights, which labels.
    observed, expected: observed and chance agreement, where the coefficient has them.
    draws, undefined_draws: bootstrap draws asked for, and those left out because the coefficient was undefined.
    """

    name: str
    value: float | None
    se: float | None
    low: float | None
    high: float | None
    level: float
    n_units: int
    n_ignored: int
    n_ratings: int
    n_coders: int
    convention: str
    undefined: str | None = None
    interval: str | None = None
    observed: float | None = None
    expected: float | None = None
    labels: tuple[object, ...] = ()
    se_null: float | None = None
    draws: int = 0
    undefined_draws: int = 0
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.name}: undefined ({self.undefined})"
        bounds = "" if self.low is None or self.high is None else f" [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.name} {self.value:.3f}{bounds}, {self.n_units} units; {self.convention}"
