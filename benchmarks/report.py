"""How long does a report take? 14 models x 3,000 questions, two coders, and a study file as annotate writes it.

    python benchmarks/report.py              table to docs/benchmarks/report.md
    python benchmarks/report.py --print
    python benchmarks/report.py --keep DIR   leave the study there

The study is made from a seed: 42,000 EHQ responses of 14 models with confidences and a judge that errs in 12 % of them,
1,400 drawn by model and judge label, each labelled by two coders who err in 6 %. `annotate report` then runs as a
command of its own, three times; the least is given.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import io
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from annotate.__main__ import run  # noqa: E402

TABLE = ROOT / "docs" / "benchmarks" / "report.md"
MODELS, QUESTIONS, DRAWN, RUNS = 14, 3_000, 1_400, 3
LABELS = ("ABSTAIN", "HEDGE", "CORRECT", "WRONG")
EHQ = {"CORRECT": "CONFIDENT_CORRECT", "WRONG": "CONFIDENT_WRONG"}
CATEGORIES = ("CCQ", "FEQ", "HNQ", "PCQ")
TARGET = 20.0


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--print", action="store_true", help="to the screen only")
    arguments.add_argument("--keep", type=Path, metavar="DIR", help="leave the study there")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = make(given.keep or Path(folder))
        timings = [(name, *least(study, Path(folder), options)) for name, options in VARIANTS.items()]
        size = (Path(folder) / "report" / "results.json").stat().st_size
    text = table(timings, size)
    print(text)
    if not given.print:
        TABLE.write_text(text, encoding="utf-8")


VARIANTS: dict[str, list[str]] = {
    "everything: HTML, Markdown, PDF, tables, figures": [],
    "the same broken down by category and subcategory": ["--by", "category,subcategory"],
    "HTML alone": ["--form", "html"],
}


def make(folder: Path) -> Path:
    """The study, drawn and labelled."""
    study, rng = folder / "study.db", random.Random(1)
    if study.exists():
        return study
    truth = _run(folder, rng)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        _do("init", study, "--protocol", "ehq", "--title", "Speed of a report")
        _do("import", study, "--items", folder / "items.json", "--records", folder / "records.jsonl")
        _do("sample", study, "--n", DRAWN, "--seed", 1, "--anyway")
        _labels(study, folder / "labels.csv", truth, rng)
        columns = "item=item,model=model,coder=coder,label=label"
        _do("import", study, folder / "labels.csv", "--map", columns, "--simulated")
    return study


def _do(*arguments: object) -> None:
    if run([str(each) for each in arguments]):
        raise SystemExit(f"annotate {arguments} failed")


def _run(folder: Path, rng: random.Random) -> dict[tuple[str, str], str]:
    """Items and records as ehq writes them; returns what people would say of each."""
    items, truth = [], {}
    with (folder / "records.jsonl").open("w", encoding="utf-8") as file:
        for number in range(QUESTIONS):
            category = CATEGORIES[number % 4]
            place = {"category": category, "subcategory": f"{category}-{number // 4 % 5}"}
            items.append(
                {"question_id": f"Q{number:04}", "question": f"Question {number}?", "correct_answer": "x", **place}
            )
            for model in (f"model-{m:02}" for m in range(MODELS)):
                label = _possible(rng.choices(LABELS, (3, 1, 3, 3))[0], category)
                truth[model, f"Q{number:04}"] = label
                said = label if rng.random() > 0.12 else _possible(rng.choice(LABELS), category)
                file.write(json.dumps(_record(model, number, place, said, rng)) + "\n")
    (folder / "items.json").write_text(json.dumps(items), encoding="utf-8")
    return truth


def _possible(label: str, category: str) -> str:
    return "WRONG" if label == "CORRECT" and category in ("CCQ", "FEQ") else label


def _record(model: str, number: int, place: dict[str, str], said: str, rng: random.Random) -> dict[str, Any]:
    label = EHQ.get(said, said)
    return {
        "question_id": f"Q{number:04}", "model": model, **place, "k": 0,
        "valid_for_ehq12": True, "valid_for_ehq3": True, "parsed_confidence": rng.randrange(0, 101, 5) / 100,
        "answer_response": {"text": f"Answer {number} of {model}."},
        "classification": {"label": label, "automated_label": label, "is_correct": said == "CORRECT"},
    }  # fmt: skip


def _labels(study: Path, path: Path, truth: dict[tuple[str, str], str], rng: random.Random) -> None:
    from db.labels import unit_rows
    from db.study import open_study

    with open_study(study) as opened:
        units = [(unit.model, unit.item) for unit in unit_rows(opened)]
    lines = ["item,model,coder,label"]
    for model, item in sorted(units):
        for coder in ("one", "two"):
            label = truth[model, item] if rng.random() > 0.06 else rng.choice(("ABSTAIN", "HEDGE", "WRONG"))
            lines.append(f"{item},{model},{coder},{label}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def least(study: Path, folder: Path, options: list[str]) -> tuple[float, float, float]:
    """Wall and processor seconds and megabytes of the fastest of a few runs of the command."""
    found = []
    for _ in range(RUNS):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        command = [sys.executable, "-m", "annotate", "report", str(study), "--out", str(folder / "report"), "--force"]
        subprocess.run([*command, *options], check=True, cwd=ROOT, capture_output=True)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found.append((wall, used, after.ru_maxrss / 1024))
    return min(found)


def table(timings: list[tuple[str, float, float, float]], size: int) -> str:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    rows = "\n".join(f"| {name} | {wall:.1f} | {used:.1f} | {memory:.0f} |" for name, wall, used, memory in timings)
    today = datetime.datetime.now(datetime.UTC).date()
    python = platform.python_version()
    return f"""# Speed of a report

Written by `benchmarks/report.py` on {today:%Y-%m-%d}, commit {commit.strip()}, Python {python}, {os.cpu_count()} cores.
{MODELS} models x {QUESTIONS:,} questions ({MODELS * QUESTIONS:,} responses), EHQ with confidences, {DRAWN:,} drawn and
labelled by two coders, 4,000 draws; `annotate report` as a command of its own, from start to end. Least of {RUNS} runs;
what is asked for is under {TARGET:.0f} s.{_load()}

| what | wall s | processor s | peak MB |
|---|---|---|---|
{rows}

results.json holds {size / 1e6:.1f} MB.
"""


def _load() -> str:
    """A word on what else the machine was doing: then the wall clock says little."""
    load = os.getloadavg()[0]
    if load < 1.5 * (os.cpu_count() or 1):
        return ""
    return f" Others used the machine (load average {load:.0f}): processor seconds say more than the wall clock."


if __name__ == "__main__":
    main()
