"""Single statements of a report on small studies whose numbers can be counted by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from annotate.sample_files import sample
from tests.end_to_end.coded_studies import ragged
from tests.end_to_end.conftest import Cli
from tests.end_to_end.test_undefined_numbers import Table


@pytest.fixture
def table(cli: Cli, tmp_path: Path) -> Table:
    return Table(cli, tmp_path)


def report(cli: Cli, study: Path, *options: object) -> tuple[str, dict[str, Any]]:
    """The Markdown on one line, and the results."""
    folder = study.parent / "report"
    cli("report", study, "--out", folder, "--draws", 1000, "--form", "markdown", "--force", *options)
    text = " ".join((folder / "report.md").read_text(encoding="utf-8").split())
    return text, json.loads((folder / "results.json").read_text(encoding="utf-8"))


def test_to_be_within_the_human_range_says_little_where_people_do_not_agree(cli: Cli, table: Table) -> None:
    """a CCWW..., b CWCW...: agreement 1/2, as by chance; the judge says what a says: kappa 1 with a, 0 with b."""
    a, b = ["CORRECT", "CORRECT", "WRONG", "WRONG"] * 12, ["CORRECT", "WRONG"] * 24
    study = table.study({"a": a, "b": b}, judge=a)
    text, results = report(cli, study)
    kappa = results["judges"]["judge"]["ceiling"]["comparisons"][0]
    assert (kappa["people"], kappa["judge"]) == (pytest.approx(0), pytest.approx(0.5))
    assert "within the human range, which says little, for people hardly agree with each other" in text


def test_where_people_agree_nothing_is_added(cli: Cli, table: Table) -> None:
    a = ["CORRECT", "CORRECT", "WRONG", "WRONG"] * 12
    text, _ = report(cli, table.study({"a": a, "b": [*a[:44], *a[44:][::-1]]}, judge=a))
    assert "which says little" not in text


def test_a_standard_error_that_two_units_cannot_show_is_a_dash(cli: Cli, table: Table) -> None:
    text, _ = report(cli, table.study({"a": ["CORRECT", "WRONG"], "b": ["CORRECT", "WRONG"]}))
    row = re.search(r"\| Percent agreement \|(.*?)\|(.*?)\|(.*?)\|", text)
    assert row is not None
    assert row.group(2).strip() == "–"
    assert row.group(3).strip() == "2"


def test_the_share_of_a_label_under_the_judge_has_no_interval(cli: Cli, coded_study: Path) -> None:
    """The judge is known for every record: its share is a number, not an estimate."""
    text, results = report(cli, coded_study)
    assert "ABSTAIN" in results["judges"]["ehq-rules"]["labels"]
    share = results["judges"]["ehq-rules"]["labels"]["ABSTAIN"]["judge_share"]["value"]
    assert re.search(rf"\| ABSTAIN \|[^|]*\|[^|]*\|[^|]*\|[^|]*\| {share:.3f} \|", text)


def test_shares_of_the_matrix_add_to_one(cli: Cli, coded_study: Path) -> None:
    _, results = report(cli, coded_study)
    matrix = results["judges"]["ehq-rules"]["matrix"]
    assert sum(map(sum, matrix["shares"])) == pytest.approx(1)
    assert matrix["shares"][0][0] == pytest.approx(matrix["totals"][0][0] / 480)


def test_import_commands_are_whole_but_for_folders(cli: Cli, coded_study: Path) -> None:
    _, results = report(cli, coded_study, "--no-text")
    commands = results["provenance"]["commands"]
    assert commands[0] == "annotate import STUDY.db --format ehq EHQ-120.json.gz records.jsonl.gz"
    columns = "question_id=item,model=model,coder=coder,label=label"
    assert commands[1] == f"annotate import STUDY.db --format table --map {columns} --simulated simulated_coders.csv"
    assert commands[2].startswith("annotate sample STUDY.db --n 200 --seed 42 --by model,judge_label")
    assert "models" not in results["impact"]


def test_coders_with_themselves(cli: Cli, ehq_study: Path) -> None:
    """First and second labels of the hidden repeats, counted from the long export; kappa of scikit-learn."""
    import csv
    import io

    from sklearn.metrics import cohen_kappa_score

    ragged(ehq_study)
    text, results = report(cli, ehq_study)
    rows = list(csv.DictReader(io.StringIO(cli("export", ehq_study).out)))
    said = {(row["worker"], row["task"], row["occurrence"]): row["label"] for row in rows if row["label"]}
    for coder, found in results["oneself"].items():
        pairs = [
            (said[coder, task, "1"], label)
            for (worker, task, occurrence), label in said.items()
            if worker == coder and occurrence == "2" and (coder, task, "1") in said
        ]
        assert found["percent"]["n_units"] == len(pairs)
        assert found["percent"]["value"] == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
        if found["kappa"]["value"] is not None:
            assert found["kappa"]["value"] == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
        assert set(found) == {"percent", "kappa", "alpha"}
    assert results["oneself"]
    assert "With themselves: the same unit again" in text
    assert "Adjudicated: " in text


def test_the_filter_of_a_codebook_is_in_the_flow(cli: Cli, tmp_path: Path) -> None:
    """NAS asks about responses whose choice is the key: 1,592 of 2,400, by the simulation's own tables of counts."""
    study = tmp_path / "nas.db"
    cli("init", study, "--protocol", "nas")
    cli("import", study, sample("nas-simulated", "outputs.jsonl.gz"), "--format", "nas")
    cli("sample", study, "--n", 60, "--by", "model,condition", "--anyway")
    _, results = report(cli, study)
    first, second, third = results["flow"]["units"][:3]
    assert first["n"] == 2400
    assert first["out"] == [{"why": "outside the codebook's filter", "n": 808}]
    assert (second["n"], third["n"]) == (1592, 60)
