"""How much of what an endpoint permits does `annotate judge` use?

A server on this machine answers each call after 200 ms and permits 32 at once (a 33rd gets status 429), so that no
client can make more than 160 calls a second. Every reply is durable before its worker goes on. The peer, run in turn
with it, is a bare loop over 32 open sockets that sends one ready-made request again and again and stores nothing: what
this machine permits at that moment. Run with:

    python benchmarks/judge_throughput.py [--calls 3200] [--rounds 3]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

LATENCY, AT_ONCE = 0.2, 32
PERMITTED = AT_ONCE / LATENCY


@contextmanager
def server() -> Iterator[tuple[int, dict[str, int]]]:
    """The port of a fresh server; when it has ended, what it counted."""
    options = ["--latency", str(LATENCY), "--at-once", str(AT_ONCE)]
    program = [sys.executable, "-m", "tests.judges.openai_server", *options]
    process = subprocess.Popen(program, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    counted: dict[str, int] = {}
    yield int(process.stdout.readline()), counted
    counted.update(json.loads(process.communicate()[0].splitlines()[-1]))


def bare(calls: int) -> float:
    """Calls a second of the peer."""
    messages = [{"role": "system", "content": "x" * 5000}, {"role": "user", "content": "id1"}]
    body = json.dumps({"model": "m", "messages": messages}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n".encode()

    async def worker(port: int, left: Iterator[int]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in left:
            writer.write(head + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(answer.partition(b"content-length: ")[2].partition(b"\r")[0]))
        writer.close()

    async def all_of_them(port: int) -> None:
        left = iter(range(calls))
        await asyncio.gather(*(worker(port, left) for _ in range(AT_ONCE)))

    with server() as (port, _):
        started = time.perf_counter()
        asyncio.run(all_of_them(port))
        return calls / (time.perf_counter() - started)


def one_round(calls: int) -> dict[str, float]:
    """Calls a second from the first request to the last durable reply, and over the whole command."""
    from tests.judges.conftest import build

    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        study = build(Path(folder) / "s.db", calls)
        with server() as (port, counted):
            started = time.perf_counter()
            url = f"http://127.0.0.1:{port}/v1"
            client = [sys.executable, "-m", "tests.judges.client", str(study), url, str(AT_ONCE)]
            environment = {**os.environ, "OPENAI_API_KEY": "none"}
            done = subprocess.run(client, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
            whole = time.perf_counter() - started
        assert f"'done': {calls}" in done.stdout, done.stdout
        return {"asking": calls / seconds_of(study), "whole": calls / whole, **counted}


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
        "| round | calls/s | of permitted | peer, calls/s | of the peer | whole command, calls/s | requests | at once |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for number in range(1, given.rounds + 1):
        peer, ours = bare(given.calls), one_round(given.calls)
        rate = ours["asking"]
        shares = f"{rate:.1f} | {100 * rate / PERMITTED:.1f} % | {peer:.1f} | {100 * rate / peer:.1f} %"
        print(f"| {number} | {shares} | {ours['whole']:.1f} | {ours['requests']} | {ours['most']} |", flush=True)


if __name__ == "__main__":
    main()
