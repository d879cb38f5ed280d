"""Rates corrected with a judge: hand computation, seeded truth, and mistakes of other tools that ours must not make."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agreement.cells import tabulate
from agreement.error_inversion import adjusted_rate_interval, invert_confusion, rogan_gladen, youden_differences
from agreement.errors import AgreementError
from agreement.post_stratification import post_stratified_rates
from agreement.ppi import difference_rate, ppi_rate
from agreement.pseudo_outcomes import pseudo_outcome_rate
from agreement.stratified_ppi import stratified_ppi_rate

# Ten labelled units: Y = 1 six times, judge right on eight. Thirty others, the judge says 1 on fifteen.
Y = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
F = [1, 1, 1, 1, 1, 0, 1, 0, 0, 0]
REST = [1] * 15 + [0] * 15


def test_ppi_by_hand():
    # mean unlabelled f .5, mean Y - f 0; s2 of f over 30: 7.5/29; Y - f has one 1 and one -1: s2 = 2/9
    found = ppi_rate(Y, F, REST, tuned=False)
    assert found.value == pytest.approx(0.5)
    assert found.se == pytest.approx(math.sqrt(7.5 / 29 / 30 + 2 / 9 / 10))
    assert (found.n_labelled, found.n_judged, found.tuning) == (10, 40, 1)


def test_tuned_ppi_by_hand():
    # Cov(Y, f) = (5 - 10 * .6 * .6) / 9 = 1.4/9; Var f over all 40 (21 ones): 21 * 19 / 40 / 39 = 9.975/39
    # lambda = (1.4/9) / ((1 + 10/30) * 9.975/39)
    weight = (1.4 / 9) / ((4 / 3) * 9.975 / 39)
    found = ppi_rate(Y, F, REST)
    assert found.tuning == pytest.approx(weight)
    assert found.value == pytest.approx(weight * 0.5 + 0.6 - weight * 0.6)
    # s2 of Y - lambda f: Var Y = Var f = 2.4/9
    left = (2.4 + weight**2 * 2.4 - 2 * weight * 1.4) / 9
    assert found.se == pytest.approx(math.sqrt(weight**2 * 7.5 / 29 / 30 + left / 10))


def test_difference_estimator_by_hand():
    found = difference_rate(Y, F, REST, tuned=False)
    assert found.value == pytest.approx(21 / 40)  # judge on all 40, no net error
    assert found.se == pytest.approx(math.sqrt(0.75 * 2 / 9 / 10))
    tuned = difference_rate(Y, F, REST)
    assert tuned.tuning == pytest.approx(1.4 / 2.4)
    assert tuned.value == pytest.approx(1.4 / 2.4 * 21 / 40 + 0.6 - 1.4 / 2.4 * 0.6)


def test_one_sided_is_one_sided():
    # ppi_py 0.2 returns the two-sided interval for alternative="larger"; 95 % one-sided is the end of 90 % two-sided
    rng = np.random.default_rng(1)
    y = rng.random(60) < 0.6
    f, rest = np.where(rng.random(60) < 0.8, y, ~y), rng.random(500) < 0.55
    lower, upper = (ppi_rate(y, f, rest, alternative=side) for side in ("larger", "smaller"))
    both = ppi_rate(y, f, rest, level=0.90)
    assert (lower.low, lower.high) == (pytest.approx(both.low), 1)
    assert (upper.low, upper.high) == (0, pytest.approx(both.high))
    assert ppi_rate(y, f, rest).level == 0.95
    with pytest.raises(AgreementError, match="expected two-sided, larger or smaller"):
        ppi_rate(y, f, rest, alternative="greater")


def test_lists_and_missing_values_are_taken():
    found = ppi_rate([*Y, None, 1], [*F, 1, float("nan")], [*REST, None])
    whole = ppi_rate(Y, F, REST)
    assert (found.value, found.se, found.excluded) == (whole.value, whole.se, 3)
    with pytest.raises(AgreementError, match="human, unit 1: 2 is not between 0 and 1"):
        ppi_rate([1, 2], [1, 1], [1])
    with pytest.raises(AgreementError, match="2 human labels and 1 judge outputs"):
        ppi_rate([1, 1], [1], [1])


ESTIMATORS = {
    "ppi": lambda y, f, rest: ppi_rate(y, f, rest, tuned=False),
    "ppi++": ppi_rate,
    "difference": difference_rate,
    "stratified": lambda y, f, rest: stratified_ppi_rate(y, f, ["s"] * len(y), rest, ["s"] * len(rest)),
    "pseudo-outcomes": lambda y, f, rest: pseudo_outcome_rate(
        [*y, *[None] * len(rest)], [*f, *rest], len(y) / (len(y) + len(rest))
    ),
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize(
    ("y", "f", "rest"),
    [
        ([1] * 20, [1] * 20, [1] * 80),  # everything positive, constant judge: others print [1, 1]
        ([1] * 20, [1] * 20, [1] * 56 + [0] * 24),  # others print [.919, 1.081]
        ([1] * 14 + [0] * 6, [1] * 14 + [0] * 6, [1] * 56 + [0] * 24),  # perfect judge: others print [.7, .7]
        ([1, 0], [1, 0], [1] * 60 + [0] * 38),  # two labels: others print [.118, 1.282]
        ([1], [1], [1] * 5),
        ([0] * 30, [0.1] * 30, [0.1] * 100),  # a constant score
    ],
)
def test_no_false_certainty_and_no_bound_outside_the_range(name, y, f, rest):
    found = ESTIMATORS[name](y, f, rest)
    if found.value is None:
        assert found.undefined
        return
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0.005
    assert "few labels" in found.method


def test_full_census_has_no_uncertainty_for_the_corpus():
    found = difference_rate([1] * 20 + [0] * 20, [1] * 40, [])
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)


def test_nothing_labelled_is_said():
    assert ppi_rate([], [], [1, 0]).undefined == "no unit has a human label and a judge output"


def test_estimate_outside_the_range_is_cut_and_said():
    # judge .9 elsewhere, people more often positive than the judge on the labelled units: .9 + .25 = 1.15
    found = ppi_rate([1] * 15 + [0] * 5, [1] * 10 + [0] * 10, [1] * 90 + [0] * 10, tuned=False)
    assert found.value == 1
    assert "1.1500 was cut" in found.notes[0]


def test_importing_silences_no_warnings():
    # ppi_py runs simplefilter("ignore") for the whole process; numpy's own narrow filters are not ours
    code = """
