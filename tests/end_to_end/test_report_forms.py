"""Which forms a report is written in: those that were named, else all for which everything is installed."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.conftest import Cli


@pytest.fixture
def without_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an installation without [pdf] and [figures]."""
    found = importlib.util.find_spec

    def find(name: str, package: str | None = None) -> Any:
        return None if name in ("typst", "matplotlib") else found(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)


def test_without_the_extras_one_line_says_what_is_left_out(
    cli: Cli, coded_study: Path, tmp_path: Path, without_extras: None
) -> None:
    said = cli("report", coded_study, "--out", tmp_path / "report", "--draws", 1000)
    (line,) = [each for each in said.err.splitlines() if "Left out" in each]
    assert re.search(r"the PDF \(.*pip install '.*\[pdf\].*'\)", line)
    assert re.search(r"figures as PDF and PNG \(.*pip install '.*\[figures\].*'\)", line)
    assert not (tmp_path / "report" / "report.pdf").exists()
    assert [path.name for path in (tmp_path / "report" / "figures").iterdir()] == ["scores.svg"]


def test_a_form_that_was_named_needs_its_extra(
    cli: Cli, coded_study: Path, tmp_path: Path, without_extras: None
) -> None:
    said = cli("report", coded_study, "--out", tmp_path / "report", "--form", "html,pdf", code=2)
    assert "The form pdf needs typst, which is not installed." in said.err
    assert "[pdf]" in said.err
    assert not (tmp_path / "report").exists()


def test_forms_by_name_and_what_a_new_report_takes_away(cli: Cli, coded_study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    always = {"results.json", "labels.csv", "corpus.json", "check.py", "check.R", "run.json"}
    found = cli("report", coded_study, "--out", folder, "--draws", 1000, "--form", "md,csv,figures", "--json").json
    assert found["left_out"] == []
    assert {path.name for path in folder.iterdir() if path.is_file()} == always | {"report.md"}
    assert {path.suffix for path in (folder / "tables").iterdir()} == {".csv"}
    assert {path.name for path in (folder / "figures").iterdir()} == {
        f"scores{ending}" for ending in (".svg", ".pdf", ".png", "-print.svg")
    }
    cli("report", coded_study, "--out", folder, "--draws", 1000, "--form", "html", "--force")
    assert {path.name for path in folder.iterdir() if path.is_file()} == always | {"report.html"}
    assert not list((folder / "tables").iterdir())


def test_an_unknown_form_is_refused_before_anything_is_computed(cli: Cli, coded_study: Path, tmp_path: Path) -> None:
    said = cli("report", coded_study, "--out", tmp_path / "report", "--form", "html,docx", code=2)
    assert "there is no form 'docx'" in said.err
    assert "html, markdown, pdf, csv, latex, figures" in said.err
    assert not (tmp_path / "report").exists()
