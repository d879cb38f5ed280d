"""By label, by pair, by stratum; indices that explain a low kappa; self-agreement; paired comparison."""

from __future__ import annotations

import numpy as np
import pytest

import agreement as ag
from tests.agreement.probes import CODERS, UNITS


def test_by_label_is_one_against_the_rest():
    units = UNITS["fleiss1971"]
    for label, got in ag.by_label(ag.fleiss_kappa, units).items():
        binary = [[int(x == label) for x in unit] for unit in units]
        assert got.value == pytest.approx(ag.fleiss_kappa(binary).value)
        assert got.labels == (label, "(any other)")
    assert list(ag.by_label(ag.gwet_ac, units, labels=[1, 2, 3, 4, 5, 6])) == [1, 2, 3, 4, 5, 6]


def test_by_label_keeps_gaps_and_weights():
    units = UNITS["gwet4"]
    weights = [1 + i % 3 for i in range(len(units))]
    got = ag.by_label(ag.krippendorff_alpha, units, unit_weights=weights)
    for label, alpha in got.items():
        binary = [[None if x is None else int(x == label) for x in unit] for unit in units]
        assert alpha.value == pytest.approx(ag.krippendorff_alpha(binary, unit_weights=weights).value)


def test_by_pair_uses_the_units_of_the_pair():
    units = UNITS["gwet4"]
    pairs = ag.by_pair(ag.cohen_kappa, units)
    assert len(pairs) == 6
    coders = CODERS["gwet4"]
    for (i, j), got in pairs.items():
        assert got.value == pytest.approx(ag.cohen_kappa(coders[i], coders[j], labels=[1, 2, 3, 4, 5]).value)
    light = np.mean([got.value for got in pairs.values()])
    assert ag.light_kappa(units).value == pytest.approx(light)
    assert ag.by_pair(ag.percent_agreement, {"x": [1, 2], "y": [1, 1]})["x", "y"].value == 0.5


def test_by_stratum_keeps_the_labels_of_all():
    units = UNITS["gwet4"]
    strata = ["even" if i % 2 else "odd" for i in range(12)]
    got = ag.by_stratum(ag.gwet_ac, units, strata, labels=[1, 2, 3, 4, 5])
    assert list(got) == ["odd", "even"]
    for name, part in got.items():
        inside = [unit for unit, stratum in zip(units, strata, strict=True) if stratum == name]
        want = ag.gwet_ac(inside, labels=[1, 2, 3, 4, 5])
        assert (part.value, part.se, part.n_units) == (pytest.approx(want.value), pytest.approx(want.se), want.n_units)


