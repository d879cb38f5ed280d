"""Cross-checks on random data with scikit-learn, krippendorff and statsmodels, where they define the same quantity."""

from __future__ import annotations

import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, to_table
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

import agreement as ag

LABELS = [0, 1, 2, 5]
SETTINGS = settings(max_examples=60, deadline=None)


def pairs(least=3, most=60):
    return st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=least, max_size=most)


@given(units=pairs(), weights=st.sampled_from(["nominal", "linear", "quadratic"]))
@SETTINGS
def test_cohen_kappa_is_that_of_scikit_learn(units, weights):
    a, b = (list(side) for side in zip(*units, strict=True))
    got = ag.cohen_kappa(a, b, labels=LABELS, weights=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = cohen_kappa_score(a, b, labels=LABELS, weights=None if weights == "nominal" else weights)
    if got.value is None:
        assert np.isnan(want)
    else:
        assert got.value == pytest.approx(want, abs=1e-12)


@given(units=pairs(), weights=st.sampled_from(["nominal", "linear", "quadratic"]))
@SETTINGS
def test_cohen_kappa_and_its_standard_errors_are_those_of_statsmodels(units, weights):
    a, b = (np.array(side) for side in zip(*units, strict=True))
    got = ag.cohen_kappa(a, b, labels=LABELS, weights=weights)
    assume(got.value is not None)
    table = np.zeros((4, 4))
    for x, y in units:
        table[LABELS.index(x), LABELS.index(y)] += 1
    kind = {"nominal": None, "linear": "linear", "quadratic": "fc"}[weights]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it takes the root of a variance that rounding made negative
        want = cohens_kappa(table, wt=kind)
    assert got.value == pytest.approx(want.kappa, abs=1e-12)
    assert got.se**2 == pytest.approx(want.var_kappa, abs=1e-12)
    assert got.se_null**2 == pytest.approx(want.var_kappa0, abs=1e-12)


@given(
    ratings=st.integers(2, 5).flatmap(
        lambda k: st.lists(st.lists(st.integers(0, 3), min_size=k, max_size=k), min_size=2, max_size=30)
    )
)
@SETTINGS
def test_fleiss_kappa_is_that_of_statsmodels_on_complete_data(ratings):
    got = ag.fleiss_kappa(ratings)
    assume(got.value is not None)
    counts, _ = aggregate_raters(np.array(ratings))
    assert got.value == pytest.approx(statsmodels_fleiss(counts, method="fleiss"), abs=1e-12)
    with_gaps = ag.fleiss_kappa([[*unit, None] for unit in ratings])
    assert with_gaps.value == pytest.approx(got.value, abs=1e-12)


@given(
    ratings=st.integers(2, 5).flatmap(
        lambda k: st.lists(
            st.lists(st.one_of(st.none(), st.sampled_from(LABELS)), min_size=k, max_size=k), min_size=2, max_size=30
        )
    ),
    level=st.sampled_from(["nominal", "ordinal", "interval", "ratio"]),
)
@settings(max_examples=120, deadline=None)
def test_alpha_is_that_of_krippendorff(ratings, level):
    got = ag.krippendorff_alpha(ratings, level=level)
    assume(got.value is not None)
    reliability = np.array([[np.nan if x is None else float(x) for x in unit] for unit in ratings]).T
    want = krippendorff.alpha(reliability_data=reliability, level_of_measurement=level)
    assert got.value == pytest.approx(want, abs=1e-10)


@given(
    values=st.lists(st.lists(st.floats(0, 100, width=32), min_size=3, max_size=3), min_size=3, max_size=20),
    holes=st.lists(st.tuples(st.integers(0, 19), st.integers(0, 2)), max_size=8),
)
@SETTINGS
def test_interval_alpha_on_real_numbers(values, holes):
    ratings = np.array(values)
    for row, column in holes:
        ratings[row % len(ratings), column] = np.nan
    got = ag.krippendorff_alpha(ratings, level="interval")
    paired = ratings[(~np.isnan(ratings)).sum(axis=1) >= 2]
    assume(got.value is not None and np.nanstd(paired) > 1e-3)
    want = krippendorff.alpha(reliability_data=ratings.T, level_of_measurement="interval")
    assert got.value == pytest.approx(want, abs=1e-8)


def test_statsmodels_table_of_two_coders():
    """to_table and from_table read the same cells."""
    a, b = [1, 1, 2, 2, 1], [1, 2, 2, 2, 1]
    table, _ = to_table(np.column_stack([a, b]))
    assert ag.cohen_kappa(ag.from_table(table)).value == pytest.approx(cohens_kappa(table).kappa)
