"""Reading one line of a batch's results: whose it is, and what came of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotate.judges.failures import CallFailure
from annotate.judges.replies import EXCERPT, Completion, completion_of

_ID = re.compile(r"r(\d{1,18})-k(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Result:
    """``status`` None: the request was not carried out, and ``error`` says why."""

    response: int
    repeat: int
    status: int | None
    body: object
    error: str
    shown: str

    def completion(self) -> Completion:
        """The completion; raises CallFailure as a single call would have."""
        if self.status is None:
            raise CallFailure("batch", self.error or "the request was not carried out", body=self.shown)
        if self.status >= 400:
            passing = self.status in (408, 409, 429) or self.status >= 500
            raise CallFailure(f"http {self.status}", self.error, "again" if passing else "settled", body=self.shown)
        return completion_of(self.body, self.shown)


def read_result(line: str) -> Result | None:
    """The result in a line, or None for a line that names no request of ours."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match = _ID.fullmatch(str(value.get("custom_id", ""))) if isinstance(value, dict) else None
    if match is None:
        return None
    answer = value.get("response")
    status = answer.get("status_code") if isinstance(answer, Mapping) else None
    body = answer.get("body") if isinstance(answer, Mapping) else None
    known = status if isinstance(status, int) else None
    return Result(int(match[1]), int(match[2]), known, body, _error(value.get("error"), body), line[:EXCERPT])


def _error(error: object, body: object) -> str:
    """The message of the line's own error, else of the error in the body."""
    inner = body.get("error") if isinstance(body, Mapping) else None
    for found in (error, inner):
        if isinstance(found, Mapping):
            return " | ".join(str(found[name]) for name in ("message", "code") if found.get(name))[:500]
    return ""
