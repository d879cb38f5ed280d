"""A judge against people on a corpus: design weights, intervals by three methods, undefined numbers and warnings."""

import numpy as np
import pytest

from agreement.against_people import judge_agreement
from agreement.cells import NOT_A_LABEL, tabulate
from agreement.confusion_matrix import confusion
from agreement.errors import AgreementError
from agreement.measure_intervals import point_measures

LABELS = ("CORRECT", "WRONG", "ABSTAIN", "HEDGE")


def corpus(seed, size=4000, sampled=400):
    """A corpus of 4 labels with known human labels, and an equal sample per judge label (seeded truth)."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(4, size, p=[0.55, 0.25, 0.15, 0.05])
    errors = np.full((4, 4), 0.05) + 0.8 * np.eye(4)
    errors[3] = [0.25, 0.1, 0.05, 0.6]
    judge = np.array([rng.choice(4, p=errors[t]) for t in truth])
    chosen = np.zeros(size, bool)
    for label in range(4):
        chosen[rng.choice(np.flatnonzero(judge == label), sampled // 4, replace=False)] = True
    return truth, judge, chosen


def cells_of(truth, judge, chosen):
    probability = np.array([chosen[judge == j].mean() for j in range(4)])[judge]
    return tabulate(
        labels=LABELS,
        model=["m"] * len(truth),
        stratum=[""] * len(truth),
        judge=[LABELS[j] for j in judge],
        human=[LABELS[t] if c else None for t, c in zip(truth, chosen, strict=True)],
        probability=probability,
    )


def names(codes):
    return [LABELS[k] for k in codes]


def test_unweighted_matrix_of_a_judge_stratified_sample_is_wrong():
    truth, judge, chosen = corpus(1)
    right = point_measures(confusion(names(judge), names(truth), labels=LABELS))
    bare = point_measures(confusion(names(judge[chosen]), names(truth[chosen]), labels=LABELS))
    weights = 1 / np.array([chosen[judge == j].mean() for j in range(4)])[judge[chosen]]
    weighted = point_measures(confusion(names(judge[chosen]), names(truth[chosen]), labels=LABELS, weights=weights))
    printed = judge_agreement(cells_of(truth, judge, chosen), seed=1)

    wrong = [("agreement", None), ("kappa", None), ("recall", "HEDGE"), ("human share", "HEDGE"), ("recall", "CORRECT")]
    for name in wrong:
        interval = printed.get(*name)
        assert abs(bare[name] - right[name]) > 0.05  # the bare counts are off ...
        assert abs(weighted[name] - right[name]) < abs(bare[name] - right[name])
        assert interval.value == pytest.approx(weighted[name])  # ... and never what is printed
        assert not interval.low <= bare[name] <= interval.high
        assert interval.low <= right[name] <= interval.high
    # precision alone is right without weights: it conditions on the judge's label
    assert bare["precision", "HEDGE"] == pytest.approx(weighted["precision", "HEDGE"])
    # the rows of the printed matrix are the known judge counts, not the sample's
    assert printed.matrix.totals.sum(axis=1) == pytest.approx(np.bincount(judge))
    assert printed.matrix.counts.sum(axis=1).tolist() == [100] * 4


def test_three_methods_agree_on_a_large_sample():
    truth, judge, chosen = corpus(2, size=12000, sampled=2400)
    cells = cells_of(truth, judge, chosen)
    for target in ("corpus", "population"):
        found = {
            m: judge_agreement(cells, seed=1, method=m, target=target) for m in ("posterior", "linearised", "bootstrap")
        }
        for name, label in [
            ("agreement", None),
            ("kappa", None),
            ("macro F1", None),
            ("MCC", None),
            ("recall", "WRONG"),
        ]:
            posterior, linear, boot = (found[m].get(name, label) for m in ("posterior", "linearised", "bootstrap"))
            width = posterior.high - posterior.low
            assert posterior.value == linear.value == boot.value
            assert linear.high - linear.low == pytest.approx(width, rel=0.08)
            assert boot.high - boot.low == pytest.approx(width, rel=0.08)
            assert posterior.low == pytest.approx(linear.low, abs=0.1 * width)


def test_corpus_intervals_are_narrower_than_population_intervals_and_shrink_to_nothing():
    truth, judge, chosen = corpus(3)
    cells = cells_of(truth, judge, chosen)
    corpus_wide, population_wide = (
        judge_agreement(cells, seed=1, target=t).get("agreement") for t in ("corpus", "population")
    )
    assert corpus_wide.high - corpus_wide.low < population_wide.high - population_wide.low
    census = judge_agreement(cells_of(truth, judge, np.ones(len(truth), bool)), seed=1)
    interval = census.get("kappa")
    assert interval.low == interval.value == interval.high
    assert "every record of the corpus is labelled" in census.notes[-1]


def test_linearised_kappa_matches_fleiss_cohen_everitt():
    # Cohen (1968) table 200 x [[.44 .07 .09] [.05 .20 .05] [.01 .03 .06]]: SE .051002 (statsmodels, vcd, irrCAC).
    # Ours conditions nothing away: population target of a census. n - 1 against n is a factor of 1.0025.
    table = np.rint(200 * np.array([[0.44, 0.07, 0.09], [0.05, 0.20, 0.05], [0.01, 0.03, 0.06]])).astype(int)
    pairs = [("ABC"[j], "ABC"[c]) for j in range(3) for c in range(3) for _ in range(table[j, c])]
    judge, human = zip(*pairs, strict=True)
    cells = tabulate(labels="ABC", model=[""] * 200, stratum=[""] * 200, judge=judge, human=human)
    found = judge_agreement(cells, seed=1, method="linearised", target="population").get("kappa")
    assert found.value == pytest.approx(0.491525, abs=5e-7)
    se = (found.high - found.low) / 2 / 1.972  # t quantile of 197 degrees of freedom
    assert se == pytest.approx(0.051002, rel=0.01)


def test_small_numbers_get_the_small_sample_interval_by_name():
    truth, judge, chosen = corpus(4, sampled=48)
    cells = cells_of(truth, judge, chosen)
    for method in ("linearised", "bootstrap"):
        found = judge_agreement(cells, seed=1, method=method)
        rare = found.get("precision", "WRONG")
        assert rare.method == "finite-population posterior (fewer than 5 labels in a cell it needs)"
        assert rare == rare.__class__(**{f: getattr(rare, f) for f in rare.__slots__})
        assert found.get("agreement").method.startswith(method)


def test_perfect_judge_on_twenty_labels_is_not_certain():
    # other tools print [1, 1], or bounds above 1, here
    judge = ["A"] * 70 + ["B"] * 30
    human = [label if i % 5 == 0 else None for i, label in enumerate(judge)]
    cells = tabulate(labels="AB", model=[""] * 100, stratum=[""] * 100, judge=judge, human=human, probability=0.2)
    for method in ("posterior", "linearised", "bootstrap"):
        found = judge_agreement(cells, seed=1, method=method)
        for name in (("agreement", None), ("recall", "A"), ("kappa", None), ("human share", "A")):
            interval = found.get(*name)
            assert interval.low < interval.value or name[0] == "human share"
            assert 0 <= interval.low <= interval.value <= interval.high <= 1
        share = found.get("human share", "A")
        assert share.low < 0.7 < share.high


def test_bounds_never_leave_the_range():
    rng = np.random.default_rng(9)
    for trial in range(5):
        truth, judge, chosen = corpus(trial, size=300, sampled=int(rng.integers(8, 80)))
        for method in ("posterior", "linearised", "bootstrap"):
            for measure in judge_agreement(cells_of(truth, judge, chosen), seed=1, method=method, draws=1000).measures:
                if measure.interval.value is not None:
                    assert -1 <= measure.interval.low <= measure.interval.value <= measure.interval.high <= 1


def test_undefined_numbers_say_why():
    judge = ["A"] * 50
    cells = tabulate(labels="AB", model=[""] * 50, stratum=[""] * 50, judge=judge, human=["A"] * 20 + ["B"] * 30)
    found = judge_agreement(cells, seed=1, judge="rules")
    assert found.get("MCC").undefined == "no variation: chance-corrected agreement cannot be computed"
    assert found.get("precision", "B").undefined == "the judge never says B"
    assert found.get("macro precision").undefined == "the judge never says B: its precision cannot be computed"
    assert found.get("kappa").value == 0
    assert found.warnings == ("judge rules is constant: it says A whatever the response is",)
    same = judge_agreement(
        tabulate(labels="AB", model=[""] * 9, stratum=[""] * 9, judge=["A"] * 9, human=["A"] * 9), seed=1
    )
    assert same.get("agreement").value == 1
    assert same.get("kappa").undefined == "no variation: chance-corrected agreement cannot be computed"
    assert same.get("recall", "B").undefined == "people never say B"


def test_non_labels_stay_in_the_matrix_of_the_corpus():
    judge = ["A"] * 40 + ["B"] * 40 + ["sorry"] * 15 + ["(missing)"] * 5
    human = [("A" if i < 60 else "B") if i % 2 == 0 else None for i in range(100)]
    cells = tabulate(labels="AB", model=[""] * 100, stratum=[""] * 100, judge=judge, human=human, probability=0.5)
    found = judge_agreement(cells, seed=1)
    assert found.matrix.rows == ("A", "B", NOT_A_LABEL, "(missing)")
    assert found.matrix.totals.sum(axis=1).tolist() == [40, 40, 15, 5]
    assert found.get("agreement").value < found.get("agreement, labels only").value


def test_judge_that_is_reversed_or_mostly_no_label_is_named():
    judge = ["A"] * 100 + ["B"] * 100
    human = [("B" if j == "A" else "A") if i % 2 else None for i, j in enumerate(judge)]
    cells = tabulate(labels="AB", model=[""] * 200, stratum=[""] * 200, judge=judge, human=human, probability=0.5)
    (text,) = judge_agreement(cells, seed=1, judge="gpt").warnings
    assert text.startswith("judge gpt agrees less than chance would (kappa -1.00): the labels may be reversed")
    # agreement a little below chance in few labels is no evidence: the interval of kappa holds 0
    few = tabulate(labels="AB", model=[""] * 4, stratum=[""] * 4, judge="AABB", human="ABBA")
    assert judge_agreement(few, seed=1, judge="gpt", target="population").warnings == ()
    silent = ["sorry"] * 150 + ["A"] * 25 + ["B"] * 25
    spoken = tabulate(labels="AB", model=[""] * 200, stratum=[""] * 200, judge=silent, human=["A"] * 175 + ["B"] * 25)
    (text,) = judge_agreement(spoken, seed=1, judge="gpt").warnings
    assert text.startswith("judge gpt: 75% of its outputs are no label")


def test_undefined_in_a_few_draws_is_counted_and_in_many_undoes_the_number():
    # one B among 40 labels and 400 records of which 40 are labelled: recall of B is 0/0 in draws without any B
    judge = ["A"] * 400
    human = ["A"] * 39 + ["B"] + [None] * 360
    cells = tabulate(labels="ABC", model=[""] * 400, stratum=[""] * 400, judge=judge, human=human, probability=0.1)
    found = judge_agreement(cells, seed=1)
    assert found.get("recall", "B").undefined_draws == 0  # a label that was seen is in every draw
    assert found.get("recall", "C").value is None


def test_unknown_names_are_refused():
    truth, judge, chosen = corpus(1)
    cells = cells_of(truth, judge, chosen)
    with pytest.raises(AgreementError, match="expected posterior, linearised or bootstrap"):
        judge_agreement(cells, seed=1, method="wald")
    with pytest.raises(AgreementError, match="no number 'auc'"):
        judge_agreement(cells, seed=1).get("auc")
