"""Exports in the forms of other tools and back, the adjudication file with the real package ehq, harmless cells."""

from __future__ import annotations

import csv
import gzip
import io
import json
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotate.neutral import neutral
from annotate.sample_files import sample
from db.export_rows import content_rows
from db.records import HumanLabelRow
from db.study import open_study
from tests.end_to_end.conftest import Cli


def content(path: Path, *, names: bool = False) -> list[Any]:
    """Everything that an import keeps, but for where it came from."""
    with open_study(path) as study:
        return [replace(row, row=0, source=0) for row in content_rows(study, everything=True, names=names)]


def test_export_then_import_gives_the_same_content(cli: Cli, coded_study: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    said = cli("export", coded_study, "--format", "study-rows", "--all", "--names", "--out", rows, "--json").json
    assert (said["units"], said["labels of people"], said["labels of judges"]) == (480, 400, 480)
    assert said["labels outside the sample left out"] == 560
    again = tmp_path / "again.db"
    cli("init", again, "--protocol", "ehq")
    cli("import", again, rows, "--simulated")
    before, after = content(coded_study, names=True), content(again, names=True)
    before = [row for row in before if not (isinstance(row, HumanLabelRow) and row.pi is None)]
    assert len(before) == 120 + 480 + 400 + 480
    assert sorted(map(repr, before)) == sorted(map(repr, after))
    rows_again = tmp_path / "rows-again.jsonl"
    cli("export", again, "--format", "study-rows", "--all", "--names", "--out", rows_again)
    assert sorted(rows.read_text("utf-8").splitlines()) == sorted(rows_again.read_text("utf-8").splitlines())


@pytest.mark.parametrize(
    ("form", "suffix", "judges"),
    [("label-studio", "json", 200), ("prodigy", "jsonl", 0), ("doccano", "jsonl", 0), ("argilla", "json", 200)],
)
def test_each_form_says_what_went_in(
    cli: Cli, coded_study: Path, tmp_path: Path, form: str, suffix: str, judges: int
) -> None:
    out = tmp_path / f"out.{suffix}"
    said = cli("export", coded_study, "--format", form, "--out", out, "--json").json
    assert (said["units"], said["labels of people"], said["labels of judges"]) == (200, 400, judges)
    assert "already a file" in cli("export", coded_study, "--format", form, "--out", out, code=2).err
    bare = tmp_path / f"bare.{suffix}"
    cli("export", coded_study, "--format", form, "--out", bare, "--no-text", "--blind")
    text = bare.read_text(encoding="utf-8")
    assert "gemma" not in text
    assert "insurance" in out.read_text(encoding="utf-8")
    assert "insurance" not in text


# --- the package ehq ----------------------------------------------------------------------------------------------


def test_the_real_ehq_reads_the_adjudication_and_scores_as_we_do(cli: Cli, ehq_study: Path, tmp_path: Path) -> None:
    """A fully labelled study: ehq's own loader, classifier and scoring give EHQ1 and EHQ2 as annotate does."""
    pytest.importorskip("ehq")
    from ehq.cli import _load_adjudication
    from ehq.evaluation.classifier import classify_response
    from ehq.evaluation.scoring import compute_ehq_scores

    columns = "question_id=item,model=model,coder=coder,label=label"
    first = tmp_path / "first.csv"
    with sample("ehq-run", "simulated_coders.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    coder = rows[0]["coder"]
    with first.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(row for row in rows if row["coder"] == coder)
    cli("import", ehq_study, first, "--map", columns, "--simulated")
    path = tmp_path / "adjudication.json"
    said = cli("export", ehq_study, "--format", "ehq", "--out", path, "--json").json
    assert (said["labels"], said["units without one label"]) == (480, 0)

    adjudication, _ = _load_adjudication(path)
    items = {item["question_id"]: item for item in _items()}
    ours = cli("impact", ehq_study, "--draws", 1000, "--json").json["models"]
    by_model: dict[str, list[dict[str, Any]]] = {}
    with gzip.open(sample("ehq-run", "records.jsonl.gz"), "rt", encoding="utf-8") as file:
        for record in map(json.loads, file):
            label = adjudication[f"{record['model']}::{record['question_id']}"]
            text = record["answer_response"]["text"]
            found = classify_response(text, items[record["question_id"]], adjudicated_label=label)
            assert found.label == label
            record["classification"] = found.to_dict()
            by_model.setdefault(record["model"], []).append(record)
    for model, records in by_model.items():
        theirs = compute_ehq_scores(records, weights={"ehq1": 0.30, "ehq2": 0.45, "ehq3": 0.25})
        for part in ("EHQ1", "EHQ2"):
            assert ours[model]["human"][part] == pytest.approx(theirs[part], abs=1e-12), (model, part)
        for part in ("EHQ1", "EHQ2", "EHQ3", "EHQ"):
            assert said["hybrid"][model][part] == pytest.approx(theirs[part], abs=1e-12), (model, part)


def test_the_hybrid_score_is_what_the_real_ehq_reports(cli: Cli, coded_study: Path, tmp_path: Path) -> None:
    """A sample that is labelled in part: ehq's loader, classifier and scoring over the whole run, all four scores."""
    pytest.importorskip("ehq")
    from ehq.cli import _load_adjudication
    from ehq.evaluation.classifier import classify_response
    from ehq.evaluation.scoring import compute_ehq_scores

    path = tmp_path / "adjudication.json"
    said = cli("export", coded_study, "--format", "ehq", "--out", path, "--json").json
    adjudication, _ = _load_adjudication(path)
    items = {item["question_id"]: item for item in _items()}
    by_model: dict[str, list[dict[str, Any]]] = {}
    with gzip.open(sample("ehq-run", "records.jsonl.gz"), "rt", encoding="utf-8") as file:
        for record in map(json.loads, file):
            label = adjudication.get(f"{record['model']}::{record['question_id']}")
            found = classify_response(
                record["answer_response"]["text"], items[record["question_id"]], adjudicated_label=label
            )
            assert found.automated_label == record["classification"]["automated_label"]
            record["classification"] = found.to_dict()
            by_model.setdefault(record["model"], []).append(record)
    assert set(said["hybrid"]) == set(by_model)
    for model, records in by_model.items():
        theirs = compute_ehq_scores(records, weights={"ehq1": 0.30, "ehq2": 0.45, "ehq3": 0.25})
        ours = said["hybrid"][model]
        for part in ("EHQ1", "EHQ2", "EHQ3", "EHQ"):
            assert ours[part] == pytest.approx(theirs[part], abs=1e-12), (model, part)
        assert ours["people"] + ours["rules"] == len(records) == 120
    assert sum(each["people"] for each in said["hybrid"].values()) == said["labels"]
    shown = cli("export", coded_study, "--format", "ehq", "--out", tmp_path / "again.json").out
    assert "hybrid" in shown
    assert f"{said['hybrid']['gemma-3-270m-bold']['EHQ']:.3f}" in shown


def _items() -> list[dict[str, Any]]:
    with gzip.open(sample("ehq-run", "EHQ-120.json.gz"), "rt", encoding="utf-8") as file:
        found = json.load(file)
    return list(found if isinstance(found, list) else found.get("questions") or found.get("items"))


def test_units_without_one_label_stay_with_the_rules(cli: Cli, coded_study: Path, tmp_path: Path) -> None:
    path = tmp_path / "adjudication.json"
    said = cli("export", coded_study, "--format", "ehq", "--out", path, "--json").json
    assert said["labels"] + said["units without one label"] == 200
    assert said["labels"] == len(json.loads(path.read_text(encoding="utf-8")))
    wide = list(csv.DictReader(io.StringIO(cli("export", coded_study, "--shape", "wide").out)))
    assert said["units without one label"] == sum(not row["reference"] for row in wide) > 0


def test_a_name_that_asks_for_no_table_is_refused(cli: Cli, coded_study: Path, tmp_path: Path) -> None:
    for name in ("labels.dta", "labels", "labels.txt"):
        said = cli("export", coded_study, "--out", tmp_path / name, code=2).err
        assert "says no form of table" in said
        assert ".csv, .jsonl" in said
        assert not (tmp_path / name).exists()
    cli("export", coded_study, "--format", "csv", "--out", tmp_path / "labels.txt")


# --- tables -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-x", "'-x"),
        ("\t=1", "'\t=1"),
        ("-0.5", "-0.5"),
        ("plain = text", "plain = text"),
    ],
)
def test_what_a_spreadsheet_would_run_is_neutralised(text: str, safe: str) -> None:
    assert neutral(text) == safe


def test_a_workbook_holds_the_same_rows_as_the_table(cli: Cli, coded_study: Path, tmp_path: Path) -> None:
    """Read with the standard library's XML parser, cell by cell."""
    cli("export", coded_study, "--text", "--out", tmp_path / "labels.xlsx")
    cli("export", coded_study, "--text", "--out", tmp_path / "labels.jsonl")
    with zipfile.ZipFile(tmp_path / "labels.xlsx") as archive:
        root = ET.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    space = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
    head, *rows = [["".join(cell.itertext()) for cell in row] for row in root.iterfind(".//m:row", space)]
    lines = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    assert head == list(lines[0])
    assert len(rows) == len(lines) == 960
    texts = [row[head.index("response")] for row in rows]
    assert texts == [line["response"] for line in lines]
    assert not root.findall(".//m:f", space)


def test_anonymised_rows_name_no_model_item_or_coder(cli: Cli, coded_study: Path) -> None:
    out = cli("export", coded_study, "--shape", "wide", "--anonymise").out
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {row["model"] for row in rows} == {f"model-{number}" for number in range(1, 5)}
    assert "gemma" not in out
    assert "FEQ-SCI-116" not in out
    assert "tables without texts" in cli("export", coded_study, "--anonymise", "--text", code=2).err
