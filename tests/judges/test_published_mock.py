"""Against llmock, a published server that speaks the OpenAI API, injects faults and then judges the client.

Its verdict is a second opinion on ours: Retry-After waited for, nothing retried that must not be, no retry storm.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from annotate.judges.pacing import Patience
from tests.judges.conftest import build, rows, run_llm

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("key")]


class Mock:
    """A running llmock; ``url`` and ``host`` as ``run_llm`` wants them."""

    def __init__(self, port):
        self.host = f"127.0.0.1:{port}"
        self.url = f"http://{self.host}/v1"

    def call(self, path, value=None):
        data = None if value is None else json.dumps(value).encode()
        request = urllib.request.Request(f"http://{self.host}{path}", data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"null")


@pytest.fixture
def mock():
    pytest.importorskip("llmock")
    program = shutil.which("llmock", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([program, "serve", "--host", "127.0.0.1", "--port", str(port)], **quiet)
    found = Mock(port)
    for _ in range(200):
        try:
            found.call("/health")
            break
        except OSError:
            time.sleep(0.1)
    yield found
    process.terminate()
    process.wait(10)


def test_a_published_mock_finds_no_fault_with_this_client(tmp_path, mock):
    faults = [
        {"type": "fail", "status": 429, "retry_after": 1, "times": 2},
        {"type": "fail", "status": 500, "times": 2},
        {"type": "fail", "status": 503, "times": 1},
        {"type": "delay", "seconds": 0.5, "times": 1},
    ]
    mock.call("/_llmock/scenario", {"behaviors": faults})
    path = build(tmp_path / "s.db", 30)
    outcome = run_llm(path, mock, concurrency=4, patience=Patience(cool_down=0.5))
    assert (outcome.done, outcome.failed, outcome.left) == (30, 0, 0)
    assert outcome.not_labels == 0  # its answers follow our JSON schema
    assert {row["raw"] for row in rows(path)} <= {"ABSTAIN", "HEDGE", "CORRECT", "WRONG"}
    verdict = mock.call("/_llmock/verdict")
    # Two waits with jitter may happen to be alike, which it takes for no back-off: that the waits grow is tested apart.
    assert [finding for finding in verdict["findings"] if finding["code"] != "no_backoff"] == [], verdict
    assert outcome.attempts == 35


def test_what_cannot_succeed_is_not_tried_again(tmp_path, mock):
    """A bad request is not tried again, and a model that is not there ends the run."""
    mock.call(
        "/_llmock/scenario",
        {"behaviors": [{"type": "fail", "status": 400, "times": 1}, {"type": "fail", "status": 404, "times": 1}]},
    )
    path = build(tmp_path / "s.db", 10)
    outcome = run_llm(path, mock, concurrency=1)
    assert outcome.stopped.startswith("http 404") and outcome.attempts == 2
    assert mock.call("/_llmock/verdict")["findings"] == []
