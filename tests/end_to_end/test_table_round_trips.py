"""The wide table with texts, in every form, imported into a new study: the same questions, responses and labels."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path
from typing import Any

import pytest

from annotate.analysis.loading import load_labels
from annotate.analysis.reference import study_reference
from annotate.studies import study_protocol
from db.export_rows import content_rows
from db.records import HumanLabelRow, ItemRow, JudgeLabelRow, ResponseRow
from db.study import open_study
from tests.end_to_end.coded_studies import ragged
from tests.end_to_end.conftest import Cli

MAP = ",".join(
    (
        *("item=item", "model=model", "repeat=repeat", "question=question", "gold=gold", "response=response"),
        *("category=stratum.category", "subcategory=stratum.subcategory", "coder-1=coder.coder-1"),
        *("coder-2=coder.coder-2", "adjudicated=final", "judge:ehq-rules=judge.ehq-rules", "pi=pi"),
    )
)


def content(path: Path, *, everything: bool = False) -> dict[str, set[Any]]:
    """What a table holds of the drawn units: items, responses, labels with roles and probabilities, judges' labels."""
    found: dict[str, set[Any]] = {"items": set(), "responses": set(), "people": set(), "judges": set()}
    with open_study(path) as study:
        for row in content_rows(study, everything=everything):
            if isinstance(row, ItemRow):
                found["items"].add((row.key, row.question, row.gold, tuple(sorted(row.strata.items()))))
            elif isinstance(row, ResponseRow):
                found["responses"].add((row.item, row.model, row.repeat, row.text))
            elif isinstance(row, HumanLabelRow) and row.label is not None:
                role = "adjudicator" if row.role == "adjudicator" else "coder"
                coder = "" if role == "adjudicator" else row.coder
                found["people"].add((coder, role, row.item, row.model, row.label, row.pi))
            elif isinstance(row, JudgeLabelRow):
                raw = str(row.raw).removeprefix("CONFIDENT_")
                found["judges"].add((row.judge, row.item, row.model, raw))
    return found


def labels_used(path: Path) -> dict[tuple[str, str], str | None]:
    """The human label of every unit."""
    with open_study(path) as study:
        reference = study_reference(load_labels(study, study_protocol(study)))
        return dict(zip(keys(path), reference.human.label, strict=True))


def keys(path: Path) -> list[tuple[str, str]]:
    from db.labels import unit_rows

    with open_study(path) as study:
        return [(unit.item, unit.model) for unit in unit_rows(study)]


@pytest.fixture(scope="module")
def coded(templates: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "ragged.db"
    path.write_bytes((templates / "ehq.db").read_bytes())
    return ragged(path)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "xlsx"])
def test_export_then_import_gives_the_same_study(cli: Cli, coded: Path, tmp_path: Path, form: str) -> None:
    table = tmp_path / f"wide.{form}"
    said = cli("export", coded, "--shape", "wide", "--text", "--out", table, "--json").json
    assert said["rows"] == 150
    if form == "xlsx":  # as a spreadsheet saves it
        table = saved_as_csv(table)
    again = tmp_path / "again.db"
    cli("init", again, "--protocol", "ehq")
    cli("import", again, table, "--map", MAP)
    before, after = content(coded), content(again, everything=True)
    assert before["items"] == after["items"]
    assert before["responses"] == after["responses"]
    assert before["judges"] == after["judges"]
    assert before["people"] == after["people"]
    assert {len(rows) > 40 for rows in before.values()} == {True}
    technical = {key for key, label in labels_used(coded).items() if label is None}
    used = labels_used(again)
    assert {key: used[key] for key in used if key not in technical} == {
        key: label for key, label in labels_used(coded).items() if key not in technical
    }


def saved_as_csv(path: Path) -> Path:
    """The sheet of a workbook, read with the standard library's XML parser."""
    space = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
    with zipfile.ZipFile(path) as archive:
        root = ET.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    out = path.with_suffix(".csv")
    with out.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            ["".join(cell.itertext()) for cell in row] for row in root.iterfind(".//m:row", space)
        )
    return out


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_response_that_is_a_formula_is_run_by_no_spreadsheet(cli: Cli, tmp_path: Path, form: str) -> None:
    source, path, out = tmp_path / "in.csv", tmp_path / "study.db", tmp_path / f"out.{form}"
    texts = ['=HYPERLINK("http://evil.example","x")', "@SUM(A1:A9)", "+1+cmd|' /C calc'!A0", "-2+3", "plain", "-7"]
    with source.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [["id", "q", "r", "a"], *([f"i{n}", "q", text, "CORRECT"] for n, text in enumerate(texts))]
        )
    cli("init", path, "--protocol", "correctness")
    cli("import", path, source, "--map", "id=item,q=question,r=response,a=coder.a")
    cli("export", path, "--text", "--out", out)
    if form == "xlsx":
        with zipfile.ZipFile(out) as archive:
            sheet = archive.read("xl/worksheets/sheet1.xml").decode()
        assert "<f>" not in sheet
        assert sheet.count('t="inlineStr"') > len(texts)
        return
    with out.open(encoding="utf-8", newline="") as file:
        shown = [row["response"] for row in csv.DictReader(file)]
    assert shown == [f"'{text}" for text in texts[:4]] + ["plain", "-7"]
