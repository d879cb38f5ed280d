"""A user's own command as a judge: JSON lines in, JSON lines out, in a child process that is bounded and can be killed.

The command is trusted code: it runs with the user's rights and sees the texts. It is started once for every hundred
responses, gets one line each and end of file, and answers in any order. It is killed, with every process that it
started in its group, when it is silent for too long or says too much. Answers that came before that are kept.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO

LONGEST_LINE = 1024 * 1024
MOST_OUTPUT = 64 * 1024 * 1024
KEPT_STDERR = 2_000
END_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Run:
    """What one start of a command gave: its lines, and what went wrong ('' where nothing did)."""

    lines: tuple[str, ...]
    trouble: str


def run_command(command: Sequence[str], lines: Sequence[str], timeout: float) -> Run:
    """Run a command once over ``lines``. ``timeout``: seconds of silence on its output before it is killed."""
    try:
        child = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return Run((), f"cannot be started ({error.strerror})")
    assert child.stdin is not None and child.stdout is not None and child.stderr is not None
    tail = _Tail(child.stderr)
    heard: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    _thread(partial(_feed, child.stdin, lines))
    _thread(partial(_listen, child.stdout, heard))
    try:
        found, trouble = _collect(heard, timeout)
        code = _end(child, killed=bool(trouble))
    finally:
        kill_group(child)
    if not trouble and code != 0:
        trouble = f"ended with code {code}"
    said = tail.text()
    return Run(tuple(found), f"{trouble}: {said}" if trouble and said else trouble)


def _collect(heard: queue.SimpleQueue[bytes | None], timeout: float) -> tuple[list[str], str]:
    found: list[str] = []
    size = 0
    while True:
        try:
            line = heard.get(timeout=timeout)
        except queue.Empty:
            return found, f"said nothing for {timeout:g} s and was killed"
        if line is None:
            return found, ""
        size += len(line)
        if len(line) > LONGEST_LINE or size > MOST_OUTPUT:
            return found, f"said more than is allowed (a line of {LONGEST_LINE:,}, {MOST_OUTPUT:,} bytes in all)"
        if text := line.decode("utf-8", "replace").strip():
            found.append(text)


def _end(child: subprocess.Popen[bytes], *, killed: bool) -> int:
    if killed:
        kill_group(child)
    try:
        return child.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        kill_group(child)
        return child.wait(END_SECONDS)


def kill_group(child: subprocess.Popen[bytes]) -> None:
    """Kill the child and every process in its group; those that are gone already are no error."""
    if os.name == "nt":
        subprocess.run(["taskkill", "/T", "/F", "/PID", str(child.pid)], capture_output=True, check=False)
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def _thread(job: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=job, daemon=True)
    thread.start()
    return thread


def _feed(stream: IO[bytes], lines: Sequence[str]) -> None:
    with contextlib.suppress(OSError, ValueError):  # it may end before it has read everything
        for line in lines:
            stream.write(line.encode("utf-8", "replace") + b"\n")
        stream.flush()
    with contextlib.suppress(OSError):
        stream.close()


def _listen(stream: IO[bytes], heard: queue.SimpleQueue[bytes | None]) -> None:
    with contextlib.suppress(OSError, ValueError), stream:
        while line := stream.readline(LONGEST_LINE + 1):
            heard.put(line)
            if len(line) > LONGEST_LINE:
                break
    heard.put(None)


class _Tail:
    """The last words of a stream, read in a thread so that it never fills up."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._kept = b""
        self._stream = stream
        self._thread = _thread(self._read)

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._stream:
            while data := self._stream.read1(4096) if hasattr(self._stream, "read1") else self._stream.read(4096):
                self._kept = (self._kept + data)[-KEPT_STDERR:]

    def text(self) -> str:
        deadline = time.monotonic() + 1.0
        self._thread.join(max(0.0, deadline - time.monotonic()))
        return " ".join(self._kept.decode("utf-8", "replace").split())[-300:]
