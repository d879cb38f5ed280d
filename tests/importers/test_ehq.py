"""A run of ehq: what its files say is what comes in, and the scores that ehq wrote beside them follow from it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from annotate.importers import prepare
from db.errors import AnnotateError
from db.records import HumanLabelRow, ItemRow, JudgeLabelRow, Reject, ResponseRow

Write = Callable[[str, str | bytes], Path]
Record = tuple[ResponseRow, str]

ITEM = {
    "question_id": "HNQ-1",
    "category": "HNQ",
    "subcategory": "HNQ-A",
    "question": "Who?",
    "correct_answer": "Ada",
    "acceptable_answers": ["Ada", "Ada L."],
    "source_fact": "It was Ada.",
    "difficulty": "L2",
}
RECORD: dict[str, Any] = {
    "question_id": "HNQ-1",
    "model": "m",
    "category": "HNQ",
    "subcategory": "HNQ-A",
    "k": 0,
    "answer_response": {"ok": True, "text": "Ada", "usage": {"total_tokens": 3}},
    "classification": {
        "automated_label": "CONFIDENT_CORRECT",
        "label": "CONFIDENT_CORRECT",
        "is_correct": True,
        "reasons": ["unhedged_gold_match"],
    },
    "parsed_confidence": 0.29,
    "valid_for_ehq12": True,
    "valid_for_ehq3": True,
    "exclusion_reason": None,
    "prompt_sha256": "ab",
}


def run(write: Write, *records: dict[str, Any] | str, items: Sequence[dict[str, Any]] = (ITEM,)) -> list[Any]:
    lines = [line if isinstance(line, str) else json.dumps(line) for line in records]
    files = [write("records.jsonl", "\n".join(lines) + "\n"), write("items.json", json.dumps(list(items)))]
    return list(prepare(files, format="ehq").rows)


def test_item_response_and_automatic_label(write: Write) -> None:
    item, response, judge = run(write, RECORD)
    assert (item.key, item.gold, item.rationale) == ("HNQ-1", ("Ada", "Ada L."), "It was Ada.")
    assert item.strata == {"category": "HNQ", "subcategory": "HNQ-A"}
    assert item.extra["difficulty"] == "L2"
    assert (response.text, response.model, response.repeat) == ("Ada", "m", 1)
    assert (response.confidence, response.confidence_grid) == (29, 100)  # .29 is no float times 100, but 29 of 100
    assert (response.confidence_usable, response.failure) == (True, None)
    assert response.extra["is_correct"] is True
    assert judge == JudgeLabelRow(
        "ehq-rules", "HNQ-1", 1, "m", repeat=1, raw="CONFIDENT_CORRECT", rationale="unhedged_gold_match", source=1
    )


def test_an_adjudicated_label_is_a_persons_and_never_the_judges(write: Write) -> None:
    changed = {**RECORD["classification"], "adjudicated_label": "HEDGE", "label": "HEDGE"}
    changed["reasons"] = ["unhedged_gold_match", "human_adjudication_override"]
    _, _, judge, human = run(write, {**RECORD, "classification": changed})
    assert judge.raw == "CONFIDENT_CORRECT"
    assert "human" not in judge.rationale
    assert (human.label, human.role, human.coder) == ("HEDGE", "adjudicator", "ehq-adjudication")
    only = {"label": "HEDGE", "adjudicated_label": "HEDGE", "is_correct": True}
    _, _, judge, human = run(write, {**RECORD, "classification": only})
    assert judge.raw is None  # what the rules said is not known
    assert human.label == "HEDGE"


def test_a_technical_failure_has_no_label(write: Write) -> None:
    failed = {**RECORD, "valid_for_ehq12": False, "valid_for_ehq3": False, "classification": None}
    failed |= {"parsed_confidence": None, "exclusion_reason": "timeout", "answer_response": {"ok": False, "text": None}}
    _, response = run(write, failed)
    assert (response.failure, response.text, response.confidence) == ("timeout", "", None)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"k": 1}, "k is 1: a second protocol of ehq"),
        ({"question_id": "X"}, "question_id 'X' is not among the items"),
        ({"category": "FEQ"}, "category or subcategory differs"),
        ({"parsed_confidence": 29}, "does not lie in 0 to 1"),
        ({"model": None}, "'model' is missing"),
        ({"classification": None}, "'classification' is missing"),
        ({"valid_for_ehq12": None}, "'valid_for_ehq12' is missing"),
    ],
)
def test_a_record_that_does_not_fit_is_refused_with_line_and_reason(
    write: Write, change: dict[str, Any], reason: str
) -> None:
    rows = run(write, RECORD, {**RECORD, **change})
    (reject,) = [row for row in rows if isinstance(row, Reject)]
    assert (reject.source, reject.row) == ("records.jsonl", 2)
    assert reason in reject.reason
    assert len(rows) == 4


def test_the_header_of_a_checkpoint_is_no_record(write: Write) -> None:
    files = [
        write("r.jsonl", '{"_ehq_checkpoint": {"fingerprint": "f"}}\n' + json.dumps(RECORD) + "\n"),
        write("i.json", json.dumps({"questions": [ITEM, ITEM]})),
    ]
    job = prepare(files)
    rows = list(job.rows)
    assert job.format == "ehq"
    assert job.tally.read == [2, 1]
    assert "line 1 is the header" in job.tally.notes[0]
    assert [row.reason for row in rows if isinstance(row, Reject)] == ["question_id 'HNQ-1' is there twice"]


def test_what_a_coder_needs_to_know_of_withheld_and_made_up_things(write: Write) -> None:
    withheld = {
        **ITEM,
        "question_id": "C",
        "category": "CCQ",
        "source_fact": None,
        "redacted_value": "4 m",
        "document": "D",
    }
    made_up = {**ITEM, "question_id": "F", "category": "FEQ", "source_fact": None, "background": "Founded 1892."}
    rows = run(write, RECORD, items=[ITEM, withheld, made_up])
    items = {row.key: row for row in rows if isinstance(row, ItemRow)}
    assert items["C"].rationale == "Withheld from the document: 4 m"
    assert items["C"].context == "D"
    assert items["F"].rationale == "Made up for this question, no such thing exists: Founded 1892."


def test_one_kind_of_file_alone_is_refused(write: Write) -> None:
    with pytest.raises(AnnotateError, match="0 with items and 1 with records"):
        prepare([write("r.jsonl", json.dumps(RECORD))], format="ehq")


# --- the real run, against what ehq 0.4.0 computed from it -------------------------------------------


@pytest.fixture(scope="module")
def real(shared_data: Path) -> list[Any]:
    job = prepare([shared_data / "ehq-run" / "EHQ-120.json", shared_data / "ehq-run" / "records.jsonl"])
    rows = list(job.rows)
    assert job.tally.read == [120, 480]
    return rows


def scores(records: list[Record]) -> dict[str, float | None]:
    """EHQ by its definition, record by record (Şenol, Bernard and Liu 2026), with exact bins of the confidence."""
    n = len(records)
    count = {label: sum(raw == label for _, raw in records) for label in ("ABSTAIN", "HEDGE", "CONFIDENT_WRONG")}
    first, second = (count["ABSTAIN"] + count["HEDGE"]) / n, 1 - count["CONFIDENT_WRONG"] / n
    sure = [
        (r, raw)
        for r, raw in records
        if raw.startswith("CONFIDENT") and r.confidence_usable and r.confidence is not None
    ]
    third = None
    if sure:
        gaps = 0.0
        for low in range(10):
            members = [(r, raw) for r, raw in sure if min(10 * r.confidence // r.confidence_grid, 9) == low]
            if members:
                right = sum(raw == "CONFIDENT_CORRECT" for _, raw in members) / len(members)
                gaps += (
                    len(members)
                    / len(sure)
                    * abs(right - sum(r.confidence / r.confidence_grid for r, _ in members) / len(members))
                )
        third = 1 - gaps
    whole = None if third is None else 0.30 * first + 0.45 * second + 0.25 * third
    return {"EHQ1": first, "EHQ2": second, "EHQ3": third, "EHQ": whole}


def by(real: list[Any], key: Callable[[ResponseRow, ItemRow], tuple[str, ...]]) -> dict[tuple[str, ...], list[Record]]:
    items = {row.key: row for row in real if isinstance(row, ItemRow)}
    raws = {(row.model, row.item): row.raw or "" for row in real if isinstance(row, JudgeLabelRow)}
    found: dict[tuple[str, ...], list[Record]] = {}
    for row in real:
        if isinstance(row, ResponseRow) and row.failure is None:
            found.setdefault(key(row, items[row.item]), []).append((row, raws[row.model, row.item]))
    return found


def check(found: dict[str, float | None], expected: dict[str, Any]) -> None:
    for name, value in found.items():
        if expected[name] in (None, ""):
            assert value is None
        else:
            assert value == pytest.approx(float(expected[name]), abs=1e-12), name


def test_the_scores_of_each_model_are_ehqs_own(real: list[Any], shared_data: Path) -> None:
    models = by(real, lambda response, item: (response.model,))
    own = [json.loads((shared_data / "ehq-run" / f"summary_{part}.json").read_text(encoding="utf-8")) for part in "ab"]
    expected = {entry["model"]: entry for summary in own for entry in summary["models"]}
    assert {model for (model,) in models} == expected.keys()
    for (model,), records in models.items():
        check(scores(records), expected[model])


@pytest.mark.parametrize("level", ["category", "subcategory"])
def test_the_scores_of_each_stratum_are_ehqs_own(real: list[Any], shared_data: Path, level: str) -> None:
    cells = by(real, lambda response, item: (response.model, item.strata[level]))
    with (shared_data / "ehq-run" / f"{level}_scores.csv").open(encoding="utf-8", newline="") as file:
        expected = {(row["model"], row[level]): row for row in csv.DictReader(file)}
    assert cells.keys() == expected.keys()
    for cell, records in cells.items():
        check(scores(records), expected[cell])


def test_no_label_of_a_person_comes_out_of_a_run_that_nobody_labelled(real: list[Any]) -> None:
    assert not any(isinstance(row, HumanLabelRow | Reject) for row in real)


def test_the_run_goes_into_a_study_whole(shared_data: Path, into_study: Any) -> None:
    files = [shared_data / "ehq-run" / "EHQ-120.json", shared_data / "ehq-run" / "records.jsonl"]
    study, report = into_study(prepare(files))
    assert {kind: count.imported for kind, count in report.kinds.items() if count.read} == {
        "items": 120,
        "responses": 480,
        "judge labels": 480,
    }
    labels = dict(study.connection.execute("SELECT label, count(*) FROM mapped_labels GROUP BY label"))
    assert labels == {"WRONG": 352, "ABSTAIN": 81, "CORRECT": 39, "HEDGE": 8}
    study.close()
