"""How long an endpoint asks to be left alone, and how long to wait when it does not say."""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds to wait by ``retry-after-ms`` or ``Retry-After`` (a number or a date), None where neither says.

    RFC 9110, 10.2.3. ``now`` is Unix time, for tests.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        when = parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, when - (time.time() if now is None else now))


def used_up(headers: Mapping[str, str]) -> float | None:
    """Seconds until the limit is full again, where the headers say that this call took the last of it."""
    waits = []
    for kind in ("requests", "tokens"):
        if headers.get(f"x-ratelimit-remaining-{kind}") == "0":
            waits.append(_duration(headers.get(f"x-ratelimit-reset-{kind}")))
    known = [wait for wait in waits if wait is not None]
    return max(known) if known else None


def back_off(attempt: int, chance: random.Random) -> float:
    """Seconds before attempt ``attempt`` + 1: doubling from half a second to a minute, drawn between half and whole."""
    ceiling = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(attempt - 1, 16))
    return chance.uniform(ceiling / 2, ceiling)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and math.isfinite(value) and value >= 0 else None


def _duration(text: str | None) -> float | None:
    """``6m0s``, ``20ms`` or plain seconds."""
    if text is None:
        return None
    parts = _PART.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    return _number(text)
