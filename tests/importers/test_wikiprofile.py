"""Graded responses of WikiProfile: two graders, coders, question types and the thinking flag."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.importers import prepare
from annotate.importers.wikiprofile import QUESTION_TYPES
from db.errors import AnnotateError
from db.records import HumanLabelRow, JudgeLabelRow, Reject, ResponseRow

Write = Callable[[str, str | bytes], Path]
RECORD: dict[str, Any] = {
    "fact": "F1",
    "question_type": "direct_natural",
    "question": "when was it",
    "gold": "1921",
    "model": "m",
    "thinking": True,
    "repeat": 3,
    "response": "in 1921",
    "grader_one": "CORRECT",
    "label_two": "PARTIALLY",
    "coder_Ann": "CORRECT",
    "tokens": 7,
}


def run(write: Write, *records: dict[str, Any]) -> list[Any]:
    path = write("graded.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    return list(prepare([path]).rows)


def test_a_record(write: Write) -> None:
    item, response, *labels = run(write, RECORD)
    assert (item.key, item.gold) == ("F1/direct natural", ("1921",))
    assert item.strata == {"fact": "F1", "question_type": "direct natural"}
    assert isinstance(response, ResponseRow)
    assert (response.condition, response.repeat, response.extra) == ("thinking", 3, {"tokens": 7})
    assert [(row.judge, row.raw) for row in labels if isinstance(row, JudgeLabelRow)] == [
        ("grader_one", "CORRECT"),
        ("two", "PARTIALLY"),
    ]
    assert [(row.coder, row.label) for row in labels if isinstance(row, HumanLabelRow)] == [("Ann", "CORRECT")]


def test_without_repeats_they_are_numbered_in_file_order_by_the_study(write: Write, into_study: Any) -> None:
    plain = {key: value for key, value in RECORD.items() if key not in ("repeat", "coder_Ann")}
    path = write("graded.jsonl", (json.dumps(plain) + "\n") * 3)
    study, report = into_study(prepare([path]))
    assert report.kinds["responses"].imported == 3
    assert [row[0] for row in study.connection.execute("SELECT repeat FROM responses ORDER BY id")] == [1, 2, 3]
    study.close()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"question_type": "sideways"}, "question_type is 'sideways'"),
        ({"thinking": "hard"}, "thinking 'hard' is neither"),
    ],
)
def test_what_cannot_be_is_refused(write: Write, change: dict[str, Any], reason: str) -> None:
    (reject,) = run(write, {**RECORD, **change})
    assert isinstance(reject, Reject)
    assert reason in reject.reason


def test_a_missing_column_is_named(write: Write) -> None:
    with pytest.raises(AnnotateError, match="there is no column gold or gold_answer or answer"):
        run(write, {key: value for key, value in RECORD.items() if key != "gold"})


def test_question_types_are_the_engines() -> None:
    from agreement.scores.wikiprofile import QUESTION_TYPES as engine

    assert engine == QUESTION_TYPES
