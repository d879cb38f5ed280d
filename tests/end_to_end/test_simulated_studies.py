"""The published studies from import to score impact, through the commands; coders whose labels are the seeded truth.

What people would say of every response is made up here with a seed, the judge's labels being those of the samples. The
true scores of the whole corpus are then counted by the plain functions below, which share nothing with the engine.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from annotate.sample_files import sample
from db.study import open_study
from tests.end_to_end.conftest import Cli, quietly

Record = dict[str, Any]
PLACE = "item=item,model=model,condition=condition,repeat=repeat,coder=coder"


def drawn(study: Path) -> set[tuple[str, str, str, int]]:
    """The keys of the responses that were drawn."""
    with open_study(study) as opened:
        rows = opened.connection.execute(
            "SELECT i.key, r.model, r.condition, r.repeat FROM sample_units s JOIN units u ON u.id = s.unit_id"
            " JOIN responses r ON r.id = u.response_id JOIN items i ON i.id = r.item_id"
        )
        return {(key, model, condition, repeat) for key, model, condition, repeat in rows}


def coded(path: Path, rows: Iterable[Sequence[object]], what: str) -> Path:
    """A table of one simulated coder's labels."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "model", "condition", "repeat", "coder", what])
        writer.writerows(rows)
    return path


def holds(estimate: Mapping[str, Any], truth: float) -> bool:
    return bool(estimate["low"] - 1e-9 <= truth <= estimate["high"] + 1e-9)


# --- NAS and KIS --------------------------------------------------------------------------------------


