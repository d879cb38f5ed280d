"""What can go wrong with one call, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Consequence = Literal["again", "settled", "stop"]
"""again: a passing fault, ask again. settled: this response cannot be judged so. stop: no call can succeed."""


@dataclass(eq=False)  # not frozen: the interpreter sets a traceback on an exception
class CallFailure(Exception):
    """One failed attempt. ``maybe_billed``: the endpoint may have worked on it before it failed.

    ``reply`` is what the model said where it said something (a refusal); ``body`` the start of what came.
    """

    kind: str
    detail: str
    consequence: Consequence = "again"
    retry_after: float | None = None
    rate_limited: bool = False
    maybe_billed: bool = False
    reply: str | None = None
    body: str | None = None
    usage: tuple[int | None, int | None] = (None, None)

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}" if self.detail else self.kind
