"""Properties that hold for every coefficient, whatever the data."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agreement as ag

SETTINGS = settings(max_examples=30, deadline=None)
LABELS = [1, 2, 3, 4]
ANY_CODERS = {
    "percent": ag.percent_agreement,
    "fleiss": ag.fleiss_kappa,
    "pooled": lambda r, **o: ag.fleiss_kappa(r, convention="pooled", **o),
    "pair-pooled": lambda r, **o: ag.fleiss_kappa(r, convention="pair-pooled", **o),
    "conger": ag.conger_kappa,
    "light": ag.light_kappa,
    "ac1": ag.gwet_ac,
    "brennan-prediger": ag.brennan_prediger,
    "alpha": ag.krippendorff_alpha,
    "ordinal alpha": lambda r, **o: ag.krippendorff_alpha(r, level="ordinal", **o),
    "interval alpha": lambda r, **o: ag.krippendorff_alpha(r, level="interval", **o),
    "ratio alpha": lambda r, **o: ag.krippendorff_alpha(r, level="ratio", **o),
}
NOMINAL = ["percent", "fleiss", "pooled", "pair-pooled", "conger", "light", "ac1", "brennan-prediger", "alpha"]


@st.composite
def tables(draw, coders=(2, 4), units=(2, 12)):
    k = draw(st.integers(*coders))
    cell = st.one_of(st.none(), st.sampled_from(LABELS))
    return draw(st.lists(st.lists(cell, min_size=k, max_size=k), min_size=units[0], max_size=units[1]))


def equal(one: ag.Coefficient, other: ag.Coefficient, *, intervals: bool = True) -> None:
    assert one.undefined == other.undefined
    fields = ("value", "se", "low", "high", "observed", "expected") if intervals else ("value", "observed", "expected")
    for field in fields:
        a, b = getattr(one, field), getattr(other, field)
        assert (a is None) == (b is None), field
        if a is not None:
            assert a == pytest.approx(b, abs=1e-9), field


@pytest.mark.parametrize("name", ANY_CODERS)
@given(ratings=tables(), seed=st.integers(0, 99))
@SETTINGS
def test_order_of_units_and_coders_does_not_matter(name, ratings, seed):
    shuffled = [list(unit) for unit in ratings]
    random.Random(seed).shuffle(shuffled)
    order = list(range(len(ratings[0])))
    random.Random(seed + 1).shuffle(order)
    turned = [[unit[i] for i in order] for unit in shuffled]
    equal(ANY_CODERS[name](ratings, labels=LABELS), ANY_CODERS[name](turned, labels=LABELS))


@pytest.mark.parametrize("name", NOMINAL)
@given(ratings=tables(), names=st.permutations(["d", "nan", "7", ""]))
@SETTINGS
def test_nominal_labels_may_be_renamed(name, ratings, names):
    renamed = [[None if x is None else names[x - 1] for x in unit] for unit in ratings]
    equal(ANY_CODERS[name](ratings, labels=LABELS), ANY_CODERS[name](renamed, labels=names))


@pytest.mark.parametrize("name", ["ordinal alpha", "interval alpha"])
@given(ratings=tables())
@SETTINGS
def test_ordered_levels_may_be_turned_upside_down(name, ratings):
    turned = [[None if x is None else 5 - x for x in unit] for unit in ratings]
    equal(ANY_CODERS[name](ratings), ANY_CODERS[name](turned))


@given(ratings=tables(), shift=st.integers(-50, 50), scale=st.sampled_from([0.1, 3.0, 1000.0]))
@SETTINGS
def test_interval_alpha_does_not_know_the_zero_or_the_unit(ratings, shift, scale):
    moved = [[None if x is None else shift + scale * x for x in unit] for unit in ratings]
    equal(ag.krippendorff_alpha(ratings, level="interval"), ag.krippendorff_alpha(moved, level="interval"))


@given(ratings=tables())
@SETTINGS
def test_ratio_alpha_does_not_know_the_unit(ratings):
    moved = [[None if x is None else 2.5 * x for x in unit] for unit in ratings]
    equal(ag.krippendorff_alpha(ratings, level="ratio"), ag.krippendorff_alpha(moved, level="ratio"))


@given(ratings=tables())
@SETTINGS
def test_ordinal_alpha_does_not_know_the_values(ratings):
    stretched = [[None if x is None else x**3 for x in unit] for unit in ratings]
    equal(ag.krippendorff_alpha(ratings, level="ordinal"), ag.krippendorff_alpha(stretched, level="ordinal"))


@pytest.mark.parametrize("name", ANY_CODERS)
@given(ratings=tables())
@SETTINGS
def test_weights_of_one_are_no_weights(name, ratings):
    equal(
        ANY_CODERS[name](ratings, labels=LABELS),
        ANY_CODERS[name](ratings, labels=LABELS, unit_weights=[1.0] * len(ratings)),
    )


@pytest.mark.parametrize("name", ANY_CODERS)
@given(ratings=tables(), weights=st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=12, max_size=12))
@SETTINGS
def test_units_twice_with_half_the_weight_change_nothing(name, ratings, weights):
    """Value always; the standard error and interval too, once the copies are known to be one item."""
    weights, coefficient = weights[: len(ratings)], ANY_CODERS[name]
    once = {"labels": LABELS, "unit_weights": weights, "items": list(range(len(ratings))), "interval": "analytic"}
    half = [w / 2 for w in weights] * 2
    twice = {**once, "unit_weights": half, "items": once["items"] * 2}
    equal(coefficient(ratings, **once), coefficient(ratings * 2, **twice))
    plain = coefficient(ratings * 2, labels=LABELS, unit_weights=half)
    equal(plain, coefficient(ratings, labels=LABELS, unit_weights=weights), intervals=False)


@pytest.mark.parametrize("name", ["percent", "fleiss", "conger", "light", "ac1", "brennan-prediger"])
@given(ratings=tables(), factor=st.sampled_from([0.01, 7.0]))
@SETTINGS
def test_the_unit_of_the_weights_does_not_matter(name, ratings, factor):
    """Except for alpha, whose small-sample factor takes the weights' sum for the number of ratings."""
    weights = [float(1 + i % 3) for i in range(len(ratings))]
    equal(
        ANY_CODERS[name](ratings, labels=LABELS, unit_weights=weights),
        ANY_CODERS[name](ratings, labels=LABELS, unit_weights=[factor * w for w in weights]),
    )


