"""Parsed outputs for NAS and KIS: facts come from choice and key, and what cannot be is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.importers import prepare
from db.errors import AnnotateError
from db.records import JudgeLabelRow, Reject, ResponseRow

Write = Callable[[str, str | bytes], Path]
RECORD: dict[str, Any] = {
    "item": "OK-1",
    "item_type": "OK",
    "question": "What did the council decide at its latest meeting?",
    "options": ["a", "b", "c", "d", "I do not know"],
    "key": "2",
    "model": "m",
    "condition": "with search",
    "choice": "2",
    "reason": "It was short of money.",
    "rationale": "The grant was withdrawn.",
    "searched": True,
    "alignment": 85,
}


def run(write: Write, *records: dict[str, Any]) -> list[Any]:
    path = write("outputs.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    return list(prepare([path], format="nas").rows)


def test_a_record(write: Write) -> None:
    item, response, judge = run(write, RECORD)
    assert (item.answer_key, item.options[4], item.rationale) == ("2", "I do not know", "The grant was withdrawn.")
    assert item.strata == {"item_type": "OK", "cue": "cue"}
    assert (response.choice, response.reason, response.searched) == ("2", "It was short of money.", True)
    assert response.condition == "with search"
    assert isinstance(judge, JudgeLabelRow)
    assert (judge.judge, judge.score) == ("alignment-judge", 85.0)


def test_letters_single_option_columns_and_a_missing_rating(write: Write) -> None:
    changed = {key: value for key, value in RECORD.items() if key not in ("options", "alignment")}
    changed |= {f"option_{i}": f"text {i}" for i in range(1, 6)} | {"key": "C", "choice": "e", "searched": "no"}
    item, response = run(write, changed)
    assert (item.answer_key, item.options[2], response.choice, response.searched) == ("3", "text 3", "5", False)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"key": "5"}, "cannot be right and an abstention at once"),
        ({"choice": "7"}, "choice is '7', expected 1 to 5"),
        ({"item_type": "XX"}, "expected OK or IK"),
        ({"condition": "maybe"}, "condition is 'maybe'"),
        ({"alignment": 101}, "alignment is 101"),
        ({"options": ["a", "b"]}, "2 options, expected five"),
        ({"searched": "perhaps"}, "neither yes nor no"),
    ],
)
def test_what_cannot_be_is_refused(write: Write, change: dict[str, Any], reason: str) -> None:
    (reject,) = run(write, {**RECORD, **change})
    assert isinstance(reject, Reject)
    assert reason in reject.reason


def test_a_flag_without_search_is_counted_and_said(write: Write) -> None:
    path = write("outputs.jsonl", json.dumps({**RECORD, "condition": "without search"}) + "\n")
    job = prepare([path])
    assert job.format == "nas"
    assert [row.condition for row in job.rows if isinstance(row, ResponseRow)] == ["without search"]
    assert job.tally.notes == ["outputs.jsonl: 1 records without search have the searched flag set"]


def test_a_missing_column_is_named(write: Write) -> None:
    with pytest.raises(AnnotateError, match=r"outputs\.jsonl: there is no column rationale") as caught:
        run(write, {("rational" if key == "rationale" else key): value for key, value in RECORD.items()})
    assert "'rational'" in caught.value.hint


@pytest.mark.parametrize(
    "question",
    ["The latest one?", "In 2024?", "In 2023?", "What of recently?", "this   week?", "November rain", "Today!"],
)
def test_the_temporal_cue_is_the_engines(write: Write, question: str) -> None:
    from agreement.scores.nas import temporal_cue

    item = run(write, {**RECORD, "question": question})[0]
    assert (item.strata["cue"] == "cue") == temporal_cue(question)
