"""Do rows, DuckDB and a Spark cluster give equal cells and byte-equal scores, and draw the same sample?

    python benchmarks/same_everywhere.py ehq            the 480 responses of the EHQ run that comes with annotate
    python benchmarks/same_everywhere.py wikiprofile    4.5 million graded responses (--facts 2150; fewer are faster)

The same commands, three times: rows are imported into a study and drawn there; DuckDB, then a Spark standalone cluster
(one master, two workers, processes on the loopback), count the files and draw from them. People's labels are made from
the drawn keys. The drawn keys with their probabilities, the cells and what `annotate impact --json` prints are then
compared as bytes: a line for each, and exit code 1 where one differs. All that was made is removed, unless --keep.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import platform
import shutil
import sys
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.counting import cost, load, make  # noqa: E402
from benchmarks.coverage_common import last_commit  # noqa: E402

SPARK = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.executor.memory": "900m",
    "spark.executor.cores": "1",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.files.maxPartitionBytes": "262144",
    "spark.sql.files.openCostInBytes": "0",
}
DUCKDB = {"memory_limit": "1GB", "threads": "2"}
MAPPING = "item=item,model=model,condition=condition,repeat=repeat,a=coder.a"


@dataclass(frozen=True, slots=True)
class Corpus:
    """``source``: what is counted; ``imports``: the words that import all of it; ``more``: those of a draw from it.

    ``scores``: by name, the words of `annotate impact` whose output is compared.
    """

    protocol: str
    source: Path
    imports: tuple[object, ...]
    more: tuple[object, ...]
    n: int
    scores: Mapping[str, tuple[object, ...]]


def ehq(folder: Path, asked: argparse.Namespace) -> Corpus:
    run = ROOT / "samples" / "ehq-run"
    items, records = run / "EHQ-120.json.gz", run / "records.jsonl.gz"
    whole = ("--format", "ehq", "--items", items, "--records", records)
    scores = {"scores under people's labels": (), "judges' scores": ("--judge-only",)}
    return Corpus("ehq", records, whole, ("--items", items), min(asked.n, 200), scores)


def wikiprofile(folder: Path, asked: argparse.Namespace) -> Corpus:
    source = folder / "wikiprofile.parquet"
    make("wikiprofile", source, "--facts", str(asked.facts))
    scores = {
        "scores under people's labels": (),
        "judges' scores, intervals over facts": ("--judge-only", "--target", "population"),
    }
    return Corpus("wikiprofile", source, ("--format", "wikiprofile", source), (), asked.n, scores)


def one_way(name: str, engine: list[object] | None, corpus: Corpus, folder: Path, seed: int) -> dict[str, str]:
    """All steps one way; the SHA-256 of what each gave. ``engine``: the words that name it, None for rows."""
    study, cells = folder / f"{name}.db", folder / f"{name}.cells"
    draw = ["sample", study, "--n", corpus.n, "--seed", seed, "--anyway"]
    told(name, "init", "init", study, "--protocol", corpus.protocol)
    if engine is None:
        told(name, "import", "import", study, *corpus.imports)
        told(name, "sample", *draw)
    else:
        told(name, "sample --source", *draw, "--source", corpus.source, *corpus.more, *engine)
        told(name, "count", "count", corpus.source, "--protocol", corpus.protocol, *engine, "--out", cells)
    found = {"drawn keys, strata and probabilities": drawn(study, folder / "people.csv", corpus.protocol)}
    told(name, "people's labels", "import", study, "--format", "table", "--map", MAPPING, folder / "people.csv")
    for what, words in corpus.scores.items():
        out = folder / f"{name}.json"
        given = [] if engine is None else ["--cells", cells]
        told(name, what, "impact", study, "--json", *words, *given, out=out)
        found[what] = f"{hashlib.sha256(out.read_bytes()).hexdigest()}, {out.stat().st_size:,} bytes"
    return found


def told(name: str, what: str, *words: object, out: Path | None = None) -> None:
    print(f"{name}, {what}: {cost(*words, out=out)}", flush=True)


def drawn(study: Path, people: Path, protocol: str) -> str:
    """The units in force as one line each, hashed; and a made label of a person for each, into a file."""
    from annotate.protocols import load_protocol
    from db.labels import unit_rows
    from db.study import open_study

    labels = load_protocol(protocol).label_names
    with open_study(study) as opened:
        units = [(u.item, u.model, u.condition, u.repeat, u.stratum, u.pi) for u in unit_rows(opened)]
    with people.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "model", "condition", "repeat", "a"])
        writer.writerows([*unit[:4], said(unit, labels)] for unit in units)
    text = "".join(json.dumps(unit, ensure_ascii=False) + "\n" for unit in units)
    return f"{hashlib.sha256(text.encode()).hexdigest()}, {len(units):,} units"


def said(unit: tuple[Any, ...], labels: tuple[str, ...]) -> str:
    """The judge's label, which the stratum holds; another one for every fifth key."""
    judge, bits = json.loads(unit[4])["judge_label"], zlib.crc32("\x1f".join(map(str, unit[:4])).encode())
    others = [label for label in labels if label != judge]
    return others[bits // 5 % len(others)] if bits % 5 == 0 or judge not in labels else judge


def cells_of(corpus: Corpus, folder: Path, name: str) -> str:
    """The digest of the cells of one way: of rows counted by the columns that the engines counted by."""
    from annotate.counting.cell_file import read_cells
    from annotate.counting.cells import of_columns
    from db.corpus import corpus_cells
    from db.study import open_study

    if name != "rows":
        found = read_cells(folder / f"{name}.cells").cells
    else:
        names = read_cells(folder / "duckdb.cells").cells.names
        with open_study(folder / "rows.db") as study:
            counted = corpus_cells(study, names)
        found = of_columns({each: counted.column(each) for each in names}, counted.counts)
    return f"{found.digest()}, {len(found):,} cells of {found.total:,} responses"


def compared(found: Mapping[str, Mapping[str, str]]) -> bool:
    """Print what each way gave, once where all gave the same; whether they did."""
    same = True
    for what in next(iter(found.values())):
        given = {name: each[what] for name, each in found.items()}
        equal = len(set(given.values())) == 1
        same = same and equal
        print(f"{what}: {'equal' if equal else 'DIFFERENT'}: {'; '.join(sorted(set(given.values())))}")
    return same


def three_ways(corpus: Corpus, folder: Path, seed: int) -> bool:
    from tests.counting.cluster import start_cluster

    found = {"rows": one_way("rows", None, corpus, folder, seed)}
    found["duckdb"] = one_way("duckdb", words("duckdb", DUCKDB), corpus, folder, seed)
    (folder / "cluster").mkdir()
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_LOCAL_DIRS"] = str(folder / "cluster")
    cluster = start_cluster(folder / "cluster")
    try:
        found["spark"] = one_way("spark", words(cluster.address, SPARK), corpus, folder, seed)
    finally:
        cluster.stop()
    found = {name: {"cells": cells_of(corpus, folder, name), **each} for name, each in found.items()}
    return compared(found)


def words(engine: str, options: Mapping[str, str]) -> list[object]:
    return ["--engine", engine, *(w for pair in options.items() for w in ("--engine-option", "=".join(pair)))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", choices=["ehq", "wikiprofile"])
    parser.add_argument("--facts", type=int, default=2150)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="annotate-same-", dir=asked.folder))
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M}, commit {last_commit(ROOT)}, Python {platform.python_version()}")
    try:
        corpus = (ehq if asked.corpus == "ehq" else wikiprofile)(folder, asked)
        same = three_ways(corpus, folder, asked.seed)
        print(f"{'All are the same' if same else 'THEY DIFFER'}. Load {load()}.")
        return 0 if same else 1
    finally:
        if not asked.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
