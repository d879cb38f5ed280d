"""Agreement coefficients by their definitions, in exact rationals, with plain loops over ratings.

Nothing here is shared with the package: no patterns, no totals, no marginal tables. Chance agreement is counted over
pairs of ratings that could have met, as the papers define it. `ratings` is a list of units, each a list of one label
or None a coder; `v(x, y)` is the disagreement of two labels; `weights` one Fraction a unit. None where a coefficient
is undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

Label = Any
Disagreement = Callable[[Label, Label], Fraction]
Units = Sequence[Sequence[Label]]


def nominal(x: Label, y: Label) -> Fraction:
    return Fraction(int(x != y))


def linear(scale: Sequence[Label]) -> Disagreement:
    return lambda x, y: Fraction(abs(scale.index(x) - scale.index(y)), max(len(scale) - 1, 1))


def quadratic(scale: Sequence[Label]) -> Disagreement:
    return lambda x, y: linear(scale)(x, y) ** 2


def linear_values(values: Sequence[int]) -> Disagreement:
    reach = max(values) - min(values) or 1
    return lambda x, y: Fraction(abs(x - y), reach)


def quadratic_values(values: Sequence[int]) -> Disagreement:
    return lambda x, y: linear_values(values)(x, y) ** 2


def ordinal_weights(scale: Sequence[Label]) -> Disagreement:
    """Gwet's: pairs of ranks between k and l, both ends included, over the pairs on the whole scale."""

    def v(x: Label, y: Label) -> Fraction:
        steps = abs(scale.index(x) - scale.index(y)) + 1
        return Fraction(steps * (steps - 1) // 2, max(len(scale) * (len(scale) - 1) // 2, 1))

    return v


def given(unit: Sequence[Label]) -> list[Label]:
    return [label for label in unit if label is not None]


def _ones(ratings: Units, weights: Sequence[Fraction] | None) -> list[Fraction]:
    return [Fraction(1)] * len(ratings) if weights is None else list(weights)


def observed_disagreement(
    ratings: Units, v: Disagreement, weights: Sequence[Fraction] | None = None
) -> Fraction | None:
    """Mean over units with two or more ratings of the mean disagreement of their ordered pairs of ratings."""
    top, bottom = Fraction(0), Fraction(0)
    for unit, w in zip(ratings, _ones(ratings, weights), strict=True):
        pairs = list(permutations(given(unit), 2))
        if pairs:
            top += w * sum((v(x, y) for x, y in pairs), Fraction(0)) / len(pairs)
            bottom += w
    return top / bottom if bottom else None


def percent(ratings: Units, v: Disagreement = nominal, weights: Sequence[Fraction] | None = None) -> Fraction | None:
    apart = observed_disagreement(ratings, v, weights)
    return None if apart is None else 1 - apart


def _corrected(apart: Fraction | None, expected: Fraction | None) -> Fraction | None:
    return None if apart is None or not expected else 1 - apart / expected


def cohen(
    a: Sequence[Label], b: Sequence[Label], v: Disagreement = nominal, weights: Sequence[Fraction] | None = None
) -> Fraction | None:
    """Observed: a unit's two labels. Expected: the first label of one unit met with the second label of any unit."""
    units = [(x, y) for x, y in zip(a, b, strict=True)]
    kept = [
        (x, y, w) for (x, y), w in zip(units, _ones(units, weights), strict=True) if x is not None and y is not None
    ]
    total = sum((w for _, _, w in kept), Fraction(0))
    if not total:
        return None
    apart = sum((w * v(x, y) for x, y, w in kept), Fraction(0)) / total
    expected = sum((w * u * v(x, y) for (x, _, w), (_, y, u) in product(kept, kept)), Fraction(0)) / total**2
    return _corrected(apart, expected)


def light(ratings: Units, v: Disagreement = nominal) -> Fraction | None:
    coders = list(zip(*ratings, strict=True))
    values = [cohen(a, b, v) for a, b in combinations(coders, 2)]
    known = [value for value in values if value is not None]
    return sum(known, Fraction(0)) / len(known) if known else None


def fleiss(ratings: Units, v: Disagreement = nominal, weights: Sequence[Fraction] | None = None) -> Fraction | None:
    """Gwet's form: a rating drawn at random from a random rated unit, met with another drawn the same way."""
    kept = [(given(u), w) for u, w in zip(ratings, _ones(ratings, weights), strict=True) if given(u)]
    total = sum((w for _, w in kept), Fraction(0))
    expected = Fraction(0)
    for (one, w), (other, u) in product(kept, kept):
        meet = sum((v(x, y) for x, y in product(one, other)), Fraction(0)) / (len(one) * len(other))
        expected += w * u * meet / total**2
    return _corrected(observed_disagreement(ratings, v, weights), expected)


def fleiss_pooled(ratings: Units, v: Disagreement = nominal) -> Fraction | None:
    """A rating drawn at random from all ratings of units with two or more, met with another, itself included."""
    pool = [label for unit in ratings if len(given(unit)) > 1 for label in given(unit)]
    if not pool:
        return None
    expected = sum((v(x, y) for x, y in product(pool, pool)), Fraction(0)) / len(pool) ** 2
    return _corrected(observed_disagreement(ratings, v), expected)


def fleiss_pairs(ratings: Units, v: Disagreement = nominal) -> Fraction | None:
    """Every ordered pair of ratings of a unit is one entry of a table; pi of the table."""
    entries = [pair for unit in ratings for pair in permutations(given(unit), 2)]
    if not entries:
        return None
    apart = sum((v(x, y) for x, y in entries), Fraction(0)) / len(entries)
    expected = sum((v(x, y) for (x, _), (y, _) in product(entries, entries)), Fraction(0)) / len(entries) ** 2
    return _corrected(apart, expected)


def conger(ratings: Units, v: Disagreement = nominal) -> Fraction | None:
    """A rating of one coder met with a rating of another coder, coders drawn first."""
    coders = [[x for x in column if x is not None] for column in zip(*ratings, strict=True)]
    coders = [labels for labels in coders if labels]
    if len(coders) < 2:
        return None
    expected = Fraction(0)
    for one, other in permutations(coders, 2):
        expected += sum((v(x, y) for x, y in product(one, other)), Fraction(0)) / (len(one) * len(other))
    return _corrected(observed_disagreement(ratings, v), expected / (len(coders) * (len(coders) - 1)))


def _mean_share(ratings: Units, label: Label, weights: Sequence[Fraction] | None) -> Fraction:
    kept = [(given(u), w) for u, w in zip(ratings, _ones(ratings, weights), strict=True) if given(u)]
    total = sum((w for _, w in kept), Fraction(0))
    return sum((w * Fraction(unit.count(label), len(unit)) for unit, w in kept), Fraction(0)) / total


def gwet_ac(
    ratings: Units, labels: Sequence[Label], v: Disagreement = nominal, weights: Sequence[Fraction] | None = None
) -> Fraction | None:
    q = len(labels)
    apart = observed_disagreement(ratings, v, weights)
    if q < 2 or apart is None:
        return None
    agreement = sum((1 - v(x, y) for x, y in product(labels, labels)), Fraction(0))
    spread = sum((p * (1 - p) for p in (_mean_share(ratings, x, weights) for x in labels)), Fraction(0))
    return _corrected(apart, 1 - agreement * spread / (q * (q - 1)))


def brennan_prediger(
    ratings: Units, labels: Sequence[Label], v: Disagreement = nominal, weights: Sequence[Fraction] | None = None
) -> Fraction | None:
    """Any label met with any label, all equally likely."""
    expected = sum((v(x, y) for x, y in product(labels, labels)), Fraction(0)) / len(labels) ** 2
    return _corrected(observed_disagreement(ratings, v, weights), expected)


def alpha(ratings: Units, level: str = "nominal", scale: Sequence[Label] = ()) -> Fraction | None:
    """Pairs within units against all pairs of different ratings, a unit with m ratings counted m times."""
    units = [given(unit) for unit in ratings if len(given(unit)) > 1]
    pool = [label for unit in units for label in unit]
    if not pool:
        return None
    metric = _metric(level, pool, scale)
    within = sum((metric(x, y) / (len(unit) - 1) for unit in units for x, y in permutations(unit, 2)), Fraction(0))
    n = len(pool)
    among = sum((metric(x, y) for x, y in permutations(pool, 2)), Fraction(0))
    return _corrected(within / n, among / (n * (n - 1)))


def _metric(level: str, pool: Sequence[Label], scale: Sequence[Label]) -> Disagreement:
    if level == "nominal":
        return nominal
    if level == "interval":
        return lambda x, y: Fraction(x - y) ** 2
    if level == "ratio":
        return lambda x, y: Fraction(x - y, x + y) ** 2 if x + y else Fraction(0)

    def ordinal(x: Label, y: Label) -> Fraction:
        low, high = sorted((scale.index(x), scale.index(y)))
        between = sum(pool.count(label) for label in scale[low : high + 1])
        return (between - Fraction(pool.count(x) + pool.count(y), 2)) ** 2

    return ordinal


def specific(ratings: Units, label: Label) -> Fraction | None:
    """Of the ordered pairs of ratings whose first is `label`, the share whose second is too."""
    pairs = [pair for unit in ratings for pair in permutations(given(unit), 2) if pair[0] == label]
    return Fraction(sum(1 for _, y in pairs if y == label), len(pairs)) if pairs else None
