"""Everything that an endpoint can do wrong, over real HTTP. A fault is never turned into a label."""

import itertools
import json
import os
import signal
import time
from collections import Counter

import pytest

from annotate.judges.pacing import Patience
from tests.judges.conftest import KEY, build, rows, run_llm
from tests.judges.openai_server import Do, error, label

pytestmark = pytest.mark.usefixtures("key", "quick")
HASTY = Patience(attempts=3, cool_down=0.01, probes=3)


def once(fault, marker="2", times=1):
    """A script: ``fault`` for the first calls about one response, a label for everything else."""
    count = itertools.count()

    def script(seen):
        return fault(seen) if seen.marker == marker and next(count) < times else Do(label("HEDGE"))

    return script


PASSING = {
    "500": lambda seen: error(500, "boom"),
    "502 html": lambda seen: Do(status=502, body=b"<html>bad gateway</html>"),
    "503 with Retry-After": lambda seen: error(503, "overloaded", retry_after="0.05"),
    "408": lambda seen: error(408, "timeout"),
    "409": lambda seen: error(409, "conflict"),
    "429 without Retry-After": lambda seen: error(429, "slow down"),
    "429 with Retry-After": lambda seen: error(429, "slow down", retry_after="0.05"),
    "connection reset": lambda seen: Do(mode="reset"),
    "truncated body": lambda seen: Do(label("WRONG"), mode="truncate"),
    "truncated JSON": lambda seen: Do(body=b'{"choices": [{"message": {"content": "WRO'),
    "wrong schema": lambda seen: Do(body=b'{"result": "WRONG"}'),
    "empty choices": lambda seen: Do(choices=[]),
    "no text": lambda seen: Do(""),
    "null text": lambda seen: Do(None),
    "not JSON": lambda seen: Do(body=b"WRONG"),
    "never answers": lambda seen: Do(mode="silent"),
    "hangs in the body": lambda seen: Do(label("WRONG"), mode="hang"),
    "slow stream": lambda seen: Do(label("WRONG"), mode="dribble"),
}

SLOW = ("never answers", "hangs in the body", "slow stream")


@pytest.mark.parametrize("name", PASSING)
def test_a_passing_fault_is_asked_again_and_leaves_no_trace(tmp_path, serve, name):
    server = serve(once(PASSING[name]))
    path = build(tmp_path / "s.db", 3)
    outcome = run_llm(path, server, timeout=1.0 if name in SLOW else 30.0, concurrency=1, patience=HASTY)
    assert (outcome.done, outcome.failed, outcome.attempts) == (3, 0, 4)
    assert [row["raw"] for row in rows(path)] == ["HEDGE"] * 3


@pytest.mark.parametrize("name", [name for name in PASSING if name not in SLOW and not name.startswith("429")])
def test_a_fault_that_stays_is_a_failure_and_no_label(tmp_path, serve, name):
    server = serve(once(PASSING[name], times=99))
    path = build(tmp_path / "s.db", 3)
    outcome = run_llm(path, server, concurrency=1, patience=HASTY)
    assert (outcome.done, outcome.failed, outcome.left, outcome.exit_code) == (2, 1, 0, 1)
    row = rows(path)[1]
    assert row["raw"] is None and row["score"] is None and row["failure"]
    assert rows(path, "SELECT label FROM mapped_labels ORDER BY response_id")[1]["label"] == "(missing)"
    server.script = lambda seen: Do(label("WRONG"))
    assert run_llm(path, server, patience=HASTY).done == 1  # a passing fault is asked about again in the next run
    assert [row["raw"] for row in rows(path)] == ["HEDGE", "WRONG", "HEDGE"]


SETTLED = {
    "refusal": lambda seen: Do(
        choices=[{"message": {"content": None, "refusal": "I will not judge this."}, "finish_reason": "stop"}]
    ),
    "content filter": lambda seen: Do(choices=[{"message": {"content": "CORR"}, "finish_reason": "content_filter"}]),
    "400": lambda seen: error(400, "maximum context length is 8192 tokens", "context_length_exceeded"),
    "422": lambda seen: error(422, "cannot process"),
    "500 that says not to try again": lambda seen: error(500, "no", x_should_retry="false"),
    "cut off before any text": lambda seen: Do(choices=[{"message": {"content": ""}, "finish_reason": "length"}]),
    "endless body": lambda seen: Do(body=b" " * (5 * 1024 * 1024)),
}