import numpy, pandas, scipy.special, warnings
before = list(warnings.filters)
import agreement.ppi, agreement.pseudo_outcomes, agreement.stratified_ppi
assert warnings.filters == before, warnings.filters
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


# --- seeded truth --------------------------------------------------------------------------------------------------


def binary_corpus(rng, size=3000, share=0.6, sensitivity=0.85, specificity=0.9):
    truth = rng.random(size) < share
    judge = np.where(truth, rng.random(size) < sensitivity, rng.random(size) >= specificity)
    return truth.astype(float), judge.astype(float)


def test_widths_and_coverage_on_simple_random_samples():
    # N 3,000, n 300, .85/.90. Known from simulation: PPI++ .0790, post-stratified corpus .0711 and population .0793,
    # human labels alone .1107, Rogan-Gladen .113
    rng = np.random.default_rng(6)
    hits, widths = {}, {}
    for run in range(150):
        truth, judge = binary_corpus(rng)
        order = rng.permutation(3000)
        seen, rest = order[:300], order[300:]
        shares = np.zeros((3000, 2))
        shares[seen] = np.column_stack([1 - truth[seen], truth[seen]])
        cells = tabulate(
            labels="01", model=[""] * 3000, stratum=[""] * 3000, judge=judge.astype(int).astype(str), human=shares
        )
        found = {
            "ppi++": (ppi_rate(truth[seen], judge[seen], judge[rest]), 0.6),
            "difference": (difference_rate(truth[seen], judge[seen], judge[rest]), truth.mean()),
            "wald corpus": (post_stratified_rates(cells, seed=run, interval="wald", draws=1000)["1"], truth.mean()),
            "wald population": (
                post_stratified_rates(cells, seed=run, interval="wald", target="population", draws=1000)["1"], 0.6,
            ),
            "posterior": (post_stratified_rates(cells, seed=run, draws=1000)["1"], truth.mean()),
        }  # fmt: skip
        for name, (rate, true) in found.items():
            hits[name] = hits.get(name, 0) + (rate.low <= true <= rate.high)
            widths.setdefault(name, []).append(rate.high - rate.low)
    mean = {name: np.mean(values) for name, values in widths.items()}
    assert mean["ppi++"] == pytest.approx(0.0790, rel=0.03)
    assert mean["wald corpus"] == pytest.approx(0.0711, rel=0.03)
    assert mean["wald population"] == pytest.approx(0.0793, rel=0.03)
    assert mean["posterior"] == pytest.approx(0.0711, rel=0.03)
    assert mean["difference"] == pytest.approx(0.0711, rel=0.04)
    assert min(hits.values()) >= 0.90 * 150  # 4 standard errors under 95 %


def stratified_sample(rng, truth, judge):
    """60 units where the judge says 1 and 60 where it says 0; probabilities of all units."""
    chance = np.where(judge == 1, 60 / (judge == 1).sum(), 60 / (judge == 0).sum())
    seen = np.zeros(len(truth), bool)
    for value in (0, 1):
        seen[rng.choice(np.flatnonzero(judge == value), 60, replace=False)] = True
    return seen, chance


