"""How long does a coder wait for a save while twenty people code on one file?

Twenty processes hold a session each on one study and save a label every half second, each at a phase of its own, so
that 40 labels a second reach the file; then the same for fifty processes that save as fast as they can. Measured is
the time of ``CodingSession.save`` alone: what lies between the key and "saved". The peer, run in turn with it, is the
least that can be durable: the same processes and schedule with one ``INSERT`` into a bare SQLite table (WAL,
synchronous=FULL, BEGIN IMMEDIATE). Afterwards every label is counted and the record is verified. Run with:

    python benchmarks/many_coders.py [--coders 20] [--seconds 20] [--rounds 2] [--burst 50]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

PACE = 0.5
LEAST_MS, MOST_MS = 1, 15


def ours(path: Path, number: int, labels: int, start: float, pace: float) -> list[float]:
    """Save labels as one coder at this pace; seconds that each save took."""
    from annotate.protocols import load_protocol
    from db.coding import CodingSession
    from db.records import Act

    took = []
    with CodingSession.open(path, f"coder {number}", load_protocol("correctness")) as session:
        for step in range(labels):
            item = session.next()
            assert item is not None
            _wait(start + step * pace)
            before = time.perf_counter()
            session.save(Act("label", item.assignment, label="WRONG"))
            took.append(time.perf_counter() - before)
    return took


def bare(path: Path, number: int, labels: int, start: float, pace: float) -> list[float]:
    """The peer: one durable row at a time into a table without anything else."""
    took = []
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as connection:  # noqa: TID251 (the peer)
        connection.execute("PRAGMA synchronous = FULL")
        for step in range(labels):
            _wait(start + step * pace)
            before = time.perf_counter()
            while True:
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    break
                except sqlite3.OperationalError:
                    time.sleep(random.uniform(LEAST_MS, MOST_MS) / 1000)
            connection.execute("INSERT INTO labels VALUES (?, ?, 'WRONG')", (number, step))
            connection.execute("COMMIT")
            took.append(time.perf_counter() - before)
    return took


def _wait(moment: float) -> None:
    time.sleep(max(0.0, moment - time.time()))


def make_study(folder: Path, coders: int, labels: int) -> Path:
    """A study with as many responses as a coder labels, all of them handed to every coder."""
    from annotate.__main__ import run

    path, table = folder / "study.db", folder / "run.csv"
    rows = "\n".join(f"q{n},Question {n}?,42,m,Answer {n}" for n in range(labels))
    table.write_text(f"item,question,gold,model,response\n{rows}\n", encoding="utf-8")
    columns = "item=item,question=question,gold=gold,model=model,response=response"
    names = ",".join(f"coder {n}" for n in range(coders))
    for command in (
        ["init", path, "--protocol", "correctness"],
        ["import", path, table, "--map", columns, "--json"],
        ["sample", path, "--n", labels, "--by", "", "--anyway", "--json"],
        ["assign", path, "--coders", names, "--json"],
    ):
        with Path(os.devnull).open("w", encoding="utf-8") as nothing:
            told, sys.stdout = sys.stdout, nothing
            try:
                assert run([str(part) for part in command]) == 0
            finally:
                sys.stdout = told
    return path


def make_table(folder: Path) -> Path:
    path = folder / "bare.db"
    with closing(sqlite3.connect(path)) as connection:  # noqa: TID251 (the peer)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE labels (coder INTEGER, step INTEGER, label TEXT) STRICT")
    return path


def round_of(kind: str, path: Path, coders: int, labels: int, pace: float) -> list[float]:
    """Seconds of every save of all processes. They start together, once all of them can be up."""
    start = time.time() + 2 + 0.5 * coders
    workers = [
        subprocess.Popen(
            [
                sys.executable,
                __file__,
                "--worker",
                kind,
                path,
                str(n),
                str(labels),
                str(start + n * pace / coders),
                str(pace),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(coders)
    ]
    told = [worker.communicate(timeout=600)[0] for worker in workers]
    assert all(worker.returncode == 0 for worker in workers)
    took = [seconds for out in told for seconds in json.loads(out)]
    assert len(took) == coders * labels
    return took


def check(path: Path, expected: int) -> None:
    """Every label is there and the record holds."""
    from db.overview import study_counts
    from db.study import open_study
    from db.verify import verify

    with open_study(path) as study:
        assert study_counts(study).labelled == expected
        assert verify(study).holds


def share(took: list[float], part: float) -> float:
    """The quantile in milliseconds."""
    ordered = sorted(took)
    return 1000 * ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def line(what: str, took: list[float]) -> str:
    cells = " | ".join(f"{share(took, part):.1f}" for part in (0.5, 0.95, 0.99))
    return f"| {what} | {len(took):,} | {cells} | {1000 * max(took):.1f} |"


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        kind, path, number, labels, start, pace = sys.argv[2:]
        work = {"ours": ours, "bare": bare}[kind]
        print(json.dumps(work(Path(path), int(number), int(labels), float(start), float(pace))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--coders", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--burst", type=int, default=50)
    given = parser.parse_args()
    labels = int(given.seconds / PACE)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT).stdout
    print(f"commit {commit.strip()}, {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, ", end="")
    print(f"SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores, load before {os.getloadavg()[0]:.1f}\n")
    print("| what | saves | p50 ms | p95 ms | p99 ms | longest ms |\n|---|---|---|---|---|---|")
    for number in range(1, given.rounds + 1):
        _rounds(f"{given.coders} at one label per half second, round {number}", given.coders, labels, PACE)
    if given.burst:
        _rounds(f"{given.burst} without a pause", given.burst, 20, 0.0)


def _rounds(what: str, coders: int, labels: int, pace: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        study, table = make_study(Path(folder), coders, labels), make_table(Path(folder))
        took = round_of("ours", study, coders, labels, pace)
        check(study, coders * labels)
        peer = round_of("bare", table, coders, labels, pace)
    print(line(what, took))
    print(line(f"the same, bare inserts (ratio of p99 {share(took, 0.99) / share(peer, 0.99):.2f})", peer), flush=True)


if __name__ == "__main__":
    main()
