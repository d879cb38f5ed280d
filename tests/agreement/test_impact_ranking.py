"""Ranking: by hand and by brute force, Kendall's tau against scipy, labels needed against the closed form."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from agreement.impact.ranking import kendall_tau_b, mid_ranks, pair_probability, rank_models, rank_probabilities
from agreement.impact.settle import LabelsNeeded, Standing, labels_needed

SCORES = st.integers(0, 4).map(lambda k: k / 4)


def test_mid_ranks_by_hand() -> None:
    assert mid_ranks(np.array([0.2, 0.9, 0.9, 0.1])).tolist() == [3, 1.5, 1.5, 4]


def test_rank_probabilities_by_hand() -> None:
    # Draw 1: A first, B second. Draw 2: a tie, so both share ranks 1 and 2.
    joint = np.array([[0.9, 0.1], [0.5, 0.5]])
    assert rank_probabilities(joint).tolist() == [[0.75, 0.25], [0.25, 0.75]]
    assert pair_probability(joint[:, 0], joint[:, 1]) == 0.75


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(SCORES, SCORES, SCORES, SCORES), min_size=1, max_size=8))
def test_rank_probabilities_by_brute_force(rows: list[tuple[float, ...]]) -> None:
    """Average over all orders of the models in which ties are broken at random."""
    expected = np.zeros((4, 4))
    for row in rows:
        orders = [
            o for o in itertools.permutations(range(4)) if all(row[a] >= row[b] for a, b in itertools.pairwise(o))
        ]
        for order in orders:
            for rank, model in enumerate(order):
                expected[model, rank] += 1 / len(orders) / len(rows)
    found = rank_probabilities(np.array(rows))
    assert found == pytest.approx(expected, abs=1e-12)
    assert found.sum(axis=0) == pytest.approx(np.ones(4))
    assert found.sum(axis=1) == pytest.approx(np.ones(4))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(SCORES, SCORES), min_size=2, max_size=9))
def test_kendall_tau_b_equals_scipy(pairs: list[tuple[float, float]]) -> None:
    first, second = (np.array(column) for column in zip(*pairs, strict=True))
    expected = kendalltau(first, second).statistic
    assert float(kendall_tau_b(first, second)) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_pairs_add_to_one_and_close_ones_come_first() -> None:
    rng = np.random.default_rng(1)
    centre = {"a": 0.50, "b": 0.52, "c": 0.9}
    draws = {m: rng.normal(c, 0.05, 4000) for m, c in centre.items()}
    ranking = rank_models("s", {"a": 0.6, "b": 0.5, "c": 0.9}, centre, draws)
    assert (ranking.pairs[0].first, ranking.pairs[0].second) == ("b", "a")
    for pair in ranking.pairs:
        reverse = pair_probability(draws[pair.second], draws[pair.first])
        assert pair.probability + reverse == pytest.approx(1)
    assert [p.settled for p in ranking.pairs] == [False, True, True]
    assert ranking.judge_rank == (2, 3, 1)
    assert ranking.human_rank == (3, 2, 1)
    assert ranking.shift is not None
    assert (ranking.shift.size, ranking.shift.models) == (1, ("a", "b"))
    assert ranking.kendall.value == pytest.approx(1 / 3)
    assert ranking.expected[2] == pytest.approx(1, abs=1e-6)


def test_settled_is_the_interval_leaving_zero_out() -> None:
    rng = np.random.default_rng(2)
    for gap in np.linspace(0, 0.3, 13):
        draws = {"a": rng.normal(gap, 0.07, 4000), "b": rng.normal(0, 0.07, 4000)}
        pair = rank_models("s", {"a": gap, "b": 0.0}, {"a": gap, "b": 0.0}, draws).pairs[0]
        quantiles = np.quantile(draws[pair.first] - draws[pair.second], [0.025, 0.975])
        if min(abs(quantiles)) > 0.003:  # away from the edge, where counting and interpolation may differ by a draw
            assert pair.settled == bool(quantiles[0] > 0 or quantiles[1] < 0)


def test_undefined_draws_and_models_are_counted() -> None:
    draws = {"a": np.array([1.0, np.nan, 1.0]), "b": np.array([0.0, 0.0, 0.0]), "c": np.full(3, np.nan)}
    ranking = rank_models("s", {"a": 1, "b": 0, "c": np.nan}, {"a": 1, "b": 0, "c": np.nan}, draws)
    assert ranking.left_out == ("c",)
    assert (ranking.draws, ranking.lost_draws) == (2, 1)


def test_tau_needs_two_models_that_differ() -> None:
    draws = {"a": np.zeros(3), "b": np.zeros(3)}
    assert rank_models("s", {"a": 0}, {"a": 0}, {"a": np.zeros(3)}).kendall.reason is not None
    assert "tie" in (rank_models("s", {"a": 0, "b": 0}, {"a": 0, "b": 0}, draws).kendall.reason or "")


@pytest.mark.parametrize(
    ("records", "labelled", "difference", "se"),
    [(2000, 100, 0.08, 0.04), (4000, 100, 0.06, 0.045), (600, 100, 0.10, 0.05), (3000, 50, 0.15, 0.09)],
)
def test_labels_needed_equals_the_closed_form(records: int, labelled: int, difference: float, se: float) -> None:
    # n' = (vA + vB) / ((d / 2.802)^2 + (vA + vB) / N), k = ceil(n') - n, for equal n and N.
    v = se**2 / (1 / labelled - 1 / records)
    for z, name in ((1.959963984540054 + 0.8416212335729143, "extra"), (1.959963984540054, "even_chance")):
        wanted = 2 * v / ((difference / z) ** 2 + 2 * v / records)
        expected = max(math.ceil(wanted - 1e-9) - labelled, 0)
        standing = Standing(se, labelled, records)
        found = labels_needed(difference, standing, standing)
        assert getattr(found, name) == expected
    assert found.total == 2 * (found.extra or 0)


def test_what_no_number_of_labels_settles() -> None:
    standing = Standing(0.05, 100, 1000)
    assert labels_needed(0.0, standing, standing) == LabelsNeeded(
        None, None, None, "no number of labels: estimated tie"
    )
    assert labels_needed(1e-6, standing, standing).reason == "only by labelling all"
    questions = Standing(0.05, 100, 1000, question_variance=0.02**2, population=True)
    assert labels_needed(0.03, questions, questions).reason == "not by labels; more questions are needed"
    assert labels_needed(0.30, questions, questions).extra == 0


def test_an_uncertain_difference_is_named() -> None:
    standing = Standing(0.05, 100, 1000)
    assert labels_needed(0.05, standing, standing, (-0.02, 0.12)).uncertain
    sure = labels_needed(0.12, standing, standing, (0.02, 0.22))
    assert not sure.uncertain
    assert (sure.at_low or 0) > (sure.extra or 0) >= (sure.at_high or 0)


def test_labels_needed_settles_about_four_in_five_pairs() -> None:
    """By simulation with known rates .62 and .50, as many labels as the true d and v ask for, N = 2,000."""
    records, rates = 2000, (0.62, 0.50)
    rng = np.random.default_rng(3)
    v = [p * (1 - p) for p in rates]
    n0 = 100
    standing = [Standing(float(np.sqrt(x * (1 / n0 - 1 / records))), n0, records) for x in v]
    needed = labels_needed(rates[0] - rates[1], standing[0], standing[1])
    n = n0 + (needed.extra or 0)
    settled = 0
    for _ in range(1500):
        shares = [rng.hypergeometric(round(p * records), records - round(p * records), n) / n for p in rates]
        se = np.sqrt(sum(s * (1 - s) * (1 / n - 1 / records) for s in shares))
        settled += abs(shares[0] - shares[1]) > 1.96 * se
    assert settled / 1500 == pytest.approx(0.80, abs=0.04)


def test_no_model_with_a_score_is_no_fault() -> None:
    """Two models whose score nobody can have: both are left out, and nothing is ranked."""
    nothing = {"a": math.nan, "b": math.nan}
    draws = {model: np.full(3, np.nan) for model in nothing}
    found = rank_models("x", nothing, nothing, draws, judge_draws=draws)
    assert (found.models, found.left_out, found.pairs) == ((), ("a", "b"), ())
    assert found.kendall.value is None and found.kendall.reason