@pytest.mark.parametrize("name", SETTLED)
def test_a_settled_failure_is_asked_once_and_again_only_when_wished(tmp_path, serve, name):
    server = serve(once(SETTLED[name], times=99))
    path = build(tmp_path / "s.db", 3)
    outcome = run_llm(path, server, concurrency=1, patience=HASTY)
    assert (outcome.done, outcome.failed, outcome.attempts) == (2, 1, 3)
    row = rows(path)[1]
    assert row["raw"] is None and row["failure"]
    if name == "refusal":
        assert row["reply"] == "I will not judge this." and row["failure"].startswith("refused")
        assert row["prompt_tokens"] == 100 and row["cost"] > 0  # a refusal is billed
    server.script = lambda seen: Do(label("WRONG"))
    assert run_llm(path, server, patience=HASTY).calls == 0
    assert run_llm(path, server, patience=HASTY, retry_failed=True).done == 1
    assert [row["raw"] for row in rows(path)] == ["HEDGE", "WRONG", "HEDGE"]


def test_what_failed_attempts_cost_is_stored_with_the_label(tmp_path, serve):
    """Two empty replies that were billed, then a label: three times 100 and 10 tokens."""
    server = serve(once(lambda seen: Do(""), times=2))
    path = build(tmp_path / "s.db", 3)
    outcome = run_llm(path, server, concurrency=1, patience=HASTY)
    each = (100 * 0.15 + 10 * 0.60) / 1e6
    assert [row["cost"] for row in rows(path)] == [pytest.approx(each), pytest.approx(3 * each), pytest.approx(each)]
    assert outcome.cost == pytest.approx(5 * each)


def test_retry_after_is_obeyed_by_every_worker(tmp_path, serve):
    """After the 429 nothing new is asked for 0.4 s, though seven other workers are free."""
    told = []

    def script(seen):
        if len(server.seen) == 9:
            told.append(seen.at)
            return error(429, "slow down", retry_after="0.4")
        return Do(label("HEDGE"), delay=0.02)

    server = serve(script)
    outcome = run_llm(build(tmp_path / "s.db", 40), server, concurrency=8, patience=HASTY)
    assert outcome.done == 40 and outcome.rate_limited == 1
    early = [seen for seen in server.seen if told[0] < seen.at < told[0] + 0.4]
    assert len(early) <= 7  # those that were on their way already; without the wait it would be all thirty


def test_retry_after_a_date_and_in_milliseconds(tmp_path, serve):
    from email.utils import formatdate

    waits = iter([{"retry_after": formatdate(time.time() + 2, usegmt=True)}, {"retry_after_ms": "150"}])
    server = serve(lambda seen: error(429, "slow", **headers) if (headers := next(waits, None)) else Do(label("HEDGE")))
    assert run_llm(build(tmp_path / "s.db", 1), server).done == 1
    gaps = [b.at - a.at for a, b in itertools.pairwise(server.seen)]
    assert gaps[0] >= 0.9 and gaps[1] >= 0.15


def test_a_used_up_limit_in_the_headers_holds_the_next_call(tmp_path, serve):
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "200ms"}
    server = serve(lambda seen: Do(label("HEDGE"), headers=headers))
    assert run_llm(build(tmp_path / "s.db", 3), server, concurrency=1).done == 3
    assert all(b.at - a.at >= 0.2 for a, b in itertools.pairwise(server.seen))


def test_a_wait_of_an_hour_ends_the_run_and_says_so(tmp_path, serve):
    server = serve(once(lambda seen: error(429, "tomorrow", retry_after="3600")))
    outcome = run_llm(build(tmp_path / "s.db", 3), server, concurrency=1)
    assert "3,600 s" in outcome.stopped and (outcome.done, outcome.left, outcome.failed) == (1, 2, 0)


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (401, "Incorrect API key provided", "invalid_api_key"),
        (404, "The model does not exist", "model_not_found"),
        (402, "pay", ""),
        (429, "You exceeded your current quota", "insufficient_quota"),
    ],
)
def test_what_no_call_can_survive_ends_the_run_at_the_first(tmp_path, serve, status, message, code):
    server = serve(lambda seen: error(status, message, code))
    path = build(tmp_path / "s.db", 50)
    outcome = run_llm(path, server, concurrency=8)
    assert message in outcome.stopped and outcome.attempts == 1 and outcome.left == 50 and rows(path) == []


def test_an_endpoint_that_refuses_every_request_stores_nothing(tmp_path, serve):
    server = serve(lambda seen: error(400, "no such deployment"))
    path = build(tmp_path / "s.db", 50)
    outcome = run_llm(path, server, concurrency=8)
    assert "refuses every request" in outcome.stopped and len(server.seen) == 3 and rows(path) == []
    assert outcome.left == 50


