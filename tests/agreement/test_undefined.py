"""What a reader is told when a number cannot be had: None and a reason, never 0, 1 or NaN."""

from __future__ import annotations

import numpy as np
import pytest

import agreement as ag
from tests.agreement.probes import UNITS

NO_VARIATION = "no variation: chance-corrected agreement cannot be computed"
CHANCE_CORRECTED = {
    "fleiss": ag.fleiss_kappa,
    "pooled": lambda r, **o: ag.fleiss_kappa(r, convention="pooled", **o),
    "pair-pooled": lambda r, **o: ag.fleiss_kappa(r, convention="pair-pooled", **o),
    "conger": ag.conger_kappa,
    "light": ag.light_kappa,
    "scott": ag.scott_pi,
    "alpha": ag.krippendorff_alpha,
    "ordinal alpha": lambda r, **o: ag.krippendorff_alpha(r, level="ordinal", **o),
    "interval alpha": lambda r, **o: ag.krippendorff_alpha(r, level="interval", **o),
    "ratio alpha": lambda r, **o: ag.krippendorff_alpha(r, level="ratio", **o),
}
BY_LABEL_COUNT = {"ac1": ag.gwet_ac, "brennan-prediger": ag.brennan_prediger}
ALL = {"percent": ag.percent_agreement, **CHANCE_CORRECTED, **BY_LABEL_COUNT}


def undefined(got: ag.Coefficient, reason: str) -> None:
    assert (got.value, got.se, got.low, got.high) == (None, None, None, None)
    assert got.undefined == reason


@pytest.mark.parametrize("name", CHANCE_CORRECTED)
def test_all_ratings_one_label(name):
    for value in (1, 0.3):  # .3 has no exact binary form: no variance may appear by rounding
        ratings = [[value, value, None]] * 7 + [[value] * 3] * 4
        undefined(CHANCE_CORRECTED[name](ratings), NO_VARIATION)
        undefined(CHANCE_CORRECTED[name](ratings, unit_weights=[1 / 3] * 11), NO_VARIATION)
    assert ag.percent_agreement([["a", "a"]] * 5).value == 1


@pytest.mark.parametrize("name", BY_LABEL_COUNT)
def test_all_ratings_one_label_of_those_declared(name):
    got = BY_LABEL_COUNT[name]([["a", "a"]] * 9, labels=["a", "b", "c", "d"])
    assert got.value == 1
    assert got.low < 1
    undefined(BY_LABEL_COUNT[name]([["a", "a"]] * 9, labels=["a"]), NO_VARIATION)
    undefined(BY_LABEL_COUNT[name]([["a", "a"]] * 9), NO_VARIATION)


@pytest.mark.parametrize("name", ALL)
def test_one_coder(name):
    undefined(ALL[name]([[1], [2], [1]]), "only one coder: agreement needs two or more ratings of a unit")
    undefined(ALL[name]([[1, None], [2, None]]), "only one coder: agreement needs two or more ratings of a unit")


@pytest.mark.parametrize("name", ALL)
def test_no_unit_with_two_ratings(name):
    undefined(ALL[name]([[1, None], [None, 2], [None, 1]]), "no unit has two ratings")


@pytest.mark.parametrize("name", ALL)
def test_nothing_at_all(name):
    undefined(ALL[name](np.empty((0, 2))), "no units")
    undefined(ALL[name]([[None, None], [None, np.nan]]), "no ratings")


def test_a_label_that_one_coder_never_uses():
    got = ag.cohen_kappa(["a", "a", "b", "a"], ["a", "a", "a", "a"], labels=["a", "b", "c"])
    assert got.value == 0  # p_o = .75 = p_e
    assert got.labels == ("a", "b", "c")
    assert ag.fleiss_kappa([["a", "a"], ["c", "a"]], labels=["a", "b", "c"]).labels == ("a", "b", "c")


@pytest.mark.parametrize("coefficient", [ag.cohen_kappa, ag.fleiss_kappa, ag.krippendorff_alpha, ag.gwet_ac])
def test_clearly_below_zero_says_that_labels_may_be_reversed(coefficient):
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 200)
    second = np.where(rng.random(200) < 0.9, 1 - first, first)
    got = coefficient(np.column_stack([first, second]))
    assert got.value < -0.5
    assert "clearly below 0: the labels may be reversed" in got.notes
    chance = coefficient(np.column_stack([first, rng.permutation(first)]))
    assert not any("reversed" in note for note in chance.notes)


