"""check.py and check.R of reports of knowledge profiles: of whole questions, of whole facts under each treatment."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotate.sample_files import sample
from tests.end_to_end.check_programs import Row, checked, differing, same_in_r
from tests.end_to_end.coded_studies import chance, do
from tests.end_to_end.test_simulated_studies import drawn, thought

KEY = "item=item,model=model,condition=condition,repeat=repeat,coder=coder,label=label"
FACTS = 30
Key = tuple[str, str, str, int]
GROUPS = ("encoding, thinking off", "recall, thinking off", "recall, thinking on")
RATES = ("encodes", "knows", "knows with thinking")
SHARES = ("direct recall", "recall with thinking", "recall failure", "inference without encoding", "encoding failure")


def records() -> Iterator[tuple[Key, dict[str, Any]]]:
    with gzip.open(sample("wikiprofile-simulated", "responses.jsonl.gz"), "rt", encoding="utf-8") as file:
        for line in file:
            each = json.loads(line)
            yield (f"{each['fact']}/{each['question_type']}", each["model"], thought(each), each["repeat"]), each


def people(key: Key, each: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Two coders, the second of two in five; of one question in six they see what the grader does not, and slip."""
    for coder in ("Ada", "Ben"):
        if coder == "Ben" and chance(key, "both") > 0.4:
            continue
        told = each["grader_1"]
        if chance(key[:3], "unseen") < 1 / 6 or chance(key, coder) < 0.05:
            told = "CORRECT" if told != "CORRECT" else "INCORRECT"
        yield coder, told


@pytest.fixture(scope="module", params=["questions", "facts", "fact", "partial"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports of whole questions that were drawn, and of whole facts: a census of them, under each treatment."""
    folder: Path = tmp_path_factory.mktemp(request.param)
    study, whole = folder / "study.db", request.param == "questions"
    toml = Path(__file__).parents[2] / "annotate" / "protocols" / "wikiprofile.toml"
    treatment = request.param if request.param in ("fact", "partial") else "pair"
    written = toml.read_text(encoding="utf-8").replace('treatment = "pair"', f'treatment = "{treatment}"')
    (folder / "codebook.toml").write_text(written, encoding="utf-8")
    do("init", study, "--protocol", folder / "codebook.toml")
    do("import", study, "--format", "wikiprofile", sample("wikiprofile-simulated", "responses.jsonl.gz"))
    if whole:
        do("sample", study, "--n", 60, "--unit", "item", "--by", "question_type", "--allocation", "equal", "--seed", 3)
    chosen = drawn(study)
    with (folder / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "model", "condition", "repeat", "coder", "label"])
        for key, each in records():
            if key in chosen if whole else int(each["fact"][1:]) <= FACTS and not lost(key):
                writer.writerows((*key, coder, label) for coder, label in people(key, each) if not lost(key))
    do("import", study, folder / "labels.csv", "--map", KEY)
    do("report", study, "--out", folder / "report", "--draws", 1000, "--form", "csv", "--no-text")
    return folder / "report"


def lost(key: Key) -> bool:
    """One response of a question in forty is not labelled: the question, and with it the fact, is then not whole."""
    return key[3] == 2 and chance(key[:3], "lost") < 1 / 40


def test_the_scores_of_the_sample_are_recomputed(report: Path) -> None:
    assert len((report / "check.py").read_text(encoding="utf-8").splitlines()) <= 150
    found = checked(report)
    whole = "questions0" not in str(report)
    for model in ("GPT-5-mini (simulated)", "Gemma3-12b (simulated)"):
        for who in ("people (judge grader_1)", "judge grader_1", "people (judge grader_2)", "judge grader_2"):
            for group in GROUPS:
                assert f"questions above the threshold, {group}, model {model}, sample, {who}" in found
            for part in (*RATES, *SHARES):
                assert (f"{part}, model {model}, sample, {who}" in found) is whole
    moved = [
        float(found[what][0]) - float(found[what.replace("people (judge grader_1)", "judge grader_1")][0])
        for what in found
        if "sample, people (judge grader_1)" in what
    ]
    assert sum(abs(each) > 0.005 for each in moved) > len(moved) / 3  # people and judge are not the same by design


def test_a_changed_label_is_seen(report: Path, tmp_path: Path) -> None:
    def unknown(row: Row) -> Row:
        """Nobody finds Gemma to recall anything with thinking."""
        here = row["model"].startswith("Gemma") and row["condition"] == "thinking"
        names = [name for name in row if name.startswith("coder:") and row[name]]
        return row | (dict.fromkeys(names, "INCORRECT") if here else {})

    off = differing(report, tmp_path / "changed", unknown)
    scores = {what: value for what, value in off.items() if ", sample, people" in what}
    assert all("Gemma" in what for what in scores)
    first = "questions above the threshold, recall, thinking on, model Gemma3-12b (simulated), sample, people"
    assert scores[f"{first} (judge grader_1)"] == "0.0"
    # Of whole facts none is then recalled with thinking alone.
    shares = [value for what, value in scores.items() if re.match("(recall with thinking|inference without)", what)]
    assert set(shares) == (set() if "questions0" in str(report) else {"0.0"})


@pytest.mark.slow
def test_check_r_says_the_same(report: Path) -> None:
    found = same_in_r(report)
    assert any(what.startswith("questions above the threshold") for what in found)


def test_single_responses_give_no_profile_under_people_and_the_report_says_why(tmp_path: Path) -> None:
    study = tmp_path / "study.db"
    do("init", study, "--protocol", "wikiprofile")
    do("import", study, "--format", "wikiprofile", sample("wikiprofile-simulated", "responses.jsonl.gz"))
    do("sample", study, "--n", 120, "--by", "model", "--seed", 3, "--anyway")
    chosen = drawn(study)
    with (tmp_path / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "model", "condition", "repeat", "coder", "label"])
        for key, each in records():
            if key in chosen:
                writer.writerows((*key, coder, label) for coder, label in people(key, each))
    do("import", study, tmp_path / "labels.csv", "--map", KEY)
    do("report", study, "--out", tmp_path / "report", "--draws", 1000, "--form", "markdown", "--no-text")
    said = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "knowledge profiles need whole questions or whole facts, and people labelled single responses" in said
    found = checked(tmp_path / "report")
    assert found
    assert not any("sample" in what for what in found)
