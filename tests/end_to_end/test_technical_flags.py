"""What a coder flags as a technical failure is out of both sides: judge scores, people's, and the confusion matrix.

Expected values are counted by hand from the table below.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from db.coding import CodingSession
from db.records import Act
from tests.end_to_end.conftest import Cli
from tests.end_to_end.test_running_a_study import codebook

# item, judge, person; the last is flagged. Judge right on 3 of 5, says CORRECT on 4 of 5; people say CORRECT on 2 of 5.
ROWS = [
    ("a", "CORRECT", "CORRECT"),
    ("b", "CORRECT", "CORRECT"),
    ("c", "CORRECT", "WRONG"),
    ("d", "CORRECT", "WRONG"),
    ("e", "WRONG", "WRONG"),
    ("f", "CORRECT", None),
]


@pytest.fixture
def flagged(tmp_path: Path, cli: Cli) -> Path:
    path, table = tmp_path / "s.db", tmp_path / "rows.csv"
    lines = [f"{item},m,{item}?,{item} it is,{item},{judge}" for item, judge, _ in ROWS]
    table.write_text("\n".join(["item,model,question,response,gold,judge", *lines, ""]), "utf-8")
    cli("init", path, "--protocol", "correctness")
    columns = "item=item,model=model,question=question,response=response,gold=gold,judge=judge.j"
    cli("import", path, table, "--map", columns)
    cli("sample", path, "--n", len(ROWS), "--anyway")
    cli("assign", path, "--coders", "Ada")
    said = {f"{item} it is": person for item, _, person in ROWS}
    with CodingSession.open(path, "Ada", codebook(path)) as session:
        while (item := session.next()) is not None:
            if said[item.text] is None:
                session.save(Act("flag", item.assignment, flag="technical"))
                session.save(Act("skip", item.assignment, reason="cannot be judged"))
                if session.item_of(item.assignment) is not None and session.progress.left <= 1:
                    break
            else:
                session.save(Act("label", item.assignment, label=said[item.text], active_ms=1000))
    return path


@pytest.mark.parametrize("target", ["corpus", "population"])
def test_a_flagged_response_is_out_of_both_sides(flagged: Path, cli: Cli, target: str) -> None:
    found = cli("impact", flagged, "--target", target, "--draws", 1000, "--json").json
    model = found["models"]["m"]
    assert found["records"] == 5
    assert model["judge"]["accuracy"] == pytest.approx(4 / 5)
    assert model["human"]["accuracy"] == pytest.approx(2 / 5)
    judges = cli("agreement", flagged, "--json").json["judges"]
    measures = judges["j"]["measures"]
    assert measures["agreement"]["value"] == pytest.approx(3 / 5, abs=1e-9)


def test_its_report_is_recomputed_from_its_labels(flagged: Path, cli: Cli, tmp_path: Path) -> None:
    cli("report", flagged, "--out", tmp_path / "r", "--form", "html", "--draws", 1000)
    assert cli("reproduce", tmp_path / "r", "--json").json["matches"]
    checked = subprocess.run(
        [sys.executable, "check.py"], cwd=tmp_path / "r", capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
