"""The samples: there, small, licensed, the simulations regenerated from their seed, and what they must reproduce."""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from annotate.importers import prepare, prepare_recipe
from annotate.sample_files import SAMPLES, sample, samples_folder
from db.errors import AnnotateError
from db.records import HumanLabelRow, JudgeLabelRow, ResponseRow


@pytest.fixture(scope="module")
def scripts() -> Iterator[Any]:
    """The generators, imported as they import each other: from their own folder."""
    folder = str(samples_folder())
    sys.path.insert(0, folder)
    try:
        yield import_module
    finally:
        sys.path.remove(folder)


def unpacked(path: Path) -> bytes:
    """The content alone: how it is packed depends on the zlib that packed it."""
    return gzip.decompress(path.read_bytes())


def test_each_sample_says_where_it_comes_from_and_all_are_small() -> None:
    for name in SAMPLES:
        assert (sample(name) / "SOURCE.txt").read_text(encoding="utf-8").strip()
        assert (sample(name) / "LICENSE.txt").read_text(encoding="utf-8").strip()
        if name.endswith("simulated"):
            assert "SIMULATED" in (sample(name) / "SOURCE.txt").read_text(encoding="utf-8")
    total = sum(path.stat().st_size for path in samples_folder().rglob("*") if "__pycache__" not in path.parts)
    assert total < 2_000_000
    with pytest.raises(AnnotateError, match="no sample 'nope'"):
        sample("nope")


def test_published_samples_are_the_originals(shared_data: Path) -> None:
    for name in ("ehq-run", "openqa-nq301"):
        packed = sorted(sample(name).glob("*.gz"))
        assert packed
        for path in packed:
            assert unpacked(path) == (shared_data / name / path.name.removesuffix(".gz")).read_bytes(), path.name


def test_no_response_of_xstest_ships(shared_data: Path, scripts: Any) -> None:
    published: ModuleType = scripts("prepare_published")
    content = unpacked(sample("xstest", "labels.csv.gz"))
    assert content == published.xstest(shared_data / "xstest")
    table = list(csv.DictReader(content.decode("utf-8").splitlines()))
    assert len(table) == 2250
    assert set(table[0]) == set(published.COLUMNS)
    assert {row["gpt4"] for row in table} == {*published.LABELS, published.REFUSED}
    assert sum(row["gpt4"] == published.REFUSED for row in table) == 11


@pytest.mark.parametrize(
    ("script", "folder", "file"),
    [
        ("simulate_nas", "nas-simulated", "outputs.jsonl.gz"),
        ("simulate_wikiprofile", "wikiprofile-simulated", "responses.jsonl.gz"),
    ],
)
def test_a_simulation_comes_out_the_same_again(scripts: Any, script: str, folder: str, file: str) -> None:
    seeded, module = scripts("seeded"), scripts(script)
    assert gzip.decompress(seeded.gzipped_lines(module.simulated())) == unpacked(sample(folder, file))


def test_simulated_coders_come_out_the_same_again_and_disagree_as_stated(scripts: Any) -> None:
    module = scripts("simulate_ehq_coders")
    path = sample("ehq-run", "simulated_coders.csv")
    assert path.read_bytes() == module.simulated()
    with path.open(encoding="utf-8", newline="") as file:
        given = {(row["model"], row["question_id"], row["coder"]): row["label"] for row in csv.DictReader(file)}
    records = list(module.records())
    assert len(given) == 2 * len(records) == 960
    truth = [module.agreed_label(record) for record in records]
    first = [given[r["model"], r["question_id"], "simulated-1"] for r in records]
    # A coder keeps the agreed label with the chance .94; 480 draws have a standard error of .011. Where the slip is
    # to an impossible CORRECT it becomes WRONG, which can be the agreed label again.
    assert sum(a == b for a, b in zip(truth, first, strict=True)) / 480 == pytest.approx(0.945, abs=0.033)
    impossible = [
        given[r["model"], r["question_id"], c]
        for r in records
        if r["category"] in ("FEQ", "CCQ")
        for c in module.CODERS
    ]
    assert "CORRECT" not in impossible


