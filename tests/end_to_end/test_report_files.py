"""What lies beside a report: labels that it can be recomputed from, programs that do so, tables, figures, no texts."""

from __future__ import annotations

import csv
import html
import json
import re
import shutil
import subprocess
import sys
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest

from annotate.__main__ import run
from annotate.reports.latex import tex
from tests.end_to_end.conftest import Cli


@pytest.fixture(scope="module")
def report(templates: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports") / "report"
    assert run(["report", str(templates / "coded.db"), "--out", str(folder), "--draws", "1000", "--no-text"]) == 0
    return folder


@pytest.fixture
def copied(report: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(report, tmp_path / "copy"))


def test_every_number_is_recomputed_from_the_labels_alone(cli: Cli, report: Path) -> None:
    found = cli("reproduce", report, "--json").json
    assert found["matches"]
    assert not found["differences"]
    assert found["numbers"] > 10_000


def test_a_label_that_was_changed_is_noticed(cli: Cli, copied: Path) -> None:
    path = copied / "labels.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    column = next(name for name in rows[0] if name.startswith("coder:"))
    changed = next(row for row in rows if row[column] == "WRONG")
    changed[column] = "ABSTAIN"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    said = cli("reproduce", copied, code=1)
    assert "DIFFERS /people/coefficients" in said.out
    ours = subprocess.run([sys.executable, "-I", copied / "check.py", copied], capture_output=True, text=True)
    assert ours.returncode == 1
    assert "DIFFERS" in ours.stdout


def test_a_folder_that_is_no_report_is_one_clear_line(cli: Cli, copied: Path, tmp_path: Path) -> None:
    assert "there is no such file" in cli("reproduce", tmp_path / "nothing", code=2).err
    (copied / "labels.csv").write_text("unit\nx\n", encoding="utf-8")
    assert "not as a report writes it" in cli("reproduce", copied, code=2).err


def test_check_py_needs_only_the_standard_library_and_agrees(report: Path) -> None:
    text = (report / "check.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    imported = set(re.findall(r"(?m)^(?:from|import) (\w+)", text)) - {"__future__"}
    assert imported <= sys.stdlib_module_names
    ran = subprocess.run([sys.executable, "-I", report / "check.py"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    said = ran.stdout
    for what in ("says WRONG, people ABSTAIN", "Krippendorff's alpha", "Cohen's kappa", "EHQ1, model", "EHQ2, model"):
        assert what in said
    assert "0 differ" in said


def test_no_text_of_any_item_is_in_any_form(report: Path, templates: Path) -> None:
    """Each text of the study of 30 characters and more is searched in every file: PDF pages and metadata included."""
    from db.content import item_contents, response_contents
    from db.study import open_study

    with open_study(templates / "coded.db") as study:
        items, responses = list(item_contents(study)), list(response_contents(study))
    texts = {text for item in items for text in (item.question, item.context, item.rationale, *item.gold) if text}
    texts |= {text for each in responses for text in (each.text, each.reason) if text}
    files = {path.relative_to(report): _contents(path) for path in report.rglob("*") if path.is_file()}
    assert {path.suffix for path in files} >= {".html", ".md", ".json", ".csv", ".tex", ".svg", ".pdf", ".png"}
    searched = 0
    for text in (each for each in texts if len(each) >= 30):
        searched += 1
        for form in {_bare(text)[:40], _bare(json.dumps(text, ensure_ascii=False)[1:-1])[:40], _bare(tex(text))[:40]}:
            assert not [path for path, content in files.items() if form in content], text
    assert searched > 300


def test_with_text_the_search_finds_them_in_html_pdf_and_json(cli: Cli, coded_study: Path, tmp_path: Path) -> None:
    """The search above would find a text that is there."""
    cli("report", coded_study, "--out", tmp_path / "report", "--draws", 1000, "--form", "html,pdf,markdown")
    results = json.loads((tmp_path / "report" / "results.json").read_text(encoding="utf-8"))
    question = results["errors"]["ehq-rules"][0]["examples"][0]["question"]
    for name in ("report.html", "report.pdf", "report.md", "results.json"):
        assert _bare(question)[:40] in _contents(tmp_path / "report" / name), name


def _bare(text: str) -> str:
    """Without spaces, marks that a form escapes, and ligatures."""
    return re.sub(r"[^\w]", "", unicodedata.normalize("NFKD", html.unescape(text)))


def _contents(path: Path) -> str:
    if path.suffix == ".pdf":
        from pypdf import PdfReader

        reader = PdfReader(path)
        return _bare(
            " ".join(page.extract_text() for page in reader.pages) + repr(reader.metadata) + repr(reader.xmp_metadata)
        )
    return _bare(path.read_bytes().decode("utf-8", "replace"))


def test_with_text_the_worst_errors_have_items_to_look_at(cli: Cli, coded_study: Path, tmp_path: Path) -> None:
    cli("report", coded_study, "--out", tmp_path / "report", "--draws", 1000)
    results = json.loads((tmp_path / "report" / "results.json").read_text(encoding="utf-8"))
    worst = results["errors"]["ehq-rules"][0]
    assert (worst["judge"], worst["human"]) == ("WRONG", "ABSTAIN")
    assert 0 < len(worst["examples"]) <= 10
    assert all(example["question"] and example["response"] for example in worst["examples"])


def test_each_step_of_the_flow_less_what_it_leaves_out_is_the_next(report: Path) -> None:
    flow = json.loads((report / "results.json").read_text(encoding="utf-8"))["flow"]
    for row in flow["rows"]:
        assert row["n"] - sum(out["n"] for out in row["out"]) == row["kept"]
    for steps in (flow["units"], flow["labels"][:2]):
        for step, following in pairwise(steps):
            assert step["n"] - sum(out["n"] for out in step["out"]) == following["n"], step
    assert [step["n"] for step in flow["units"]] == [480, 480, 200, 200]
    assert [step["n"] for step in flow["labels"]] == [960, 400, 0]


def test_tables_hold_the_numbers_in_full(report: Path) -> None:
    results = json.loads((report / "results.json").read_text(encoding="utf-8"))
    kappa = results["people"]["coefficients"]["cohen_kappa"]
    with (report / "tables" / "agreement-between-people.csv").open(encoding="utf-8", newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["coefficient"] == "Cohen's κ")
    assert [float(row[name]) for name in ("value", "value low", "value high")] == [
        kappa["value"],
        kappa["low"],
        kappa["high"],
    ]


def test_latex_has_booktabs_labels_and_no_loose_marks(report: Path) -> None:
    paths = sorted((report / "tables").glob("*.tex"))
    assert len(paths) > 20
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert f"\\label{{tab:{path.stem}}}" in text
        assert all(rule in text for rule in ("\\toprule", "\\midrule", "\\bottomrule"))
        body = re.sub(r"\\[%#_&$]", "", text)
        assert not re.search(r"[%#$]", body), path.name


def test_the_figure_stands_alone_and_is_well_formed(report: Path) -> None:
    import xml.etree.ElementTree as ET

    root = ET.parse(report / "figures" / "scores.svg").getroot()
    assert root.get("role") == "img"
    assert root.get("aria-label")
    shapes = {each.tag.rpartition("}")[2] for each in root.iter()}
    assert {"rect", "circle", "polygon", "line", "text"} <= shapes


def test_two_reports_are_told_apart(cli: Cli, coded_study: Path, report: Path, tmp_path: Path) -> None:
    assert cli("compare", report, report, "--json").json["moved"] == []
    cli("report", coded_study, "--out", tmp_path / "other", "--draws", 1000, "--seed", 2, "--no-text")
    found = cli("compare", report, tmp_path / "other", "--json").json
    assert {"what": "seed of the intervals", "first": "1", "second": "2"} in found["differs"]
    assert "moved" in cli("compare", report, tmp_path / "other").out
