"""The whole job on the EHQ sample with simulated coders: draw, hand out, code, agree, compare, report, export, verify.

The coders' labels are simulated by the seeded procedure that ships; the truth behind them is known to this test alone.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotate.protocols import load_protocol
from annotate.sample_files import sample
from db.coding import CodingSession
from db.labels import label_rows, unit_rows
from db.records import Act
from db.study import open_study
from tests.end_to_end.conftest import Cli

REPOSITORY = Path(__file__).resolve().parents[2]
CODERS = ("Ada", "Ben")
Key = tuple[str, str]


def simulated_labels() -> dict[tuple[str, str, str], str]:
    """(coder, item, model) to label: the two simulated coders under the names that they have here."""
    names = {"simulated-1": "Ada", "simulated-2": "Ben"}
    with sample("ehq-run", "simulated_coders.csv").open(encoding="utf-8", newline="") as table:
        return {(names[r["coder"]], r["question_id"], r["model"]): r["label"] for r in csv.DictReader(table)}


def truth(monkeypatch: pytest.MonkeyPatch) -> dict[Key, str]:
    """(item, model) to the label that the simulation takes for right; coders slip from it at a known rate."""
    monkeypatch.syspath_prepend(REPOSITORY / "samples")
    from simulate_ehq_coders import agreed_label  # type: ignore[import-not-found]

    from annotate.importers import prepare
    from db.records import JudgeLabelRow, ResponseRow

    job = prepare([sample("ehq-run", "EHQ-120.json.gz"), sample("ehq-run", "records.jsonl.gz")], format="ehq")
    found = {}
    for row in job.rows:
        if isinstance(row, JudgeLabelRow) and row.raw is not None:
            record = {"model": row.model, "question_id": row.item, "label": row.raw, "category": row.item[:3]}
            found[row.item, row.model] = agreed_label(record)
        assert not isinstance(row, ResponseRow) or row.failure is None
    return found


def queue(path: Path, coder: str) -> Iterator[tuple[str, Key]]:
    """Every assignment of a coder with its record: what the coder never sees, and this test must know."""
    with open_study(path, read_only=True) as study:
        units = {unit.unit: (unit.item, unit.model) for unit in unit_rows(study)}
        yield from ((row.assignment, units[row.unit]) for row in label_rows(study) if row.coder == coder)


def code(path: Path, coder: str) -> int:
    """Code the whole queue; one label is undone and given again."""
    labels, records = simulated_labels(), dict(queue(path, coder))
    protocol = load_protocol("ehq")
    done = 0
    with CodingSession.open(path, coder, protocol) as session:
        while (item := session.next()) is not None:
            label = labels[coder, *records[item.assignment]]
            note = "impossible here, and yet" if label in item.impossible else None
            if note:
                session.save(Act("note", item.assignment, note=note))
            session.save(Act("label", item.assignment, label=label, active_ms=1500))
            if done == 3:
                assert session.undo() is not None
                session.save(Act("label", item.assignment, label=label))
            done += 1
        assert session.progress.left == 0
    return done


@pytest.fixture
def finished(cli: Cli, ehq_study: Path) -> Path:
    plan = cli("sample", ehq_study, "--n", 200, "--seed", 42, "--json").json
    assert plan["drawn"] and plan["n"] == 200
    handed = cli(
        "assign", ehq_study, "--coders", "Ada,Ben", "--overlap", "0.6", "--seed", 7, "--simulated", "--json"
    ).json
    assert handed["units"] == 200
    assert sum(coder["units"] for coder in handed["coders"]) == 200 + handed["overlap"]
    assert [code(ehq_study, coder) for coder in CODERS] == [coder["units"] for coder in handed["coders"]]
    return ehq_study


def test_from_draw_to_report(cli: Cli, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status = cli("status", finished, "--json").json
    assert [(coder["done"], coder["left"]) for coder in status["coders"]] == [(c["total"], 0) for c in status["coders"]]
    exported = list(csv.DictReader(io.StringIO(cli("export", finished).out)))
    assert len(exported) == sum(coder["done"] for coder in status["coders"])
    assert list(exported[0])[:3] == ["task", "worker", "label"]
    wide = list(csv.DictReader(io.StringIO(cli("export", finished, "--shape", "wide").out)))
    check_agreement(cli("agreement", finished, "--draws", 1000, "--json").json, exported, wide)
    impact = cli("impact", finished, "--draws", 1000, "--json").json
    check_impact(impact, truth(monkeypatch))
    folder = tmp_path / "report"
    cli("report", finished, "--out", folder, "--draws", 1000)
    check_report(folder, impact)
    assert "Everything holds" in cli("verify", finished).out


def check_agreement(found: dict[str, Any], exported: list[dict[str, str]], wide: list[dict[str, str]]) -> None:
    """Percent agreement recomputed from the exported labels, weighted by 1/(pi pi2) as the design asks."""
    by_task: dict[str, list[dict[str, str]]] = {}
    for row in exported:
        by_task.setdefault(row["task"], []).append(row)
    both = [rows for rows in by_task.values() if len(rows) == 2]
    weights = [1 / (float(rows[0]["pi"]) * float(rows[0]["pi2"])) for rows in both]
    agree = sum(w for w, rows in zip(weights, both, strict=True) if rows[0]["label"] == rows[1]["label"])
    percent = found["people"]["coefficients"]["percent_agreement"]
    assert percent["n_units"] == len(both)
    assert percent["value"] == pytest.approx(agree / sum(weights), abs=1e-9)
    assert all("simulated" in coder for coder in found["people"]["coders"])
    assert sum(float(row["weight"]) for row in wide) == pytest.approx(480)
    status = found["reference"]["status"]
    assert sum(status.values()) == 200
    assert status["unresolved"] == sum(row["reference_status"] == "unresolved" for row in wide) > 0
    matrix = found["judges"]["ehq-rules"]["matrix"]
    assert sum(map(sum, matrix["totals"])) == pytest.approx(480)
    assert sum(map(sum, matrix["counts"])) == pytest.approx(200)


def check_impact(found: dict[str, Any], known: dict[Key, str]) -> None:
    """The corpus under people's labels: the truth of the simulation lies in the interval of every model's EHQ1."""
    for model, scores in found["models"].items():
        labels = [label for (_, name), label in known.items() if name == model]
        cautious = sum(label in ("ABSTAIN", "HEDGE") for label in labels) / len(labels)
        human = scores["parts"]["EHQ1"]["human"]
        assert human["low"] - 0.05 <= cautious <= human["high"] + 0.05, model
        assert scores["sentence"].startswith("EHQ ")
    assert any("SIMULATED" in note for note in found["notes"])


def check_report(folder: Path, impact: dict[str, Any]) -> None:
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert results["impact"]["judges"]["ehq-rules"]["models"] == impact["models"]
    markdown, html = ((folder / name).read_text(encoding="utf-8") for name in ("report.md", "report.html"))
    for text in (markdown, html):
        assert "SIMULATED" in text
        assert "Ada" not in text
    names = {"study", "utc", "command", "annotate", "python", "system", "packages"}
    assert set(json.loads((folder / "run.json").read_text(encoding="utf-8"))) == names
    assert str(folder) not in json.dumps(results)


def test_the_same_study_and_seed_give_the_same_report(cli: Cli, coded_study: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        cli("report", coded_study, "--out", tmp_path / name, "--draws", 1000)
    for file in ("results.json", "report.md", "report.html"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert "already" in cli("report", coded_study, "--out", tmp_path / "one", code=2).err


def test_the_same_labels_leave_in_three_forms(cli: Cli, coded_study: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for suffix in ("csv", "jsonl", "parquet"):
        cli("export", coded_study, "--out", tmp_path / f"labels.{suffix}")
        assert (tmp_path / f"labels.{suffix}").stat().st_mode & 0o777 == 0o600
    with (tmp_path / "labels.csv").open(encoding="utf-8", newline="") as table:
        rows = [(row["task"], row["worker"], row["label"]) for row in csv.DictReader(table)]
    lines = (tmp_path / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    again = [tuple(json.loads(line)[key] for key in ("task", "worker", "label")) for line in lines]
    columns = parquet.read_table(tmp_path / "labels.parquet").select(["task", "worker", "label"]).to_pylist()
    assert rows == again == [tuple(row.values()) for row in columns]
    assert len(rows) == 960
    assert "already a file" in cli("export", coded_study, "--out", tmp_path / "labels.csv", code=2).err