def test_unequal_probabilities_need_weights():
    # a rare label, sampled equally by judge label: PPI++ as sold is biased, the other two are not
    rng = np.random.default_rng(7)
    errors = {"ppi++": [], "stratified": [], "pseudo-outcomes": []}
    hits = dict.fromkeys(errors, 0)
    for run in range(150):
        truth, judge = binary_corpus(rng, share=0.1, sensitivity=0.7, specificity=0.95)
        seen, chance = stratified_sample(rng, truth, judge)
        human = [float(t) if s else None for t, s in zip(truth, seen, strict=True)]
        found = {
            "ppi++": ppi_rate(truth[seen], judge[seen], judge[~seen]),
            "stratified": stratified_ppi_rate(
                truth[seen], judge[seen], judge[seen], judge[~seen], judge[~seen], seed=run
            ),
            "pseudo-outcomes": pseudo_outcome_rate(human, judge, chance, seed=run),
        }
        for name, rate in found.items():
            errors[name].append(rate.value - truth.mean())
            hits[name] += rate.low <= truth.mean() <= rate.high
    assert abs(np.mean(errors["ppi++"])) > 0.04
    for name in ("stratified", "pseudo-outcomes"):
        assert abs(np.mean(errors[name])) < 3 * np.std(errors[name]) / 150**0.5 + 1e-3
        assert hits[name] >= 0.88 * 150


def test_stratified_ppi_by_hand():
    # strata of 20 and 20 units; in each the judge is constant, so lambda is 0 and it is the stratified mean:
    # (.5 * 4/5 + .5 * 1/5), variance sum .25 * (1 - 5/20) * (.8 * .2 * 5/4) / 5
    y = [1, 1, 1, 1, 0, 1, 0, 0, 0, 0]
    f = [1] * 5 + [0] * 5
    strata, rest = ["a"] * 5 + ["b"] * 5, [1] * 15 + [0] * 15
    found = stratified_ppi_rate(y, f, strata, rest, ["a"] * 15 + ["b"] * 15)
    assert found.value == pytest.approx(0.5)
    assert found.se == pytest.approx(math.sqrt(2 * 0.25 * 0.75 * 0.2 / 5))
    thin = stratified_ppi_rate([1], [1], ["a"], rest, ["a"] * 15 + ["b"] * 15)
    assert thin.undefined.startswith("stratum a: fewer than 2 labels")


def test_pseudo_outcomes_by_hand():
    # two outputs, probabilities 1/2; with two folds each labelled unit is predicted by the others alone
    human = [1, 1, 0, 0, None, None, None, None]
    judge = ["x", "x", "y", "y", "x", "x", "y", "y"]
    found = pseudo_outcome_rate(human, judge, 0.5, folds=4)
    # every prediction is exact: f = 1 for x, 0 for y, no residual
    assert found.value == 0.5
    with pytest.raises(AgreementError, match="unit 0: inclusion probability is 0"):
        pseudo_outcome_rate(human, judge, [0] * 8)
    assert pseudo_outcome_rate([None], ["x"], 0.5).undefined == "no unit has a human label"


def test_post_stratified_shares_by_hand():
    # N 100/50, n 10/10, 8 of 10 and 2 of 10 are "1": (100 * .8 + 50 * .2) / 150 = .6
    # V = (2/3)^2 (1 - .1) .16 / 9 + (1/3)^2 (1 - .2) .16 / 9 = .0064 + .44444 * ... spelled out below
    judge = ["1"] * 100 + ["0"] * 50
    human = ["1"] * 8 + ["0"] * 2 + [None] * 90 + ["1"] * 2 + ["0"] * 8 + [None] * 40
    cells = tabulate(labels="01", model=[""] * 150, stratum=[""] * 150, judge=judge, human=human)
    found = post_stratified_rates(cells, seed=1, interval="wald")
    assert found["1"].value == pytest.approx(0.6)
    spread = (100 / 150) ** 2 * 0.9 * 0.8 * 0.2 / 9 + (50 / 150) ** 2 * 0.8 * 0.2 * 0.8 / 9
    assert found["1"].se == pytest.approx(math.sqrt(spread))
    population = post_stratified_rates(cells, seed=1, interval="wald", target="population")["1"]
    between = ((100 / 150) * (0.8 - 0.6) ** 2 + (50 / 150) * (0.2 - 0.6) ** 2) / 150
    inside = (100 / 150) ** 2 * 0.8 * 0.2 / 9 + (50 / 150) ** 2 * 0.2 * 0.8 / 9
    assert population.se == pytest.approx(math.sqrt(inside + between))
    assert sum(rate.value for rate in found.values()) == pytest.approx(1)


