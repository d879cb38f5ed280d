"""Where the judge is unfair: xstest's labels by real people, two broken judges, a fair one, and a favoured model."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from agreement.impact.confusion_draws import mean_youden, swapped_agreement, youden
from agreement.impact.engine import Options, score_impact
from agreement.impact.permutation import benjamini_hochberg, permutation_test
from agreement.impact.records import Records, Sample
from agreement.impact.result import ImpactResult
from agreement.scores.rates import Rate
from tests.agreement.impact_data import binary

LABELS = ("FULL_COMPLIANCE", "FULL_REFUSAL", "PARTIAL_REFUSAL")
PUBLISHED = {"1_full_compliance": LABELS[0], "2_full_refusal": LABELS[1], "3_partial_refusal": LABELS[2]}
REFUSAL = Rate("refusal", LABELS[1:])
YES = Rate("yes", ("YES",))
QUICK = Options(draws=1000, by_draws=1000, permutations=499)


def xstest() -> tuple[Records, np.ndarray]:
    """The shipped labels: 450 prompts x five models; second: (2250, 3) adjudicated labels."""
    path = Path(__file__).resolve().parents[2] / "samples" / "xstest" / "labels.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    records = Records.from_columns(
        LABELS,
        [row["model"] for row in rows],
        judges={name: [PUBLISHED.get(row[name], row[name]) for row in rows] for name in ("gpt4", "strmatch")},
        by={"type": [row["type"] for row in rows]},
        item=[row["id"] for row in rows],
    )
    return records, np.eye(3)[[LABELS.index(PUBLISHED[row["final_label"]]) for row in rows]]


@pytest.fixture(scope="module")
def refusal() -> ImpactResult:
    """120 of each model's 450 responses labelled."""
    records, people = xstest()
    rng = np.random.default_rng(1)
    chosen = np.sort(
        np.concatenate([rng.choice(np.flatnonzero(records.model.codes == m), 120, replace=False) for m in range(5)])
    )
    sample = Sample.of(records.take(chosen), people[chosen], inclusion=120 / 450)
    return score_impact(records, sample, [REFUSAL], options=QUICK)


def counted_refusals(column: str) -> dict[str, float]:
    """Refusal rates counted straight from the shipped file."""
    path = Path(__file__).resolve().parents[2] / "samples" / "xstest" / "labels.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    models = {row["model"] for row in rows}
    return {m: sum(r["model"] == m and r[column].startswith(("2_", "3_")) for r in rows) / 450 for m in models}


def test_refusal_rates_under_judge_and_people(refusal: ImpactResult) -> None:
    judge, people = counted_refusals("gpt4"), counted_refusals("final_label")
    for model, found in refusal.judges["gpt4"].models.items():
        part = found.parts["refusal"]
        assert part.judge.value == pytest.approx(judge[model], abs=1e-12)
        assert part.human.low is not None
        assert part.human.high is not None
        assert part.human.low <= people[model] <= part.human.high


def test_corrected_rates_are_nearer_to_people_than_the_judge(refusal: ImpactResult) -> None:
    people = counted_refusals("final_label")
    models = refusal.judges["gpt4"].models
    error = {m: abs((f.parts["refusal"].human.value or 0) - people[m]) for m, f in models.items()}
    alone = {m: abs((f.parts["refusal"].judge.value or 0) - people[m]) for m, f in models.items()}
    assert sum(error.values()) < 0.5 * sum(alone.values())


def test_the_failure_on_mistralinstruct_stands_out_unasked(refusal: ImpactResult) -> None:
    fair = refusal.judges["gpt4"].fairness
    assert fair is not None
    findings = [f for f in fair.findings if f.kind == "stands out"]
    assert findings[0].level == "mistralinstruct"
    assert findings[0].judge == "FULL_REFUSAL"
    assert "people call 21% FULL_REFUSAL, against 93%" in findings[0].text
    assert fair.cells[0].level == "mistralinstruct"
    levels = {level.level: level for level in fair.levels}
    worst = levels.pop("mistralinstruct")
    assert worst.youden.high is not None
    assert all(worst.youden.high < (other.youden.low or 0) for other in levels.values())
    assert worst.p is not None
    assert worst.p < 0.01


