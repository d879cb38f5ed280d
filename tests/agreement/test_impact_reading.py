"""What a reader gets: sentences, JSON, thresholds, treatments, skips, levels, and what is said where nothing can be."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys

import numpy as np
import pytest

from agreement.errors import AgreementError
from agreement.impact.engine import Options, judge_scores, score_impact
from agreement.impact.estimate import Estimate, undefined
from agreement.impact.ranking import rank_models
from agreement.impact.records import Records, Sample
from agreement.impact.sentences import model_sentence, number
from agreement.impact.thresholds import sweep_thresholds
from agreement.scores.declared import ehq_scores
from agreement.scores.ehq import Ehq
from agreement.scores.nas import Reasoned
from agreement.scores.rates import Rate
from tests.agreement.impact_data import LABELS, binary, ehq_corpus

YES = Rate("yes", ("YES",))
QUICK = Options(draws=1000, by_draws=1000, permutations=99)


@pytest.mark.parametrize(
    ("value", "signed", "text"),
    [
        (0.332, False, ".332"),
        (-0.041, True, "-.041"),
        (0.05, True, "+.050"),
        (1.0, False, "1.000"),
        (-1.0, True, "-1.000"),
        (-0.0001, True, ".000"),
        (0.0, True, ".000"),
    ],
)
def test_numbers(value: float, signed: bool, text: str) -> None:
    assert number(value, signed) == text


def estimate(value: float, low: float, high: float) -> Estimate:
    return Estimate(value, low, high, 0.01, "x")


def ranking_of(human: dict[str, float], judge: dict[str, float], spread: float):
    rng = np.random.default_rng(1)
    return rank_models("EHQ", judge, human, {m: rng.normal(v, spread, 4000) for m, v in human.items()})


def test_a_fall_with_its_rank() -> None:
    ranking = ranking_of(
        {"a": 0.6, "b": 0.5, "c": 0.305, "m": 0.29}, {"a": 0.6, "b": 0.5, "c": 0.31, "m": 0.332}, 0.005
    )
    text = model_sentence(
        "EHQ", estimate(0.332, 0, 1), estimate(0.291, 0, 1), estimate(-0.041, -0.066, -0.017), "m", ranking
    )
    assert text.startswith("EHQ falls from .332 to .291 (-.041, 95 % -.066 to -.017); rank 3 to 4 with probability .9")
    assert text.endswith(".")


def test_no_more_than_the_data_support() -> None:
    change = estimate(-0.01, -0.03, 0.01)
    text = model_sentence("EHQ", estimate(0.3, 0, 1), estimate(0.29, 0, 1), change, "m", None)
    assert text == (
        "EHQ shows no clear change: .300 under the judge, .290 under people's labels (-.010, 95 % -.030 to .010)."
    )
    unsure = ranking_of({"m": 0.30, "b": 0.30, "c": 0.30}, {"m": 0.5, "b": 0.3, "c": 0.1}, 0.05)
    text = model_sentence("EHQ", estimate(0.3, 0, 1), estimate(0.29, 0, 1), change, "m", unsure)
    assert "rank 1 under the judge, not settled under people's labels" in text


def test_what_cannot_be_had_is_said() -> None:
    text = model_sentence("EHQ", estimate(0.3, 0, 1), undefined("no human label"), undefined("x"), "m", None)
    assert text == "EHQ is .300 under the judge; under people's labels it is undefined: no human label."
    text = model_sentence("EHQ", undefined("no valid record"), undefined("x"), undefined("x"), "m", None)
    assert text == "EHQ is undefined under the judge: no valid record."


def test_one_sentence_per_model() -> None:
    corpus, sample, _ = ehq_corpus(3, 400, 60, seed=1)
    models = score_impact(corpus, sample, [Ehq()], options=QUICK).main.models
    for model in models.values():
        assert re.match(r"EHQ (falls|rises|shows no clear change)", model.sentence)
        assert model.sentence.endswith(".")


def test_json_has_the_agreed_shape() -> None:
    corpus, sample, _ = ehq_corpus(2, 300, 60, seed=2)
    options = dataclasses.replace(QUICK, by=("category",))
    result = score_impact(corpus, sample, ehq_scores(), options=options)
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    model = data["models"]["model-0"]
    assert set(model["judge"]) == {"EHQ1", "EHQ2", "EHQ3", "EHQ", "EHQ-K", "EHQ-C", "EHQ3-balanced"}
    assert set(model["human"]) == set(model["judge"])
    assert model["n"] == 300
    assert set(model["by"]["category"]) == {"FEQ", "PCQ", "HNQ", "CCQ"}
    assert model["by"]["category"]["PCQ"]["judge"]["EHQ1"] is not None
    assert data["judges"]["judge"]["rankings"]["EHQ"]["models"] == ["model-0", "model-1"]
    for part in model["parts"].values():
        assert {"judge", "human", "delta", "sample", "cells", "methods"} <= set(part)


def test_counts_in_are_counts_out() -> None:
    corpus, sample, _ = ehq_corpus(2, 300, 60, seed=3)
    flags = np.zeros(len(corpus), np.bool_)
    flags[:7] = True
    broken = dataclasses.replace(corpus, technical=flags)
    model = judge_scores(broken, [Ehq()]).main.models["model-0"]
    assert model.n + sum(model.excluded["EHQ"].values()) == 300
    units = score_impact(corpus, sample, [Ehq()], options=QUICK).main.models["model-0"]
    assert sum(units.lost["EHQ"].values()) == int(sample.records.model.mask("model-0").sum())


def test_without_human_labels_the_judge_is_scored() -> None:
    corpus, _, _ = ehq_corpus(2, 300, 60, seed=4)
    result = judge_scores(corpus, ehq_scores(), options=Options(by=("category",)))
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert data["judge_only"] is True
    assert data["models"]["model-1"]["judge"]["EHQ"] is not None
    assert data["models"]["model-1"]["human"]["EHQ"] is None
    assert result.main.models["model-1"].parts["EHQ"].human.reason == "no human labels"
    assert result.main.fairness is None


def test_a_model_without_labels_is_named_and_keeps_its_judge_score() -> None:
    corpus, sample, _ = ehq_corpus(3, 300, 60, seed=5)
    some = sample.take(~sample.records.model.mask("model-2"))
    result = score_impact(corpus, some, [Ehq()], options=QUICK).main
    part = result.models["model-2"].parts["EHQ"]
    assert part.judge.value is not None
    assert part.human.value is None
    assert result.rankings["EHQ"].left_out == ("model-2",)
    assert "model model-2 has no human label: only the judge's score is given" in result.notes


def skipping() -> tuple[Records, Sample]:
    """10 records labelled but for two skipped ones: 5 YES and 3 NO by people, the judge says YES to all."""
    corpus = Records.from_columns(
        ("YES", "NO"), ["m"] * 10, judges={"j": ["YES"] * 10}, item=[str(i) for i in range(10)]
    )
    shares = np.array([[1.0, 0]] * 5 + [[0, 1.0]] * 3 + [[0, 0]] * 2)
    return corpus, Sample.of(corpus, shares, status=["labelled"] * 8 + ["skipped"] * 2)


def test_skips_at_worst_and_best() -> None:
    corpus, sample = skipping()
    model = score_impact(corpus, sample, [YES], options=QUICK).main.models["m"]
    part = model.parts["yes"]
    assert part.sample is not None
    assert part.sample.human.value == pytest.approx(5 / 8)
    assert part.skips is not None
    assert (part.skips.low, part.skips.high, part.skips.skipped) == (pytest.approx(0.5), pytest.approx(0.7), 2)
    assert model.lost["yes"] == {"skipped": 2, "used": 8}


def test_skips_of_a_score_that_is_no_mean() -> None:
    corpus, sample, _ = ehq_corpus(1, 200, 40, seed=6)
    status = ["skipped" if i < 4 else "labelled" for i in range(len(sample))]
    shares = sample.shares.copy()
    shares[:4] = 0
    skipped = dataclasses.replace(sample, shares=shares, status=tuple(status))
    part = score_impact(corpus, skipped, [Ehq()], options=QUICK).main.models["model-0"].parts["EHQ"]
    assert part.skips is not None
    assert part.sample is not None
    assert (part.skips.low or 0) <= (part.sample.human.value or 0) <= (part.skips.high or 0)


def test_unresolved_units_are_split_and_shown_dropped() -> None:
    # 8 units: 4 YES, 3 NO, 1 split between both: 4.5 / 8; dropped: 4 / 7.
    corpus = Records.from_columns(("YES", "NO"), ["m"] * 8, judges={"j": ["YES"] * 8}, item=[str(i) for i in range(8)])
    shares = np.array([[1.0, 0]] * 4 + [[0, 1.0]] * 3 + [[0.5, 0.5]])
    sample = Sample.of(corpus, shares, status=["agreed"] * 7 + ["unresolved"])
    part = score_impact(corpus, sample, [YES], options=QUICK).main.models["m"].parts["yes"]
    assert part.sample is not None
    assert part.sample.human.value == pytest.approx(4.5 / 8)
    assert part.dropped is not None
    assert part.dropped.value == pytest.approx(4 / 7)


def test_treatments_of_disagreement() -> None:
    corpus = Records.from_columns(("YES", "NO"), ["m"] * 4, judges={"j": ["YES"] * 4}, item=list("abcd"))
    first, second = np.eye(2)[[0, 0, 0, 1]], np.eye(2)[[0, 0, 1, 1]]
    sample = Sample.of(corpus, (first + second) / 2, treatments={"coder A": first, "coder B": second})
    rows = {row.treatment: row for row in score_impact(corpus, sample, [YES], options=QUICK).main.treatments}
    assert rows["coder A"].sample_human["m"].value == pytest.approx(0.75)
    assert rows["coder B"].sample_human["m"].value == pytest.approx(0.5)
    assert rows["coder B"].delta["m"].value == pytest.approx(-0.5)
    assert rows["coder A"].n == {"m": 4}


def test_treatments_are_about_the_target_of_the_headline() -> None:
    # Everything is labelled: the corpus is known exactly, the population of questions is not. Per question the model is
    # right or not, 30 of 100: the spread of a resampled share is sqrt(.3 x .7 / 100) = .0458.
    corpus = Records.from_columns(
        ("YES", "NO"), ["m"] * 100, judges={"j": ["YES"] * 50 + ["NO"] * 50}, item=[f"q{i}" for i in range(100)]
    )
    shares = np.eye(2)[[0] * 30 + [1] * 70]
    sample = Sample.of(corpus, shares, treatments={"majority": shares})
    spread = {}
    for target in ("corpus", "population"):
        options = Options(draws=4000, by_draws=4000, target=target)
        found = score_impact(corpus, sample, [YES], options=options).main.treatments[0].human["m"]
        spread[target] = ((found.high or 0) - (found.low or 0)) / 2 / 1.96
    assert spread["corpus"] == pytest.approx(0, abs=1e-12)
    assert spread["population"] == pytest.approx(0.0458, rel=0.1)


def test_a_treatment_that_needs_caution_says_so() -> None:
    corpus = Records.from_columns(("YES", "NO"), ["m"] * 4, judges={"j": ["YES"] * 4}, item=list("abcd"))
    shares = np.eye(2)[[0, 0, 0, 1]]
    sample = Sample.of(corpus, shares, treatments={"coder A": shares, "ds": shares}, cautions={"ds": "not identified"})
    main = score_impact(corpus, sample, [YES], options=QUICK).main
    assert {row.treatment: row.caution for row in main.treatments} == {"coder A": None, "ds": "not identified"}
    assert "ds: not identified" in main.notes


def rated(seed: int, size: int = 400) -> tuple[Records, Sample]:
    """A judge whose ratings run 20 points low: people call a reason aligned from 70, the judge should from about 50."""
    rng = np.random.default_rng(seed)
    people = rng.integers(0, 101, size)
    judge = np.clip(people - 20 + rng.integers(-8, 9, size), 0, 100)
    corpus = Records.from_columns(
        (), ["m"] * size, searched=[0] * size, correct=[1] * size, abstained=[0] * size, item_type=["IK"] * size,
        ratings={"j": judge.tolist()}, item=[str(i) for i in range(size)],
    )  # fmt: skip
    return corpus, Sample.of(corpus, np.zeros((size, 0)), ratings=people[:, None])


def test_threshold_sweep_finds_the_judge_s_own_scale() -> None:
    corpus, sample = rated(1)
    sweep = sweep_thresholds(Reasoned(kind="KIS"), "j", corpus, sample, draws=500, seed=1)
    assert sweep.n == 400
    assert 44 <= (sweep.best.value or 0) <= 56
    assert (sweep.best.low or 0) <= (sweep.best.value or 0) <= (sweep.best.high or 0)
    at = {point.threshold: point for point in sweep.points}
    assert (at[50].kappa or 0) > (at[70].kappa or 0)
    assert at[0].recall == 1
    assert at[0].scores["m"] == 1  # every reason aligned: KIS = +1 everywhere
    recalls = [point.recall for point in sweep.points if point.recall is not None]
    assert recalls == sorted(recalls, reverse=True)


def test_threshold_sweep_against_direct_counting() -> None:
    corpus, sample = rated(2, 60)
    judge, people = corpus.ratings["j"], sample.ratings
    assert people is not None
    point = sweep_thresholds(Reasoned(kind="KIS"), "j", corpus, sample, thresholds=[55], draws=100).points[0]
    says, truth = judge >= 55, people[:, 0] >= 70
    assert point.agreement == pytest.approx(float((says == truth).mean()))
    assert point.precision == pytest.approx(float(truth[says].mean()))
    assert point.recall == pytest.approx(float(says[truth].mean()))
    assert point.scores["m"] == pytest.approx(float(says.mean()))


def test_sweep_is_part_of_the_result_of_a_rated_judge() -> None:
    corpus, sample = rated(3, 60)
    result = score_impact(corpus, sample, [Reasoned(kind="KIS")], ["j"], QUICK)
    assert list(result.main.thresholds) == ["KIS with search"]


def test_levels_that_add_up() -> None:
    corpus, sample, _ = ehq_corpus(1, 400, 80, seed=7)
    options = dataclasses.replace(QUICK, by=("category",))
    model = score_impact(corpus, sample, [Ehq()], options=options).main.models["model-0"]
    levels = model.by["category"]
    assert sum(level.n for level in levels.values()) == model.n
    assert sum(level.n_labelled for level in levels.values()) == model.n_labelled
    whole = sum((level.parts["EHQ1"].judge.value or 0) * level.n for level in levels.values()) / model.n
    assert whole == pytest.approx(model.parts["EHQ1"].judge.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": "moon"}, "target 'moon' is not one of corpus, population"),
        ({"rank": ("nothing",)}, "cannot rank on 'nothing'"),
        ({"by": ("colour",)}, "no variable named 'colour'"),
        ({"draws": 10}, "at least 1000"),
    ],
)
def test_bad_options_get_one_line(change: dict[str, object], message: str) -> None:
    corpus, sample, _ = binary({"m": (0.5, 0.9, 0.9)}, 60, 20, seed=1)
    with pytest.raises(AgreementError, match=message):
        score_impact(corpus, sample, [YES], options=dataclasses.replace(QUICK, **change))  # type: ignore[arg-type]


def test_bad_tables_get_one_line() -> None:
    with pytest.raises(AgreementError, match="j has 1 entries for 2 rows"):
        Records.from_columns(("A",), ["m", "m"], judges={"j": ["A"]})
    with pytest.raises(AgreementError, match=r"confidence 120 is outside 0\.\.100"):
        Records.from_columns(("A",), ["m"], confidence=[120])
    with pytest.raises(AgreementError, match="not a whole number"):
        Records.from_columns(("A",), ["m"], confidence=[0.5])  # type: ignore[list-item]
    records = Records.from_columns(("A", "B"), ["m"], item=["1"])
    with pytest.raises(AgreementError, match="must add to 1"):
        Sample.of(records, [[0.5, 0.2]])
    with pytest.raises(AgreementError, match="status 'maybe'"):
        Sample.of(records, [[1, 0]], status=["maybe"])
    with pytest.raises(AgreementError, match="no judge named 'x'"):
        judge_scores(records, [Rate("a", ("A",))], ["x"])
    with pytest.raises(AgreementError, match="no judge: give"):
        judge_scores(records, [Rate("a", ("A",))])


def test_importing_the_engine_loads_no_pandas() -> None:
    code = (
        "import sys, agreement.impact, agreement.scores.declared; from agreement.impact import Records, score_impact; "
        "print([m for m in ('pandas', 'sklearn', 'scipy.stats', 'krippendorff') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_labels_of_the_engine_are_those_of_the_protocol() -> None:
    roles = ("DECLINES", "HEDGES", "RIGHT", "FALSE")
    corpus, _, _ = ehq_corpus(1, 100, 20, seed=8)
    renamed = dataclasses.replace(corpus, labels=roles)
    one = judge_scores(corpus, [Ehq()]).to_dict()["models"]["model-0"]["judge"]
    other = judge_scores(renamed, [Ehq(roles=roles)]).to_dict()["models"]["model-0"]["judge"]
    assert one == other
    with pytest.raises(AgreementError, match="EHQ needs the label ABSTAIN; declared are DECLINES"):
        judge_scores(renamed, [Ehq()])
    assert LABELS[0] == "ABSTAIN"


def test_rows_without_a_model_or_a_category_are_not_lost() -> None:
    records = Records.from_columns(
        ("YES", "NO"), [None] * 3, judges={"j": ["YES", "YES", "NO"]}, by={"kind": ["a", None, None]}
    )
    model = judge_scores(records, [YES], options=Options(by=("kind",))).main.models[""]
    assert model.n == 3
    assert {name: level.n for name, level in model.by["kind"].items()} == {"(not given)": 2, "a": 1}