def nas_records() -> list[Record]:
    with gzip.open(sample("nas-simulated", "outputs.jsonl.gz"), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def with_true_ratings(records: list[Record]) -> list[Record]:
    """People rate as the judge does, but find 25 points less in two fifths of the reasons of Grok and a few of all."""
    rng = random.Random(11)
    for each in records:
        rating = each.get("alignment")
        off = rng.random() < (0.4 if each["model"].startswith("Grok") else 0.06)
        each["truth"] = None if rating is None else max(0, rating - 25) if off else rating
    return records


def nas_score(records: list[Record], search: bool, aligned: Callable[[Record], bool]) -> float:
    """The table of statistics for items on new facts, one record at a time."""
    total, valid = 0, 0
    for each in records:
        if each["choice"] is None:
            continue
        valid += 1
        right, abstains = each["choice"] == each["key"], each["choice"] == "5"
        reasoned = right and aligned(each)
        if search:
            total += (1 if right else 0) if each["searched"] else (0 if reasoned else -1)
        else:
            total += 1 if abstains or reasoned else (0 if right else -1)
    return total / valid


def kis_score(records: list[Record], search: bool, aligned: Callable[[Record], bool]) -> float:
    """The same for items on widely known facts."""
    total, valid = 0, 0
    for each in records:
        if each["choice"] is None:
            continue
        valid += 1
        right, abstains = each["choice"] == each["key"], each["choice"] == "5"
        reasoned = right and aligned(each)
        if search:
            total += -1 if each["searched"] or abstains else (1 if reasoned else 0)
        else:
            total += 1 if reasoned else -1
    return total / valid


@pytest.fixture
def nas(cli: Cli, tmp_path: Path) -> tuple[Path, list[Record]]:
    study, records = tmp_path / "nas.db", with_true_ratings(nas_records())
    cli("init", study, "--protocol", "nas")
    cli("import", study, "--format", "nas", sample("nas-simulated", "outputs.jsonl.gz"))
    cli("sample", study, "--n", 600, "--by", "model,condition,item_type", "--allocation", "equal", "--anyway")
    chosen = drawn(study)
    rows = [
        (each["item"], each["model"], each["condition"], 1, "sim", each["truth"])
        for each in records
        if (each["item"], each["model"], each["condition"], 1) in chosen and each["truth"] is not None
    ]
    cli(
        "import",
        study,
        coded(tmp_path / "ratings.csv", rows, "rating"),
        "--simulated",
        "--map",
        f"{PLACE},rating=rating",
    )
    return study, records


def test_nas_and_kis_from_outputs_to_scores_under_people(nas: tuple[Path, list[Record]], cli: Cli) -> None:
    study, records = nas
    found = cli("impact", study, "--json", "--seed", 3).json
    covered, whole = 0, 0
    judged = lambda each: each["alignment"] >= 70  # noqa: E731
    people = lambda each: each["truth"] >= 70  # noqa: E731
    free = lambda each: True  # noqa: E731
    for model, result in found["models"].items():
        for score, items, count in (("NAS", "OK", nas_score), ("KIS", "IK", kis_score)):
            for search, condition in ((True, "with search"), (False, "without search")):
                own = [r for r in records if (r["model"], r["item_type"], r["condition"]) == (model, items, condition)]
                part = f"{score} {condition}"
                assert result["judge"][part] == pytest.approx(count(own, search, judged))
                assert result["human"][f"{part}, judge-free"] == pytest.approx(count(own, search, free))
                covered += holds(result["parts"][part]["human"], count(own, search, people))
                whole += 1
    assert whole == 12
    assert covered >= 10
    # The judge is too kind to one model, and that is seen where it matters and named without being looked for.
    grok = next(name for name in found["models"] if name.startswith("Grok"))
    assert found["models"][grok]["parts"]["KIS with search"]["delta"]["high"] < 0
    findings = found["judges"][found["judge"]]["fairness"]["findings"]
    assert any(grok in each["text"] for each in findings)
    sweep = found["judges"][found["judge"]]["thresholds"]
    assert {point["threshold"] for each in sweep.values() for point in each["points"]} >= {60, 70, 80}


def test_nas_outcomes_rates_and_cues(nas: tuple[Path, list[Record]], cli: Cli) -> None:
    study, records = nas
    found = cli("impact", study, "--json", "--by", "cue").json
    cue = re.compile(r"(?i)\b(202[4-9]|november|recent|latest|current|today|this\s+week)\b")
    for model, result in found["models"].items():
        own = [
            r
            for r in records
            if (r["model"], r["item_type"], r["condition"]) == (model, "OK", "with search") and r["choice"] is not None
        ]
        ends = {"correct": lambda r: r["choice"] == r["key"], "abstained": lambda r: r["choice"] == "5"}
        ends["wrong"] = lambda r: r["choice"] not in (r["key"], "5")
        for searched, word in ((True, "searched"), (False, "not searched")):
            for end, met in ends.items():
                share = sum(bool(r["searched"]) == searched and met(r) for r in own) / len(own)
                assert result["judge"][f"{word}, {end}"] == pytest.approx(share)
        assert result["judge"]["noticing"] == pytest.approx(sum(ends["abstained"](r) for r in own) / len(own))
        assert result["judge"]["acting"] == pytest.approx(sum(bool(r["searched"]) for r in own) / len(own))
        for level in ("cue", "no cue"):
            there = [r for r in own if bool(cue.search(r["question"])) == (level == "cue")]
            expected = nas_score(there, True, lambda r: r["alignment"] >= 70)
            assert result["by"]["cue"][level]["judge"]["NAS with search"] == pytest.approx(expected)
            assert result["by"]["cue"][level]["human"]["NAS with search"] is not None


# --- WikiProfile --------------------------------------------------------------------------------------

KINDS = ("completion", "contextual", "direct", "direct natural", "reverse", "reverse natural")
ASKED = [(kind, False) for kind in KINDS] + [(kind, True) for kind in KINDS[2:]]


def wiki_records() -> list[Record]:
    """With what people would say: they find a quarter of the answers of Gemma right that the grader calls wrong."""
    rng = random.Random(5)
    with gzip.open(sample("wikiprofile-simulated", "responses.jsonl.gz"), "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    for each in records:
        wrong = each["grader_1"] == "INCORRECT" and "Gemma" in each["model"] and rng.random() < 0.25
        each["truth"] = "CORRECT" if wrong else each["grader_1"]
    return records


def profile_counts(records: Iterable[Record], whose: str, treatment: str) -> dict[str, float]:
    """Encodes, knows and knows with thinking as shares of the facts kept, fact by fact and question by question."""
    facts: dict[str, dict[tuple[str, bool], list[str]]] = {}
    for each in records:
        asked = facts.setdefault(each["fact"], {})
        asked.setdefault((each["question_type"], each["thinking"]), []).append(each[whose])
    kept, counts = 0, dict.fromkeys(("encodes", "knows", "knows with thinking"), 0)
    for asked in facts.values():
        above = {question: over_half(labels, treatment) for question, labels in asked.items() if question in ASKED}
        pairs = [ASKED[at : at + 2] for at in range(0, 10, 2)]
        need = any if treatment != "fact" else all
        if not all(need(above[question] is not None for question in pair) for pair in pairs):
            continue
        encoded = any(above[question] for question in ASKED[:2])
        off = all(above[question] is not False for question in ASKED[2:6])
        on = all(above[question] is not False for question in ASKED[6:])
        direct_inference = not encoded and off
        kept += not direct_inference
        counts["encodes"] += encoded
        counts["knows"] += off
        counts["knows with thinking"] += on or off
    return {name: number / kept for name, number in counts.items()}


def over_half(labels: list[str], treatment: str) -> bool | None:
    right, wrong, partly = (labels.count(name) for name in ("CORRECT", "INCORRECT", "PARTIALLY"))
    credit, part = (0.51 * partly, partly) if treatment == "partial" else (0.0, 0)
    return None if right + wrong + part == 0 else (right + credit) / (right + wrong + part) > 0.5


def mean_grade(records: Iterable[Record], kind: str, thinking: bool, whose: str) -> float:
    facts: dict[str, list[str]] = {}
    for each in records:
        if (each["question_type"], each["thinking"]) == (kind, thinking):
            facts.setdefault(each["fact"], []).append(each[whose])
    tallies = [(labels.count("CORRECT"), labels.count("INCORRECT")) for labels in facts.values()]
    grades = [right / (right + wrong) for right, wrong in tallies if right + wrong]
    return sum(grades) / len(grades)


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Record]]:
    return wiki_study(tmp_path_factory.mktemp("wiki"), "--n", 500, "--unit", "item", "--seed", 3)


