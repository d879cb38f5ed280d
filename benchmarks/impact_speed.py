"""How long does score impact take, and does its cost per response stay flat?

    python benchmarks/impact_speed.py              table to docs/benchmarks/impact.md
    python benchmarks/impact_speed.py --print

Part 1: EHQ with all its parts, 14 models x 3,000 questions, 1,400 labels, 4,000 draws: scores, sample, corpus, ranking,
fairness, pooling test. Part 2: the same engine from 10,000 to 4,500,000 responses, handed over as a database hands them
over (one row per distinct cell with its count) and counted here from single responses; 14 models, 1,400 labels.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from agreement.impact import Factor, Options, Records, Sample, counted, score_impact  # noqa: E402
from agreement.scores.declared import ehq_scores  # noqa: E402

TABLE = ROOT / "docs" / "benchmarks" / "impact.md"
LABELS = ("ABSTAIN", "HEDGE", "CORRECT", "WRONG")
CATEGORIES = ("CCQ", "FEQ", "HNQ", "PCQ")
MODELS, LABELLED, DRAWS = 14, 1400, 4000
SIZES = (10_000, 100_000, 1_000_000, 4_500_000)

Array = np.ndarray[Any, Any]


def responses(size: int, seed: int, items: bool) -> tuple[Records, Array]:
    """`size` responses of 14 models, as arrays; second: codes of people's labels."""
    rng = np.random.default_rng(seed)
    model, category = np.arange(size) % MODELS, rng.integers(0, 4, size)
    subcategory = category * 5 + rng.integers(0, 5, size)
    truth = rng.choice(4, size, p=[0.3, 0.1, 0.3, 0.3])
    impossible = (category == 0) | (category == 1)
    truth[impossible & (truth == 2)] = 3
    judge = np.where(rng.random(size) < 0.12, rng.integers(0, 4, size), truth)
    judge[impossible & (judge == 2)] = 3
    flags = np.full(size, -1, np.int8)
    possible = np.ones((size, 4), np.bool_)
    possible[impossible, 2] = False
    question = np.arange(size) // MODELS
    return Records(
        labels=LABELS,
        count=np.ones(size, np.int64),
        model=Factor(model, tuple(f"model-{m:02}" for m in range(MODELS))),
        condition=Factor.single(size),
        stratum=Factor(judge, LABELS),
        by={
            "category": Factor(category, CATEGORIES),
            "subcategory": Factor(subcategory, tuple(f"{c}-{k}" for c in CATEGORIES for k in range(5))),
        },
        judges={"judge": judge},
        ratings={},
        confidence=rng.integers(0, 21, size) * 5,
        grid=np.full(size, 100, np.int64),
        confidence_usable=np.ones(size, np.bool_),
        correct=flags,
        abstained=flags,
        searched=flags,
        technical=np.zeros(size, np.bool_),
        item=Factor(question, tuple(map(str, range(int(question.max()) + 1)))) if items else None,
        possible=possible,
    ), truth


def sampled(records: Records, truth: Array, seed: int) -> Sample:
    """1,400 labels, 100 a model, allocated to the judge's labels by the square root of their number."""
    rng = np.random.default_rng(seed)
    cell = records.model.codes * 4 + records.judges["judge"]
    sizes = np.bincount(cell, minlength=MODELS * 4).reshape(MODELS, 4)
    wanted = np.rint(LABELLED / MODELS * np.sqrt(sizes) / np.sqrt(sizes).sum(axis=1, keepdims=True)).astype(int)
    order = rng.permutation(len(records))
    order = order[np.argsort(cell[order], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(sizes.ravel())[:-1]])
    units = np.sort(np.concatenate([order[s : s + k] for s, k in zip(starts, wanted.ravel(), strict=True)]))
    inclusion = (wanted / sizes).ravel()[cell[units]]
    facts = records.take(units)
    if facts.item is None:
        object.__setattr__(facts, "item", Factor(np.arange(len(units)), tuple(map(str, range(len(units))))))
    return Sample.of(facts, np.eye(4)[truth[units]], inclusion=inclusion)


def timed(work: Callable[[], Any], times: int = 3) -> tuple[float, float, Any]:
    """Least wall-clock and processor seconds of several runs, and the last result."""
    walls, processors, result = [], [], None
    for _ in range(times):
        wall, processor = time.perf_counter(), time.process_time()
        result = work()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return min(walls), min(processors), result


def first_part() -> str:
    records, truth = responses(MODELS * 3000, 1, items=True)
    sample = sampled(records, truth, 2)
    lines = ["| what | wall s | processor s |", "|---|---|---|"]
    for name, options in (
        ("all parts, ranking, fairness, pooling", Options(draws=DRAWS)),
        ("the same with every score by category", Options(draws=DRAWS, by=("category",))),
        ("the same by category and subcategory", Options(draws=DRAWS, by=("category", "subcategory"))),
    ):
        wall, processor, _ = timed(partial(score_impact, records, sample, ehq_scores(), options=options))
        lines.append(f"| {name} | {wall:.2f} | {processor:.2f} |")
    return "\n".join(lines)


def second_part() -> str:
    lines = [
        "| responses | distinct cells | counting s | impact on the cells s | impact, microseconds a response |",
        "|---|---|---|---|---|",
    ]
    for size in SIZES:
        records, truth = responses(size, 3, items=False)
        sample = sampled(records, truth, 4)
        counting, _, cells = timed(partial(counted, records), times=1)
        wall, _, _ = timed(partial(score_impact, cells, sample, ehq_scores(), options=Options(draws=DRAWS)))
        lines.append(f"| {size:,} | {len(cells):,} | {counting:.2f} | {wall:.2f} | {1e6 * wall / size:.2f} |")
    return "\n".join(lines)


def report() -> str:
    commit = subprocess.run(
        ["git", "log", "-1", "--format=%h", "--", "agreement"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    return f"""# Speed of score impact

Written by `benchmarks/impact_speed.py` on {datetime.datetime.now(datetime.UTC):%Y-%m-%d}, engine of commit {commit},
Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores. Least of three runs.

## {MODELS} models x 3,000 questions, {LABELLED:,} labels, {DRAWS:,} draws

{first_part()}

## From ten thousand to four and a half million responses

One row per distinct cell (model, design stratum, category, subcategory, judge label, confidence), as a database counts
them with GROUP BY; *counting* does the same from arrays of single responses.

{second_part()}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--print", action="store_true", help="print the table instead of writing it")
    text = report()
    if parser.parse_args().print:
        print(text)
    else:
        TABLE.parent.mkdir(parents=True, exist_ok=True)
        TABLE.write_text(text, encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
