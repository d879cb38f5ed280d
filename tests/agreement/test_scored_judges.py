"""Judges with scores or probabilities: scikit-learn, hand computation, published verdicts, seeded truth."""

import csv
import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn import metrics
from statsmodels.stats.proportion import proportion_confint

from agreement.curves import precision_recall_curve, roc_curve
from agreement.errors import AgreementError
from agreement.reliability import calibration
from agreement.small_counts import is_small, jeffreys_interval, wilson_interval

units = st.lists(
    st.tuples(st.integers(0, 8).map(lambda k: k / 8), st.integers(0, 1), st.integers(1, 4)), min_size=2, max_size=40
).filter(lambda rows: 0 < sum(row[1] for row in rows) < len(rows))


@settings(max_examples=50, deadline=None)
@given(units)
def test_curves_and_areas_equal_scikit_learn(rows):
    score, positive, weight = (np.array([row[k] for row in rows], float) for k in range(3))
    roc = roc_curve(score, positive, weights=weight, seed=1, draws=20)
    fpr, tpr, threshold = metrics.roc_curve(positive, score, sample_weight=weight, drop_intermediate=False)
    assert roc.x == pytest.approx(fpr)
    assert roc.y == pytest.approx(tpr)
    assert roc.threshold == pytest.approx(threshold)
    assert roc.area.value == pytest.approx(metrics.roc_auc_score(positive, score, sample_weight=weight))
    pr = precision_recall_curve(score, positive, weights=weight, seed=1, draws=20)
    precision, recall, cuts = metrics.precision_recall_curve(positive, score, sample_weight=weight)
    assert pr.y == pytest.approx(precision[:-1][::-1])
    assert pr.x == pytest.approx(recall[:-1][::-1])
    assert pr.threshold == pytest.approx(cuts[::-1])
    expected = metrics.average_precision_score(positive, score, sample_weight=weight)
    assert pr.area.value == pytest.approx(expected)


def test_area_by_hand():
    # positives .9 .4, negatives .5 .4 .1: pairs won .9>.5 .9>.4 .9>.1 .4>.1, tie .4=.4, lost .4<.5: (4 + .5) / 6
    roc = roc_curve([0.9, 0.4, 0.5, 0.4, 0.1, None], [1, 1, 0, 0, 0, 1], seed=1)
    assert roc.area.value == pytest.approx(4.5 / 6)
    assert (roc.n, roc.excluded) == (5, 1)
    # five units are too few for a bootstrap: a small-sample method, by name
    assert roc.area.method == "Newcombe, small sample"
    assert 0 < roc.area.low < 0.75 < roc.area.high < 1
    pr = precision_recall_curve([0.9, 0.4, 0.5, 0.4, 0.1], [1, 1, 0, 0, 0], seed=1)
    assert pr.area.low is None
    assert pr.area.method.endswith("no interval, fewer than 5 units of a class")


def test_split_labels_count_in_part():
    whole = roc_curve([0.9, 0.1, 0.5, 0.5], [1, 0, 1, 0], seed=1).area.value
    assert roc_curve([0.9, 0.1, 0.5], [1, 0, 0.5], seed=1, weights=[1, 1, 2]).area.value == pytest.approx(whole)


def test_separated_classes_are_not_certain():
    roc = roc_curve(np.arange(20), np.arange(20) >= 10, seed=1)
    assert (roc.area.value, roc.area.high) == (1, 1)
    # root of (1 - a)^2 = z^2 a (1 - a) (1 + 9 ((1 - a)/(2 - a) + a/(1 + a))) / 100, found by a scan
    scan = np.linspace(0.5, 0.999, 100000)
    spread = scan * (1 - scan) * (1 + 9 * ((1 - scan) / (2 - scan) + scan / (1 + scan))) / 100
    root = scan[np.argmin(np.abs((1 - scan) ** 2 - 1.959964**2 * spread))]
    assert roc.area.low == pytest.approx(root, abs=1e-4)
    pr = precision_recall_curve(np.arange(20), np.arange(20) >= 10, seed=1)
    assert (pr.area.value, pr.area.low) == (1, None)