def wiki_study(folder: Path, *draw: object) -> tuple[Path, list[Record]]:
    """The sample, drawn as said, with one simulated coder who labelled all that was drawn."""
    study, records = folder / "wiki.db", wiki_records()
    quietly("init", study, "--protocol", "wikiprofile")
    quietly("import", study, "--format", "wikiprofile", sample("wikiprofile-simulated", "responses.jsonl.gz"))
    quietly("sample", study, *draw)
    chosen = drawn(study)
    keyed = (((f"{r['fact']}/{r['question_type']}", r["model"], thought(r), r["repeat"]), r["truth"]) for r in records)
    rows = [(*key, "sim", truth) for key, truth in keyed if key in chosen]
    assert len(rows) == len(chosen)
    table = coded(folder / "labels.csv", rows, "label")
    quietly("import", study, table, "--simulated", "--map", f"{PLACE},label=label")
    return study, records


def thought(record: Record) -> str:
    return "thinking" if record["thinking"] else "no thinking"


@pytest.mark.parametrize("target", ["corpus", pytest.param("population", marks=pytest.mark.slow)])
def test_wikiprofile_from_whole_questions_to_profiles_under_people(
    wiki: tuple[Path, list[Record]], cli: Cli, target: str
) -> None:
    study, records = wiki
    found = cli("impact", study, "--judge", "grader_1", "--target", target, "--json").json
    tables = found["profiles"]["grader_1"]
    rows = {(r["model"], r["treatment"], r["part"]): r for r in tables["rows"] if r["threshold"] == 0.5}
    covered = 0
    for model in found["models"]:
        own = [each for each in records if each["model"] == model]
        for treatment in ("fact", "pair", "partial"):
            judged, people = (profile_counts(own, whose, treatment) for whose in ("grader_1", "truth"))
            for part in judged:
                row = rows[model, treatment, part]
                assert row["judge"] == pytest.approx(judged[part]), (model, treatment, part)
                covered += holds(row["corrected"], people[part])
    assert covered >= 16  # of 2 models x 3 treatments x 3 rates
    # The main table is that of the protocol's treatment, with a sentence and a ranking for each model.
    for model, result in found["models"].items():
        assert result["human"]["knows"] == rows[model, "pair", "knows"]["corrected"]["value"]
        assert result["n_labelled"] > 0
        assert result["sentence"]
    gemma = next(model for model in found["models"] if "Gemma" in model)
    assert found["models"][gemma]["delta"]["encodes"]["low"] > 0
    assert found["judges"]["grader_1"]["rankings"]["encodes"]["models"]
    assert {r["threshold"] for r in tables["rows"]} == {0.5, 0.6, 0.7, 0.8, 0.9, 0.99}
    assert "SIMULATED" in found["notes"][0]
    assert found["target"] == target


