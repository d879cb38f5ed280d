"""Runs in processes of their own: killed without warning and resumed, long, and watched for the key."""

import base64
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from tests.judges.conftest import KEY, build, rows
from tests.judges.openai_server import Do, label

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def server_process(*arguments):
    """The server of these tests as a program; yields its address."""
    program = [sys.executable, "-m", "tests.judges.openai_server", *map(str, arguments)]
    process = subprocess.Popen(program, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


def client(study, url, concurrency, *more):
    program = [sys.executable, "-m", "tests.judges.client", str(study), url, str(concurrency), *map(str, more)]
    environment = {**os.environ, "OPENAI_API_KEY": KEY}
    return subprocess.Popen(
        program, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def stored(path):
    return [row["response_id"] for row in rows(path, "SELECT response_id FROM judge_labels WHERE raw = 'HEDGE'")]


def requested(log):
    return [int(line) for line in log.read_text("utf-8").split()]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_killed_in_the_middle_of_a_thousand_calls(tmp_path, seed):
    """kill -9 at a random moment, twice; then to the end. No stored reply is asked for again, and over all kills the
    calls that are made twice are at most those under way: the concurrency for each kill. Counted at the server."""
    concurrency, log = 16, tmp_path / "log"
    path = build(tmp_path / "s.db", 1000)
    chance = random.Random(seed)
    with server_process("--latency", 0.03, "--log", log) as url:
        durable, mark = set(), 0
        for kill_at in (chance.randint(150, 400), chance.randint(500, 850), None):
            process = client(path, url, concurrency)
            while kill_at and process.poll() is None and len(stored(path)) < kill_at:
                time.sleep(chance.uniform(0.001, 0.02))
            if kill_at:
                process.send_signal(signal.SIGKILL)
            process.communicate(timeout=120)
            time.sleep(0.2)  # the server may still be reading what was on its way
            asked = requested(log)
            assert not durable & set(asked[mark:])  # nothing that was stored is asked for again
            assert durable <= set(stored(path))
            durable, mark = set(stored(path)), len(asked)
            lost = set(asked) - durable
            assert len(lost) <= concurrency if kill_at else not lost
            assert not kill_at or kill_at <= len(durable) < 1000
    counts = Counter(requested(log))
    assert durable == set(counts) == set(range(1, 1001)) and len(rows(path)) == 1000
    assert sum(counts.values()) - 1000 <= 2 * concurrency


@pytest.mark.slow
def test_memory_is_flat_over_twenty_thousand_calls(tmp_path):
    path = build(tmp_path / "s.db", 20_000)
    with server_process() as url:
        process = client(path, url, 32, tmp_path / "memory")
        out, _ = process.communicate(timeout=280)
    assert "'done': 20000" in out and "'attempts': 20000" in out
    measured = [tuple(map(int, line.split())) for line in (tmp_path / "memory").read_text("utf-8").splitlines()]
    early = max(memory for done, memory in measured if done < 6000)
    late = max(memory for done, memory in measured if done >= 6000)
    assert measured[-1][0] >= 18_000
    assert late - early <= 8 * 1024, measured  # 8 MB more over 14,000 calls


def forms(key):
    """The key plain, by URL, by JSON, and as Base64 at its three offsets without the edges that others share."""
    yield from (key, quote(key, safe=""), quote_plus(key), quote(key), json.dumps(key)[1:-1], key.replace("/", "\\/"))
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + key.encode()).decode().rstrip("=")
        yield encoded[4:-4]


def test_the_key_is_nowhere(tmp_path, serve):
    """A run with every kind of outcome and the openai package's own logging on; then every file, every word on the
    screen and the process list are searched for the key in every form."""

    def script(seen):
        told = seen.headers["authorization"]
        if seen.marker == "2":
            return Do(status=400, body=json.dumps({"error": {"message": told, "code": quote(KEY)}}).encode())
        if seen.marker == "3":
            return Do(label("HEDGE", base64.b64encode(told.encode()).decode()))
        return Do(label("HEDGE"), delay=0.3)

    server = serve(script)
    path = build(tmp_path / "s.db", 6)
    program = [sys.executable, "-m", "annotate", "judge", str(path), "--judge", "gpt", "--model", "gpt-4o-mini"]
    program += ["--base-url", server.url, "--yes-send-to", server.host, "--concurrency", "2"]
    environment = {**os.environ, "OPENAI_API_KEY": KEY, "OPENAI_LOG": "debug", "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(program, cwd=tmp_path, env=environment, **pipes)
    lists = b""
    while process.poll() is None:
        lists += b"".join(_read(file) for file in Path("/proc").glob("[0-9]*/cmdline"))
        time.sleep(0.1)
    out, err = process.communicate()
    assert process.returncode == 1 and b"5 replies stored" in out and b"1 failed" in out and b"annotate" in lists
    everything = {
        "stdout": out,
        "stderr": err,
        "process list": lists,
        "rows": repr([tuple(r) for r in rows(path)]).encode(),
    }
    everything |= {str(file): file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
    for place, content in everything.items():
        for form in forms(KEY):
            assert form.encode() not in content, (place, form)


def test_progress_is_rewritten_in_a_terminal(tmp_path, serve):
    """Under a pseudo-terminal the line is rewritten in place; the last one stays."""
    pty = pytest.importorskip("pty")
    server = serve(lambda seen: Do(label("HEDGE"), delay=0.15))
    path = build(tmp_path / "s.db", 12)
    program = [sys.executable, "-m", "annotate", "judge", str(path), "--judge", "gpt", "--model", "gpt-4o-mini"]
    program += ["--base-url", server.url, "--yes-send-to", server.host, "--concurrency", "2"]
    ours, theirs = pty.openpty()
    environment = {**os.environ, "OPENAI_API_KEY": KEY, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(program, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            data = os.read(ours, 4096)
        except OSError:  # Linux ends a pseudo-terminal with EIO
            break
        if not data:
            break
        shown += data
    out, _ = process.communicate()
    os.close(ours)
    assert process.returncode == 0 and b"12 replies stored" in out
    lines = shown.decode().split("\r")
    assert sum(" of 12 done, 0 failed, 0 no label | " in line and "/s | " in line for line in lines) >= 3
    assert "12 of 12 done" in lines[-2] and "left" in lines[-2]


def _read(file):
    try:
        return file.read_bytes()
    except OSError:
        return b""
