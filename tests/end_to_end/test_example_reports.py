"""The studies behind docs/examples: their reports twice, number by number, without texts, from their labels alone."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from annotate.__main__ import run
from annotate.reproducing import reproduce
from db.content import item_contents, response_contents
from db.study import open_study
from tests.conftest import REPOSITORY
from tests.end_to_end.test_report_files import _bare, _contents
from tests.end_to_end.test_report_numbers import same_numbers, tied

pytestmark = pytest.mark.slow
STUDIES = ("ehq", "nas_simulated", "wikiprofile_simulated", "openqa", "xstest", "pandalm")


@pytest.fixture(scope="module")
def make() -> Iterator[Any]:
    """docs/examples/make.py, imported from its own folder."""
    folder = str(REPOSITORY / "docs" / "examples")
    sys.path.insert(0, folder)
    try:
        yield import_module("make")
    finally:
        sys.path.remove(folder)


@pytest.fixture(scope="module", params=STUDIES)
def study(request: pytest.FixtureRequest, make: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp(request.param) / "study.db"
    data = (request.getfixturevalue("shared_data") / "pandalm",) if request.param == "pandalm" else ()
    getattr(make, request.param)(path, *data)
    write(path, "report")
    return path


def write(study: Path, name: str, *options: str) -> Path:
    folder = study.parent / name
    assert run(["report", str(study), "--out", str(folder), "--draws", "1000", *options]) == 0
    return folder


def test_every_number_of_the_page_stands_in_the_results(study: Path) -> None:
    assert tied(study.parent / "report") > 300
    same_numbers(study.parent / "report")


def test_the_same_study_gives_the_same_bytes_in_every_form(study: Path) -> None:
    first, second = study.parent / "report", write(study, "again")
    names = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(second) for path in second.rglob("*") if path.is_file())
    differ = [str(name) for name in names if (first / name).read_bytes() != (second / name).read_bytes()]
    assert differ == ["run.json"]
    assert {name.suffix for name in names} >= {".html", ".md", ".pdf", ".json", ".csv", ".tex", ".svg", ".png"}


def test_without_texts_no_form_holds_one(study: Path) -> None:
    bare = write(study, "bare", "--no-text")
    with open_study(study) as opened:
        items, responses = list(item_contents(opened)), list(response_contents(opened))
        codebook = _bare(opened.protocol_toml)  # its examples are its own, and it stands in the report in full
    texts = {text for item in items for text in (item.question, item.context, item.rationale, *item.gold) if text}
    texts |= {text for each in responses for text in (each.text, each.text_b, each.reason) if text}
    everything = "\0".join(_contents(path) for path in bare.rglob("*") if path.is_file())
    long = {text: form for text in texts if len(text) >= 30 and (form := _bare(text)[:40]) not in codebook}
    found = [text for text, form in long.items() if form in everything]
    assert found == []
    assert len(long) > 30


def test_every_number_comes_again_from_the_labels(study: Path) -> None:
    found = reproduce(study.parent / "report")
    assert found.matches, found.differences[:5]
    ran = subprocess.run(
        [sys.executable, "-I", study.parent / "report" / "check.py"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout[-2000:]


def test_simulated_labels_are_named_so(study: Path) -> None:
    results = json.loads((study.parent / "report" / "results.json").read_text(encoding="utf-8"))
    simulated = "ehq" in study.parent.name or "simulated" in study.parent.name
    assert results["coding"]["simulated"] is simulated
    for name in ("report.html", "report.md", "report.pdf"):
        assert ("SIMULATED" in _contents(study.parent / "report" / name)) is simulated


def test_examples_of_an_error_are_of_the_items_that_the_score_is_about(study: Path) -> None:
    """NAS is about items called OK, KIS about those called IK, in the simulation's file."""
    if study.parent.name.startswith("nas"):
        results = json.loads((study.parent / "report" / "results.json").read_text(encoding="utf-8"))
        cells = results["errors"]["simulated-judge"]
        ranked = list(results["impact"]["judges"]["simulated-judge"]["rankings"])
        models = results["impact"]["judges"]["simulated-judge"]["models"].values()
        moved = [part for part in ranked if any(model["parts"][part]["cells"] for model in models)]
        assert {cell["part"] for cell in cells} == {moved[0]}  # the headline, where people corrected any response of it
        shown = [each for cell in cells for each in cell["examples"]]
        assert shown
        assert all(each["item"].startswith("OK-" if moved[0].startswith("NAS") else "IK-") for each in shown)


def test_a_score_that_is_no_sum_still_has_errors_to_look_at(study: Path) -> None:
    """Profiles: the cells come by their number of labelled units, as counted in labels.csv."""
    if study.parent.name.startswith("wikiprofile"):
        results = json.loads((study.parent / "report" / "results.json").read_text(encoding="utf-8"))
        first = results["errors"]["grader_1"][0]
        assert first["worth"] == {}
        assert len(first["examples"]) == min(10, int(first["units"])) > 0
        with (study.parent / "report" / "labels.csv").open(encoding="utf-8", newline="") as file:
            pairs = [(row["judge:grader_1"], row["reference"]) for row in csv.DictReader(file)]
        assert pairs.count((first["judge"], first["human"])) == first["units"]