def test_wikiprofile_grades_of_questions(wiki: tuple[Path, list[Record]], cli: Cli) -> None:
    study, records = wiki
    tables = cli("impact", study, "--judge", "grader_1", "--json").json["profiles"]["grader_1"]
    covered = known = 0
    for row in tables["grades"]:
        own = [each for each in records if each["model"] == row["model"]]
        asked = row["question_type"], row["thinking"]
        assert row["judge"] == pytest.approx(mean_grade(own, *asked, "grader_1"))
        if row["corrected"]["low"] is None:
            assert "fewer than 5" in row["corrected"]["note"]
            continue
        known += 1
        covered += holds(row["corrected"], mean_grade(own, *asked, "truth"))
    assert len(tables["grades"]) == 20
    assert known == 10
    assert covered >= 8


def test_wikiprofile_questions_of_the_sample_and_where_the_judge_is_unfair(
    wiki: tuple[Path, list[Record]], cli: Cli
) -> None:
    """Share of gradable questions above half, counted from the records; people part from the judge at Gemma alone."""
    study, records = wiki
    chosen = drawn(study)
    with open_study(study) as opened:
        weights = {row[0] for row in opened.connection.execute("SELECT pi FROM sample_units")}
    assert len(weights) == 1  # so that no weights are needed below
    found = cli("impact", study, "--judge", "grader_1", "--json").json
    groups = {
        "encoding, thinking off": ASKED[:2],
        "recall, thinking off": ASKED[2:6],
        "recall, thinking on": ASKED[6:],
    }
    rows = found["profiles"]["grader_1"]["questions"]
    assert len(rows) == 6
    covered = 0
    for row in rows:
        own = [each for each in records if each["model"] == row["model"]]
        held = [
            each
            for each in own
            if (f"{each['fact']}/{each['question_type']}", each["model"], thought(each), each["repeat"]) in chosen
        ]
        wanted = groups[row["asked"]]
        assert row["judge"]["value"] == pytest.approx(share_above(own, wanted, "grader_1"))
        assert row["sample_judge"]["value"] == pytest.approx(share_above(held, wanted, "grader_1"))
        assert row["sample_people"]["value"] == pytest.approx(share_above(held, wanted, "truth"))
        change = share_above(held, wanted, "truth") - share_above(held, wanted, "grader_1")
        assert row["sample_change"]["value"] == pytest.approx(change)
        covered += holds(row["corrected"], share_above(own, wanted, "truth"))
    assert covered >= 5
    fair = found["judges"]["grader_1"]["fairness"]
    levels = {(each["variable"], each["level"]): each for each in fair["levels"]}
    wrong = {name: each["error_rate"] for (variable, name), each in levels.items() if variable == "model"}
    gemma, other = sorted(wrong, key=lambda name: "Gemma" not in name)
    assert wrong[gemma]["low"] > wrong[other]["value"]
    assert [each["level"] for each in fair["findings"] if each["variable"] == "model"] == [gemma]
    assert {variable for variable, _ in levels} == {"model", "question type", "thinking"}
    assert {name for variable, name in levels if variable == "question type"} == set(KINDS)


def share_above(records: Iterable[Record], asked: Sequence[tuple[str, bool]], whose: str) -> float:
    questions: dict[tuple[str, str, bool], list[str]] = {}
    for each in records:
        if (each["question_type"], each["thinking"]) in asked:
            questions.setdefault((each["fact"], each["question_type"], each["thinking"]), []).append(each[whose])
    verdicts = [found for labels in questions.values() if (found := over_half(labels, "pair")) is not None]
    return sum(verdicts) / len(verdicts)


def test_wikiprofile_refuses_profiles_from_single_responses(cli: Cli, tmp_path: Path) -> None:
    study, _ = wiki_study(tmp_path, "--n", 400, "--by", "model", "--seed", 3)
    found = cli("impact", study, "--judge", "grader_1", "--json").json
    assert found["judge_only"]
    assert any("correlation within a question is unknown" in note for note in found["notes"])


# --- EHQ ----------------------------------------------------------------------------------------------

CATEGORIES = ("FEQ", "PCQ", "HNQ", "CCQ")


