"""How much of what an endpoint permits does `annotate judge` use?

A server on this machine answers each call after 200 ms and permits 32 at once (a 33rd gets status 429), so that no
client can make more than 160 calls a second. Every reply is durable before its worker goes on. Run with:

    python benchmarks/judge_throughput.py [--calls 3200] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

LATENCY, AT_ONCE = 0.2, 32
PERMITTED = AT_ONCE / LATENCY


def one_round(calls: int) -> dict[str, float]:
    """Calls a second from the first request to the last durable reply, and over the whole command."""
    from tests.judges.conftest import build

    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        study = build(Path(folder) / "s.db", calls)
        program = [
            sys.executable,
            "-m",
            "tests.judges.openai_server",
            "--latency",
            str(LATENCY),
            "--at-once",
            str(AT_ONCE),
        ]
        server = subprocess.Popen(program, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert server.stdin is not None and server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        started = time.perf_counter()
        client = [sys.executable, "-m", "tests.judges.client", str(study), url, str(AT_ONCE)]
        environment = {**os.environ, "OPENAI_API_KEY": "none"}
        done = subprocess.run(client, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        whole = time.perf_counter() - started
        seen = json.loads(server.communicate()[0].splitlines()[-1])
        assert f"'done': {calls}" in done.stdout, done.stdout
        return {
            "asking": calls / seconds_of(study),
            "whole": calls / whole,
            "requests": seen["requests"],
            "most": seen["most"],
        }


def seconds_of(study: Path) -> float:
    """From 200 ms before the first stored reply to the last one, by the times that the study itself holds."""
    from db.connection import connect

    with closing(connect(study, read_only=True)) as connection:
        first, last = connection.execute("SELECT min(created_utc), max(created_utc) FROM judge_labels").fetchone()
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds() + LATENCY


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=3200)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    import openai

    print(f"{given.calls} calls a round, server 200 ms and {AT_ONCE} at once: {PERMITTED:.0f} calls a second permitted")
    versions = f"Python {platform.python_version()}, openai {openai.__version__}"
    print(f"commit {commit.stdout.strip()}, {datetime.now(UTC):%Y-%m-%d}, {versions}")
    print(f"{os.cpu_count()} cores, load before {os.getloadavg()[0]:.1f}")
    print(
        "| round | calls/s while asking | share of permitted | calls/s of the whole command | requests | most at once |"
    )
    print("|---|---|---|---|---|---|")
    for number in range(1, given.rounds + 1):
        r = one_round(given.calls)
        share = 100 * r["asking"] / PERMITTED
        rates = f"{r['asking']:.1f} | {share:.1f} % | {r['whole']:.1f}"
        print(f"| {number} | {rates} | {r['requests']:.0f} | {r['most']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