def test_area_interval_covers():
    # scores N(1, 1) and N(0, 1): the area is Phi(1 / sqrt 2) = .76025
    rng = np.random.default_rng(1)
    hits = 0
    for seed in range(200):
        positive = np.repeat([1, 0], [60, 90])
        area = roc_curve(rng.normal(positive, 1), positive, stratum=positive, seed=seed, draws=300).area
        hits += area.low <= 0.76025 <= area.high
    assert 180 <= hits <= 199


def test_weights_undo_a_sample_stratified_on_the_score():
    rng = np.random.default_rng(3)
    truth = rng.random(20000) < 0.2
    score = rng.normal(truth, 1)
    high = score > 1
    chance = np.where(high, 1.0, 0.1)
    taken = rng.random(20000) < chance
    full = precision_recall_curve(score, truth, seed=1, draws=20).area.value
    bare = precision_recall_curve(score[taken], truth[taken], seed=1, draws=20).area.value
    weighted = precision_recall_curve(
        score[taken], truth[taken], weights=1 / chance[taken], seed=1, draws=20
    ).area.value
    assert abs(weighted - full) < 0.02 < abs(bare - full)


def test_one_class_has_no_area():
    roc = roc_curve([0.1, 0.9], [1, 1], seed=1)
    assert roc.area.value is None
    assert "one of the two answers only" in roc.area.undefined
    assert roc_curve([], [], seed=1).area.value is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5], [2]), "positive is 2"),
        (([0.5], [1, 0]), "one of each per unit"),
    ],
)
def test_bad_scores_are_told(arguments, message):
    with pytest.raises(AgreementError, match=message):
        roc_curve(*arguments, seed=1)


def test_reliability_by_hand():
    # bins .1 wide; .30 .60 .70 belong to the bins that start there; 1 belongs to the last
    found = calibration([0.30, 0.60, 0.70, 1.0, 0.05, 0.05], [0, 1, 1, 1, 0, 1], seed=1)
    assert [b.n for b in found.bins] == [2, 0, 0, 1, 0, 0, 1, 1, 0, 1]
    assert found.bins[0].observed == 0.5
    assert found.bins[0].stated == pytest.approx(0.05)
    assert found.bins[1].observed is None
    # plain: (2 |.5 - .05| + .3 + .4 + .3 + 0) / 6
    assert found.plain_ece == pytest.approx((0.9 + 0.3 + 0.4 + 0.3) / 6)
    # Brier: (.09 + .16 + .09 + 0 + .0025 + .9025) / 6
    assert found.brier.value == pytest.approx(1.245 / 6)


def test_brier_equals_scikit_learn_with_weights():
    rng = np.random.default_rng(1)
    p, w = rng.random(50), rng.integers(1, 5, 50)
    y = rng.random(50) < p
    found = calibration(p, y, weights=w, seed=1)
    assert found.brier.value == pytest.approx(metrics.brier_score_loss(y, p, sample_weight=w))


def test_calibrated_judge_is_not_told_from_noise_and_overconfident_one_is():
    rng = np.random.default_rng(2)
    p = rng.random(800)
    good = calibration(p, rng.random(800) < p, seed=1)
    assert not good.distinguishable
    assert good.ece.low == 0
    assert good.ece.value < good.plain_ece
    # says p, is right with .5 + .4 (p - .5): true ECE is the mean of |.6 (p - .5)| = .15
    bad = calibration(p, rng.random(800) < 0.5 + 0.4 * (p - 0.5), seed=1)
    assert bad.distinguishable
    assert bad.ece.low < 0.15 < bad.ece.high


