"""Small seeded corpora in several layouts, and what they must come to, counted in plain Python."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
LABELS = ("CORRECT", "WRONG")
MAP = "item=item,model=model,repeat=repeat,topic=stratum.topic,question=question,response=response,gpt=judge.gpt"


def graded(n: int = 400, seed: int = 5) -> list[Row]:
    """Responses of 3 models to questions of 2 topics, twice each, with a judge that is blank or talks now and then."""
    rng = random.Random(seed)
    rows = []
    for at in range(n):
        item, model, repeat = at // 6, at % 3, at // 3 % 2 + 1
        label = rng.choices(["CORRECT", "WRONG", "", "No idea, 50 %"], [60, 36, 2, 2])[0]
        rows.append(
            {
                "item": f"q-{item:03}",
                "model": f"modèle {model}",
                "repeat": repeat,
                "topic": "art, old" if item % 2 else "science",
                "question": f"What is {item}?",
                "response": f'It is "{at}",\nor so.',
                "gpt": label,
            }
        )
    return rows


def expected_cells(rows: Sequence[Row]) -> Counter[tuple[str, str, str]]:
    """Counts by model, topic and mapped label, by hand."""
    return Counter((row["model"], row["topic"], mapped(row["gpt"])) for row in rows)


def mapped(label: str) -> str:
    return label if label in LABELS else "(missing)" if not label.strip() else "(not a label)"


def write_jsonl(path: Path, rows: Sequence[Row]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_csv(path: Path, rows: Sequence[Row]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_parquet(path: Path, rows: Sequence[Row]) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


WRITERS = {"jsonl": write_jsonl, "csv": write_csv, "parquet": write_parquet}


def layout(folder: Path, rows: Sequence[Row], kind: str, files: int = 1, seed: int = 0) -> Path:
    """The rows shuffled over so many files of a kind."""
    folder.mkdir()
    mixed = list(rows)
    random.Random(seed).shuffle(mixed)
    for part in range(files):
        WRITERS[kind](folder / f"part {part}.{kind}", mixed[part::files])
    return folder