def test_few_disagreements_take_the_interval_of_a_small_sample_method():
    """20 of 20: a standard error of 0 is no certainty. Wilson (1927) for 0 of 20 at 95 %: [0, z^2 / (n + z^2)] = [0,
    .161125].

    Cohen, both labels half each: chance .5, so the lower end is 1 - .161125 / .5.
    """
    pairs = [[1, 1]] * 10 + [[2, 2]] * 10
    for coefficient in (ag.cohen_kappa, ag.fleiss_kappa, ag.gwet_ac):
        got = coefficient(pairs)
        assert (got.value, got.high) == (1, 1)
        assert got.low == pytest.approx(1 - 0.161125 / 0.5, abs=2e-6)
        assert got.interval == "Wilson on the share of units with a disagreement (0 of 20), chance held fixed"
    assert ag.percent_agreement(pairs).low == pytest.approx(1 - 0.161125, abs=2e-6)


def test_few_agreements_too():
    pairs = [[1, 2], [2, 1]] * 20 + [[1, 1]] * 4
    got = ag.cohen_kappa(pairs)
    assert got.interval.startswith("Wilson on the share of units with a disagreement (40 of 44)")
    assert got.low <= got.value <= got.high


def test_enough_of_both_take_the_standard_error():
    pairs = [[1, 1]] * 20 + [[2, 2]] * 20 + [[1, 2]] * 5
    assert ag.cohen_kappa(pairs).interval == "Fleiss-Cohen-Everitt 1969, normal"
    assert ag.krippendorff_alpha(pairs).interval == "Gwet linearised, t with 44 df"


def test_one_unit_has_no_standard_error():
    got = ag.gwet_ac([[1, 2, 3]], interval="analytic")
    assert (got.value, got.se, got.low) == (-0.5, None, None)  # chance 1/3 over the three labels seen
    assert got.notes == (
        "read as 1 units by 3 coders: transpose if rows are coders",
        "one unit: no standard error",
    )


def test_pairs_of_coders_without_a_value_are_counted():
    ratings = [[1, 1, None], [2, 2, None], [1, 2, None], [None, None, 1], [None, 1, 1]]
    got = ag.light_kappa(ratings)
    # coders 1-2: p_o 2/3, p_e (2/3)(1/3) + (1/3)(2/3) = 4/9, kappa .4; coders 1-3 share no unit, 2-3 one label.
    assert got.value == pytest.approx(0.4)
    assert got.notes == ("undefined for 2 of 3 coder pairs, which are left out",)


def test_specific_agreement_of_a_label_nobody_used():
    got = ag.specific_agreement([["a", "a"], ["a", "b"]], labels=["a", "b", "c"])
    undefined(got["c"], "no coder used this label")
    assert got["a"].value == pytest.approx(2 / 3)
    assert got["b"].value == 0


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_says_where_weights_are_no_design_weights(level):
    """Its factor (n - 1) / n reads the sum of the weights as units: shares that add to 1 make nonsense of it."""
    ratings = [[1, 1], [2, 2], [1, 2], [2, 2]]
    shares = ag.krippendorff_alpha(ratings, level=level, unit_weights=[0.1, 0.1, 0.1, 0.1])
    undefined(shares, "the design weights add to one rating or less: give 1 / inclusion probability, not shares")
    halves = ag.krippendorff_alpha(ratings, level=level, unit_weights=[0.5] * 4)
    assert halves.notes[-1].startswith("the weights average 0.5")
    assert ag.krippendorff_alpha(ratings, level=level, unit_weights=[4.0] * 4).notes == ()


def test_numbers_that_never_agree_exactly_are_no_small_sample():
    """Three coders on a 0-100 scale, 60 units, none alike: the interval is the standard error's, not Wilson's."""
    rng = np.random.default_rng(1)
    ratings = rng.uniform(0, 100, 60)[:, None] + rng.normal(0, 20, (60, 3))
    got = ag.krippendorff_alpha(ratings, level="interval")
    assert got.interval == "Gwet linearised, t with 59 df"
    assert got.high - got.low == pytest.approx(2 * 2.000995 * got.se, rel=1e-5)


def test_many_coders_hardly_ever_agree_in_full():
    """Ten units, fourteen coders, one unit unanimous: how far each unit is split matters, so not Wilson's."""
    got = ag.fleiss_kappa(UNITS["fleiss_wiki"])
    assert got.interval == "Gwet linearised, t with 9 df"
    weighted = ag.cohen_kappa([1, 2, 3, 4, 5] * 8, [2, 3, 4, 5, 4] * 8, weights="linear")
    assert weighted.interval == "Fleiss-Cohen-Everitt 1969, normal"


def test_few_disagreements_by_weight_are_few():
    """Two of 15 heavy units and 8 of 15 light ones (weights 9, 1): ten in number, but .173 of Kish's 18.3 by weight."""
    pairs = [[1, 2]] * 2 + [[1, 1], [2, 2]] * 6 + [[1, 1]] + [[2, 1]] * 8 + [[2, 2]] * 7
    weights = [9.0] * 15 + [1.0] * 15
    assert ag.cohen_kappa(pairs, unit_weights=weights).interval.startswith("Wilson")
    assert ag.cohen_kappa(pairs).interval == "Fleiss-Cohen-Everitt 1969, normal"
