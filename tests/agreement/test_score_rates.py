"""The generic scores, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from agreement.errors import AgreementError
from agreement.impact.engine import Options, judge_scores, score_impact
from agreement.impact.records import Records, Sample
from agreement.scores.declared import declared_scores
from agreement.scores.rates import MeanValue, Rate, Shares

LABELS = ("CORRECT", "ABSTAIN", "WRONG")


def records() -> Records:
    """10 records: 4 CORRECT, 2 ABSTAIN, 2 WRONG, 1 output that is no label, 1 without output."""
    return Records.from_columns(
        LABELS, ["m"] * 5, judges={"j": ["CORRECT", "ABSTAIN", "WRONG", "I refuse", None]}, count=[4, 2, 2, 1, 1],
        item=list("abcde"),
    )  # fmt: skip


def value(score: Rate | MeanValue | Shares, part: str) -> float | None:
    return judge_scores(records(), [score]).main.models["m"].parts[part].judge.value


def test_rate_keeps_an_output_that_is_no_label_in_the_denominator() -> None:
    assert value(Rate("accuracy", ("CORRECT",)), "accuracy") == pytest.approx(4 / 9)
    assert value(Rate("answered right", ("CORRECT",), among=("CORRECT", "WRONG")), "answered right") == pytest.approx(
        4 / 6
    )
    model = judge_scores(records(), [Rate("accuracy", ("CORRECT",))]).main.models["m"]
    assert (model.not_labels, model.missing_labels, model.n) == (1, 1, 10)


def test_mean_of_values_leaves_out_what_has_no_value() -> None:
    # (4 * 1 + 2 * 0 - 2 * 1) / 8
    assert value(MeanValue("net", {"CORRECT": 1, "ABSTAIN": 0, "WRONG": -1}), "net") == pytest.approx(0.25)


def test_shares_and_the_share_that_is_no_label_add_to_one() -> None:
    model = judge_scores(records(), [Shares(LABELS)]).main.models["m"]
    shares = [model.parts[label].judge.value for label in LABELS]
    assert shares == pytest.approx([4 / 9, 2 / 9, 2 / 9])
    assert sum(s for s in shares if s is not None) + (
        model.details["shares"]["share_not_a_label"] or 0
    ) == pytest.approx(1)


def test_weighted_rate_on_a_stratified_sample() -> None:
    # Stratum x: 100 records, judge CORRECT, 4 sampled (weight 25), people 3 CORRECT. Stratum y: 20 records, judge
    # WRONG, 2 sampled (weight 10), people 1 CORRECT. On the sample judge 100/120, people (3 * 25 + 10) / 120 = 85/120.
    corpus = Records.from_columns(
        LABELS, ["m", "m"], judges={"j": ["CORRECT", "WRONG"]}, stratum=["x", "y"], count=[100, 20], item=["1", "2"]
    )
    drawn = Records.from_columns(
        LABELS, ["m"] * 6, judges={"j": ["CORRECT"] * 4 + ["WRONG"] * 2}, stratum=list("xxxxyy"), item=list("abcdef")
    )
    people = [0, 0, 0, 2, 0, 2]
    sample = Sample.of(drawn, np.eye(3)[people], inclusion=[0.04] * 4 + [0.1] * 2)
    options = Options(draws=1000, permutations=99)
    part = (
        score_impact(corpus, sample, [Rate("accuracy", ("CORRECT",))], options=options)
        .main.models["m"]
        .parts["accuracy"]
    )
    assert part.sample is not None
    assert part.sample.judge.value == pytest.approx(100 / 120)
    assert part.sample.human.value == pytest.approx(85 / 120)
    assert part.human.value == pytest.approx(85 / 120)  # post-stratified: 100 * 3/4 + 20 * 1/2
    cells = {(c.judge, c.human): (c.units, c.records, c.contribution) for c in part.cells}
    assert cells["CORRECT", "WRONG"] == pytest.approx((1, 25, -25 / 120))
    assert cells["WRONG", "CORRECT"] == pytest.approx((1, 10, 10 / 120))


def test_declared_rules() -> None:
    rules = [("refusal", "rate", {"labels": ["WRONG"]}), ("net", "mean", {"values": {"CORRECT": 1, "WRONG": -1}})]
    assert [s.name for s in declared_scores(rules, LABELS)] == ["refusal", "net"]
    assert declared_scores([], LABELS)[0].parts == LABELS
    with pytest.raises(AgreementError, match="needs the label NOPE"):
        judge_scores(records(), [Rate("x", ("NOPE",))])
    with pytest.raises(AgreementError, match="kind 'f1'"):
        declared_scores([("x", "f1", {})], LABELS)


def test_two_scores_with_one_name_are_refused() -> None:
    with pytest.raises(AgreementError, match="two scores have a part named 'a'"):
        judge_scores(records(), [Rate("a", ("CORRECT",)), Rate("a", ("WRONG",))])
