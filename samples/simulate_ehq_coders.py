"""SIMULATED labels of two coders for the ehq-run sample: ``python samples/simulate_ehq_coders.py``.

Nobody labelled these responses. The procedure, fixed by SEED:

1. Each record gets a label that stands for what people would agree on, drawn by the chances in AGREED from the
   package's automatic label; CORRECT is never drawn in FEQ and CCQ, where it is impossible, but WRONG in its place.
2. Each of the two coders gives that label with the chance CARE, else another possible label by the chances in SLIP.

So the automatic labels are wrong at known rates, and the two coders agree about as well as trained people do.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from seeded import draw, uniform, write

HERE = Path(__file__).resolve().parent
OUT = HERE / "ehq-run" / "simulated_coders.csv"
SEED = "ehq-coders-1"
CODERS = ("simulated-1", "simulated-2")
CARE = 0.94
AGREED: Mapping[str, Mapping[str, float]] = {
    "ABSTAIN": {"ABSTAIN": 0.92, "HEDGE": 0.03, "WRONG": 0.05},
    "HEDGE": {"HEDGE": 0.60, "ABSTAIN": 0.25, "WRONG": 0.15},
    "CONFIDENT_CORRECT": {"CORRECT": 0.88, "HEDGE": 0.02, "WRONG": 0.10},
    "CONFIDENT_WRONG": {"WRONG": 0.90, "ABSTAIN": 0.06, "HEDGE": 0.03, "CORRECT": 0.01},
}
SLIP: Mapping[str, Mapping[str, float]] = {
    "ABSTAIN": {"HEDGE": 0.6, "WRONG": 0.4},
    "HEDGE": {"ABSTAIN": 0.4, "WRONG": 0.4, "CORRECT": 0.2},
    "CORRECT": {"HEDGE": 0.5, "WRONG": 0.5},
    "WRONG": {"HEDGE": 0.4, "ABSTAIN": 0.3, "CORRECT": 0.3},
}


def possible(label: str, category: str) -> str:
    """WRONG in place of a CORRECT that cannot be."""
    return "WRONG" if label == "CORRECT" and category in ("FEQ", "CCQ") else label


def agreed_label(record: Mapping[str, str]) -> str:
    """What people would agree on: the truth of the simulation, which the tests know and no report does."""
    key = (SEED, "agreed", record["model"], record["question_id"])
    return possible(draw(AGREED[record["label"]], *key), record["category"])


def coder_label(coder: str, record: Mapping[str, str]) -> str:
    truth = agreed_label(record)
    key = (SEED, coder, record["model"], record["question_id"])
    if uniform(*key, "care") < CARE:
        return truth
    return possible(draw(SLIP[truth], *key, "slip"), record["category"])


def records() -> Iterator[dict[str, str]]:
    """Item, model, category and automatic label of each record of the sample."""
    with gzip.open(HERE / "ehq-run" / "records.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            kept = {key: record[key] for key in ("question_id", "model", "category")}
            yield {**kept, "label": record["classification"]["automated_label"]}


def simulated() -> bytes:
    """The table: question_id, model, coder, label."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("question_id", "model", "coder", "label"))
    for record in records():
        for coder in CODERS:
            writer.writerow((record["question_id"], record["model"], coder, coder_label(coder, record)))
    return text.getvalue().encode("utf-8")


if __name__ == "__main__":
    write(OUT, simulated())
