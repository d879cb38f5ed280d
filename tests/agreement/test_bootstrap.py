"""The bootstrap over counts of patterns: the distribution, the seed, the undefined draws, items and strata."""

from __future__ import annotations

import numpy as np
import pytest

import agreement as ag
from agreement._bootstrap import bca_interval, draw_values
from agreement._nominal import MeanMargins, PercentAgreement, PooledMargins
from agreement._sample import blocks_of, sample_of
from tests.agreement.probes import CODERS, UNITS


def simulated(n, coders, seed=0, gaps=0.2, right=0.7):
    rng = np.random.default_rng(seed)
    truth = rng.choice([1, 2, 3], n, p=[0.6, 0.3, 0.1])
    ratings = np.where(rng.random((n, coders)) < right, truth[:, None], rng.integers(1, 4, (n, coders))).astype(float)
    ratings[rng.random((n, coders)) < gaps] = np.nan
    return ratings


def draws_of(statistic, ratings, draws, seed=0):
    table = ag.read_ratings(ratings)
    return draw_values(statistic, blocks_of(statistic, sample_of(statistic, table)), draws, seed)


def test_draws_are_those_of_resampling_rows():
    """Mean and spread of 20,000 draws from counts against 4,000 plain resamples of rows, recomputed from scratch."""
    ratings = simulated(60, 3, seed=3)
    rated = ratings[(~np.isnan(ratings)).sum(axis=1) >= 2]
    v = 1 - np.eye(3)
    quick = draws_of(PooledMargins(v, "alpha", small_sample=True), ratings, 20_000).values
    rng = np.random.default_rng(1)
    rows = [rated[rng.integers(0, len(rated), len(rated))] for _ in range(4_000)]
    plain = np.array([ag.krippendorff_alpha(r, interval="none").value for r in rows])
    spread = plain.std()
    assert quick.mean() == pytest.approx(plain.mean(), abs=4 * spread / np.sqrt(4_000))
    assert quick.std() == pytest.approx(spread, rel=0.06)
    for tail in (0.025, 0.5, 0.975):
        assert np.quantile(quick, tail) == pytest.approx(np.quantile(plain, tail), abs=0.15 * spread)


