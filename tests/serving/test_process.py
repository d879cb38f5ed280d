"""The process behind a session, with programs in its place that misbehave."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

import pytest
from textual.drivers.web_driver import WebDriver

from annotate.serving import process as module
from annotate.serving.child import Job
from annotate.serving.driver import BrowserDriver
from annotate.serving.process import DeskProcess, Ending

JOB = Job("study.db", "code", "k1", "dark", os.getpid())
GANGLION = "import os, time; os.write(1, b'__GANGLION__\\n');"


class Desk:
    """A process that runs ``program``; what it wrote to the browser, and how it ended."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, program: str) -> None:
        monkeypatch.setattr(module, "COMMAND", (sys.executable, "-c", program))
        monkeypatch.setattr(module, "SECONDS_TO_LEAVE", 0.5)
        self.written: list[bytes] = []
        self.ended: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        self.process = DeskProcess(JOB, folder, write_bytes=self._write, on_end=self._end)

    async def _write(self, data: bytes) -> None:
        self.written.append(data)

    async def _end(self, ending: Ending) -> None:
        self.ended.set_result(ending)

    async def run(self) -> Ending:
        await self.process.start(80, 24)
        ending = await asyncio.wait_for(self.ended, 15)
        await self.process.stop()
        return ending


@pytest.mark.parametrize(
    ("program", "ending"),
    [
        ("raise SystemExit(1)", Ending(fault=True)),
        ("print('x' * 200_000)", Ending(fault=True)),
        ("no python", Ending(fault=True)),
        (f"{GANGLION} os.write(1, b'D\\xff\\xff\\xff\\xff'); time.sleep(60)", Ending(fault=True)),
        (f"{GANGLION} os.write(1, b'M\\0\\0\\0\\1['); time.sleep(60)", Ending(fault=True)),
        (f"{GANGLION} os.kill(os.getpid(), 9)", Ending(fault=True)),
        (f"{GANGLION} os.write(1, b'D\\0\\0\\0\\2hi')", Ending()),
        ('print(\'__REFUSED__ {"message": "no", "taken": true}\'); exit(2)', Ending(refused="no", taken=True)),
        ("print('__REFUSED__ nonsense'); exit(2)", Ending(fault=True)),
    ],
)
async def test_however_it_ends_it_is_told_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, ending: Ending
) -> None:
    desk = Desk(monkeypatch, tmp_path, program)
    assert await desk.run() == ending
    assert desk.written in ([], [b"hi"])


async def test_one_that_does_not_leave_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    deaf = f"{GANGLION} import signal; signal.signal(15, signal.SIG_IGN); time.sleep(60)"
    desk = Desk(monkeypatch, tmp_path, deaf)
    await desk.process.start(80, 24)
    begun = time.monotonic()
    await desk.process.stop()
    assert time.monotonic() - begun < 5
    await desk.process.stop()
    assert not desk.ended.done(), "whoever stops it knows"


async def test_addresses_and_files_are_not_passed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What textual-serve would turn into window.open and into a download."""
    desk = Desk(monkeypatch, tmp_path, "")
    told: list[str] = []
    monkeypatch.setattr(desk.process, "remote_write_str", told.append)
    await desk.process.on_meta(
        json.dumps({"type": "open_url", "url": "https://evil.example", "new_tab": True}).encode()
    )
    start = {"type": "deliver_file_start", "key": "k", "path": "/etc/passwd", "open_method": "browser"}
    await desk.process.on_meta(json.dumps(start).encode())
    await desk.process.on_packed(b"anything")
    assert desk.written == [] and told == []


def test_the_desk_itself_opens_and_hands_out_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("something was sent")

    for name in ("write_meta", "write_binary_encoded"):
        monkeypatch.setattr(WebDriver, name, refuse)
    driver = BrowserDriver.__new__(BrowserDriver)
    driver.open_url("https://evil.example")
    with (tmp_path / "file").open("wb+") as file:
        driver.deliver_binary(file, delivery_key="k", save_path=tmp_path / "file")
    driver.on_meta("deliver_chunk_request", {"key": "k", "size": 10})
