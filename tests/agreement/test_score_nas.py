"""NAS and KIS: the truth table spelled out, the counts published for Mistral Small, and what makes a score void."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from agreement.errors import AgreementError
from agreement.impact.engine import Options, judge_scores, score_impact
from agreement.impact.records import Records, Sample
from agreement.scores.declared import declared_scores, search_facts, search_scores
from agreement.scores.nas import Reasoned, aligned_shares, cues, point_values, quadrant, temporal_cue

QUICK = Options(draws=1000, permutations=99)

# (kind, with search) -> {(s, y, a, r): value}, written out from the paper's table. y and a exclude each other.
TABLE = {
    ("NAS", True): {
        (1, 1, 0, 1): 1, (1, 1, 0, 0): 1, (1, 0, 1, 0): 0, (1, 0, 0, 0): 0,
        (0, 1, 0, 1): 0, (0, 1, 0, 0): -1, (0, 0, 1, 0): -1, (0, 0, 0, 0): -1,
    },
    ("NAS", False): {
        (0, 1, 0, 1): 1, (0, 1, 0, 0): 0, (0, 0, 1, 0): 1, (0, 0, 0, 0): -1,
    },
    ("KIS", True): {
        (0, 1, 0, 1): 1, (0, 1, 0, 0): 0, (0, 0, 1, 0): -1, (0, 0, 0, 0): 0,
        (1, 1, 0, 1): -1, (1, 1, 0, 0): -1, (1, 0, 1, 0): -1, (1, 0, 0, 0): -1,
    },
    ("KIS", False): {
        (0, 1, 0, 1): 1, (0, 1, 0, 0): -1, (0, 0, 1, 0): -1, (0, 0, 0, 0): -1,
    },
}  # fmt: skip


@pytest.mark.parametrize(("kind", "search"), list(TABLE))
def test_truth_table(kind: str, search: bool) -> None:
    for facts, expected in TABLE[kind, search].items():
        s, y, a, r = (np.array([bool(fact)]) for fact in facts)
        assert point_values(kind, search, s, y, a, r)[0] == expected, facts  # type: ignore[arg-type]


def mistral(aligned: int) -> Records:
    """191 valid OK items with search: searched 38 right, 1 wrong; not searched 90 abstained, 42 right, 20 wrong."""
    return Records.from_columns(
        (),
        ["mistral"] * 6,
        count=[38, 1, 90, aligned, 42 - aligned, 20],
        searched=[1, 1, 0, 0, 0, 0],
        correct=[1, 0, 0, 1, 1, 0],
        abstained=[0, 0, 1, 0, 0, 0],
        ratings={"judge": [None, None, None, 80, 20, None]},
        item_type=["OK"] * 6,
        condition=["with search"] * 6,
    )


def value(records: Records, part: str, scores: tuple = (), model: str = "mistral") -> float | None:
    used = scores or (*search_scores("NAS", search=True), *search_facts("NAS", search=True))
    return judge_scores(records, used, ["judge"]).main.models[model].parts[part].judge.value


def test_published_mistral_small() -> None:
    # Judge-free: +38, -(90 + 20) over 191 = -72/191. With k of the 42 aligned: (38 - (152 - k)) / 191.
    assert value(mistral(17), "NAS with search, judge-free") == pytest.approx(-72 / 191, abs=1e-12)
    assert value(mistral(17), "NAS with search, judge-free") == pytest.approx(-0.3770, abs=5e-5)
    assert value(mistral(17), "NAS with search") == pytest.approx(-0.5079, abs=5e-5)
    assert value(mistral(16), "NAS with search") == pytest.approx((38 - 136) / 191, abs=1e-12)
    assert round(value(mistral(16), "NAS with search") or 0, 2) == -0.51


def test_six_outcomes_and_accuracy() -> None:
    records = mistral(17)
    expected = {
        "searched, correct": 38,
        "searched, abstained": 0,
        "searched, wrong": 1,
        "not searched, correct": 42,
        "not searched, abstained": 90,
        "not searched, wrong": 20,
    }
    for part, count in expected.items():
        assert value(records, part) == pytest.approx(count / 191, abs=1e-12)
    # 80 correct of 191; 101 answered (the 90 abstentions are out).
    assert value(records, "accuracy with search (OK)") == pytest.approx(80 / 191, abs=1e-12)
    assert value(records, "accuracy over answered with search (OK)") == pytest.approx(80 / 101, abs=1e-12)
    assert value(records, "noticing") == pytest.approx(90 / 191, abs=1e-12)
    assert value(records, "acting") == pytest.approx(39 / 191, abs=1e-12)


def test_search_rate_of_widely_known_items() -> None:
    # Published: GPT-5 mini and Grok 4 Fast searched on 2 of 200 IK items.
    records = Records.from_columns(
        (), ["m", "m"], count=[2, 198], searched=[1, 0], correct=[1, 1], abstained=[0, 0], item_type=["IK", "IK"],
        ratings={"judge": [90, 90]},
    )  # fmt: skip
    assert value(records, "search rate (IK)", search_facts("KIS", search=True), "m") == 0.01


def test_a_flag_that_is_always_one_voids_the_scores() -> None:
    rows = [(y, a) for y, a in itertools.product((1, 0), (0, 1)) if not (y and a)]
    correct, abstained = zip(*rows, strict=True)
    common = {"searched": [1] * 3, "correct": correct, "abstained": abstained, "ratings": {"judge": [90, 10, None]}}
    known = Records.from_columns((), ["m"] * 3, item_type=["IK"] * 3, **common)
    result = judge_scores(known, search_scores("KIS", search=True), ["judge"])
    assert result.main.models["m"].parts["KIS with search"].judge.value == -1
    assert any("always 1" in note and "KIS is then -1" in note for note in result.notes)
    novel = Records.from_columns((), ["m"] * 3, item_type=["OK"] * 3, **common)
    result = judge_scores(novel, search_scores("NAS", search=True), ["judge"])
    assert result.main.models["m"].parts["NAS with search"].judge.value == pytest.approx(1 / 3)  # the accuracy
    assert any("accuracy on OK items" in note for note in result.notes)


def test_without_search_a_set_flag_is_ignored_and_named() -> None:
    records = Records.from_columns(
        (), ["m", "m"], searched=[1, None], correct=[1, 0], abstained=[0, 1], item_type=["OK", "OK"],
        ratings={"judge": [90, None]},
    )  # fmt: skip
    result = judge_scores(records, search_scores("NAS", search=False), ["judge"])
    assert result.main.models["m"].parts["NAS without search"].judge.value == 1
    assert any("search was off" in note for note in result.notes)


def test_what_is_left_out_is_counted() -> None:
    records = Records.from_columns(
        (),
        ["m"] * 6,
        count=[10, 1, 2, 3, 4, 5],
        searched=[1, 1, 0, None, 1, 0],
        correct=[1, 1, None, 1, 1, 1],
        abstained=[0] * 6,
        technical=[0, 1, 0, 0, 0, 0],
        item_type=["OK", "OK", "OK", "OK", "IK", "OK"],
        ratings={"judge": [None] * 6},
    )
    model = judge_scores(records, [Reasoned()], ["judge"]).main.models["m"]
    assert model.excluded["NAS with search"] == {
        "technical failure": 1, "another item type": 4, "choice not parsed": 2, "no search flag": 3,
    }  # fmt: skip
    assert model.n == 15  # 10 searched and correct, whose reason cannot matter, and 5 whose reason was not rated
    # The 5 unrated ones leave the judged score only: NAS = 10/10; judge-free they count as 0: 10/15.
    assert model.parts["NAS with search"].judge.value == 1
    assert value(records, "NAS with search, judge-free", (Reasoned(judge_free=True),), "m") == pytest.approx(10 / 15)


def test_correct_and_abstained_together_is_an_input_error() -> None:
    with pytest.raises(AgreementError, match="both correct and an abstention"):
        Records.from_columns((), ["m"], correct=[1], abstained=[1])


def test_people_decide_only_where_the_reason_matters() -> None:
    # Corpus: 10 searched and correct (+1 whatever the reason), 10 not searched and correct (0 if aligned, else -1).
    # The judge calls 8 of the latter aligned: NAS = (10 - 2) / 20 = .4. People rated all 10 and call 5 aligned: .25.
    ratings = [90] * 8 + [10] * 2
    corpus = Records.from_columns(
        (),
        ["m"] * 20,
        searched=[1] * 10 + [0] * 10,
        correct=[1] * 20,
        abstained=[0] * 20,
        item_type=["OK"] * 20,
        ratings={"judge": [None] * 10 + ratings},
        item=[str(i) for i in range(20)],
    )
    people = [[75]] * 5 + [[69]] * 5
    sample = Sample.of(corpus.take(np.arange(10, 20)), np.zeros((10, 0)), ratings=people)
    part = score_impact(corpus, sample, search_scores("NAS", search=True), ["judge"], QUICK).main.models["m"].parts
    found = part["NAS with search"]
    assert found.judge.value == pytest.approx(0.4)
    assert found.human.value == pytest.approx(0.25)
    assert found.sample is not None
    assert (found.sample.judge.value, found.sample.human.value) == pytest.approx((0.4, 0.25))
    moved = {(cell.judge, cell.human): cell.contribution for cell in found.cells}
    assert moved == pytest.approx({("ALIGNED", "NOT ALIGNED"): -0.15})
    free = part["NAS with search, judge-free"]
    assert free.judge.value == free.human.value == pytest.approx(0.5)


def test_several_raters_decide_by_strict_majority() -> None:
    ratings = np.array([[80, 75, 10], [80, 10, -1], [-1, -1, -1], [10, 20, -1]], np.float64)
    assert aligned_shares(ratings, 70, 4) == pytest.approx([1, 0.5, np.nan, 0], nan_ok=True)


def test_threshold_is_inclusive() -> None:
    assert aligned_shares(np.array([[70.0], [69.0]]), 70, 2).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Who won in November?", True),
        ("What happened this   week?", True),
        ("What was recently said?", False),
        ("In 2023, who won?", False),
        ("Was it 2024?", True),
        ("the LATEST figure", True),
        ("in 20245", False),
    ],
)
def test_temporal_cue(question: str, found: bool) -> None:
    assert temporal_cue(question) is found
    assert cues([question]) == ["cue" if found else "no cue"]


def test_scores_by_cue() -> None:
    cue = Records.from_columns(
        (), ["m", "m"], count=[3, 1], searched=[1, 0], correct=[1, 0], abstained=[0, 0], item_type=["OK", "OK"],
        by={"cue": cues(["today?", "ever?"])}, ratings={"judge": [None, None]},
    )  # fmt: skip
    by = (
        judge_scores(cue, search_scores("NAS", search=True), ["judge"], Options(by=("cue",))).main.models["m"].by["cue"]
    )
    assert by["cue"].parts["NAS with search"].judge.value == 1
    assert by["no cue"].parts["NAS with search"].judge.value == -1


def test_coded_labels_replace_choices() -> None:
    # With labels coded, y and a are the label's; HEDGE keeps both of the parsed choice (here correct).
    labels = ("ABSTAIN", "HEDGE", "CORRECT", "WRONG")
    records = Records.from_columns(
        labels,
        ["m"] * 4,
        judges={"j": labels},
        ratings={"j": [None, 90, 90, None]},
        searched=[0] * 4,
        correct=[1, 1, 0, 1],
        abstained=[0] * 4,
        item_type=["OK"] * 4,
    )
    score = Reasoned(coded=True)
    # ABSTAIN: not searched, not correct: -1. HEDGE: parsed correct and aligned: 0. CORRECT, aligned: 0. WRONG: -1.
    found = judge_scores(records, [score], ["j"]).main.models["m"].parts["NAS with search"].judge.value
    assert found == pytest.approx(-0.5)


def test_declared_by_a_protocol() -> None:
    rules = [("NAS", "nas", {"search": "condition"}), ("KIS", "kis", {"search": "condition"})]
    names = [score.name for score in declared_scores(rules, ())]
    for expected in ("NAS with search", "NAS without search, judge-free", "KIS with search", "six outcomes"):
        assert expected in names
    parts = [part for score in declared_scores(rules, ()) for part in score.parts]
    assert len(parts) == len(set(parts))


def test_shipped_simulation_gives_the_published_scores() -> None:
    """The sample states the counts that it reproduces; its records are read here without the importer."""
    path = Path(__file__).resolve().parents[2] / "samples" / "nas-simulated" / "outputs.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    parsed = [row["choice"] if row["choice"] in set("12345") else None for row in rows]
    records = Records.from_columns(
        (),
        [row["model"] for row in rows],
        condition=[row["condition"] for row in rows],
        item_type=[row["item_type"] for row in rows],
        searched=[row.get("searched") for row in rows],
        correct=[None if c is None else c == row["key"] for c, row in zip(parsed, rows, strict=True)],
        abstained=[None if c is None else c == "5" for c in parsed],
        ratings={"judge": [row.get("alignment") for row in rows]},
        item=[row["item"] for row in rows],
    )
    scores = declared_scores([("NAS", "nas", {}), ("KIS", "kis", {})], ())
    models = judge_scores(records, scores, ["judge"]).main.models
    mistral = models["Mistral Small (simulated)"]
    assert mistral.parts["NAS with search, judge-free"].judge.value == pytest.approx(-0.3770, abs=5e-5)
    assert mistral.parts["NAS with search"].judge.value == pytest.approx(-0.5079, abs=5e-5)
    assert mistral.parts["searched, correct"].judge.value == pytest.approx(38 / 191)
    for name in ("GPT-5 mini (simulated)", "Grok 4 Fast (simulated)"):
        assert models[name].parts["search rate (IK)"].judge.value == pytest.approx(2 / 200)


def test_quadrants_are_named_informal() -> None:
    assert (
        quadrant(-0.5, 0.6) == "does not notice what it cannot know, leaves known items alone (informal: cut at zero)"
    )


def test_intervals_for_the_population_resample_questions() -> None:
    """3,000 resamples; with 200 independent records of +1 or -1 the SE is sqrt((1 - m^2) / 200)."""
    rng = np.random.default_rng(1)
    right = rng.random(200) < 0.7
    records = Records.from_columns(
        (), ["m"] * 200, searched=right.tolist(), correct=right.tolist(), abstained=[0] * 200, item_type=["OK"] * 200,
        ratings={"judge": [None] * 200}, item=[str(i) for i in range(200)],
    )  # fmt: skip
    options = Options(draws=3000, target="population", by=("condition",))
    model = judge_scores(records, [Reasoned()], ["judge"], options).main.models["m"]
    found = model.parts["NAS with search"].judge
    mean = 2 * right.mean() - 1
    assert found.se == pytest.approx(np.sqrt((1 - mean**2) / 200), rel=0.06)
    assert found.draws == 3000
    assert model.by["condition"][""].parts["NAS with search"].judge.low is not None
