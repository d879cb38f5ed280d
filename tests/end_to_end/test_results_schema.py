"""results.json is what its published schema says."""

from __future__ import annotations

import copy
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.conftest import Cli

jsonschema = pytest.importorskip("jsonschema")


def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        files("annotate").joinpath("schemas", "results.schema.json").read_text(encoding="utf-8")
    )
    return found


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


def test_a_report_before_and_after_coding(cli: Cli, ehq_study: Path, coded_study: Path, tmp_path: Path) -> None:
    validator = jsonschema.Draft202012Validator(schema())
    for name, study in (("before", ehq_study), ("after", coded_study)):
        cli("report", study, "--out", tmp_path / name, "--draws", 1000)
        found = json.loads((tmp_path / name / "results.json").read_text(encoding="utf-8"))
        validator.validate(found)
    broken = copy.deepcopy(found)
    broken["checks"][0] |= {"agrees": None, "note": ""}
    assert not validator.is_valid(broken)
    broken = copy.deepcopy(found)
    next(iter(broken["judges"].values()))["no_alt_test"] = None
    assert not validator.is_valid(broken)
    broken = copy.deepcopy(found)
    broken["provenance"]["inputs"][0]["name"] = "/home/me/records.jsonl"
    assert not validator.is_valid(broken)