# --- what the simulations must reproduce --------------------------------------------------------------


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in unpacked(path).splitlines()]


def outcome(record: dict[str, Any]) -> str:
    if record["choice"] is None:
        return "invalid"
    return "abstained" if record["choice"] == "5" else "correct" if record["choice"] == record["key"] else "wrong"


def test_nas_counts_of_the_paper() -> None:
    """Published for Mistral Small with search on OK items: 191 valid, 39 searched (38 correct), 90 + 42 + 20 not."""
    records = lines(sample("nas-simulated", "outputs.jsonl.gz"))
    assert len(records) == 3 * 2 * 2 * 200
    part = [
        r
        for r in records
        if r["model"].startswith("Mistral") and r["condition"] == "with search" and r["item_type"] == "OK"
    ]
    valid = [r for r in part if outcome(r) != "invalid"]
    assert len(valid) == 191
    counts = Counter((r["searched"], outcome(r)) for r in valid)
    assert counts == {
        (True, "correct"): 38,
        (True, "wrong"): 1,
        (False, "abstained"): 90,
        (False, "correct"): 42,
        (False, "wrong"): 20,
    }
    aligned = sum(not r["searched"] and outcome(r) == "correct" and r["alignment"] >= 70 for r in valid)
    assert pytest.approx(-0.3770, abs=5e-5) == (38 - 110) / 191  # judge-free
    assert aligned == 17
    assert (38 - (152 - aligned)) / 191 == pytest.approx(-0.51, abs=5e-3)  # as published
    for model in ("GPT-5 mini", "Grok 4 Fast"):
        known = [
            r
            for r in records
            if r["model"].startswith(model) and r["condition"] == "with search" and r["item_type"] == "IK"
        ]
        assert (len(known), sum(r["searched"] for r in known)) == (200, 2)


def grade(labels: list[str]) -> float | None:
    correct, incorrect = labels.count("CORRECT"), labels.count("INCORRECT")
    return correct / (correct + incorrect) if correct + incorrect else None


def profile(grades: dict[tuple[str, bool], float | None]) -> str:
    """By the table of the paper: encoded, known without thinking, known with; a pair without a grade drops the fact."""
    pairs = [("completion", "contextual", False)]
    pairs += [(kind, f"{kind} natural", thinking) for kind in ("direct", "reverse") for thinking in (False, True)]
    if any(grades[a, thinking] is None and grades[b, thinking] is None for a, b, thinking in pairs):
        return "not gradable"

    def known(thinking: bool) -> bool:
        asked = [grades[k, thinking] for k in ("direct", "direct natural", "reverse", "reverse natural")]
        return all(g > 0.5 for g in asked if g is not None)

    encoded = any(g > 0.5 for k in ("completion", "contextual") if (g := grades[k, False]) is not None)
    table = {
        (True, True): "direct recall",
        (True, False): "recall with thinking" if known(True) else "recall failure",
        (False, True): "direct inference",
        (False, False): "inference without encoding" if known(True) else "encoding failure",
    }
    return table[encoded, known(False)]


def published_shares(shared_data: Path, model: str) -> dict[str, float]:
    with (shared_data / "wikiprofile" / "table2_profiles_percent.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            row for row in csv.DictReader(file) if row["llm"] == model and row["strategy"].startswith("**Selected**")
        ]
    (row,) = rows
    return {name: float(value) for name, value in row.items() if name not in ("strategy", "llm")}