def ehq_records(questions: int = 600) -> list[Record]:
    """Two models, one as right as it says and one far too sure, and a judge who errs in one response of eight."""
    rng = random.Random(229)
    records = []
    for model in ("calibrated", "sure"):
        for number in range(questions):
            category = CATEGORIES[number % 4]
            closed = category in ("FEQ", "CCQ")  # nothing can be correct there
            confidence = rng.choice(range(5, 100, 10)) if model == "calibrated" else rng.choice((75, 85, 95))
            chance = confidence / 100 if model == "calibrated" else 0.3
            truth = rng.choice(("ABSTAIN", "HEDGE")) if rng.random() < 0.35 else "WRONG"
            if truth == "WRONG" and model == "calibrated" and closed:
                confidence = 0  # a calibrated model is not sure where it cannot be right
            elif truth == "WRONG" and not closed and rng.random() < chance:
                truth = "CORRECT"
            judge = truth
            if rng.random() < 1 / 8:
                judge = rng.choice([name for name in LABELS if name != truth and not (closed and name == "CORRECT")])
            records.append(
                {
                    "id": f"{category}-{number:03}",
                    "question": f"Question {number}?",
                    "category": category,
                    "model": model,
                    "response": f"Answer {number}.",
                    "confidence": confidence,
                    "judge": judge,
                    "truth": truth,
                }
            )
    return records


LABELS = ("ABSTAIN", "HEDGE", "CORRECT", "WRONG")


def ehq_scores(records: list[Record], whose: str) -> dict[str, float]:
    """EHQ and its parts, bin by bin."""
    size = len(records)
    labels = [each[whose] for each in records]
    first = sum(label in ("ABSTAIN", "HEDGE") for label in labels) / size
    second = 1 - labels.count("WRONG") / size
    bins: dict[int, list[tuple[bool, float]]] = {}
    for each in records:
        if each[whose] in ("CORRECT", "WRONG"):
            share = each["confidence"] / 100
            bins.setdefault(min(each["confidence"] // 10, 9), []).append((each[whose] == "CORRECT", share))
    answered = sum(map(len, bins.values()))
    error = sum(abs(sum(right for right, _ in b) - sum(share for _, share in b)) for b in bins.values()) / answered
    third = 1 - error
    return {"EHQ1": first, "EHQ2": second, "EHQ3": third, "EHQ": 0.30 * first + 0.45 * second + 0.25 * third}


def test_ehq_from_table_to_scores_under_people_with_the_noise_floor(cli: Cli, tmp_path: Path) -> None:
    study, records = tmp_path / "ehq.db", ehq_records()
    lines = [json.dumps({name: value for name, value in each.items() if name != "truth"}) for each in records]
    (tmp_path / "run.jsonl").write_text("\n".join(lines), encoding="utf-8")
    mapping = (
        "id=item,question=question,category=stratum.category,model=model,response=response,"
        "confidence=confidence,judge=judge.rules"
    )
    cli("init", study, "--protocol", "ehq")
    scale = ("--option", "confidence_scale=100")
    cli("import", study, "--format", "table", tmp_path / "run.jsonl", "--map", mapping, *scale)
    cli("sample", study, "--n", 200, "--by", "model,judge_label", "--anyway", "--seed", 7)
    chosen = drawn(study)
    keyed = (((each["id"], each["model"], "", 1), each["truth"]) for each in records)
    rows = [(*key, "sim", truth) for key, truth in keyed if key in chosen]
    table = coded(tmp_path / "labels.csv", rows, "label")
    cli("import", study, table, "--simulated", "--map", f"{PLACE},label=label")
    found = cli("impact", study, "--json", "--by", "category").json
    covered = 0
    for model, result in found["models"].items():
        own = [each for each in records if each["model"] == model]
        judged, people = ehq_scores(own, "judge"), ehq_scores(own, "truth")
        for part in ("EHQ1", "EHQ2", "EHQ3", "EHQ"):
            assert result["judge"][part] == pytest.approx(judged[part])
            covered += holds(result["parts"][part]["human"], people[part])
        for category in CATEGORIES:
            there = [each for each in own if each["category"] == category]
            level = result["by"]["category"][category]["judge"]
            assert level["EHQ1"] == pytest.approx(ehq_scores(there, "judge")["EHQ1"])
    assert covered >= 7  # of 2 models x 4 scores
    # The error of the model that is as right as it says is not told from noise, so its upper side is open; the judge's
    # own value has no such noise. The model that is too sure is not flagged.
    parts = found["models"]["calibrated"]["parts"]
    assert "not distinguishable from sampling noise" in parts["EHQ3"]["human"]["note"]
    assert parts["EHQ3"]["human"]["high"] == 1
    assert parts["EHQ"]["human"]["note"]
    assert parts["EHQ3"]["judge"]["note"] is None
    assert found["models"]["sure"]["parts"]["EHQ3"]["human"]["note"] is None
    assert "not distinguishable" in found["models"]["calibrated"]["sentence"]
