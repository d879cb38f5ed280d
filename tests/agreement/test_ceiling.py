"""The human ceiling: published agreement values, second implementations, hand computation, seeded truth."""

import json
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from agreement.ceiling import BELOW, NOT_SHOWN, WITHIN, human_ceiling, rating_ceiling
from agreement.errors import AgreementError

ABC = ("A", "B", "C")


def coders(seed, units, accuracies, labels=ABC):
    """Labels of coders who are right with the given chances (seeded truth)."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, len(labels), units)
    columns = []
    for accuracy in accuracies:
        wrong = (truth + rng.integers(1, len(labels), units)) % len(labels)
        columns.append(np.where(rng.random(units) < accuracy, truth, wrong))
    return [[labels[k] for k in column] for column in columns]


def rows_of(columns):
    return list(zip(*columns, strict=True))


def test_means_of_kappa_and_alpha_equal_other_implementations():
    *people, judge = coders(1, 200, [0.9, 0.8, 0.85, 0.7])
    found = human_ceiling(rows_of(people), judge, labels=ABC, seed=1)
    kappa, alpha = found.comparisons
    pairs = [cohen_kappa_score(a, b) for a, b in combinations(people, 2)]
    assert kappa.people == pytest.approx(np.mean(pairs))
    assert kappa.judge == pytest.approx(np.mean([cohen_kappa_score(judge, a) for a in people]))
    codes = np.array([[ABC.index(x) for x in column] for column in (*people, judge)], float)
    options = {"level_of_measurement": "nominal", "value_domain": [0.0, 1.0, 2.0]}
    assert alpha.people == pytest.approx(krippendorff.alpha(codes[:-1], **options))
    assert alpha.judge == pytest.approx(krippendorff.alpha(codes, **options))
    assert found.n_units == 200


def test_pandalm(shared_data):
    # kappa of the three pairs is published: .852, .8789, .8617; both judges are far below
    folder = shared_data / "pandalm"
    people = json.loads((folder / "testset-v1.json").read_text())
    ratings = [[str(row[f"annotator{k}"]) for k in (1, 2, 3)] for row in people]
    judge = [str(row["pandalm_result"]) for row in json.loads((folder / "pandalm-7b-testset-v1.json").read_text())]
    found = human_ceiling(ratings, judge, labels=("0", "1", "2"), seed=1, name="PandaLM-7B")
    assert found.comparisons[0].people == pytest.approx((0.852 + 0.8789 + 0.8617) / 3, abs=1e-4)
    assert [each.verdict for each in found.comparisons] == [BELOW, BELOW]
    assert found.sentence.startswith("PandaLM-7B is below the human range: kappa judge against coders 0.4")
    assert found.comparisons[1].people == pytest.approx(0.8642, abs=1e-4)  # alpha of complete data is near Fleiss


def test_framing_judges(shared_data):
    # four coders: mean kappa over pairs .5658, alpha .5666 are published figures of this task
    folder = shared_data / "alttest" / "framing"
    people = json.loads((folder / "human_annotations.json").read_text())
    judges = json.loads((folder / "llm_annotations.json").read_text())
    items = sorted(set().union(*people.values()))
    labels = sorted({label for given in people.values() for label in given.values()})
    ratings = [[given.get(item) for given in people.values()] for item in items]
    found = human_ceiling(ratings, [judges["gpt-4o"].get(i) for i in items], labels=labels, seed=1, name="gpt-4o")
    kappa, alpha = found.comparisons
    assert round(kappa.people, 4) == 0.5658
    assert round(alpha.people, 4) == 0.5666
    # passes the alternative annotator test, yet agrees less with people than they do among themselves
    assert (kappa.verdict, alpha.verdict) == (BELOW, BELOW)
    assert kappa.margin == 0.05
    assert alpha.margin == pytest.approx(0.05 * 2 / 5)


def test_wax_pairs_without_a_kappa_are_counted(shared_data):
    folder = shared_data / "alttest" / "wax"
    people = json.loads((folder / "human_annotations.json").read_text())
    judge = json.loads((folder / "llm_annotations.json").read_text())["gpt-4o"]
    items = sorted(set().union(*people.values()))
    labels = sorted({label for given in people.values() for label in given.values()})
    ratings = [[given.get(item) for given in people.values()] for item in items]
    found = human_ceiling(ratings, [judge.get(i) for i in items], labels=labels, seed=1)
    assert found.comparisons[0].left_out == 2  # pairs 3-4 and 7-8
    assert round(found.comparisons[0].people, 4) == 0.2188
    assert found.comparisons[0].verdict == WITHIN
    assert found.n_units + found.too_few_coders + found.judge_missing == len(items)


@pytest.mark.parametrize(
    ("accuracy", "units", "verdict"),
    [(0.9, 600, WITHIN), (0.6, 600, BELOW), (0.82, 40, NOT_SHOWN), (0.99, 600, WITHIN)],
)
def test_verdicts_on_seeded_truth(accuracy, units, verdict):
    # three coders right 9 times in 10
    *people, judge = coders(2, units, [0.9, 0.9, 0.9, accuracy])
    found = human_ceiling(rows_of(people), judge, labels=ABC, seed=1, name="gpt")
    assert found.comparisons[0].verdict == verdict
    assert found.sentence.startswith("gpt")
    difference = found.comparisons[0].difference
    assert difference.low <= difference.value <= difference.high


def test_paired_interval_covers():
    # truth of the difference from one very large sample
    truth = human_ceiling(*split(coders(99, 100_000, [0.9, 0.8, 0.7])), labels=ABC, seed=1, draws=20)
    truth = truth.comparisons[0].difference.value
    inside = 0
    for seed in range(100):
        found = human_ceiling(*split(coders(seed, 120, [0.9, 0.8, 0.7])), labels=ABC, seed=seed, draws=400)
        inside += found.comparisons[0].difference.low <= truth <= found.comparisons[0].difference.high
    assert inside >= 88


def split(columns):
    return rows_of(columns[:-1]), columns[-1]


def test_units_that_cannot_be_compared_are_left_out_and_counted():
    ratings = [["A", "A"], ["A", None], ["B", "A"], ["B", "B"], [None, None]]
    found = human_ceiling(ratings, ["A", "A", None, "sorry", "B"], labels=ABC, seed=1)
    assert (found.n_units, found.too_few_coders, found.judge_missing) == (2, 2, 1)
    # an output that is no label is a disagreement, not a missing value: judge A, sorry against A, B
    assert found.comparisons[0].judge == pytest.approx(cohen_kappa_score(["A", "s"], ["A", "B"]))


def test_items_are_resampled_together():
    *people, judge = coders(5, 300, [0.9, 0.9, 0.7])
    ratings = rows_of(people)
    single = human_ceiling(ratings, judge, labels=ABC, seed=1)
    items = [k // 3 for k in range(300)]
    # the same unit three times is one item: no more certain than its 100 originals
    tripled = human_ceiling(
        [ratings[3 * (k // 3)] for k in range(300)], [judge[3 * (k // 3)] for k in range(300)],
        labels=ABC, seed=1, items=items,
    )  # fmt: skip
    once = human_ceiling(ratings[::3], judge[::3], labels=ABC, seed=1)
    width = [x.comparisons[0].difference.high - x.comparisons[0].difference.low for x in (tripled, once, single)]
    assert width[0] == pytest.approx(width[1], rel=0.1)
    assert width[2] < width[1]
    assert "items" in tripled.convention


def test_weights_count_like_copies():
    ratings = [["A", "A"], ["A", "B"], ["B", "B"], ["C", "C"]] * 5
    judge = ["A", "B", "B", "A"] * 5
    weighted = human_ceiling(ratings, judge, labels=ABC, seed=1, weights=[2, 1, 1, 1] * 5).comparisons[0]
    extra = [["A", "A"]] * 5
    copied = human_ceiling(ratings + extra, judge + ["A"] * 5, labels=ABC, seed=1).comparisons[0]
    assert weighted.judge == pytest.approx(copied.judge)
    assert weighted.people == pytest.approx(copied.people)


def test_rating_errors_by_hand():
    # coders 50/60 and 80/70; judge 55, 90: judge against coders |5|,|5|,|10|,|20| -> means 7.5 and 12.5 -> 10;
    # coder against coder |10|, |10| -> 10; root mean squares: sqrt((25 + 100)/2), sqrt((25 + 400)/2); people 10
    found = rating_ceiling([[50, 60], [80, 70]], [55, 90], seed=1)
    absolute, squared = found.comparisons
    assert (absolute.judge, absolute.people) == (10, 10)
    assert squared.judge == pytest.approx((np.sqrt(62.5) + np.sqrt(212.5)) / 2)
    assert squared.people == 10


def test_rating_verdicts_on_seeded_truth():
    rng = np.random.default_rng(2)
    truth = rng.uniform(20, 80, 400)
    people = truth[:, None] + rng.normal(0, 8, (400, 3))
    good, bad = truth + rng.normal(0, 8, 400), truth + rng.normal(0, 30, 400)
    assert rating_ceiling(people, good, seed=1).comparisons[0].verdict == WITHIN
    worse = rating_ceiling(people, bad, seed=1, name="gpt")
    assert worse.comparisons[0].verdict == BELOW
    assert worse.sentence.startswith("gpt is below the human range: mean absolute error judge against coders")
    holes = people.copy()
    holes[:200, 0] = np.nan
    holes[:100, 1] = np.nan
    assert rating_ceiling(holes, good, seed=1).too_few_coders == 100


def test_what_cannot_be_had_is_said():
    with pytest.raises(AgreementError, match="at least two coders"):
        human_ceiling([["A"], ["B"]], ["A", "B"], labels=ABC, seed=1)
    with pytest.raises(AgreementError, match="3 judge outputs for 2 units"):
        human_ceiling([["A", "A"], ["B", "B"]], ["A", "B", "C"], labels=ABC, seed=1)
    nothing = human_ceiling([["A", None], [None, "B"]], ["A", "B"], labels=ABC, seed=1)
    assert nothing.comparisons[0].verdict == NOT_SHOWN
    assert "no unit has a judge output and labels of two coders" in nothing.sentence
    flat = human_ceiling([["A", "A"]] * 9, ["A"] * 9, labels=ABC, seed=1)
    assert flat.comparisons[0].difference.value is None
    assert flat.comparisons[0].verdict == NOT_SHOWN


def test_same_seed_same_bytes():
    *people, judge = coders(7, 80, [0.9, 0.8, 0.7])
    first, again = (human_ceiling(rows_of(people), judge, labels=ABC, seed=4) for _ in range(2))
    assert first == again


@pytest.mark.parametrize("grouped", [False, True])
def test_two_units_are_no_ground_for_a_verdict(grouped):
    """Two units on which everybody disagrees: every draw gives the same, and an interval of no width shows nothing."""
    found = human_ceiling(
        [["a", "b"], ["a", "b"]], ["b", "b"], labels=["a", "b"], seed=1, items=["x", "y"] if grouped else None
    )
    assert [each.verdict for each in found.comparisons] == ["not shown", "not shown"]
    assert "2 " + ("items" if grouped else "units") in found.sentence
    assert "too few for a verdict" in found.sentence
