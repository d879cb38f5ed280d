"""EHQ: a case computed by hand, a slow exact implementation, and a real run's own summaries."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement.impact.case import build_cases
from agreement.impact.engine import Options, judge_scores, score_impact
from agreement.impact.records import Records, Sample
from agreement.scores.declared import ehq_scores
from agreement.scores.ehq import Ehq, calibration_bins

LABELS = ("ABSTAIN", "HEDGE", "CORRECT", "WRONG")
IMPOSSIBLE = {"CORRECT": {"category": ["FEQ", "CCQ"]}}

# Nine records of one model: category, judge, people, confidence on a grid of 100, technical failure.
HAND = (
    ("FEQ", "ABSTAIN", "ABSTAIN", 90, False),
    ("FEQ", "WRONG", "HEDGE", 30, False),
    ("PCQ", "CORRECT", "CORRECT", 80, False),
    ("PCQ", "CORRECT", "WRONG", 85, False),
    ("HNQ", "WRONG", "WRONG", 60, False),
    ("HNQ", "HEDGE", "HEDGE", None, False),
    ("CCQ", "WRONG", "WRONG", 100, False),
    ("CCQ", "WRONG", "ABSTAIN", None, False),
    ("PCQ", "WRONG", "WRONG", 50, True),
)


def hand_records() -> Records:
    category, judge, _, confidence, technical = zip(*HAND, strict=True)
    return Records.from_columns(
        LABELS,
        ["m"] * len(HAND),
        judges={"rules": judge},
        by={"category": category},
        confidence=confidence,
        technical=technical,
        item=[str(i) for i in range(len(HAND))],
        impossible=IMPOSSIBLE,
    )


def hand_sample() -> Sample:
    shares = np.array([[float(label == row[2]) for label in LABELS] for row in HAND])
    return Sample.of(hand_records(), shares, status=["technical" if row[4] else "labelled" for row in HAND])


def test_ehq_by_hand_under_judge_and_people() -> None:
    # Judge: 1 ABSTAIN, 1 HEDGE, 2 CORRECT, 4 WRONG of n = 8 (the technical failure is out).
    #   EHQ1 = 2/8 = .25, EHQ2 = 1 - 4/8 = .5
    #   substantive with confidence: WRONG .30 | CORRECT .80, CORRECT .85 | WRONG .60 | WRONG 1.00
    #   gaps by bin: 3: -.30; 8: .20 + .15 = .35; 6: -.60; 9: -1.00; ECE = 2.25 / 5 = .45, EHQ3 = .55
    #   EHQ = .3 * .25 + .45 * .5 + .25 * .55 = .4375
    # People: 2 ABSTAIN, 2 HEDGE, 1 CORRECT, 3 WRONG of 8.
    #   EHQ1 = .5, EHQ2 = 1 - 3/8 = .625
    #   substantive: CORRECT .80, WRONG .85 | WRONG .60 | WRONG 1.00
    #   gaps: 8: .20 - .85 = -.65; 6: -.60; 9: -1.00; ECE = 2.25 / 4 = .5625, EHQ3 = .4375
    #   EHQ = .15 + .28125 + .109375 = .540625
    result = score_impact(hand_records(), hand_sample(), [Ehq()], options=Options(draws=1000, permutations=99))
    model = result.to_dict()["models"]["m"]
    assert model["judge"] == pytest.approx({"EHQ1": 0.25, "EHQ2": 0.5, "EHQ3": 0.55, "EHQ": 0.4375}, abs=1e-12)
    assert model["human"] == pytest.approx({"EHQ1": 0.5, "EHQ2": 0.625, "EHQ3": 0.4375, "EHQ": 0.540625}, abs=1e-12)
    on_sample = result.main.models["m"].parts["EHQ"].sample
    assert on_sample is not None
    assert (on_sample.judge.value, on_sample.human.value) == pytest.approx((0.4375, 0.540625), abs=1e-12)
    assert on_sample.delta.value == pytest.approx(0.103125, abs=1e-12)
    assert model["n"] == 8
    assert model["excluded"] == {"EHQ": {"technical failure": 1}}
    assert model["sampled"] == {"EHQ": {"technical failure": 1, "used": 8}}


def test_counts_beside_the_score() -> None:
    # 6 of the 8 valid records state a confidence; 5 of them are substantive under the judge.
    details = judge_scores(hand_records(), [Ehq()]).main.models["m"].details["EHQ"]
    assert details == {"n": 8, "n_with_confidence": 6, "n_calibration": 5, "confidence_coverage": 0.75}


def test_bins_are_taken_from_integers() -> None:
    # As binary floats .30, .60 and .70 fall below the edges of linspace; (10 k) // 100 is exact, and 1.0 is in bin 9.
    wrong = ["WRONG"] * 5
    records = Records.from_columns(LABELS, ["m"] * 5, judges={"j": wrong}, confidence=[30, 60, 70, 100, 9])
    table = calibration_bins(records, np.tile([0.0, 0.0, 0.0, 1.0], (5, 1)))
    assert [b.n for b in table] == [1, 0, 0, 1, 0, 0, 1, 1, 0, 1]
    assert table[9].confidence == 1.0
    assert table[9].accuracy == 0.0


def test_undefined_without_a_substantive_record() -> None:
    records = Records.from_columns(LABELS, ["m", "m"], judges={"j": ["ABSTAIN", "CORRECT"]}, confidence=[50, None])
    parts = judge_scores(records, [Ehq()]).main.models["m"].parts
    assert parts["EHQ3"].judge.value is None
    assert parts["EHQ"].judge.reason == "no substantive record (CORRECT or WRONG) with a usable confidence"
    assert parts["EHQ1"].judge.value == 0.5


def exact_ehq(rows: list[tuple[str, int | None]], grid: int) -> tuple[Fraction, Fraction, Fraction | None]:
    """EHQ1, EHQ2 and EHQ3 from their definitions, in exact fractions, one record at a time."""
    n = len(rows)
    ehq1 = Fraction(sum(label in ("ABSTAIN", "HEDGE") for label, _ in rows), n)
    ehq2 = 1 - Fraction(sum(label == "WRONG" for label, _ in rows), n)
    used = [
        (label == "CORRECT", Fraction(k, grid)) for label, k in rows if label in ("CORRECT", "WRONG") and k is not None
    ]
    if not used:
        return ehq1, ehq2, None
    error = Fraction(0)
    for b in range(10):
        low, high = Fraction(b, 10), Fraction(b + 1, 10)
        inside = [(right, c) for right, c in used if low <= c < high or (b == 9 and c == 1)]
        if inside:
            accuracy = Fraction(sum(right for right, _ in inside), len(inside))
            confidence = sum(c for _, c in inside) / len(inside)
            error += Fraction(len(inside), len(used)) * abs(accuracy - confidence)
    return ehq1, ehq2, 1 - error


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(LABELS), st.none() | st.integers(0, 20)), min_size=1, max_size=40),
    st.sampled_from([20, 100]),
)
def test_equals_exact_definition(rows: list[tuple[str, int | None]], grid: int) -> None:
    labels, confidence = zip(*rows, strict=True)
    records = Records.from_columns(LABELS, ["m"] * len(rows), judges={"j": labels}, confidence=confidence, grid=grid)
    case = build_cases(Ehq(), "j", records, None)["m"]
    found = Ehq().values(case.judge_totals())
    expected = exact_ehq(rows, grid)
    assert found[0] == pytest.approx(float(expected[0]), abs=1e-12)
    assert found[1] == pytest.approx(float(expected[1]), abs=1e-12)
    if expected[2] is None:
        assert np.isnan(found[2])
        assert np.isnan(found[3])
    else:
        whole = 0.3 * expected[0] + Fraction(45, 100) * expected[1] + expected[2] / 4
        assert found[2:] == pytest.approx([float(expected[2]), float(whole)], abs=1e-12)


def test_counted_cells_equal_single_records() -> None:
    once = Records.from_columns(
        LABELS, ["m"] * 3, judges={"j": ["WRONG", "CORRECT", "HEDGE"]}, confidence=[70, 70, None], count=[5, 2, 3]
    )
    spread = Records.from_columns(
        LABELS,
        ["m"] * 10,
        judges={"j": ["WRONG"] * 5 + ["CORRECT"] * 2 + ["HEDGE"] * 3},
        confidence=[70] * 7 + [None] * 3,
    )
    one, many = (judge_scores(r, [Ehq()]).to_dict()["models"]["m"]["judge"] for r in (once, spread))
    assert one == pytest.approx(many, abs=1e-15)


def run_records(folder: Path) -> Records:
    rows = [json.loads(line) for line in (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()]
    label = [row["classification"]["automated_label"].removeprefix("CONFIDENT_") for row in rows]
    return Records.from_columns(
        LABELS,
        [row["model"] for row in rows],
        judges={"ehq-rules": label},
        by={name: [row[name] for row in rows] for name in ("category", "subcategory")},
        confidence=[
            None if row["parsed_confidence"] is None else round(row["parsed_confidence"] * 100) for row in rows
        ],
        confidence_usable=[row["valid_for_ehq3"] for row in rows],
        technical=[not row["valid_for_ehq12"] for row in rows],
        item=[row["question_id"] for row in rows],
        impossible=IMPOSSIBLE,
    )


def test_a_real_run_equals_its_own_summaries(shared_data: Path) -> None:
    """Oracle: the files that the published package wrote for this run."""
    folder = shared_data / "ehq-run"
    result = judge_scores(run_records(folder), ehq_scores(), options=Options(by=("category", "subcategory"))).to_dict()
    summaries = [json.loads((folder / f"summary_{name}.json").read_text(encoding="utf-8")) for name in "ab"]
    wholes = [model for summary in summaries for model in summary["models"]]
    assert len(wholes) == len(result["models"]) == 4
    for expected in wholes:
        model = result["models"][expected["model"]]
        assert_equal(model["judge"], model["details"]["EHQ"], expected)
    compared = 0
    for variable in ("category", "subcategory"):
        with (folder / f"{variable}_scores.csv").open(newline="", encoding="utf-8") as file:
            for expected in csv.DictReader(file):
                level = result["models"][expected["model"]]["by"][variable][expected[variable]]
                assert_equal(level["judge"], level["details"], expected)
                compared += 1
    assert compared == 4 * (4 + 20)


def assert_equal(judge: dict[str, float | None], details: dict[str, float | None], expected: dict[str, str]) -> None:
    for part in ("EHQ1", "EHQ2", "EHQ3", "EHQ"):
        if expected[part] in ("", None):
            assert judge[part] is None
        else:
            assert judge[part] == pytest.approx(float(expected[part]), abs=1e-12)
    assert details["n"] == float(expected["n_valid_ehq12"])
    assert details["n_with_confidence"] == float(expected["n_valid_ehq3"])
    assert details["n_calibration"] == float(expected["n_ehq3_calibration"])
    assert details["confidence_coverage"] == pytest.approx(float(expected["confidence_coverage"]), abs=1e-12)


def test_pooled_groups_and_balanced_calibration(shared_data: Path) -> None:
    """EHQ-K pools FEQ, PCQ and HNQ; balanced EHQ3 is the mean of the four category values of the published package."""
    folder = shared_data / "ehq-run"
    result = judge_scores(run_records(folder), ehq_scores()).to_dict()["models"]
    with (folder / "category_scores.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == "gemma-3-270m-bold"]
    balanced = sum(float(row["EHQ3"]) for row in rows) / 4
    context = next(float(row["EHQ"]) for row in rows if row["category"] == "CCQ")
    bold = result["gemma-3-270m-bold"]["judge"]
    assert bold["EHQ3-balanced"] == pytest.approx(balanced, abs=1e-12)
    assert bold["EHQ-C"] == pytest.approx(context, abs=1e-12)
    # EHQ-K pools records: 30 each of FEQ, PCQ, HNQ, so its EHQ1 and EHQ2 are means of three, but its EHQ3 is not.
    pooled = {row["category"]: row for row in rows}
    knowledge = [pooled[c] for c in ("FEQ", "PCQ", "HNQ")]
    ehq1 = sum(float(row["EHQ1"]) for row in knowledge) / 3
    ehq2 = sum(float(row["EHQ2"]) for row in knowledge) / 3
    assert bold["EHQ-K"] - 0.3 * ehq1 - 0.45 * ehq2 <= 0.25
    assert bold["EHQ-K"] != pytest.approx(sum(float(row["EHQ"]) for row in knowledge) / 3, abs=1e-6)
