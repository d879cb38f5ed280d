"""How long do knowledge profiles take that are corrected from whole questions, and what does the time depend on?

    python benchmarks/profiles_speed.py              table to docs/benchmarks/profiles.md
    python benchmarks/profiles_speed.py --print

The corpus of WikiProfile in size: 13 models in 2 modes, 2,150 facts, 10 questions to each, 8 responses to each question
are 4,472,000; beside it a tenth of the facts, and ten times the responses to each question. Forty questions to a model
and mode are labelled whole. Everything that `annotate impact` shows is computed: three treatments and six thresholds,
200 completions of every question under each, grades, ranking and fairness.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from agreement.impact import Factor, Records, Sample  # noqa: E402
from agreement.impact.profile_results import profiles_under_people  # noqa: E402
from agreement.scores.wikiprofile import GRADES, LABELS, QUESTION_TYPES  # noqa: E402

TABLE = ROOT / "docs" / "benchmarks" / "profiles.md"
MODELS, LABELLED, ERROR = 26, 40, 0.05
SIZES = ((215, 8), (2150, 8), (2150, 80))  # facts, responses to a question

Array = np.ndarray[Any, Any]


def corpus(facts: int, repeats: int, rng: np.random.Generator) -> Records:
    """Counted by model, fact, question and judge's label: up to four rows a question."""
    ease = rng.normal(0, 1.5, (1, facts, 1)) + 0.1 * np.arange(MODELS)[:, None, None] - 1
    chance = 0.98 / (1 + np.exp(-ease - rng.normal(0, 0.4, (MODELS, facts, len(GRADES)))))
    shares = np.stack([chance, 0.98 - chance, np.full_like(chance, 0.01), np.full_like(chance, 0.01)], axis=-1)
    table = rng.multinomial(repeats, shares)
    model, fact, place, label = np.nonzero(table)
    empty, flags = np.full(len(model), -1, np.int64), np.full(len(model), -1, np.int8)
    kind = np.array([QUESTION_TYPES.index(name) for name, _ in GRADES])
    thinking = np.array([int(on) for _, on in GRADES])
    return Records(
        labels=LABELS,
        count=table[model, fact, place, label],
        model=Factor(model, tuple(f"model-{m:02}" for m in range(MODELS))),
        condition=Factor(thinking[place], ("no thinking", "thinking")),
        stratum=Factor.single(len(model)),
        by={"question_type": Factor(kind[place], QUESTION_TYPES)},
        judges={"judge": label},
        ratings={},
        confidence=empty,
        grid=np.full(len(model), 100, np.int64),
        confidence_usable=np.ones(len(model), np.bool_),
        correct=flags,
        abstained=flags,
        searched=flags,
        technical=np.zeros(len(model), np.bool_),
        item=Factor(fact * len(GRADES) + place, tuple(map(str, range(facts * len(GRADES))))),
        fact=Factor(fact, tuple(map(str, range(facts)))),
    )


def sampled(records: Records, rng: np.random.Generator) -> Sample:
    """Whole questions, the same of every model; people turn round one in twenty of the judge's clear answers."""
    assert records.item is not None
    questions = len(records.item.names)
    chosen = np.isin(records.item.codes, rng.choice(questions, LABELLED, replace=False))
    units = np.repeat(np.flatnonzero(chosen), records.count[chosen])
    drawn = records.take(units)
    drawn.count[:] = 1
    label = drawn.judges["judge"]
    told = np.where((label < 2) & (rng.random(len(label)) < ERROR), 1 - label, label)
    return Sample.of(drawn, np.eye(len(LABELS))[told], inclusion=LABELLED / questions, unit="item")


def row(facts: int, repeats: int) -> str:
    rng = np.random.default_rng(7)
    records = corpus(facts, repeats, rng)
    sample = sampled(records, rng)
    processor = time.process_time()
    result = profiles_under_people(records, sample)
    processor = time.process_time() - processor
    assert result.profiles is not None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    number, questions = int(records.count.sum()), MODELS * facts * len(GRADES)
    return (
        f"| {number:,} | {facts:,} | {questions:,} | {len(records):,} | {len(sample):,} | {processor:.1f} |"
        f" {1e6 * processor / number:.2f} | {most:.0f} |"
    )


def report() -> str:
    commit = subprocess.run(
        ["git", "log", "-1", "--format=%h", "--", "agreement"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    rows = "\n".join(row(*size) for size in SIZES)
    return f"""# Speed of knowledge profiles under people's labels

Written by `benchmarks/profiles_speed.py` on {datetime.datetime.now(datetime.UTC):%Y-%m-%d}, engine of commit {commit},
Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores.

{MODELS} models, {LABELLED} whole questions of each labelled; three treatments, six thresholds, 200 completions of every
question under each, grades, ranking and fairness. The corpus is counted already, one row per distinct cell; that takes
`annotate count` [another five seconds](counting.md). The time depends on the number of questions, whatever the number
of responses to them: a profile is of a fact's ten verdicts, and each completion draws one for every question. Seconds
are those of the one processor that it runs on; memory is the most of the process so far, the making of the corpus
included.

| responses | facts | questions x models | cells | labelled responses | s | microseconds a response | most MB |
|---|---|---|---|---|---|---|---|
{rows}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", action="store_true", help="print the table instead of writing it")
    asked = parser.parse_args()
    text = report()
    if asked.print:
        print(text)
    else:
        TABLE.write_text(text, encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