def test_wald_gives_way_where_counts_are_small():
    judge = ["1"] * 100 + ["0"] * 50
    human = ["1"] * 10 + [None] * 90 + ["1"] * 2 + ["0"] * 8 + [None] * 40
    cells = tabulate(labels="01", model=[""] * 150, stratum=[""] * 150, judge=judge, human=human)
    found = post_stratified_rates(cells, seed=1, interval="wald")["1"]
    assert found.method == "post-stratified, finite-population posterior (few labels)"
    assert found.high < 1


# --- inversion -----------------------------------------------------------------------------------------------------


def test_rogan_gladen_by_hand():
    # p .40, Se 80/100, Sp 90/100: (.4 + .9 - 1) / .7 = .428571
    found = rogan_gladen(400, 1000, 80, 100, 90, 100)
    assert found.shares[0] == pytest.approx(3 / 7)
    assert found.youden == pytest.approx((0.7, 0.7))
    # delta method: [p(1-p)/N + th^2 Se(1-Se)/m1 + (1-th)^2 Sp(1-Sp)/m0] / J^2
    t = 3 / 7
    spread = (0.24 / 1000 + t**2 * 0.16 / 100 + (1 - t) ** 2 * 0.09 / 100) / 0.49
    assert found.covariance[0, 0] == pytest.approx(spread)
    assert sum(found.shares) == pytest.approx(1)


def test_inversion_of_many_labels_recovers_the_truth():
    rates = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.2], [0.1, 0.1, 0.7]])
    theta = np.array([0.5, 0.3, 0.2])
    found = invert_confusion(rates * 1000, rates @ theta * 10000, "abc")
    assert found.shares == pytest.approx(theta)
    assert found.shown == pytest.approx(theta)
    assert found.notes == ()
    assert found.condition == pytest.approx(
        np.linalg.svd(rates, compute_uv=False)[[0, -1]].tolist()[0] / np.linalg.svd(rates, compute_uv=False)[-1]
    )


def test_inversion_diagnostics():
    weak = invert_confusion([[55, 50], [45, 50]], [530, 470], "ab")
    assert any("close to singular" in note for note in weak.notes)
    assert any("Youden's J is 0.05" in note for note in weak.notes)
    outside = invert_confusion([[80, 10], [20, 90]], [950, 50], "ab")
    assert outside.shares[0] > 1
    assert outside.shown == (1, 0)
    assert outside.high[0] == 1
    assert any("leaves [0, 1]" in note for note in outside.notes)
    same = invert_confusion([[50, 50], [50, 50]], [1, 1], "ab")
    assert same.shares is None
    assert "no inverse" in same.undefined
    with pytest.raises(AgreementError, match="people call b: its error rates are unknown"):
        invert_confusion([[80, 0], [20, 0]], [1, 1], "ab")


def test_adjusted_interval_by_hand_and_by_coverage():
    rate, low, high = adjusted_rate_interval(400, 1000, 80, 100, 90, 100)
    z = 1.959963984540054
    p, q1, q0 = (400 + z * z / 2) / (1000 + z * z), 81 / 102, 91 / 102
    theta = (p + q0 - 1) / (q0 + q1 - 1)
    shift = 2 * z * z * (-(1 - theta) * q0 * (1 - q0) / 102 + theta * q1 * (1 - q1) / 102)
    spread = p * (1 - p) / (1000 + z * z) + (1 - theta) ** 2 * q0 * (1 - q0) / 102 + theta**2 * q1 * (1 - q1) / 102
    assert rate == pytest.approx(3 / 7)
    assert (low + high) / 2 == pytest.approx(theta + shift)
    assert (high - low) / 2 == pytest.approx(z * math.sqrt(spread) / (q0 + q1 - 1))
    rng, hits = np.random.default_rng(8), 0
    for _ in range(400):
        _, judge = binary_corpus(rng, size=1000, share=0.3)
        tp, tn = rng.binomial(60, 0.85), rng.binomial(60, 0.9)
        found = adjusted_rate_interval(int(judge.sum()), 1000, tp, 60, tn, 60)
        hits += found[1] <= 0.3 <= found[2]
    assert hits >= 0.93 * 400
    with pytest.raises(AgreementError, match="is not above 0"):
        adjusted_rate_interval(400, 1000, 50, 100, 50, 100)


def test_a_perfect_judge_on_twenty_labels_is_not_certain_to_be_perfect():
    rate, low, high = adjusted_rate_interval(70, 100, 14, 14, 6, 6)
    assert low < rate < high


def test_youden_differences_name_the_models():
    intervals, notes = youden_differences(
        {"good": [[90, 10], [10, 90]], "bad": [[60, 50], [40, 50]], "fair": [[88, 10], [12, 90]]}
    )
    assert intervals["good"][0] == pytest.approx(0.8)
    assert any("model bad is weak: J = 0.10" in note for note in notes)
    assert any("differently on bad and good" in note for note in notes)
    assert not any("fair and good" in note for note in notes)
