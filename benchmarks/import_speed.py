"""How many records a second does `annotate import` store, and does its memory stay flat?

    python benchmarks/import_speed.py                      100,000 and 1,000,000 records to docs/benchmarks/import.md
    python benchmarks/import_speed.py --print --sizes 100000 --rounds 1

A record is one line or row with a question, its category, a model, a response and a judge's label; ten models answer
each question. It becomes an item (once a question), a response and a judge label, each checked, digested and keyed. The
real command is run, start of the program included, on JSONL and on Parquet. The peers get the same files in the same
rounds, A B C A B C: sqlite-utils' `insert_all` of the parsed records into one table with the same primary key (item,
model), and sqlite3's bare `executemany` into such a table (no checks, no items, no digests, one transaction).
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "benchmarks" / "import.md"
MAP = "id=item,question=question,category=stratum.category,model=model,response=response,label=judge.gpt"
LABELS = ("ABSTAIN", "HEDGE", "CORRECT", "WRONG")
MODELS, SIZES, SLICE = 10, (100_000, 1_000_000), 50_000
PEERS = {"sqlite-utils insert_all": "sqlite_utils", "sqlite3 executemany": "executemany"}


@dataclass(frozen=True, slots=True)
class Taken:
    """What one import took: seconds on the wall and of the processors, and the most memory in MB."""

    wall: float
    processor: float
    memory: float


# --- the records --------------------------------------------------------------------------------------


def records(size: int, seed: int = 20261130) -> Iterator[dict[str, str]]:
    """The same records on every machine: about 330 characters of text each, one in ten not plain ASCII."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 10))) for _ in range(5000)]
    for number in range(size):
        question, model = divmod(number, MODELS)
        if model == 0:
            asked = f"What is the {' '.join(rng.choices(words, k=12))}?"
        text = " ".join(rng.choices(words, k=rng.randint(10, 70)))
        yield {
            "id": f"Q{question:07}",
            "question": asked,
            "category": f"C{question % 4}",
            "model": f"model-{model:02}",
            "response": f"{text} – naïve" if number % 10 == 0 else text,
            "label": rng.choice(LABELS),
        }


def paths_of(folder: Path, size: int) -> dict[str, Path]:
    return {"JSONL": folder / f"{size}.jsonl", "Parquet": folder / f"{size}.parquet"}