def test_by_stratum_with_items():
    units = UNITS["gwet4"]
    strata, items = ["a"] * 6 + ["b"] * 6, [i // 2 for i in range(12)]
    got = ag.by_stratum(ag.krippendorff_alpha, units, strata, items=items, interval="percentile")
    alone = ag.krippendorff_alpha(units[6:], items=items[6:], interval="percentile")
    assert got["b"].value == pytest.approx(alone.value)
    assert got["b"].se == pytest.approx(alone.se)


def test_stratified_standard_error_by_hand():
    """Percent agreement in two strata of 4 and 6 units: sqrt(sum n_h s_h^2) / n, s_h^2 with n_h - 1."""
    units = [[1, 1], [1, 1], [1, 2], [1, 2], [1, 1], [1, 1], [1, 1], [1, 1], [1, 2], [1, 1]]
    strata = ["a"] * 4 + ["b"] * 6
    # a: mean .5, sum of squares 1 -> s^2 1/3; b: mean 5/6, sum of squares 5/6 -> s^2 1/6
    want = np.sqrt(4 * (1 / 3) + 6 * (1 / 6)) / 10
    assert ag.percent_agreement(units, strata=strata).se == pytest.approx(want)
    # finite population: factors 1 - 4/8 and 1 - 6/60
    finite = np.sqrt(4 * (1 / 3) * 0.5 + 6 * (1 / 6) * 0.9) / 10
    got = ag.percent_agreement(units, strata=strata, population={"a": 8, "b": 60})
    assert got.se == pytest.approx(finite)


def test_prevalence_and_bias():
    """[[80, 10], [5, 5]]: |80 - 5| / 100 and |10 - 5| / 100."""
    got = ag.prevalence_bias(*CODERS["feinstein_b"])
    assert [round(index.prevalence, 10) for index in got.values()] == [0.75, 0.75]
    assert [round(index.bias, 10) for index in got.values()] == [0.05, 0.05]
    assert got[1].shares == (pytest.approx(0.9), pytest.approx(0.85))


def test_bias_of_several_coders_is_their_largest_gap():
    got = ag.prevalence_bias([[1, 1, 2], [1, 2, 2], [1, 1, 2], [1, 1, None]])
    assert got[1].shares == (1.0, 0.75, 0.0)
    assert got[1].bias == 1.0
    assert ag.prevalence_bias([[1, None]])[1].undefined == "no unit has two ratings"


def test_maximum_kappa():
    """Cohen (1960): [[80, 10], [5, 5]] has margins 90/10 and 85/15: at most .95 agree, chance .78: .17 / .22."""
    got = ag.maximum_kappa(*CODERS["feinstein_b"])
    assert (got.observed, got.value) == (pytest.approx(0.95), pytest.approx(0.17 / 0.22))
    assert ag.maximum_kappa([1, 1], [1, 1]).undefined == "no variation: chance-corrected agreement cannot be computed"
    assert ag.maximum_kappa([1, None], [None, 1]).undefined == "no unit has two ratings"


def test_maximum_weighted_kappa_is_reached_by_the_sorted_pairing():
    """On a line the cheapest pairing of two margins pairs their sorted values."""
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 5, 300), rng.binomial(4, 0.3, 300)
    for weights in ("linear", "quadratic"):
        best = ag.cohen_kappa(np.sort(a), np.sort(b), weights=weights, labels=range(5)).value
        assert ag.maximum_kappa(a, b, weights=weights, labels=range(5)).value == pytest.approx(best)
        assert ag.cohen_kappa(a, b, weights=weights, labels=range(5)).value <= best


def test_self_agreement():
    first = ["a", "b", "a", "a", None]
    second = ["a", "b", "b", "a", "a"]
    got = ag.self_agreement(first, second, coder="ann", labels=["a", "b"])
    assert (got.coder, got.percent.value, got.percent.n_units, got.percent.n_ignored) == ("ann", 0.75, 4, 1)
    assert got.kappa.value == pytest.approx(ag.cohen_kappa(first, second).value)
    assert got.percent.interval.startswith("Wilson")


def test_self_agreement_of_each_coder():
    first = {"ann": {"u1": 1, "u2": 2, "u3": 1}, "bob": {"u1": 2, "u2": 2}}
    second = {"ann": {"u1": 1, "u3": 2}, "bob": {"u2": 2}}
    got = ag.self_agreements(first, second, labels=[1, 2])
    assert {coder: (result.percent.value, result.percent.n_units) for coder, result in got.items()} == {
        "ann": (0.5, 2),
        "bob": (1.0, 1),
    }
    with pytest.raises(ag.AgreementError, match="'eve' has repeats but no first labels"):
        ag.self_agreements(first, {"eve": {"u1": 1}})


def judged(n=400, seed=0, judge=0.6, people=0.85):
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    right = {"judge": judge, "ann": people, "bob": people, "eve": people}
    return {name: np.where(rng.random(n) < share, truth, rng.integers(0, 3, n)) for name, share in right.items()}, list(
        right
    )


