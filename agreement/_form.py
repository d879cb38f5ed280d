"""What a coefficient is called and how its intervals are built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FEW = 5
"""Fewer units than this that agree, or that disagree: no interval from a standard error."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a coefficient is called and how its analytic interval is built.

    divisor: "n" for the multinomial variance (Fleiss, Cohen and Everitt 1969), "n - 1" for Gwet's. bounds: the
    possible range. signed: whether below 0 means worse than chance. few: with fewer units than this that agree, or that
    disagree, the interval is Wilson's.
    """

    name: str
    convention: str
    distribution: Literal["normal", "t"] = "t"
    divisor: Literal["n", "n - 1"] = "n - 1"
    variance: str = "linearised"
    bounds: tuple[float, float] = (-1.0, 1.0)
    signed: bool = True
    few: float = FEW