@pytest.mark.parametrize("n", [40, 4_000])
def test_percent_agreement_draws_are_binomial(n):
    """Both ways of drawing (by unit, by pattern): the mean of n draws has variance p (1 - p) / n."""
    pairs = [[1, 1]] * (3 * n // 4) + [[1, 2]] * (n // 4)
    draws = draws_of(PercentAgreement(1 - np.eye(2)), pairs, 20_000).values
    assert draws.mean() == pytest.approx(0.75, abs=0.005)
    assert draws.std() == pytest.approx(np.sqrt(0.75 * 0.25 / n), rel=0.03)
    assert np.allclose(draws * n, np.round(draws * n))


def test_the_seed_fixes_every_digit():
    ratings = simulated(200, 4)
    for interval in ("percentile", "bca"):
        one, same, other = (ag.gwet_ac(ratings, interval=interval, seed=seed) for seed in (7, 7, 8))
        assert one == same
        assert (one.low, one.high) != (other.low, other.high)
    shuffled = ratings[np.random.default_rng(2).permutation(len(ratings))]
    assert ag.gwet_ac(shuffled, interval="bca", seed=7) == ag.gwet_ac(ratings, interval="bca", seed=7)
    text = [[None if np.isnan(x) else "abc"[int(x) - 1] for x in unit] for unit in ratings]
    turned = [text[i] for i in np.random.default_rng(3).permutation(len(text))]
    for coefficient in (ag.light_kappa, ag.conger_kappa, ag.krippendorff_alpha):
        assert coefficient(turned, interval="percentile") == coefficient(text, interval="percentile")


def test_pinned_draws():
    """The same numbers on every machine: multinomial counts of a PCG64 stream, [[20, 5], [10, 15]], seed 0."""
    got = ag.cohen_kappa(ag.from_table([[20, 5], [10, 15]]), interval="percentile", draws=2000, seed=0)
    again = ag.cohen_kappa([1] * 25 + [2] * 25, [1] * 20 + [2] * 5 + [1] * 10 + [2] * 15, interval="percentile")
    assert (got.low, got.high) == (again.low, again.high)
    assert (got.low, got.high) == (pytest.approx(0.146, abs=0.03), pytest.approx(0.640, abs=0.03))


def test_undefined_draws_are_counted_and_left_out():
    """One unit of 8 disagrees: a draw without it has one label, chance (7/8)^8 = .3436 of all draws: no interval."""
    ratings = [[1, 1]] * 7 + [[1, 2]]
    got = ag.krippendorff_alpha(ratings, interval="percentile", draws=4000)
    assert got.undefined_draws / 4000 == pytest.approx(0.3436, abs=0.03)
    assert (got.low, got.high) == (None, None)
    assert "undefined in" in got.notes[0]
    rare = [[1, 1]] * 10 + [[2, 2]] * 2 + [[1, 2]]  # all units of label 1 only: (10/13)^13 = .033
    got = ag.krippendorff_alpha(rare, interval="percentile", draws=4000)
    assert got.undefined_draws / 4000 == pytest.approx(0.033, abs=0.012)
    assert got.low is not None


def test_bca_against_its_formula_in_plain_loops():
    """Efron (1987): acceleration from the plain jackknife over units, ends from quantiles of the same draws."""
    from statistics import NormalDist

    normal = NormalDist()
    ratings = simulated(40, 3, seed=11, gaps=0.0)
    statistic = MeanMargins(1 - np.eye(3), "fleiss")
    sample = sample_of(statistic, ag.read_ratings(ratings))
    blocks = blocks_of(statistic, sample)
    draws = draw_values(statistic, blocks, 4000, 0)
    value = ag.fleiss_kappa(ratings).value
    left = np.array([ag.fleiss_kappa(np.delete(ratings, i, axis=0), interval="none").value for i in range(40)])
    pull = left.mean() - left
    acceleration = (pull**3).sum() / (6 * (pull**2).sum() ** 1.5)
    z0 = normal.inv_cdf((draws.values < value).mean() + (draws.values == value).mean() / 2)
    ends = []
    for tail in (0.025, 0.975):
        z = z0 + normal.inv_cdf(tail)
        ends.append(normal.cdf(z0 + z / (1 - acceleration * z)))
    assert bca_interval(statistic, blocks, draws, value, 0.95) == pytest.approx(tuple(np.quantile(draws.values, ends)))


def test_bca_without_spread_says_so():
    got = ag.percent_agreement([[1, 1]] * 30, interval="bca")
    assert (got.low, got.high) == (1, 1)
    assert got.notes == ("all draws gave the same value: this interval says nothing, 'auto' does",)


def test_items_are_resampled_whole():
    """Each item's units all agree or all differ: with m units an item the spread is that of n / m independent units."""
    rng = np.random.default_rng(4)
    differ = rng.random(100) < 0.4
    units = np.repeat([[1, 2] if d else [1, 1] for d in differ], 5, axis=0)
    items = np.repeat(np.arange(100), 5)
    alone = ag.percent_agreement(units, interval="percentile")
    whole = ag.percent_agreement(units, interval="percentile", items=items)
    assert (whole.high - whole.low) / (alone.high - alone.low) == pytest.approx(np.sqrt(5), rel=0.15)
    assert whole.se / alone.se == pytest.approx(np.sqrt(5), rel=0.02)
    assert "items" in whole.interval
    assert "units grouped by item" in whole.convention


def test_draws_stay_within_strata():
    """One stratum always agrees, the other never: within strata nothing varies, without them it does."""
    units = [[1, 1]] * 50 + [[1, 2]] * 50
    strata = ["a"] * 50 + ["b"] * 50
    got = ag.percent_agreement(units, interval="percentile", strata=strata)
    assert (got.value, got.low, got.high, got.se) == (0.5, 0.5, 0.5, 0.0)
    assert "within strata" in got.interval
    assert ag.percent_agreement(units, interval="percentile").low < 0.45


def test_design_weights_in_the_bootstrap():
    """Weights 1 and 9 on two kinds of unit: the draws centre on the weighted value."""
    ratings = simulated(300, 2, seed=6, gaps=0.0)
    weights = np.where(ratings[:, 0] == 1, 1.0, 9.0)
    got = ag.cohen_kappa(ratings[:, 0], ratings[:, 1], unit_weights=weights, interval="percentile")
    assert (got.low + got.high) / 2 == pytest.approx(got.value, abs=0.03)
    assert got.value != pytest.approx(ag.cohen_kappa(ratings[:, 0], ratings[:, 1]).value, abs=0.01)


def test_analytic_and_bootstrap_standard_errors_agree():
    """On 1,000 units the linearised error and the spread of the draws are within five per cent, for every statistic."""
    ratings = simulated(1000, 3, seed=8)
    pair = simulated(1000, 2, seed=8)
    for coefficient in (ag.fleiss_kappa, ag.gwet_ac, ag.conger_kappa, ag.light_kappa, ag.brennan_prediger):
        got = coefficient(ratings, interval="percentile", draws=4000)
        assert (got.high - got.low) / (2 * 1.96 * got.se) == pytest.approx(1, abs=0.07), got
    for level in ("nominal", "ordinal", "interval", "ratio"):
        got = ag.krippendorff_alpha(ratings, level=level, interval="percentile", draws=4000)
        assert (got.high - got.low) / (2 * 1.96 * got.se) == pytest.approx(1, abs=0.07), got
    for weights in ("nominal", "linear", "quadratic"):
        got = ag.cohen_kappa(pair, weights=weights, interval="percentile", draws=4000)
        assert (got.high - got.low) / (2 * 1.96 * got.se) == pytest.approx(1, abs=0.07), got
    for got in ag.specific_agreement(ratings, interval="percentile", draws=4000).values():
        assert (got.high - got.low) / (2 * 1.96 * got.se) == pytest.approx(1, abs=0.07), got


def test_ordinal_alpha_with_many_levels_is_drawn_too():
    rng = np.random.default_rng(9)
    truth = rng.integers(0, 25, 80)
    ratings = truth[:, None] + rng.integers(-2, 3, (80, 3))
    got = ag.krippendorff_alpha(ratings, level="ordinal", interval="percentile", draws=500)
    assert got.low < got.value < got.high
    assert (got.high - got.low) / (2 * 1.96 * got.se) == pytest.approx(1, abs=0.3)  # sparse labels: draws spread more


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_linearised_standard_error_is_the_jackknifes(level):
    """Leave out one of 80 units at a time; labels enough that mid-ranks move (ordinal level)."""
    rng = np.random.default_rng(9)
    ratings = rng.integers(0, 25, 80)[:, None] + rng.integers(-2, 3, (80, 3)) + 3
    got = ag.krippendorff_alpha(ratings, level=level)
    left = [ag.krippendorff_alpha(np.delete(ratings, i, axis=0), level=level, interval="none").value for i in range(80)]
    assert got.se == pytest.approx(np.sqrt(79 * np.var(left)), rel=0.05)


def test_too_few_draws_are_refused():
    with pytest.raises(ag.AgreementError, match="draws=10 is too few"):
        ag.gwet_ac(UNITS["gwet4"], interval="bca", draws=10)


def test_bootstrap_uses_the_units_that_the_coefficient_uses():
    assert ag.krippendorff_alpha(UNITS["gwet4"], interval="bca").n_units == 11
    assert ag.cohen_kappa(*CODERS["missing2"], interval="percentile").n_units == 7