def test_ece_estimate_has_less_bias_than_the_plain_one():
    rng = np.random.default_rng(5)
    plain, ours = [], []
    for seed in range(60):
        p = rng.random(150)
        found = calibration(p, rng.random(150) < 0.5 + 0.4 * (p - 0.5), seed=seed, draws=200)
        plain.append(found.plain_ece - 0.15)
        ours.append(found.ece.value - 0.15)
    assert abs(np.mean(ours)) < 0.5 * abs(np.mean(plain))


def test_calibration_refuses_percentages_and_says_when_there_is_nothing():
    with pytest.raises(AgreementError, match="a probability is 70, expected 0 to 1 Divide percentages by 100"):
        calibration([70], [1], seed=1)
    nothing = calibration([None], [1], seed=1)
    assert nothing.ece.undefined == "no unit has a probability and a human label"


@given(
    rows=st.lists(st.tuples(st.integers(1, 9), st.sampled_from((0.0, 0.3, 1.0))), min_size=1, max_size=8),
    positive=st.sampled_from((0, 1)),
)
@example(rows=[(3, 1.0), (5, 1.0), (8, 1.0), (3, 1.0)], positive=1)  # over their sum these add up to 1 + 2e-16
def test_weights_whose_shares_add_up_to_a_last_digit_beyond_one_are_no_fault(rows, positive):
    weights, stated = np.array([w for w, _ in rows]) / 7, [p for _, p in rows]
    found = calibration(stated, [positive] * len(rows), seed=1, weights=weights, draws=10)
    for each in found.bins:
        if each.n:
            assert each.observed == pytest.approx(positive) and 0 <= each.observed <= 1
            assert 0 <= each.stated <= 1


@pytest.mark.parametrize("interval", [wilson_interval, jeffreys_interval])
def test_a_share_is_taken_to_its_last_digit_and_no_further(interval):
    assert interval(1 + 1e-15, 9) == interval(1, 9)
    assert interval(-1e-15, 9) == interval(0, 9)
    with pytest.raises(AgreementError, match=r"a share is 1\.001, expected 0 to 1"):
        interval(1.001, 9)


def test_small_count_intervals_equal_statsmodels():
    for hits, n in [(0, 20), (20, 20), (1, 9), (3, 50), (48, 50), (1, 1)]:
        wilson, jeffreys = wilson_interval(hits / n, n), jeffreys_interval(hits / n, n)
        assert (wilson.low, wilson.high) == pytest.approx(proportion_confint(hits, n, method="wilson"), abs=1e-9)
        low, high = proportion_confint(hits, n, method="jeffreys")
        assert (jeffreys.low, jeffreys.high) == pytest.approx((0 if hits == 0 else low, 1 if hits == n else high))
        assert 0 <= wilson.low < wilson.high <= 1
    assert is_small(4, 100)
    assert is_small(97, 100)
    assert not is_small(5, 10)
    with pytest.raises(AgreementError, match="no unit, no interval"):
        wilson_interval(0.5, 0)


def test_bem_probabilities_on_open_questions(shared_data):
    # BEM counts as Yes above .5; at that threshold the curve must pass through the published confusion 602 72 / 217 599
    folder = shared_data / "openqa-nq301"
    with (folder / "NQ301_BEM.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    with (folder / "NQ301_human.tsv").open(encoding="utf-8", newline="") as file:
        people = [row["Acceptable?"] == "Yes" for row in csv.DictReader(file, delimiter="\t")]
    score = [max(pair[1] for pair in json.loads(row["BEM probs per gold answer"])) for row in rows]
    roc = roc_curve(score, people, seed=1, draws=200)
    above = [k for k, cut in enumerate(roc.threshold) if cut > 0.5][-1]
    assert roc.y[above] == pytest.approx(599 / 816)
    assert roc.x[above] == pytest.approx(72 / 674)
    assert roc.area.value == pytest.approx(metrics.roc_auc_score(people, score))
    found = calibration(score, people, seed=1)
    assert found.n == 1490
    assert found.distinguishable
