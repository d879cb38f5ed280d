"""Made corpora of graded responses for `benchmarks/counting.py`: the same seed makes the same records anywhere.

`wikiprofile` has the size of that study: 13 models in 2 modes (each a row of the ranking), 2,150 facts, 10 questions a
fact (completion and contextual without thinking; direct, direct natural, reverse, reverse natural without and with) and
8 responses a question are 4,472,000. `graded` is any number of responses labelled CORRECT or WRONG by one judge.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

KINDS = ("completion", "contextual", "direct", "direct natural", "reverse", "reverse natural")
QUESTIONS = (*((kind, False) for kind in KINDS), *((kind, True) for kind in KINDS[2:]))
LABELS = np.array(["CORRECT", "INCORRECT", "PARTIALLY", "OTHER"])
MODELS, MODES, FACTS, REPEATS = 13, 2, 2150, 8


def wikiprofile(
    seed: int = 7, models: int = MODELS, modes: int = MODES, facts: int = FACTS, repeats: int = REPEATS
) -> Iterator[dict[str, Any]]:
    """The records of one model in one mode after another, as columns."""
    rng = np.random.Generator(np.random.PCG64(seed))
    ease = rng.normal(0, 1.5, (facts, 1))
    wording = rng.normal(0, 0.4, (1, len(QUESTIONS)))
    kinds, thinking = np.array([k for k, _ in QUESTIONS]), np.array([t for _, t in QUESTIONS])
    names = np.array([f"fact-{at:04}" for at in range(facts)])
    for model in range(models):
        for mode in range(modes):
            logit = ease + wording + 0.2 * model - 1.2 + 0.3 * mode + 0.5 * thinking[None, :]
            chance = 1 / (1 + np.exp(-logit))[:, :, None]
            u = rng.random((facts, len(QUESTIONS), repeats))
            odd = rng.random(u.shape)
            code = np.where(odd < 0.01, 2, np.where(odd < 0.02, 3, np.where(u < chance, 0, 1)))
            place = np.indices(u.shape).reshape(3, -1)
            fact, kind = names[place[0]], kinds[place[1]]
            yield {
                "fact": fact,
                "question_type": kind,
                "question": np.char.add(np.char.add(kind, " of "), fact),
                "gold": fact,
                "model": np.full(fact.shape, f"model-{model + 1:02} mode {mode + 1}"),
                "thinking": thinking[place[1]],
                "repeat": place[2] + 1,
                "response": np.char.add("an answer to ", fact),
                "grader_1": LABELS[code.ravel()],
            }


def write_wikiprofile(path: Path, **sizes: int) -> int:
    """Write the corpus as one Parquet file and return how many records it has."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number, writer = 0, None
    for columns in wikiprofile(**sizes):
        table = pa.table({name: pa.array(column) for name, column in columns.items()})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table)
        number += table.num_rows
    if writer is not None:
        writer.close()
    return number


def write_graded(folder: Path, millions: int, *, seed: int = 7, memory: str = "4GB") -> int:
    """Write a million responses a file, mixed: 50 models, 4 conditions, 20,000 items of 40 categories, 25 repeats."""
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    con = duckdb.connect(config={"memory_limit": memory, "threads": "2"})
    for part in range(millions):
        target = str(folder / f"part-{part:04}.parquet").replace("'", "''")
        con.execute(
            f"""COPY (SELECT 'item-' || lpad((n // 50 % 20000)::VARCHAR, 5, '0') AS item,
                             'category-' || (n // 50 % 40)::VARCHAR AS category,
                             'model-' || lpad((n % 50)::VARCHAR, 2, '0') AS model,
                             'condition-' || (n // 1000000 % 4)::VARCHAR AS condition,
                             (n // 4000000 + 1)::INTEGER AS repeat,
                             md5(n::VARCHAR) AS response,
                             CASE WHEN (n * 2654435761 + {seed} * 40503) % 4294967296
                                       < 1500000000 + 40000000 * (n % 50) THEN 'CORRECT'
                                  WHEN (n * 2246822519 + {seed}) % 1000 = 0 THEN 'cannot say' ELSE 'WRONG' END AS gpt
                      FROM range({part * 1_000_000}, {(part + 1) * 1_000_000}) t(n) ORDER BY hash(n))
                TO '{target}' (FORMAT parquet, COMPRESSION zstd)"""
        )
    con.close()
    return millions * 1_000_000


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", choices=["wikiprofile", "graded"])
    parser.add_argument("out", type=Path)
    parser.add_argument("--millions", type=int, default=1, help="of graded")
    parser.add_argument("--facts", type=int, default=FACTS, help="of wikiprofile")
    asked = parser.parse_args()
    if asked.corpus == "wikiprofile":
        made = write_wikiprofile(asked.out, facts=asked.facts)
    else:
        made = write_graded(asked.out, asked.millions)
    print(f"{made:,} records in {asked.out}")
