"""`annotate serve` as a process of its own, and Chromium."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run", "--disable-quic", "--disable-dev-shm-usage"),
)


class RealServer:
    """The command, started; ``told`` is its JSON, ``links`` the link of each person."""

    def __init__(self, study: Path, *options: object, environment: dict[str, str] | None = None) -> None:
        self.errors = study.with_name("serve.err")
        command = [sys.executable, "-P", "-m", "annotate", "serve", study, "--port", 0, *options, "--json"]
        with self.errors.open("a") as errors:
            self.process = subprocess.Popen(
                [str(part) for part in command],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, "PYTHONPATH": str(REPOSITORY), **(environment or {})},
            )
        assert self.process.stdout is not None
        printed = ""
        while not printed.endswith("\n}\n"):
            line = self.process.stdout.readline()
            assert line, self.errors.read_text()
            printed += line
        self.told: dict[str, Any] = json.loads(printed)
        self.url: str = self.told["url"]
        self.links = {link["name"]: link["url"] for link in self.told["links"]}

    def children(self) -> list[int]:
        """The processes of the sessions."""
        return [
            int(pid) for pid in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        ]

    def end(self, how: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(20)


@contextmanager
def real_server(study: Path, *options: object, **environment: str) -> Iterator[RealServer]:
    server = RealServer(study, *options, environment=environment)
    try:
        yield server
    finally:
        server.end(signal.SIGKILL if server.process.poll() is None else signal.SIGTERM)
        assert server.process.stdout is not None
        server.process.stdout.close()


def until(holds: Callable[[], Any], seconds: float = 20.0) -> Any:
    """What ``holds`` returns once it is true."""
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.05)
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A headless Chromium of the system; nothing is downloaded."""
    missing = None
    if CHROMIUM is None:
        missing = "needs chromium"
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing = "needs playwright"
    if missing is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()
