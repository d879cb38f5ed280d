"""One session's process: started from a list of arguments, never through a shell, in an environment of a few names."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import sysconfig
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

import annotate
from annotate.serving.child import REFUSED, Job

COMMAND: Final = (sys.executable, "-P", "-m", "annotate.serving.child")
PASSED_ON: Final = ("PATH", "PYTHONPATH", "TZ", "TMPDIR", "SYSTEMROOT", "LD_LIBRARY_PATH")
SECONDS_TO_LEAVE: Final = 3.0
MAX_PACKET: Final = 16 * 2**20
MAX_PRELUDE: Final = 10


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process ended. ``refused``: why no desk was opened; ``fault``: it broke; ``lines``: what was done.

    ``taken``: it was refused because the same person is at work elsewhere.
    """

    refused: str = ""
    taken: bool = False
    fault: bool = False
    lines: tuple[tuple[str, str], ...] = ()


class DeskProcess(AppService):
    """Runs a desk for one connection. ``on_end`` is told once, when the process has gone by itself."""

    def __init__(
        self,
        job: Job,
        config: Path,
        *,
        write_bytes: Callable[[bytes], Awaitable[None]],
        on_end: Callable[[Ending], Awaitable[None]],
    ) -> None:
        super().__init__(
            command="", write_bytes=write_bytes, write_str=_nowhere, close=_nothing, download_manager=DownloadManager()
        )
        self._job, self._config, self._on_end = job, config, on_end
        self._ending = Ending()
        self._stopping = False

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        """Nothing of the lead's: no keys, no home, no preferences. ``config`` is the coder's own."""
        passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        return passed | {
            "PYTHONPATH": os.pathsep.join(_paths(passed.get("PYTHONPATH", ""))),
            "PYTHONUTF8": "1",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "TEXTUAL_DRIVER": "annotate.serving.driver:BrowserDriver",
            "TEXTUAL_COLOR_SYSTEM": "truecolor",
            "TEXTUAL_ANIMATIONS": "none",
            "XDG_CONFIG_HOME": str(self._config),
            "HOME": str(self._config),
            "COLUMNS": str(width),
            "ROWS": str(height),
        }

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        self._process = await asyncio.create_subprocess_exec(
            *COMMAND,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,  # a traceback may hold study text; faults are logged beside the study
            env=self._build_environment(width, height),
            start_new_session=True,  # Ctrl+C at the server reaches the server alone
        )
        self._stdin = self._process.stdin
        self.stdin.write(self._job.line())
        return self._process

    async def run(self) -> None:
        """Pass on what is drawn until the process ends."""
        assert self._process is not None
        try:
            if await self._prelude(self._process):
                await self._packets(self._process)
        except asyncio.IncompleteReadError:
            pass
        except Exception:
            self._ending = Ending(fault=True)  # what it wrote made no sense
        code = await self._gone()
        if not self._stopping:
            broke = code != 0 and not self._ending.refused
            await self._on_end(Ending(fault=True) if broke else self._ending)

    async def _prelude(self, process: Process) -> bool:
        """Whether the desk is about to be drawn."""
        assert process.stdout is not None
        for _ in range(MAX_PRELUDE):
            line = await process.stdout.readline()
            if line == b"__GANGLION__\n":
                return True
            if line.startswith(REFUSED.encode()):
                told = json.loads(line[len(REFUSED) :])
                self._ending = Ending(refused=told["message"], taken=told["taken"])
            if not line:
                break
        return False

    async def _packets(self, process: Process) -> None:
        assert process.stdout is not None
        while True:
            kind = await process.stdout.readexactly(1)
            size = int.from_bytes(await process.stdout.readexactly(4), "big")
            if size > MAX_PACKET:
                return
            payload = await process.stdout.readexactly(size)
            if kind == b"D":
                await self.on_data(payload)
            elif kind == b"M":
                await self.on_meta(payload)

    async def on_data(self, payload: bytes) -> None:
        if not self._stopping:
            with suppress(ConnectionError, RuntimeError):  # the browser has just gone
                await self.remote_write_bytes(payload)

    async def on_meta(self, data: bytes) -> None:
        """Only what a session came to. Addresses to open and files to hand out are not passed on."""
        told = json.loads(data)
        if told.get("type") == "summary":
            self._ending = Ending(lines=tuple((str(name), str(value)) for name, value in told["lines"]))
        elif told.get("type") == "crashed":
            self._ending = Ending(fault=True)

    async def on_packed(self, payload: bytes) -> None:
        """Nothing: these packets carry files."""

    async def stop(self) -> None:
        """Ask the desk to leave, wait a little, then end it. When this returns the process is gone."""
        self._stopping = True
        if self._process is None:
            return
        if self._process.returncode is None:
            with suppress(ConnectionError, RuntimeError):
                self.stdin.write(self.encode_packet(b"M", b'{"type": "quit"}'))
                self.stdin.close()
        await self._gone()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _gone(self) -> int:
        """The exit code; a process that does not end by itself in time is killed."""
        assert self._process is not None
        try:
            return await asyncio.wait_for(self._process.wait(), SECONDS_TO_LEAVE)
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            return await self._process.wait()


def _paths(given: str) -> list[str]:
    """Where this package was found, unless Python looks there anyway: what stands here goes before its own library."""
    home = str(Path(annotate.__file__).resolve().parent.parent)
    own = {str(Path(sysconfig.get_path(name)).resolve()) for name in ("purelib", "platlib")}
    paths = [path for path in given.split(os.pathsep) if path]
    return list(dict.fromkeys(paths if home in own else [home, *paths]))


async def _nowhere(_: str) -> None:
    """Textual-serve's way to say something to its page; ours is the session's."""


async def _nothing() -> None:
    """A connection is closed by its session."""
