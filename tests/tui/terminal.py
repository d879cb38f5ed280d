"""A pseudo-terminal around the desk: keys in, exact bytes out."""

from __future__ import annotations

import os
import select
import signal
import struct
import sys
import time
from pathlib import Path

import pytest

fcntl, pty, termios = (pytest.importorskip(name) for name in ("fcntl", "pty", "termios"))  # Windows has none of them

LAUNCH = Path(__file__).with_name("launch.py")


class Terminal:
    """Runs ``launch.py`` with the given arguments; leave the ``with`` block to end it."""

    def __init__(self, *arguments, size=(120, 40), config=None, command=None, **environment):
        self.output = b""
        self.mark = 0
        folder = str(config or "/nonexistent")
        environment = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "XDG_CONFIG_HOME": folder} | environment
        command = command or (sys.executable, str(LAUNCH), *map(str, arguments))
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # Given whole: readline has written COLUMNS and LINES into the process's own, past os.environ.
            inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES")}
            os.execvpe(command[0], command, inherited | environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def read(self, seconds):
        """Collect what comes within ``seconds``."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if not select.select([self.fd], [], [], left)[0] or not self._take():
                return

    def _take(self):
        try:
            piece = os.read(self.fd, 65536)
        except OSError:
            return False
        self.output += piece
        return bool(piece)

    def wait_for(self, words, seconds=30):
        """Until ``words`` have been written since the last call."""
        wanted = words.encode()
        until = time.monotonic() + seconds
        while (found := self.output.find(wanted, self.mark)) < 0:
            if time.monotonic() > until:
                raise AssertionError(f"{words!r} never came; the end of the output: {self.output[-1500:]!r}")
            if select.select([self.fd], [], [], 0.1)[0] and not self._take():
                raise AssertionError(f"the program ended before {words!r}: {self.output[-1500:]!r}")
        self.mark = found + len(wanted)

    def wait_for_any(self, seconds=30):
        """Until anything has been written."""
        if not select.select([self.fd], [], [], seconds)[0] or not self._take():
            raise AssertionError("nothing came")

    def keys(self, text):
        os.write(self.fd, text.encode())

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.pid = 0

    def end(self, seconds=20):
        """Wait for the program to end; its exit code."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if select.select([self.fd], [], [], 0.05)[0]:
                self._take()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.read(0.1)
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
        raise AssertionError(f"the program did not end: {self.output[-1500:]!r}")
