"""One spelling for every JSON value, so that equal content has equal bytes and equal digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

_encode: Callable[[Any], str] = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no spaces and characters as they are (UTF-8 when encoded). Raises ValueError on NaN."""
    return _encode(value)


def sha256_text(text: str) -> str:
    """SHA-256 of the UTF-8 bytes, 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()