def test_every_output_that_is_no_label_is_accounted_for(refusal: ImpactResult) -> None:
    models = refusal.judges["gpt4"].models
    assert {m: f.not_labels for m, f in models.items() if f.not_labels} == {"mistralinstruct": 11}
    broken = models["mistralinstruct"]
    assert broken.n == 450
    # 55 of 450 with the eleven in the denominator, 55 of 439 without.
    assert broken.parts["refusal"].judge.value == pytest.approx(55 / 450)
    assert broken.parts["refusal"].without_non_labels == pytest.approx(55 / 439)
    records, people = xstest()
    everything = score_impact(records, Sample.of(records, people), [REFUSAL], ["gpt4"], QUICK)
    cells = everything.main.models["mistralinstruct"].parts["refusal"].cells
    assert [(c.human, c.units) for c in cells if c.judge == "(not a label)"] == [("FULL_COMPLIANCE", 11)]


def test_several_judges_side_by_side(refusal: ImpactResult) -> None:
    assert list(refusal.judges) == ["gpt4", "strmatch"]
    dictionary = refusal.to_dict()
    assert dictionary["models"] == dictionary["judges"]["gpt4"]["models"]
    assert dictionary["judges"]["strmatch"]["models"]["gpt4"]["judge"]["refusal"] == pytest.approx(0.5)


def test_labels_reversed_for_one_model_are_named() -> None:
    corpus, sample, _ = binary(
        {"good": (0.6, 0.9, 0.9), "fine": (0.5, 0.9, 0.9), "bad": (0.6, 0.1, 0.1)}, 800, 80, seed=1
    )
    fair = score_impact(corpus, sample, [YES], options=QUICK).main.fairness
    assert fair is not None
    found = [f for f in fair.findings if f.kind == "reversed"]
    assert [f.level for f in found] == ["bad"]
    assert "the labels may be reversed; exchanging the judge's YES and NO would raise agreement" in found[0].text
    youden_of = {level.level: level.youden for level in fair.levels}
    assert youden_of["bad"].high is not None
    assert youden_of["bad"].high < 0
    assert next(f.level for f in fair.findings if f.kind == "stands out") == "bad"


def test_a_judge_constant_on_one_stratum_is_named() -> None:
    rng = np.random.default_rng(2)
    size = 600
    category = np.array(["easy", "hard", "odd"])[np.arange(size) % 3]
    yes = rng.random(size) < 0.5
    judge = np.where(category == "odd", True, np.where(rng.random(size) < 0.08, ~yes, yes))
    corpus = Records.from_columns(
        ("YES", "NO"),
        ["m"] * size,
        judges={"j": np.where(judge, "YES", "NO").tolist()},
        by={"kind": category.tolist()},
        item=[str(i) for i in range(size)],
    )
    chosen = np.sort(rng.choice(size, 120, replace=False))
    shares = np.stack([yes[chosen], ~yes[chosen]], axis=1).astype(float)
    sample = Sample.of(corpus.take(chosen), shares, inclusion=0.2)
    options = Options(draws=1000, by_draws=1000, permutations=499, by=("kind",))
    fair = score_impact(corpus, sample, [YES], options=options).main.fairness
    assert fair is not None
    found = [f for f in fair.findings if f.kind == "constant"]
    assert [(f.variable, f.level) for f in found] == [("kind", "odd")]
    assert found[0].text.startswith("kind odd: the judge says YES of all 200 records; people say otherwise in")
    assert [f.level for f in fair.findings if f.kind == "stands out"] == ["odd"]


def test_a_fair_judge_is_left_alone() -> None:
    """20 seeded runs with equal errors for all models: the test at 5 % may fire by chance in a few."""
    named = 0
    for seed in range(20):
        corpus, sample, _ = binary(dict.fromkeys("abc", (0.5, 0.85, 0.85)), 500, 80, seed=seed + 100)
        fair = score_impact(
            corpus, sample, [YES], options=Options(draws=1000, by_draws=1000, permutations=199)
        ).main.fairness
        assert fair is not None
        assert not [f for f in fair.findings if f.kind in ("reversed", "constant")]
        named += any(f.kind == "stands out" for f in fair.findings)
    assert named <= 4


