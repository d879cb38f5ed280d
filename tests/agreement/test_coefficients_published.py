"""Values printed in textbooks and papers, to every printed digit. Each line names where its number was printed."""

from __future__ import annotations

import pytest

import agreement as ag
from tests.agreement.probes import CODERS, UNITS

GWET4 = UNITS["gwet4"]

# Gwet (2014), 4 raters x 12 units with gaps; value and standard error by the author's R code.
GWET = [
    (ag.gwet_ac, {}, 0.77544, 0.14295),
    (ag.fleiss_kappa, {}, 0.76117, 0.15302),
    (ag.krippendorff_alpha, {}, 0.74342, 0.14548),
    (ag.conger_kappa, {}, 0.76282, 0.14917),
    (ag.brennan_prediger, {}, 0.77273, 0.14472),
]


@pytest.mark.parametrize(("coefficient", "options", "value", "se"), GWET)
def test_gwet_four_raters(coefficient, options, value, se):
    got = coefficient(GWET4, **options)
    assert (round(got.value, 5), round(got.se, 5)) == (value, se)


def test_gwet_ac2_quadratic():
    got = ag.gwet_ac(GWET4, weights="quadratic")
    assert (round(got.value, 6), round(got.se, 6)) == (0.914001, 0.103962)


def test_gwet_ac1_chance_and_its_t_interval():
    """Chance agreement .190321. With t(11, .975) = 2.200985: .775444 - 2.200985 x .142950 = .460813, the upper end
    cut at 1.
    """
    got = ag.gwet_ac(GWET4, interval="analytic")
    assert got.expected == pytest.approx(0.190321, abs=5.1e-7)
    assert (got.low, got.high) == (pytest.approx(0.460813, abs=2e-6), 1.0)
    assert got.interval == "Gwet linearised, t with 11 df"


def test_finite_population_factor():
    """Gwet (2008): variance times 1 - n / N, here 12 of 48: SE x sqrt(3/4)."""
    assert ag.gwet_ac(GWET4, population=48).se == pytest.approx(0.1429499506 * 0.75**0.5, abs=1e-9)


def test_krippendorff_three_coders():
    units = UNITS["kripp_wiki"]
    assert round(ag.krippendorff_alpha(units).value, 5) == 0.69136
    assert round(ag.krippendorff_alpha(units, level="interval").value, 5) == 0.81084


def test_fleiss_diagnoses():
    """Fleiss (1971) .430; Light's kappa of the same data .459 (R irr)."""
    units = UNITS["fleiss1971"]
    assert round(ag.fleiss_kappa(units).value, 5) == 0.43024
    assert round(ag.light_kappa(units).value, 5) == 0.45941


def test_abstractors_table():
    """Gwet (2014), 3 x 3 abstractors."""
    table = ag.from_table([[13, 0, 0], [0, 20, 7], [0, 4, 56]], labels=["Ectopic", "AIU", "NIU"])
    coefficients = (ag.cohen_kappa, ag.scott_pi, ag.gwet_ac, ag.krippendorff_alpha)
    assert [round(coefficient(table).value, 4) for coefficient in coefficients] == [0.7964, 0.7962, 0.8493, 0.7973]


def test_artstein_and_poesio():
    """Artstein and Poesio (2008): 100 items, 88 agreed; A_o .88, pi .79953, kappa .8013."""
    table = ag.from_table([[46, 0, 0], [6, 32, 6], [0, 0, 10]], labels=["stat", "ireq", "chck"])
    assert ag.percent_agreement(table).value == pytest.approx(0.88)
    assert round(ag.scott_pi(table).value, 5) == 0.79953
    assert round(ag.cohen_kappa(table).value, 4) == 0.8013
    assert round(ag.krippendorff_alpha(table).value, 4) == 0.8005


def test_wikiprofile_graders():
    """Two graders of 4,160 responses, counts from rounded percentages (they add to 4,159)."""
    percent = [[78.58, 0.05, 0.19, 0.00], [0.06, 16.75, 0.00, 0.07], [0.35, 0.31, 1.25, 0.01], [0.00, 0.56, 0.10, 1.71]]
    counts = [[round(p / 100 * 4160) for p in row] for row in percent]
    table = ag.from_table(counts, labels=["CORRECT", "INCORRECT", "PARTIALLY", "OTHER"])
    got = ag.cohen_kappa(table)
    assert got.n_units == 4159
    assert ag.percent_agreement(table).value == pytest.approx(0.98317, abs=5.1e-6)
    assert (round(got.value, 6), round(got.se, 6)) == (0.951431, 0.005617)
    hundredths = ag.from_table([[round(100 * p) for p in row] for row in percent])
    assert round(ag.cohen_kappa(hundredths).value, 6) == 0.950965


def test_cohen_by_hand():
    """[[20, 5], [10, 15]]: p_o = .7, p_e = .5 x .6 + .5 x .4 = .5, kappa = .4."""
    got = ag.cohen_kappa(ag.from_table([[20, 5], [10, 15]]))
    assert (got.value, got.observed, got.expected) == (pytest.approx(0.4), pytest.approx(0.7), pytest.approx(0.5))
    # Fleiss-Cohen-Everitt .126996, normal: .4 -+ 1.959964 x .126996
    assert (got.low, got.high) == (pytest.approx(0.151092, abs=2e-6), pytest.approx(0.648908, abs=2e-6))


def test_bootstrap_of_alpha():
    """Unit bootstrap of nominal alpha, the 11 units with two ratings: [.416, 1] at 10,000 draws (+-.02, +-.015)."""
    got = ag.krippendorff_alpha(GWET4, interval="percentile", draws=10_000, seed=1)
    assert got.n_units == 11
    assert got.low == pytest.approx(0.416, abs=0.02)
    assert got.high == pytest.approx(1.0, abs=0.015)


def test_kappa_of_fleiss_by_category():
    """One label against the rest, Fleiss's diagnoses; R irr prints .245, .245, .520, .471, .566 (kappam.fleiss,
    detail).
    """
    by_label = ag.by_label(ag.fleiss_kappa, UNITS["fleiss1971"])
    assert [round(got.value, 3) for got in by_label.values()] == [0.245, 0.245, 0.52, 0.471, 0.566]


def test_scott_is_fleiss_for_two_coders():
    for case in ("cohen1968", "sexualfun", "gwet4x4"):
        assert ag.scott_pi(*CODERS[case]).value == pytest.approx(ag.fleiss_kappa(UNITS[case]).value)
