"""Allocation: hand computation, a textbook rule, exhaustive search and properties."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agreement.allocation import allocate, allocate_for_many, binary_deviations
from agreement.errors import AgreementError


def test_each_rule_by_hand():
    # sizes 900, 100: proportional 9:1, square root 30:10, equal 1:1
    assert allocate([900, 100], 40, "proportional").tolist() == [36, 4]
    assert allocate([900, 100], 40, "sqrt").tolist() == [30, 10]
    assert allocate([900, 100], 40, "equal").tolist() == [20, 20]
    # Neyman: 900 * .1 : 100 * .5 = 90 : 50
    assert allocate([900, 100], 14, "neyman", deviations=[0.1, 0.5]).tolist() == [9, 5]


def test_take_all_and_the_rest_again():
    # equal would give 20 each; the stratum of 5 is taken whole and its 15 go to the others
    assert allocate([5, 1000, 1000], 60, "equal").tolist() == [5, 28, 27]
    assert allocate([5, 7], 60).tolist() == [5, 7]


def test_floor_holds_for_tiny_strata_and_for_those_without_variance():
    assert allocate([10000, 10], 100, "proportional", floor=8).tolist() == [92, 8]
    assert allocate([100, 100], 20, "neyman", deviations=[0, 0.5]).tolist() == [2, 18]
    # both strata certain: nothing to choose by, the rest is spread by what is left
    assert allocate([100, 100], 20, "neyman", deviations=[0, 0]).sum() == 20
    assert allocate([100, 0, 100], 20).tolist() == [10, 0, 10]


def test_deviation_of_an_indicator():
    assert binary_deviations([0, 0.5, 0.2]) == pytest.approx([0, 0.5, 0.4])
    with pytest.raises(AgreementError, match="between 0 and 1"):
        binary_deviations([1.2])


def variance(n, sizes, spread):
    return sum(size**2 * (1 / m - 1 / size) * s**2 for m, size, s in zip(n, sizes, spread, strict=True))


def test_neyman_is_the_best_of_all_allocations():
    sizes, spread, n = [40, 25, 12], [0.1, 0.3, 0.5], 14
    found = allocate(sizes, n, "neyman", deviations=spread)
    every = [m for m in product(range(2, 13), repeat=3) if sum(m) == n]
    best = min(variance(m, sizes, spread) for m in every)
    assert variance(found, sizes, spread) == pytest.approx(best, rel=0.01)


def test_many_targets_minimise_the_worst_of_them():
    sizes = [40, 25, 12]
    squares = np.array([[0.25, 0.01, 0.01], [0.01, 0.01, 0.25]])
    totals = np.array([10.0, 4.0])

    def worst(m, function=max):
        return function(variance(m, sizes, np.sqrt(row)) / total**2 for row, total in zip(squares, totals, strict=True))

    every = [m for m in product(range(2, 13), range(2, 13), range(2, 13)) if sum(m) == 18]
    found = allocate_for_many(sizes, 18, squares, totals)
    assert worst(found) <= 1.1 * min(worst(m) for m in every)
    summed = allocate_for_many(sizes, 18, squares, totals, criterion="sum")
    assert worst(summed, sum) <= 1.02 * min(worst(m, sum) for m in every)


@example(sizes=[498], n=498, method="sqrt")  # the root's square is not quite 498
@given(
    st.lists(st.integers(0, 500), min_size=1, max_size=8).filter(any),
    st.integers(1, 600),
    st.sampled_from(["proportional", "equal", "sqrt"]),
)
def test_sizes_add_up_within_bounds(sizes, n, method):
    low = np.minimum(2, sizes)
    if n < low.sum():
        with pytest.raises(AgreementError, match="Take n of at least"):
            allocate(sizes, n, method)
        return
    found = allocate(sizes, n, method)
    assert found.sum() == min(n, sum(sizes))
    assert (found >= low).all()
    assert (found <= sizes).all()


def test_bad_input_is_told():
    with pytest.raises(AgreementError, match="whole numbers"):
        allocate([1.5], 2)
    with pytest.raises(AgreementError, match="needs the standard deviation"):
        allocate([10, 10], 5, "neyman")
    with pytest.raises(AgreementError, match="expected proportional"):
        allocate([10, 10], 5, "random")
    with pytest.raises(AgreementError, match="expected 2 numbers"):
        allocate([10, 10], 5, "neyman", deviations=[1])
    with pytest.raises(AgreementError, match="targets x 2 strata"):
        allocate_for_many([10, 10], 5, [[1]], [1])