def test_a_favoured_model_is_ranked_right_and_pooling_is_refused() -> None:
    """True rates .8, .6, .4; the judge favours the last (specificity .60) and puts it above or near the middle."""
    models = {"first": (0.8, 0.9, 0.95), "middle": (0.6, 0.9, 0.85), "favoured": (0.4, 0.9, 0.60)}
    right, covered, offered, alone = 0, 0, 0, 0.0
    runs = 25
    for seed in range(runs):
        corpus, sample, rates = binary(models, 1000, 100, seed=seed + 1000)
        result = score_impact(corpus, sample, [YES], options=Options(draws=1000, fair=False, seed=seed)).main
        ranking = result.rankings["yes"]
        order = dict(zip(ranking.models, ranking.human_rank, strict=True))
        right += (order["first"], order["middle"], order["favoured"]) == (1, 2, 3)
        part = {m: result.models[m].parts["yes"] for m in models}
        covered += sum((p.human.low or 0) <= rates[m] <= (p.human.high or 0) for m, p in part.items())
        alone += (part["favoured"].judge.value or 0) - rates["favoured"]
        offered += any(p.offered for p in result.pooling)
    assert right >= runs - 1
    assert covered >= 0.88 * 3 * runs
    assert alone / runs > 0.15  # the judge alone overstates the favoured model by about .20
    assert offered == 0
    why = result.pooling[0]
    assert why.margin == 0.02
    assert why.why.startswith("no correction pooled over models: for yes it must be shown to be within 0.02")
    assert why.pooled is None


def test_pooling_is_offered_after_many_equal_labels() -> None:
    corpus, sample, _ = binary(dict.fromkeys("abc", (0.6, 0.95, 0.95)), 6000, 3000, seed=5)
    test = score_impact(corpus, sample, [YES], options=Options(draws=1000, fair=False)).main.pooling[0]
    assert test.offered
    assert test.pooled is not None
    assert "within 0.02 of each model's own" in test.why
    assert set(test.pooled) == {"a", "b", "c"}


def test_few_labels_without_a_difference_license_nothing() -> None:
    corpus, sample, _ = binary(dict.fromkeys("abc", (0.6, 0.95, 0.95)), 6000, 30, seed=6)
    test = score_impact(corpus, sample, [YES], options=Options(draws=1000, fair=False)).main.pooling[0]
    assert not test.offered


def test_youden_by_hand() -> None:
    # Judge rows, people columns; two labels and no other output. Se = 40/50, Sp = 45/50: J = .7 for both labels.
    table = np.array([[40.0, 5], [10, 45], [0, 0], [0, 0]])
    assert youden(table).tolist() == pytest.approx([0.7, 0.7])
    assert float(mean_youden(table)) == pytest.approx(0.7)
    assert float(swapped_agreement(table, 0, 1)) == pytest.approx((15 - 85) / 100)
    one = np.array([[50.0, 0], [50, 0], [0, 0], [0, 0]])
    assert np.isnan(mean_youden(one))


def test_benjamini_hochberg_by_hand() -> None:
    # Sorted .01 .02 .03 .5 times 4/1, 4/2, 4/3, 4/4: .04 .04 .04 .5 after the step-up minimum.
    p = np.array([0.03, np.nan, 0.5, 0.01, 0.02])
    assert benjamini_hochberg(p) == pytest.approx([0.04, np.nan, 0.5, 0.04, 0.04], nan_ok=True)


def test_permutation_p_value_against_all_orders() -> None:
    """Six units of two levels in one stratum: the exact p-value over all 20 assignments, by enumeration."""
    import itertools

    level, verdict = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 0, 0, 1, 1])

    def statistic(chosen: tuple[int, ...]) -> float:
        total = 0.0
        for group in (set(chosen), set(range(6)) - set(chosen)):
            for k in (0, 1):
                expected = 3 * (verdict == k).sum() / 6
                total += (sum(verdict[i] == k for i in group) - expected) ** 2 / expected
        return total

    every = [statistic(c) for c in itertools.combinations(range(6), 3)]
    exact = np.mean([s >= statistic((0, 1, 2)) - 1e-9 for s in every])
    zeros = np.zeros(6, np.int64)
    test = permutation_test(
        level, zeros, verdict, zeros, levels=2, outcomes=1, rng=np.random.default_rng(1), permutations=9999
    )
    assert test.p == pytest.approx(float(exact), abs=0.015)
