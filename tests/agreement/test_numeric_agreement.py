"""Intraclass correlation, concordance, bias and limits of agreement."""

from __future__ import annotations

import math

import numpy as np
import pytest

import agreement as ag

# Anxiety of 20 subjects by 3 raters (R irr, data `anxiety`).
ANXIETY = [
    [3, 3, 2],
    [3, 6, 1],
    [3, 4, 4],
    [4, 6, 4],
    [5, 2, 3],
    [5, 4, 2],
    [2, 2, 1],
    [3, 4, 6],
    [5, 3, 1],
    [2, 3, 1],
    [2, 2, 1],
    [6, 3, 2],
    [1, 3, 3],
    [5, 3, 3],
    [2, 2, 1],
    [2, 2, 1],
    [1, 1, 3],
    [2, 3, 3],
    [4, 3, 2],
    [3, 4, 2],
]
# Shrout and Fleiss (1979), table 2: 6 targets by 4 judges.
SHROUT = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


@pytest.mark.parametrize(
    ("form", "value", "low", "high"), [("A,1", 0.198, -0.039, 0.494), ("C,1", 0.216, -0.046, 0.522)]
)
def test_anxiety(form, value, low, high):
    """As R irr prints them."""
    got = ag.icc(ANXIETY, form=form)
    assert (round(got.value, 3), round(got.low, 3), round(got.high, 3)) == (value, low, high)
    assert got.interval == "F distribution, McGraw and Wong 1996"


@pytest.mark.parametrize(
    ("form", "value", "low", "high"),
    [("A,1", 0.29, 0.019, 0.76), ("C,1", 0.71, 0.34, 0.95), ("A,k", 0.62, 0.071, 0.93), ("C,k", 0.91, 0.68, 0.99)],
)
def test_shrout_and_fleiss(form, value, low, high):
    """ICC(2,1), (3,1), (2,k), (3,k) of Shrout and Fleiss (1979), intervals as R psych prints them."""
    got = ag.icc(SHROUT, form=form)
    assert got.value == pytest.approx(value, abs=0.005)
    assert got.low == pytest.approx(low, abs=0.005)
    assert got.high == pytest.approx(high, abs=0.005)


def test_icc_from_mean_squares_by_hand():
    """Shrout and Fleiss print BMS 11.24, JMS 32.49, EMS 1.02 (n 6, k 4)."""
    between, judges, error = 11.24, 32.49, 1.02
    agreement = (between - error) / (between + 3 * error + 4 * (judges - error) / 6)
    assert ag.icc(SHROUT, form="A,1").value == pytest.approx(agreement, abs=0.001)
    assert ag.icc(SHROUT, form="C,k").value == pytest.approx((between - error) / between, abs=0.001)


def test_units_without_every_rating_are_left_out_and_counted():
    got = ag.icc([*ANXIETY, [1, None, 2]])
    assert (got.n_units, got.n_ignored) == (20, 1)
    assert got.value == pytest.approx(ag.icc(ANXIETY).value)


def test_icc_does_not_know_zero_or_unit():
    ratings = np.array(ANXIETY, float)
    for form in ("A,1", "C,1", "A,k", "C,k"):
        assert ag.icc(1e6 + 0.01 * ratings, form=form).value == pytest.approx(
            ag.icc(ratings, form=form).value, abs=1e-6
        )


def test_icc_with_weights_is_icc_of_units_repeated():
    thrice = [unit for unit in ANXIETY for _ in range(3)]
    got = ag.icc(ANXIETY, unit_weights=[3.0] * 20)
    assert got.value == pytest.approx(ag.icc(thrice).value)
    assert "design weights" in got.convention
    assert "linearised" in got.interval