def test_judge_against_people_like_for_like():
    ratings, (judge, *people) = judged()
    got = ag.compare_agreement(
        ratings, [(judge, coder) for coder in people], [("ann", "bob"), ("ann", "eve"), ("bob", "eve")]
    )
    against = [ag.cohen_kappa(ratings[judge], ratings[coder]).value for coder in people]
    assert got.first.value == pytest.approx(np.mean(against))
    assert got.second.value == pytest.approx(ag.light_kappa({name: ratings[name] for name in people}).value)
    assert got.difference.value == pytest.approx(got.first.value - got.second.value)
    assert got.difference.high < 0  # clearly below the human ceiling
    names = ag.compare_agreement(ratings, [(judge, coder) for coder in people], people)
    assert names.second == got.second


def test_the_paired_interval_is_that_of_the_difference_per_draw():
    """Paired bootstrap of rows from scratch: same centre and spread."""
    ratings, (judge, *people) = judged(n=150)
    first, second = [(judge, "ann")], [("bob", "ann")]
    got = ag.compare_agreement(ratings, first, second, interval="percentile", draws=4000)
    table = np.column_stack([ratings[name] for name in ("judge", "ann", "bob")])
    rng = np.random.default_rng(0)
    plain = []
    for _ in range(1500):
        rows = table[rng.integers(0, 150, 150)]
        plain.append(
            ag.cohen_kappa(rows[:, 0], rows[:, 1], interval="none").value
            - ag.cohen_kappa(rows[:, 2], rows[:, 1], interval="none").value
        )
    spread = np.std(plain)
    assert got.difference.se == pytest.approx(spread, rel=0.1)
    assert got.difference.low == pytest.approx(np.quantile(plain, 0.025), abs=0.3 * spread)
    assert got.difference.high == pytest.approx(np.quantile(plain, 0.975), abs=0.3 * spread)
    assert len(people) == 3


@pytest.mark.parametrize(
    "coefficient", ["percent", "fleiss", "conger", "alpha", "alpha interval", "ac", "brennan_prediger"]
)
def test_two_sets_of_coders(coefficient):
    ratings, _ = judged(n=80)
    alone = {
        "percent": ag.percent_agreement,
        "fleiss": ag.fleiss_kappa,
        "conger": ag.conger_kappa,
        "alpha": ag.krippendorff_alpha,
        "alpha interval": lambda r, **o: ag.krippendorff_alpha(r, level="interval", **o),
        "ac": ag.gwet_ac,
        "brennan_prediger": ag.brennan_prediger,
    }[coefficient]
    first, second = ["judge", "ann", "bob"], ["ann", "bob", "eve"]
    got = ag.compare_agreement(ratings, first, second, coefficient=coefficient)
    for side, names in ((got.first, first), (got.second, second)):
        want = alone({name: ratings[name] for name in names}, labels=[0, 1, 2])
        assert (side.value, side.se) == (pytest.approx(want.value), pytest.approx(want.se))
    assert got.difference.value == pytest.approx(got.first.value - got.second.value)
    same = ag.compare_agreement(ratings, first, first, coefficient=coefficient)
    assert (same.difference.value, same.difference.se) == (0, pytest.approx(0, abs=1e-9))


def test_a_comparison_with_an_undefined_side_says_which():
    ratings = {"a": [1, 1, 2], "b": [1, 2, 2], "c": [1, 1, 1], "d": [1, 1, 1]}
    got = ag.compare_agreement(ratings, ["a", "b"], ["c", "d"])
    assert got.difference.value is None
    assert got.difference.undefined == (
        "the second is undefined: no variation: chance-corrected agreement cannot be computed"
    )


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ((["judge", "zoe"], ["ann", "bob"]), r"is neither coder names nor pairs"),
        ((["judge"], ["ann", "bob"]), r"has 1 coder\(s\), expected two or more"),
        (([("judge", "zoe")], ["ann", "bob"]), r"No coder 'zoe'"),
    ],
)
def test_refused_sides(sides, message):
    ratings, _ = judged(n=20)
    with pytest.raises(ag.AgreementError, match=message):
        ag.compare_agreement(ratings, *sides)