@pytest.mark.parametrize("model", ["GPT-5-mini", "Gemma3-12b"])
def test_wikiprofile_shares_of_table_2(shared_data: Path, model: str) -> None:
    """Published shares, to half a fact of those kept and the table's own rounding."""
    answers: dict[tuple[str, str, bool], list[str]] = {}
    for record in lines(sample("wikiprofile-simulated", "responses.jsonl.gz")):
        if record["model"].startswith(model):
            answers.setdefault((record["fact"], record["question_type"], record["thinking"]), []).append(
                record["grader_1"]
            )
    assert {len(labels) for labels in answers.values()} == {8}
    grades: dict[str, dict[tuple[str, bool], float | None]] = {}
    for (fact, kind, thinking), labels in answers.items():
        grades.setdefault(fact, {})[kind, thinking] = grade(labels)
    counts = Counter(profile(found) for found in grades.values())
    kept = sum(counts.values()) - counts["not gradable"] - counts["direct inference"]
    published = published_shares(shared_data, model)
    for name in (
        "direct recall",
        "recall with thinking",
        "recall failure",
        "inference without encoding",
        "encoding failure",
    ):
        assert 100 * counts[name] / kept == pytest.approx(published[name.replace(" ", "_")], abs=100 / kept + 0.05), (
            name
        )
    assert 100 * counts["not gradable"] / len(grades) == pytest.approx(published["other_or_partially"], abs=0.25)
    assert 100 * counts["direct inference"] / len(grades) == pytest.approx(published["direct_inference"], abs=0.25)


def test_wikiprofile_confusion_of_figure_14(shared_data: Path) -> None:
    """round(p / 100 x 4160) of the published percentages, adding to 4,159."""
    counts = Counter(
        (r["grader_1"], r["grader_2"])
        for r in lines(sample("wikiprofile-simulated", "responses.jsonl.gz"))
        if "grader_2" in r
    )
    with (shared_data / "wikiprofile" / "figure14_grader_confusion_percent.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        header, *rows = list(csv.reader(file))
    expected = {
        (row[0], name): round(float(p) / 100 * 4160)
        for row in rows
        for name, p in zip(header[1:], row[1:], strict=True)
    }
    assert {pair: counts[pair] for pair in expected} == expected
    assert sum(counts.values()) == 4159
    assert sum(count for (a, b), count in counts.items() if a == b) / 4159 == pytest.approx(0.98317, abs=5e-6)


# --- each sample goes in whole --------------------------------------------------------------------------


def test_each_sample_can_be_imported() -> None:
    jobs = {
        "ehq-run": prepare([sample("ehq-run", "EHQ-120.json.gz"), sample("ehq-run", "records.jsonl.gz")]),
        "openqa-nq301": prepare_recipe("openqa", [sample("openqa-nq301")]),
        "xstest": prepare(
            [sample("xstest", "labels.csv.gz")], format="table", options={"map": str(sample("xstest", "map.toml"))}
        ),
        "nas-simulated": prepare([sample("nas-simulated", "outputs.jsonl.gz")]),
        "wikiprofile-simulated": prepare([sample("wikiprofile-simulated", "responses.jsonl.gz")]),
    }
    assert jobs.keys() == set(SAMPLES)
    assert {name: job.format for name, job in jobs.items() if "simulated" in name} == {
        "nas-simulated": "nas",
        "wikiprofile-simulated": "wikiprofile",
    }
    responses = {name: sum(isinstance(row, ResponseRow) for row in job.rows) for name, job in jobs.items()}
    assert responses == {
        "ehq-run": 480,
        "openqa-nq301": 1490,
        "xstest": 2250,
        "nas-simulated": 2400,
        "wikiprofile-simulated": 40_000,
    }


def test_simulated_coders_join_the_run_as_simulated() -> None:
    mapping = "question_id=item,model=model,coder=coder,label=label"
    rows = list(prepare([sample("ehq-run", "simulated_coders.csv")], format="table", options={"map": mapping}).rows)
    assert len(rows) == 960
    assert all(isinstance(row, HumanLabelRow) and row.coder.startswith("simulated") for row in rows)


def test_xstest_labels_keep_the_published_agreement() -> None:
    job = prepare(
        [sample("xstest", "labels.csv.gz")], format="table", options={"map": str(sample("xstest", "map.toml"))}
    )
    rows = list(job.rows)
    labels = {
        coder: [
            row.label for row in rows if isinstance(row, HumanLabelRow) and row.coder == coder and row.model == "gpt4"
        ]
        for coder in ("annotator1", "annotator2")
    }
    same = sum(a == b for a, b in zip(labels["annotator1"], labels["annotator2"], strict=True))
    assert 100 * same / 450 == pytest.approx(98.44, abs=5e-3)
    assert sum(isinstance(row, JudgeLabelRow) for row in rows) == 4500