def test_icc_undefined():
    assert ag.icc([[1, None], [2, None]]).undefined == "only one coder: agreement needs two or more ratings of a unit"
    assert ag.icc([[1, None], [None, 2]]).undefined == "no unit has a rating from every coder"
    assert ag.icc([[1, 2]]).undefined == "one unit: no variance between units"
    assert ag.icc([[0.1, 0.1]] * 9).undefined == "no variation: the ratings are all alike"
    assert ag.icc([[1], [2]]).undefined == "only one coder: agreement needs two or more ratings of a unit"
    with pytest.raises(ag.AgreementError, match="form='2,1' is unknown"):
        ag.icc(ANXIETY, form="2,1")


def test_lin_by_hand():
    """x = 1 2 3 4, y = 2 2 4 4: means 2.5 and 3, s_x^2 = 1.25, s_y^2 = 1, s_xy = 1 (over n): 2 / (2.25 + .25) = .8."""
    got = ag.lin_concordance([[1, 2], [2, 2], [3, 4], [4, 4]])
    assert got.value == pytest.approx(0.8)
    assert got.low < 0.8 < got.high
    assert got.interval == "linearised, Fisher's z, t with 3 df"


def test_concordance_of_several_coders_from_pairs():
    """Barnhart, Haber and Song (2002): pair coefficients weighted by their denominators."""
    x = np.array(ANXIETY, float)
    top = bottom = 0.0
    for i, j in ((0, 1), (0, 2), (1, 2)):
        covariance = np.cov(x[:, i], x[:, j], ddof=0)
        top += 2 * covariance[0, 1]
        bottom += covariance[0, 0] + covariance[1, 1] + (x[:, i].mean() - x[:, j].mean()) ** 2
    assert ag.lin_concordance(x).value == pytest.approx(top / bottom)


def test_concordance_standard_error_is_the_jackknifes():
    rng = np.random.default_rng(3)
    truth = rng.normal(60, 15, 200)
    ratings = np.column_stack([truth + rng.normal(0, 6, 200), truth + rng.normal(2, 6, 200)])
    left = [ag.lin_concordance(np.delete(ratings, i, axis=0), interval="none").value for i in range(200)]
    assert ag.lin_concordance(ratings).se == pytest.approx(math.sqrt(199 * np.var(left)), rel=0.02)


def test_bland_altman_by_hand():
    """Differences -1, 0, 1, 2: mean .5, sd 1.290994; limits .5 -+ 1.959964 sd."""
    got = ag.bland_altman([1, 2, 4, 6, 9], [2, 2, 3, 4, None])
    sd = math.sqrt(5 / 3)
    assert (got.bias.value, got.sd) == (pytest.approx(0.5), pytest.approx(sd))
    assert got.lower.value == pytest.approx(0.5 - 1.959964 * sd, abs=1e-6)
    assert got.upper.value == pytest.approx(0.5 + 1.959964 * sd, abs=1e-6)
    # t(3, .975) = 3.182446
    assert got.bias.high == pytest.approx(0.5 + 3.182446 * sd / 2, abs=1e-6)
    assert got.upper.se == pytest.approx(sd * math.sqrt(1 / 4 + 1.959964**2 / 6), abs=1e-6)
    assert (got.bias.n_units, got.bias.n_ignored) == (4, 1)


def test_bland_altman_trend():
    """second = 2 first: the difference falls by 1 for each 1.5 the mean rises."""
    got = ag.bland_altman([1.0, 2, 3], [2.0, 4, 6])
    assert got.slope == pytest.approx(-2 / 3)
    assert ag.bland_altman([1.0, 2], [2.0, 1]).slope is None


def test_bland_altman_undefined():
    got = ag.bland_altman([1, None], [None, 2])
    assert got.bias.undefined == got.lower.undefined == "no unit was rated by both"
    assert ag.bland_altman([1], [2]).upper.undefined == "one unit rated by both: no standard deviation"