@pytest.mark.parametrize("coders", [2, 4])
def test_alpha_approaches_fleiss_as_units_grow(coders):
    """On complete data 1 - alpha = (1 - pi)(n - 1) / n with n ratings: the gap falls as 1 / n."""
    rng = np.random.default_rng(5)
    for n in (10, 100, 1000, 10_000):
        truth = rng.integers(0, 3, n)
        ratings = np.where(rng.random((n, coders)) < 0.7, truth[:, None], rng.integers(0, 3, (n, coders)))
        alpha, pi = ag.krippendorff_alpha(ratings).value, ag.fleiss_kappa(ratings).value
        assert alpha - pi == pytest.approx((1 - pi) / (n * coders), abs=1e-12)


@pytest.mark.parametrize("name", NOMINAL)
def test_full_agreement_is_one(name):
    got = ANY_CODERS[name]([[x] * 3 for x in LABELS])
    assert got.value == 1
    assert got.low < 1
    assert got.high == 1


@given(ratings=tables())
@SETTINGS
def test_an_unused_label_moves_only_what_counts_labels(ratings):
    for name in ("percent", "fleiss", "pooled", "pair-pooled", "conger", "light", "alpha", "ordinal alpha"):
        declared = [0, *LABELS, 9]
        equal(ANY_CODERS[name](ratings, labels=LABELS), ANY_CODERS[name](ratings, labels=declared))


@given(ratings=tables())
@SETTINGS
def test_two_labels_leave_weights_nothing_to_do(ratings):
    binary = [[None if x is None else x > 2 for x in unit] for unit in ratings]
    for coefficient in (ag.fleiss_kappa, ag.conger_kappa, ag.gwet_ac, ag.brennan_prediger):
        plain = coefficient(binary, labels=[False, True])
        for weights in ("linear", "quadratic", "ordinal"):
            equal(plain, coefficient(binary, labels=[False, True], weights=weights))


@given(ratings=tables())
@SETTINGS
def test_counts_in_are_counts_out(ratings):
    for coefficient in ANY_CODERS.values():
        got = coefficient(ratings, labels=LABELS)
        assert got.n_units + got.n_ignored == len(ratings)
        assert got.n_ratings <= sum(x is not None for unit in ratings for x in unit)


@given(ratings=tables())
@SETTINGS
def test_value_lies_in_its_interval(ratings):
    for coefficient in ANY_CODERS.values():
        got = coefficient(ratings, labels=LABELS)
        if got.low is not None:
            assert got.low <= got.value + 1e-12
            assert got.value <= got.high + 1e-12
            assert min(-1, got.value) <= got.low  # Fleiss with gaps: units that have one rating can push it below -1
            assert got.high <= 1