def write(folder: Path, size: int) -> None:
    """The records as JSONL and as Parquet, a slice at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = paths_of(folder, size)
    schema = pa.schema([(name, pa.string()) for name in ("id", "question", "category", "model", "response", "label")])
    held: list[dict[str, str]] = []
    with (
        paths["JSONL"].open("w", encoding="utf-8") as lines,
        pq.ParquetWriter(paths["Parquet"], schema) as table,  # type: ignore[no-untyped-call]
    ):
        for record in records(size):
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")
            held.append(record)
            if len(held) == SLICE:
                table.write_table(pa.Table.from_pylist(held, schema))  # type: ignore[no-untyped-call]
                held.clear()
        if held:
            table.write_table(pa.Table.from_pylist(held, schema))  # type: ignore[no-untyped-call]


# --- the runs -----------------------------------------------------------------------------------------


def ran(command: list[str]) -> Taken:
    """Run a command to its end; raises where it fails. (The peak that Linux reports is never below its parent's.)"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    start = time.perf_counter()
    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}")
    return Taken(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def imported(path: Path, folder: Path, size: int) -> Taken:
    """`annotate import` of one file into a new study."""
    study = folder / "study.db"
    annotate = [sys.executable, "-m", "annotate"]
    ran([*annotate, "init", str(study), "--protocol", "ehq"])
    taken = ran([*annotate, "import", str(study), "--format", "table", str(path), "--map", MAP])
    with sqlite3.connect(study) as connection:  # noqa: TID251
        counts = [connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in TABLES_FILLED]
    if counts != [size // MODELS, size, size]:
        raise SystemExit(f"{path}: stored {counts}")
    _clear(folder)
    return taken


TABLES_FILLED = ("items", "responses", "judge_labels")


def by_peer(peer: str, path: Path, folder: Path) -> Taken:
    taken = ran([sys.executable, __file__, "--peer", peer, str(path), str(folder / "peer.db")])
    _clear(folder)
    return taken


def _clear(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def parsed(path: Path) -> Iterator[dict[str, Any]]:
    """What the peers are given: the same file, read the plain way."""
    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)
        return
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:  # type: ignore[no-untyped-call]
        for batch in file.iter_batches(batch_size=8192):
            yield from batch.to_pylist()


def run_peer(peer: str, path: Path, database: Path) -> None:
    if peer == "sqlite_utils":
        from sqlite_utils import Database

        Database(database).table("records").insert_all(parsed(path), pk=("id", "model"), batch_size=4000)
        return
    with sqlite3.connect(database) as connection:  # noqa: TID251
        connection.execute(
            "CREATE TABLE records (id TEXT, question TEXT, category TEXT, model TEXT, response TEXT, label TEXT,"
            " PRIMARY KEY (id, model))"
        )
        values = (tuple(record.values()) for record in parsed(path))
        connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", values)


# --- the table ----------------------------------------------------------------------------------------


def measured(sizes: tuple[int, ...], rounds: int, folder: Path, kinds: tuple[str, ...]) -> list[str]:
    rows = []
    for size in sizes:
        ran([sys.executable, __file__, "--write", str(folder), str(size)])  # this process stays small: see ``ran``
        paths = paths_of(folder, size)
        room = folder / "room"
        room.mkdir(exist_ok=True)
        found: dict[tuple[str, str], list[Taken]] = {}
        for _ in range(rounds):
            for kind in kinds:
                path = paths[kind]
                found.setdefault((kind, "annotate import"), []).append(imported(path, room, size))
                for title, peer in PEERS.items():
                    found.setdefault((kind, title), []).append(by_peer(peer, path, room))
        rows += [_row(size, kind, what, taken, found[kind, "annotate import"]) for (kind, what), taken in found.items()]
        for path in paths.values():
            path.unlink()
    return rows


def _row(size: int, kind: str, what: str, taken: list[Taken], ours: list[Taken]) -> str:
    wall, processor = median(t.wall for t in taken), median(t.processor for t in taken)
    ratio = wall / median(t.wall for t in ours)
    return (
        f"| {size:,} | {kind} | {what} | {wall:.1f} | {processor:.1f} | {size / wall:,.0f} | {size / processor:,.0f} |"
        f" {max(t.memory for t in taken):.0f} | {ratio:.2f} |"
    )


def page(rows: list[str], rounds: int) -> str:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT, check=False
    ).stdout.strip()
    today = datetime.datetime.now(tz=datetime.UTC).date()
    head = f"""# Speed of import

Written by `benchmarks/import_speed.py` on {today}, commit {commit or "unknown"}, Python
{platform.python_version()}, SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores. Medians of {rounds} rounds;
memory is the most of them.

One record holds a question, its category, a model, a response (about 230 characters) and a judge's label. `annotate
import` stores it as an item (ten models share one), a response and a judge label, each checked, digested, keyed and
accounted for, in one transaction; the time is that of the whole command. Memory grows until the page cache of 64 MB and
the lists of keys and items lately seen are full, and not after: of the same records as Parquet, 100,000 took about
260 MB, 1,000,000 about 315 and 4,000,000 318 (commit d8648f3). The peers put the same records unchecked into one
table.

| records | file | what | wall s | processor s | records/s (wall) | records/s (processor) | most MB | time / ours |
|---|---|---|---|---|---|---|---|---|
"""
    return head + "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", action="store_true", help="print the table instead of writing it")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", nargs="+", default=["JSONL", "Parquet"])
    parser.add_argument("--peer", nargs=3, metavar=("PEER", "FILE", "DATABASE"), help=argparse.SUPPRESS)
    parser.add_argument("--write", nargs=2, metavar=("FOLDER", "SIZE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write:
        write(Path(given.write[0]), int(given.write[1]))
        return
    if given.peer:
        run_peer(given.peer[0], Path(given.peer[1]), Path(given.peer[2]))
        return
    with tempfile.TemporaryDirectory() as folder:
        text = page(measured(tuple(given.sizes), given.rounds, Path(folder), tuple(given.kinds)), given.rounds)
    if given.print:
        print(text)
    else:
        TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
