"""Percent agreement of two coders where several units come from one item. Second source: statsmodels' Wilson."""

from __future__ import annotations

import pytest
from statsmodels.stats.proportion import proportion_confint

import agreement as ag


def units(*disagreements: int) -> tuple[list[list[str]], list[int]]:
    """Items of two units each, of which 0, 1 or 2 are disagreements."""
    rows, items = [], []
    for item, number in enumerate(disagreements):
        rows += [["a", "b" if unit < number else "a"] for unit in range(2)]
        items += [item, item]
    return rows, items


def half(found: ag.Coefficient) -> float:
    assert found.low is not None and found.high is not None
    return (found.high - found.low) / 2


def wilson_half(agree: int, n: int) -> float:
    low, high = proportion_confint(agree, n, method="wilson")
    return float(high - low) / 2


def test_units_that_know_nothing_of_each_other_count_as_units() -> None:
    # One in five disagrees; independent within pairs: .64, .32, .04 of 100 items have 0, 1, 2. So 200 units count.
    rows, items = units(*[0] * 64, *[1] * 32, *[2] * 4)
    found = ag.percent_agreement(rows, items=items)
    assert found.value == pytest.approx(0.8)
    assert half(found) == pytest.approx(wilson_half(160, 200), rel=0.03)


def test_units_that_all_say_the_same_count_as_their_item() -> None:
    rows, items = units(*[0] * 80, *[2] * 20)
    assert half(ag.percent_agreement(rows, items=items)) == pytest.approx(wilson_half(80, 100), rel=0.03)


def test_units_that_repel_each_other_never_count_for_more_than_they_are() -> None:
    # Every item has exactly one disagreement, two have another number: hardly any spread between items.
    rows, items = units(*[1] * 98, 0, 2)
    assert half(ag.percent_agreement(rows, items=items)) == pytest.approx(wilson_half(100, 200), rel=0.001)


def test_few_disagreements_leave_the_number_of_items() -> None:
    rows, items = units(*[0] * 97, *[1] * 3)
    assert half(ag.percent_agreement(rows, items=items)) == pytest.approx(wilson_half(197, 200) * 2**0.5, rel=0.15)
    none, items = units(*[0] * 100)
    assert half(ag.percent_agreement(none, items=items)) == pytest.approx(wilson_half(100, 100), rel=0.001)
