"""Sample sizes: the published closed form, values computed by two independent routes, and simulation of the power."""

import math

import numpy as np
import pytest

from agreement.errors import AgreementError
from agreement.sample_size import (
    difference_sample_size,
    kappa_sample_size,
    kappa_variance,
    pilot_sample_size,
    rate_sample_size,
)


@pytest.mark.parametrize(
    ("kappa", "shares", "width", "exact", "n"),
    [
        (0.6, 0.3, 0.2, 295.02, 296),
        (0.8, 0.5, 0.2, 138.29, 139),
        (0.4, 0.1, 0.2, 847.17, 848),
        (0.7, 0.2, 0.1, 1255.58, 1256),
        (0.6, [0.25] * 4, 0.2, 143.41, 144),
        (0.6, [0.55, 0.20, 0.15, 0.10], 0.2, 179.59, 180),
        (0.6, [0.85, 0.05, 0.05, 0.05], 0.2, 452.60, 453),
    ],
)
def test_kappa_sample_sizes(kappa, shares, width, exact, n):
    found = kappa_sample_size(kappa, shares, width)
    assert round(found.exact, 2) == exact
    assert found.n == n


@pytest.mark.parametrize(("kappa", "share"), [(0.6, 0.3), (0.8, 0.5), (0.4, 0.1), (0.0, 0.2), (0.95, 0.02)])
def test_two_labels_equal_the_closed_form(kappa, share):
    # Bloch and Kraemer (1989), Donner and Eliasziw (1992): a different formula for the same variance
    closed = (1 - kappa) * ((1 - kappa) * (1 - 2 * kappa) + kappa * (2 - kappa) / (2 * share * (1 - share)))
    exact = 4 * 1.959963984540054**2 * closed / 0.15**2
    assert kappa_sample_size(kappa, share, 0.15).exact == pytest.approx(exact, rel=1e-12)


def test_variance_of_a_published_table():
    # Cohen (1968), 200 units: SE .051002 by statsmodels, vcd and irrCAC
    table = [[0.44, 0.07, 0.09], [0.05, 0.20, 0.05], [0.01, 0.03, 0.06]]
    assert math.sqrt(kappa_variance(table) / 200) == pytest.approx(0.051002, abs=5e-7)


def test_rate_by_hand():
    # p = .5, full width .1: 1.96^2 * .25 / .05^2 = 384.15; a judge with correlation .8 leaves 36 %: 138.29
    assert rate_sample_size(0.5, 0.1).n == 385
    assert rate_sample_size(0.5, 0.1, correlation=0.8).exact == pytest.approx(384.1459 * 0.36, abs=1e-3)
    # a corpus of 1,000: 384.15 / 1.38415 = 277.53
    assert rate_sample_size(0.5, 0.1, corpus=1000).n == 278


def test_pilot_is_scaled():
    assert pilot_sample_size(50, 0.4, 0.2).n == 200  # half the width, four times the units, and not 201


def test_difference_by_hand():
    # (1.959964 + .841621)^2 * (.24 + .25) / .1^2 = 7.84888 * 49 = 384.595
    found = difference_sample_size(0.6, 0.5)
    assert found.exact == pytest.approx(384.595, abs=1e-2)
    # with N per model: (vA + vB) / ((d / 2.8016)^2 + (vA + vB) / N)
    finite = difference_sample_size(0.6, 0.5, corpus=1000).exact
    assert finite == pytest.approx(0.49 / ((0.1 / 2.801585) ** 2 + 0.49 / 1000), rel=1e-5)


def test_difference_is_settled_as_often_as_promised():
    rng = np.random.default_rng(4)
    n = difference_sample_size(0.6, 0.5).n
    a, b = rng.binomial(n, 0.6, 20000) / n, rng.binomial(n, 0.5, 20000) / n
    settled = np.abs(a - b) > 1.96 * np.sqrt((a * (1 - a) + b * (1 - b)) / n)
    assert settled.mean() == pytest.approx(0.8, abs=0.012)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kappa_sample_size(1.2, 0.5, 0.2), "kappa is 1.2"),
        (lambda: kappa_sample_size(0.5, [0.5, 0.6], 0.2), "add to 1"),
        (lambda: kappa_sample_size(-0.9, 0.1, 0.2), "cannot occur"),
        (lambda: kappa_sample_size(0.5, 0.5, 0), "width is 0"),
        (lambda: kappa_sample_size(0.5, 1.0, 0.2), "one label only"),
        (lambda: rate_sample_size(0.5, 0.1, correlation=2), "correlation is 2"),
        (lambda: difference_sample_size(0.5, 0.5), "no number of labels settles a tie"),
        (lambda: pilot_sample_size(0, 0.1, 0.1), "n_pilot is 0"),
    ],
)
def test_impossible_plans_are_refused(call, message):
    with pytest.raises(AgreementError, match=message):
        call()