def test_the_breaker_stops_a_dead_endpoint_and_a_later_run_goes_on(tmp_path, serve):
    server = serve(lambda seen: Do(label("HEDGE")) if len(server.seen) <= 20 else error(500, "boom"))
    path = build(tmp_path / "s.db", 200)
    outcome = run_llm(path, server, concurrency=8, patience=Patience(attempts=6, in_a_row=10, cool_down=0.01, probes=3))
    assert "every call fails" in outcome.stopped and outcome.exit_code == 1
    # Twenty replies; then ten failures in a row at most 8 + 7 calls later, then three probes.
    assert outcome.done == 20 and len(server.seen) <= 20 + 10 + 7 + 3
    assert outcome.failed == 0 and outcome.left == 180  # a dead endpoint fails no response
    server.script = lambda seen: Do(label("HEDGE"))
    assert run_llm(path, server, concurrency=8).done == 180
    assert len(rows(path)) == 200


def test_an_endpoint_that_comes_back_is_used_on(tmp_path, serve):
    server = serve(lambda seen: error(500, "boom") if 20 < len(server.seen) <= 33 else Do(label("HEDGE")))
    path = build(tmp_path / "s.db", 60)
    patience = Patience(attempts=6, in_a_row=10, cool_down=0.01, probes=30)
    outcome = run_llm(path, server, concurrency=4, patience=patience)
    assert (outcome.done, outcome.failed, outcome.stopped) == (60, 0, "")


def test_a_server_that_is_not_there(tmp_path, serve):
    server = serve()
    path = build(tmp_path / "s.db", 5)
    outcome = run_llm(path, server, base_url="http://127.0.0.1:9/v1", yes_send_to="127.0.0.1:9", patience=HASTY)
    assert "every call fails (connection" in outcome.stopped
    # Alone at first: three tries each for three responses, one for the fourth, and then the breaker is open.
    assert (outcome.done, outcome.failed, outcome.left) == (0, 3, 2)
    assert all(row["raw"] is None for row in rows(path))
    assert run_llm(path, server, name="here").done == 5


def test_random_faults_lose_and_double_nothing(tmp_path, serve):
    """A third of all calls fail in some way, in an order fixed by the request count; every response gets one row."""
    faults = [PASSING[name] for name in PASSING if name not in SLOW]
    server = serve(
        lambda seen: faults[seen.number // 3 % len(faults)](seen) if seen.number % 3 == 0 else Do(label("HEDGE"))
    )
    path = build(tmp_path / "s.db", 120)
    outcome = run_llm(path, server, concurrency=8, patience=Patience(attempts=20, cool_down=0.01))
    assert (outcome.done, outcome.failed, outcome.left) == (120, 0, 0)
    assert Counter(row["response_id"] for row in rows(path)) == Counter(range(1, 121))


def test_a_key_that_the_endpoint_echoes_is_stored_nowhere(tmp_path, serve, capfd):
    def script(seen):
        shown = seen.headers["authorization"]
        kind = int(seen.marker) % 4
        if kind == 0:
            return Do(label("HEDGE", f"my key is {shown}"))
        if kind == 1:
            return error(400, f"bad key {shown}", shown)
        if kind == 2:
            return Do(body=json.dumps({"echo": shown}).encode())
        return Do(choices=[{"message": {"refusal": f"no, {shown}"}, "finish_reason": "stop"}])

    server = serve(script)
    path = build(tmp_path / "s.db", 8)
    outcome = run_llm(path, server, concurrency=1, patience=HASTY)
    assert outcome.failed == 6 and outcome.done == 2
    everything = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    everything += repr([tuple(row) for row in rows(path)]).encode() + repr(outcome).encode()
    everything += "".join(capfd.readouterr()).encode()
    assert KEY.encode() not in everything and b"quite+secret" not in everything
    assert any("[key removed]" in (row["failure"] or "") + (row["reply"] or "") + row["extra"] for row in rows(path))


def test_ctrl_c_lets_calls_under_way_end_and_stores_them(tmp_path, serve):
    def script(seen):
        if len(server.seen) == 12:
            os.kill(os.getpid(), signal.SIGINT)
        return Do(label("HEDGE"), delay=0.05)

    server = serve(script)
    path = build(tmp_path / "s.db", 100)
    outcome = run_llm(path, server, concurrency=4)
    assert outcome.interrupted and outcome.exit_code == 130
    assert 0 < outcome.done < 100 and outcome.done == len(rows(path)) == len(server.seen)
