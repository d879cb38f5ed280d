"""Keyword options that every coefficient takes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict

import numpy.typing as npt

from agreement._types import AnyArray
from agreement.errors import AgreementError

IntervalName: TypeAlias = Literal["auto", "analytic", "wilson", "percentile", "bca", "none"]
_INTERVALS = ("auto", "analytic", "wilson", "percentile", "bca", "none")


class Options(TypedDict, total=False):
    """Options of every coefficient.

    interval: "auto" (analytic; Wilson where fewer than five units disagree), "analytic", "wilson",
    "percentile" or "bca" (bootstrap over units, or over items where given), "none" (the value alone, no standard
    error).
    confidence: level of the interval, 0.95. draws, seed: of the bootstrap, 2000 and 0.
    unit_weights, items, strata, population: see `read_ratings`.
    """

    interval: IntervalName
    confidence: float
    draws: int
    seed: int
    unit_weights: npt.ArrayLike | None
    items: Sequence[Hashable] | AnyArray | None
    strata: Sequence[Hashable] | AnyArray | None
    population: int | Mapping[Hashable, int] | None


_KNOWN = frozenset(Options.__annotations__)


@dataclass(frozen=True, slots=True)
class IntervalPlan:
    """How the interval is to be had."""

    method: IntervalName = "auto"
    confidence: float = 0.95
    draws: int = 2000
    seed: int = 0


UNIT_OPTIONS = ("unit_weights", "items", "strata", "population")


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], IntervalPlan]:
    """What belongs to the units, and the interval's plan; raises TypeError on an unknown option, AgreementError on a
    bad value.
    """
    if not options.keys() <= _KNOWN:
        unknown = sorted(options.keys() - _KNOWN)
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}; options are {sorted(_KNOWN)}")
    plan = IntervalPlan(
        options.get("interval", "auto"),
        options.get("confidence", 0.95),
        options.get("draws", 2000),
        options.get("seed", 0),
    )
    if plan.method not in _INTERVALS:
        raise AgreementError(f"interval={plan.method!r} is unknown.", f"Use one of {', '.join(_INTERVALS)}.")
    if not 0 < plan.confidence < 1:
        raise AgreementError(f"confidence={plan.confidence!r} must lie between 0 and 1.", "For 95 % give 0.95.")
    if plan.draws < 100:
        raise AgreementError(f"draws={plan.draws!r} is too few for an interval.", "Give 1,000 or more.")
    return {name: options.get(name) for name in UNIT_OPTIONS}, plan
