"""What `annotate impact --json` prints is what its published schema says."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Cli

jsonschema = pytest.importorskip("jsonschema")


def schema() -> dict[str, object]:
    text = files("annotate").joinpath("schemas", "impact.schema.json").read_text(encoding="utf-8")
    found: dict[str, object] = json.loads(text)
    return found


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


def test_with_and_without_people(cli: Cli, coded_study: Path) -> None:
    validator = jsonschema.Draft202012Validator(schema())
    for arguments in (["--judge-only"], ["--draws", "1000", "--by", "category"]):
        found = cli("impact", coded_study, *arguments, "--json").json
        validator.validate(found)
        assert set(found["models"]) == {f"gemma-3-270m-{name}" for name in ("bold", "cautious", "evidence", "hedging")}


def test_the_schema_refuses_an_undefined_value_without_a_reason(cli: Cli, coded_study: Path) -> None:
    found = cli("impact", coded_study, "--judge-only", "--json").json
    next(iter(found["models"].values()))["parts"]["EHQ"]["human"]["reason"] = None
    assert not jsonschema.Draft202012Validator(schema()).is_valid(found)