def test_bland_altman_exact_data_from_the_paper_of_1986():
    """Peak flow (Bland and Altman 1986), Wright against mini meter: mean -2.1, sd 38.8, limits -79.7 and 75.5 (their
    2 sd).
    """
    wright = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
    mini = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]
    got = ag.bland_altman(wright, mini)
    assert round(got.bias.value, 1) == -2.1
    assert round(got.sd, 1) == 38.8
    two = ag.bland_altman(wright, mini, coverage=0.9544997)  # mean -+ 2 sd, which they took from rounded figures
    assert two.lower.value == pytest.approx(-79.7, abs=0.15)
    assert two.upper.value == pytest.approx(75.5, abs=0.15)


def test_interval_alpha_of_many_real_numbers_is_linear_in_memory():
    """200,000 x 2 distinct values: a distinct-value square would need 1.2 TB."""
    import tracemalloc

    rng = np.random.default_rng(0)
    truth = rng.uniform(0, 100, 200_000)
    ratings = np.clip(truth[:, None] + rng.normal(0, 5, (200_000, 2)), 0, 100)
    tracemalloc.start()
    got = ag.krippendorff_alpha(ratings, level="interval")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6
    # variance 100^2 / 12 of the truth against 25 of the error, ends cut off
    assert got.value == pytest.approx(1 - 25 / (100**2 / 12 + 25), abs=0.003)


def test_bland_altman_with_weights_is_units_repeated():
    """Bias and spread (with n) are those of the units written out; only the small-sample factor of sd knows the
    difference.
    """
    first, second, weights = [1.0, 2, 4, 6], [2.0, 2, 3, 4], [3, 1, 2, 2]
    got = ag.bland_altman(first, second, unit_weights=weights)
    long = [np.repeat(side, weights) for side in (first, second)]
    want = ag.bland_altman(*long)
    n = 8**2 / (9 + 1 + 4 + 4)
    assert got.bias.value == pytest.approx(want.bias.value)
    assert got.slope == pytest.approx(want.slope)
    assert got.sd**2 * (n - 1) / n == pytest.approx(want.sd**2 * 7 / 8)
    same = ag.bland_altman(first, second, unit_weights=[1, 1, 1, 1])
    assert (same.bias.se, same.upper.se) == (
        pytest.approx(ag.bland_altman(first, second).bias.se),
        pytest.approx(ag.bland_altman(first, second).upper.se),
    )


def test_numeric_coefficients_by_pair_and_stratum():
    pairs = ag.by_pair(ag.icc, ANXIETY, form="C,1")
    assert pairs[0, 2].value == pytest.approx(ag.icc([[a, c] for a, _, c in ANXIETY], form="C,1").value)
    strata = ["x", "y"] * 10
    parts = ag.by_stratum(ag.lin_concordance, ANXIETY, strata)
    assert parts["y"].value == pytest.approx(ag.lin_concordance(ANXIETY[1::2]).value)
    with_items = ag.read_ratings(ANXIETY, items=[i // 2 for i in range(20)])
    direct = ag.icc(ANXIETY, items=[i // 2 for i in range(20)])
    assert ag.icc(with_items) == direct
    assert direct.se != pytest.approx(ag.icc(ANXIETY).se)
    assert (
        ag.bland_altman([[a, b] for a, b, _ in ANXIETY]).bias
        == ag.bland_altman(*list(zip(*ANXIETY, strict=True))[:2]).bias
    )
    with pytest.raises(ag.AgreementError, match="need two coders, the ratings have 3"):
        ag.bland_altman(ANXIETY)


def test_lin_with_unbiased_moments():
    """x = 1 2 3 4, y = 2 2 4 4 over n - 1: s_x^2 5/3, s_y^2 4/3, s_xy 4/3: (8/3) / (3 + 1/4)."""
    got = ag.lin_concordance([[1, 2], [2, 2], [3, 4], [4, 4]], divisor="n - 1")
    assert got.value == pytest.approx((8 / 3) / 3.25)
    assert "moments over n - 1" in got.convention
