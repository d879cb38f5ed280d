"""Lines out and lines in: the whole of the plain mode's terminal."""

from __future__ import annotations

from collections.abc import Callable
from io import TextIOWrapper
from typing import TextIO

from tui.activity import Activity
from tui.safetext import safe


class Gone(Exception):
    """The input has ended, or the coder leaves."""


class Talk:
    """Says lines and asks for one; counts the time between answers. ``active``: seconds so far."""

    def __init__(self, lines: TextIO, out: TextIO, clock: Callable[[], float]) -> None:
        self._lines, self._out, self._clock = lines, out, clock
        self.activity = Activity()
        self.active = 0.0
        if isinstance(out, TextIOWrapper):
            out.reconfigure(errors="replace")  # a terminal that is not UTF-8 shows ? and does not end the session

    def say(self, *told: str) -> None:
        """Lines, each made safe: an answer may quote what the study holds."""
        for text in told:
            print(safe(text), file=self._out)
        self._out.flush()

    def prompt(self, question: str) -> str:
        """One line from the coder. Ctrl+C asks whether to leave; raises Gone where the input has ended."""
        try:
            return self._ask(question)
        except KeyboardInterrupt:
            self.say("")
            if self._ask("leave? y or n:").strip().casefold() in ("y", "yes"):
                raise Gone from None
            return self.prompt(question)

    def _ask(self, question: str) -> str:
        print(safe(question), end=" ", file=self._out, flush=True)
        typed = self._lines.readline()
        before = self.activity.seconds
        self.activity.touch(self._clock())
        self.active += self.activity.seconds - before
        if not typed:
            self.say("")
            raise Gone
        answer = typed.rstrip("\r\n")
        if not self._lines.isatty():
            self.say(answer)  # a transcript holds the answers too
        return answer
