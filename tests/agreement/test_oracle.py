"""Every coefficient against its definition in exact rationals (oracle.py), on random small data with gaps."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agreement as ag
from tests.agreement import oracle

SCALE = [1, 2, 3, 5]


def units(coders=None, labels=SCALE):
    coders = st.integers(2, 4) if coders is None else coders
    cell = st.one_of(st.none(), st.sampled_from(labels))
    return coders.flatmap(lambda k: st.lists(st.lists(cell, min_size=k, max_size=k), min_size=1, max_size=8))


def same(got: ag.Coefficient, want: Fraction | None) -> None:
    if want is None:
        assert got.value is None and got.undefined, got
    else:
        assert got.value == pytest.approx(float(want), abs=1e-10), got
        assert got.undefined is None


WEIGHTS = {
    "nominal": oracle.nominal,
    "linear": oracle.linear(SCALE),
    "quadratic": oracle.quadratic(SCALE),
    "ordinal": oracle.ordinal_weights(SCALE),
    "interval": oracle.quadratic_values(SCALE),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@given(ratings=units())
@settings(max_examples=25, deadline=None)
def test_any_number_of_coders(weights, ratings):
    v = WEIGHTS[weights]
    options = {"weights": weights, "labels": SCALE}
    same(ag.percent_agreement(ratings, **options), oracle.percent(ratings, v))
    same(ag.fleiss_kappa(ratings, **options), oracle.fleiss(ratings, v))
    same(ag.fleiss_kappa(ratings, convention="pooled", **options), oracle.fleiss_pooled(ratings, v))
    same(ag.scott_pi(ratings, **options), oracle.fleiss_pooled(ratings, v))
    same(ag.fleiss_kappa(ratings, convention="pair-pooled", **options), oracle.fleiss_pairs(ratings, v))
    same(ag.light_kappa(ratings, **options), oracle.light(ratings, v))
    conger = oracle.conger(ratings, v)
    same(ag.conger_kappa(ratings, **options), conger)


@pytest.mark.parametrize("weights", ["nominal", "linear", "quadratic", "ordinal"])
@given(ratings=units())
@settings(max_examples=25, deadline=None)
def test_coefficients_that_know_the_declared_labels(weights, ratings):
    v = {**WEIGHTS, "linear": oracle.linear_values(SCALE), "quadratic": oracle.quadratic_values(SCALE)}[weights]
    options = {"weights": weights, "labels": SCALE}
    same(ag.gwet_ac(ratings, **options), oracle.gwet_ac(ratings, SCALE, v))
    same(ag.brennan_prediger(ratings, **options), oracle.brennan_prediger(ratings, SCALE, v))


@given(ratings=units())
@settings(max_examples=40, deadline=None)
def test_labels_seen_are_the_label_set_where_none_is_declared(ratings):
    seen = sorted({label for unit in ratings for label in oracle.given(unit)})
    if seen:
        same(ag.gwet_ac(ratings), oracle.gwet_ac(ratings, seen))
        same(ag.brennan_prediger(ratings), oracle.brennan_prediger(ratings, seen))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@given(ratings=units(labels=[0, 1, 2, 7]))
@settings(max_examples=40, deadline=None)
def test_alpha_at_every_level(level, ratings):
    same(ag.krippendorff_alpha(ratings, level=level), oracle.alpha(ratings, level, [0, 1, 2, 7]))


@given(ratings=units(coders=st.just(2)))
@settings(max_examples=40, deadline=None)
def test_two_coders(ratings):
    a, b = ([unit[side] for unit in ratings] for side in (0, 1))
    for name, v in WEIGHTS.items():
        same(ag.cohen_kappa(a, b, labels=SCALE, weights=name), oracle.cohen(a, b, v))
    on_values = oracle.linear_values(SCALE)
    same(ag.cohen_kappa(a, b, labels=SCALE, weights="linear", distance="values"), oracle.cohen(a, b, on_values))


@given(ratings=units())
@settings(max_examples=40, deadline=None)
def test_specific_agreement(ratings):
    for label, got in ag.specific_agreement(ratings, labels=SCALE).items():
        same(got, oracle.specific(ratings, label))


@given(data=st.data(), ratings=units())
@settings(max_examples=40, deadline=None)
def test_design_weights(data, ratings):
    """With weights every unit counts by its weight, in the observed and in the expected part."""
    weights = data.draw(st.lists(st.sampled_from([1, 2, 5]), min_size=len(ratings), max_size=len(ratings)))
    exact = [Fraction(w) for w in weights]
    options = {"labels": SCALE, "unit_weights": weights}
    same(ag.percent_agreement(ratings, **options), oracle.percent(ratings, weights=exact))
    same(ag.fleiss_kappa(ratings, **options), oracle.fleiss(ratings, weights=exact))
    same(ag.gwet_ac(ratings, **options), oracle.gwet_ac(ratings, SCALE, weights=exact))
    same(ag.brennan_prediger(ratings, **options), oracle.brennan_prediger(ratings, SCALE, weights=exact))
    if len(ratings[0]) == 2:
        a, b = ([unit[side] for unit in ratings] for side in (0, 1))
        same(ag.cohen_kappa(a, b, **options), oracle.cohen(a, b, weights=exact))


@given(ratings=units(), weights=st.lists(st.sampled_from([1, 2, 3]), min_size=8, max_size=8))
@settings(max_examples=40, deadline=None)
def test_a_weight_of_three_is_the_unit_three_times(ratings, weights):
    weights = weights[: len(ratings)]
    thrice = [unit for unit, w in zip(ratings, weights, strict=True) for _ in range(w)]
    for level in ("nominal", "ordinal", "interval", "ratio"):
        same(ag.krippendorff_alpha(ratings, level=level, unit_weights=weights), oracle.alpha(thrice, level, SCALE))
    same(ag.conger_kappa(ratings, unit_weights=weights), oracle.conger(thrice))
    same(ag.light_kappa(ratings, unit_weights=weights), oracle.light(thrice))
    for convention, exact in (("pooled", oracle.fleiss_pooled), ("pair-pooled", oracle.fleiss_pairs)):
        same(ag.fleiss_kappa(ratings, unit_weights=weights, convention=convention), exact(thrice))


@given(ratings=units())
@settings(max_examples=40, deadline=None)
def test_percent_agreement_over_pairs_of_ratings(ratings):
    pairs = [pair for unit in ratings for pair in permutations(oracle.given(unit), 2)]
    want = Fraction(sum(x == y for x, y in pairs), len(pairs)) if pairs else None
    same(ag.percent_agreement(ratings, convention="pairs"), want)
