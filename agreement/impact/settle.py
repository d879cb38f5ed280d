"""How many further labels would settle a close pair of models at 95 %.

A model's variance with n of N records labelled is v (1/n - 1/N), so v = SE^2 / (1/n - 1/N). k more labels for each of
the two settle the pair, with a chance of 80 % if the difference is as estimated, when |d| >= (1.960 + .842) SE(k); with
an even chance when |d| >= 1.960 SE(k). The difference is itself uncertain, so the answer is given for both ends of its
interval too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Z_LEVEL, Z_POWER = 1.959963984540054, 0.8416212335729143


@dataclass(frozen=True, slots=True)
class Standing:
    """A model's estimate: standard error, labels behind it, records of the corpus, and the part of its variance that
    comes from the questions and that labels cannot reduce (0 for the corpus at hand)."""

    se: float
    labelled: int
    records: int
    question_variance: float = 0.0
    population: bool = False

    @property
    def unit_variance(self) -> float:
        """v: the variance that one label would leave, finite form."""
        left = 1 / self.labelled - (0 if self.population else 1 / self.records)
        return (self.se**2 - self.question_variance) / left if left > 0 else 0.0

    def variance(self, extra: int) -> float:
        """Variance with `extra` more labels, in the same allocation."""
        n = min(self.labelled + extra, self.records)
        left = 1 / n - (0 if self.population else 1 / self.records)
        return self.question_variance + self.unit_variance * left


@dataclass(frozen=True, slots=True)
class LabelsNeeded:
    """extra: labels more for each of the two models (total 2k), None where no number does; reason then says why."""

    extra: int | None
    total: int | None
    even_chance: int | None
    reason: str | None = None
    at_low: int | None = None
    at_high: int | None = None
    uncertain: bool = False


def labels_needed(
    difference: float, first: Standing, second: Standing, interval: tuple[float, float] | None = None
) -> LabelsNeeded:
    """Labels that would settle a pair whose scores differ by `difference`; interval: both ends of it, if known."""
    if abs(difference) < 1e-12:
        return LabelsNeeded(None, None, None, "no number of labels: estimated tie")
    extra = _smallest(difference, first, second, Z_LEVEL + Z_POWER)
    even = _smallest(difference, first, second, Z_LEVEL)
    if extra is None:
        return LabelsNeeded(None, None, even, "not by labels; more questions are needed")
    whole = max(first.records - first.labelled, second.records - second.labelled)
    reason = "only by labelling all" if extra >= whole else None
    ends = interval or (difference, difference)
    near, far = sorted(ends, key=abs)
    crosses = ends[0] * ends[1] <= 0
    return LabelsNeeded(
        extra,
        2 * extra,
        even,
        reason,
        at_low=None if crosses else _smallest(near, first, second, Z_LEVEL + Z_POWER),
        at_high=_smallest(far, first, second, Z_LEVEL + Z_POWER),
        uncertain=crosses,
    )


def _smallest(difference: float, first: Standing, second: Standing, factor: float) -> int | None:
    """The smallest k with |d| >= factor SE(k), by bisection; None when labelling everything would not do."""
    most = max(first.records - first.labelled, second.records - second.labelled, 0)

    def settles(k: int) -> bool:
        error = float(np.sqrt(max(first.variance(k) + second.variance(k), 0.0)))
        return abs(difference) >= factor * error - 1e-12

    if not settles(most):
        return None
    low, high = -1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if settles(middle) else (middle, high)
    return high
