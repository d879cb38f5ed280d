"""Does the lead's dashboard keep a coder waiting on a study of 100,000 units and 50,000 labels?

A coder labels in a process of its own, one label every 100 ms, by turns alone (A), beside a dashboard as it is in use
(B: counts and live numbers at once, then with the pauses that the screen keeps), and beside one that makes both again
and again without a pause (C): A B C A B C. Printed are the times from the key to the label that is durable with the
next item there, as median, 95th and 99th percentile, the ratios to A of the same round, and how long one refresh takes.
Run with:

    python benchmarks/dashboard.py [--units 100000] [--labels 50000] [--rounds 2] [--seconds 60]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from annotate.board_process import DashboardApart  # noqa: E402
from annotate.protocols import load_protocol  # noqa: E402
from db.annotations import stored_row  # noqa: E402
from db.assigning import assign  # noqa: E402
from db.canonical import canonical_json  # noqa: E402
from db.clock import utc_now  # noqa: E402
from db.coding import CodingSession  # noqa: E402
from db.connection import writing  # noqa: E402
from db.fold import FoldEvent, fold  # noqa: E402
from db.judge_maps import apply_protocol  # noqa: E402
from db.logs import Appender, NewEvent, ensure_log  # noqa: E402
from db.records import Act  # noqa: E402
from db.sampling import draw, strata_counts  # noqa: E402
from db.study import Study, create_study, open_study  # noqa: E402
from tui.screens.dashboard import COUNTS_EVERY, LIVE_EVERY, REST, _step_back  # noqa: E402

CODERS = ("Ada", "Ben")
BEAT = 0.1


def build(path: Path, units: int, labels: int) -> None:
    """A census of ``units`` responses of four models under two coders, of which ``labels`` labels are given."""
    dice = random.Random(1)
    with create_study(path, load_protocol("correctness"), title="Benchmark") as study:
        with writing(study.connection) as connection:
            now = utc_now()
            connection.execute("INSERT INTO imports VALUES (1, 'b', 'test', 'f', '{}', '{}', ?, '0')", (now,))
            connection.executemany(
                "INSERT INTO items (id, key, question, gold, strata, digest, import_id, source_row)"
                " VALUES (?, ?, 'Which one?', '[\"42\"]', ?, 'd', 1, ?)",
                ((n, f"q{n}", canonical_json({"category": "ab"[n % 2]}), n) for n in range(units // 4)),
            )
            connection.executemany(
                "INSERT INTO responses (id, item_id, model, condition, repeat, text, digest, import_id, source_row)"
                " VALUES (?, ?, ?, '', 1, ?, 'd', 1, ?)",
                ((n, n // 4, f"m{n % 4}", f"Answer {n} " + "word " * 40, n) for n in range(units)),
            )
            connection.execute("INSERT INTO judges (id, name, kind, created_utc) VALUES (1, 'J', 'llm', ?)", (now,))
            connection.executemany(
                "INSERT INTO judge_labels (judge_id, response_id, raw, raw_key) VALUES (1, ?, ?, ?)",
                ((n, said, said) for n in range(units) for said in (dice.choice(("CORRECT", "WRONG")),)),
            )
            apply_protocol(connection, load_protocol("correctness"))
        strata = [replace(each, drawn=each.population) for each in strata_counts(study, ("model",)).strata]
        draw(study, strata, seed="1", by=("model",), allocation="proportional")
        assign(study, CODERS, seed="1", overlap=1.0)
        for coder in CODERS:
            _label(study, coder, labels // len(CODERS), dice)


def _label(study: Study, coder: str, count: int, dice: random.Random) -> None:
    """Labels by SQL and the log's own appender: what a session would leave behind, without its fsyncs."""
    with writing(study.connection) as connection:
        number = connection.execute("SELECT id FROM coders WHERE name = ?", (coder,)).fetchone()[0]
        log = ensure_log(connection, number, study.place)
        appender = Appender(connection, log, fence=0, protocol=1)
        rows = connection.execute(
            "SELECT a.id, a.uid, u.public_id FROM assignments a JOIN units u ON u.id = a.unit_id"
            " WHERE a.coder_id = ? ORDER BY a.position LIMIT ?",
            (number, count),
        ).fetchall()
        start = datetime(2026, 1, 1, tzinfo=UTC)
        for place, (assignment, uid, unit) in enumerate(rows):
            utc = (start + timedelta(seconds=20 * place)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            body = {"label": dice.choice(("CORRECT", "CORRECT", "WRONG"))}
            seq = appender.append(
                NewEvent("label", body, assignment, uid, unit, "masked", "benchmark", active_ms=9000, utc=utc)
            )
            folded = fold([FoldEvent(log.id, seq, "label", body, 1, "masked", "benchmark", utc, 9000)])
            assert folded is not None
            marks = ", ".join("?" * 17)
            connection.execute(f"INSERT INTO annotations VALUES ({marks})", stored_row(assignment, folded, False))
        connection.executemany("UPDATE assignments SET state = 2 WHERE id = ?", [(row[0],) for row in rows])


def code(path: Path, seconds: float) -> None:
    """The coder's process: label on the beat for some seconds and print the times in milliseconds."""
    times = []
    with CodingSession.open(path, "Ada", load_protocol("correctness"), take_over=True) as session:
        session.next()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            item = session.next()
            assert item is not None
            started = time.perf_counter()
            session.save(Act("label", item.assignment, label="CORRECT"))
            session.next()
            times.append(1000 * (time.perf_counter() - started))
            time.sleep(BEAT)
    print(json.dumps(times))


Times = dict[str, list[float]]
PAUSES = {
    "alone": None,
    "in use": {"counts": COUNTS_EVERY, "live": LIVE_EVERY},
    "no pause": {"counts": 0.0, "live": 0.0},
}


def measure(path: Path, seconds: float, kind: str) -> tuple[list[float], Times]:
    """(key-to-saved times, times of the refreshes by board) of one stretch."""
    pauses = PAUSES[kind]
    took: Times = {"counts": [], "live": []}
    over = threading.Event()
    threads = []
    with open_study(path) as study:
        board = DashboardApart(study)
        for which, pause in (pauses or {}).items():
            rest = REST if pause else 0
            threads.append(threading.Thread(target=_watch, args=(board, which, pause, rest, over, took[which])))
        for thread in threads:
            thread.start()
        child = [sys.executable, __file__, "--code", str(path), str(seconds)]
        told = subprocess.run(child, capture_output=True, text=True, check=True, cwd=ROOT)
        over.set()
        for thread in threads:
            thread.join()
        board.close()
    return json.loads(told.stdout), took


def _watch(
    board: DashboardApart, which: str, pause: float, rest: int, over: threading.Event, took: list[float]
) -> None:
    """One of the screen's two threads: refresh, then rest as the screen does."""
    _step_back()
    while not over.is_set():
        started = time.perf_counter()
        getattr(board, which)()
        took.append(time.perf_counter() - started)
        over.wait(max(pause, rest * took[-1]))


def main() -> None:
    """Build, measure by turns, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=100_000)
    parser.add_argument("--labels", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--code", nargs=2)
    given = parser.parse_args()
    if given.code:
        code(Path(given.code[0]), float(given.code[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        build(path, given.units, given.labels)
        size = path.stat().st_size / 1e6
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT, check=False
        ).stdout.strip()
        print(f"{given.units:,} units, {given.labels:,} labels, {size:.0f} MB")
        print(f"commit {commit}, {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, ", end="")
        print(f"{os.cpu_count()} cores, load before {os.getloadavg()[0]:.1f}\n")
        heads = "labels | median, ms | p95 | p99 | median / alone | p95 / alone | counts, s | live, s"
        print(f"| round | dashboard | {heads} |")
        print("|---|---|---|---|---|---|---|---|---|---|")
        for number in range(1, given.rounds + 1):
            base: list[float] = []
            for kind in PAUSES:
                times, took = measure(path, given.seconds, kind)
                base = base or times
                print(f"| {number} | {kind} | {len(times)} {_row(times, base)} {_refreshes(took)} |", flush=True)


def _row(times: list[float], base: list[float]) -> str:
    middle, high = statistics.median(times), _share(times, 0.95)
    ratios = f"{middle / statistics.median(base):.2f} | {high / _share(base, 0.95):.2f}"
    return f"| {middle:.1f} | {high:.1f} | {_share(times, 0.99):.1f} | {ratios} |"


def _refreshes(took: Times) -> str:
    return " | ".join(f"{statistics.median(each):.1f} (n = {len(each)})" if each else "" for each in took.values())


def _share(times: list[float], share: float) -> float:
    return sorted(times)[int(share * (len(times) - 1))]


if __name__ == "__main__":
    main()
