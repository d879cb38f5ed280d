"""The scores of the judge's labels equal what the package ehq 0.4.0 computed itself, to 1e-12, read by key from --json.

Expected values: summary_*.json, category_scores.csv and subcategory_scores.csv, written by ehq over the same run.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.conftest import Cli

PARTS = ("EHQ1", "EHQ2", "EHQ3", "EHQ")
TOLERANCE = 1e-12


@pytest.fixture
def scores(cli: Cli, shared_data: Path, tmp_path: Path) -> dict[str, Any]:
    run, path = shared_data / "ehq-run", tmp_path / "study.db"
    cli("init", path)
    cli("import", path, "--format", "ehq", "--items", run / "EHQ-120.json", "--records", run / "records.jsonl")
    found: dict[str, Any] = cli("impact", path, "--judge-only", "--by", "category,subcategory", "--json").json
    return found["models"]


def test_every_model_by_key(scores: dict[str, Any], shared_data: Path) -> None:
    seen = 0
    for summary in ("summary_a.json", "summary_b.json"):
        for model in json.loads((shared_data / "ehq-run" / summary).read_text(encoding="utf-8"))["models"]:
            found = scores[model["model"]]
            for part in PARTS:
                assert found["judge"][part] == pytest.approx(model[part], abs=TOLERANCE), (model["model"], part)
            assert found["n"] == model["n_valid_ehq12"]
            assert found["details"]["EHQ"]["n_calibration"] == model["n_ehq3_calibration"]
            assert found["details"]["EHQ"]["confidence_coverage"] == pytest.approx(
                model["confidence_coverage"], abs=TOLERANCE
            )
            seen += 1
    assert seen == len(scores) == 4


@pytest.mark.parametrize(
    ("variable", "file", "expected"),
    [("category", "category_scores.csv", 16), ("subcategory", "subcategory_scores.csv", 80)],
)
def test_every_level_by_key(scores: dict[str, Any], shared_data: Path, variable: str, file: str, expected: int) -> None:
    with (shared_data / "ehq-run" / file).open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    assert len(rows) == expected
    for row in rows:
        found = scores[row["model"]]["by"][variable][row[variable]]
        for part in PARTS:
            value = found["judge"][part]
            if row[part] == "":
                assert value is None, (row["model"], row[variable], part)
            else:
                assert value == pytest.approx(float(row[part]), abs=TOLERANCE), (row["model"], row[variable], part)
        assert found["n"] == int(row["n_valid_ehq12"])
        assert found["details"]["n_calibration"] == int(row["n_ehq3_calibration"])


def test_the_scores_of_people_are_undefined_with_their_reason(scores: dict[str, Any]) -> None:
    for model in scores.values():
        assert model["human"]["EHQ"] is None
        assert model["parts"]["EHQ"]["human"]["reason"] == "no human labels"
