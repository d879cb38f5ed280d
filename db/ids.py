"""Random identifiers: all that a coder ever sees of a unit or an assignment, so that an id tells nothing."""

from __future__ import annotations

import secrets
from collections.abc import Callable

RandomBytes = Callable[[int], bytes]
"""Gives n random bytes. ``secrets.token_bytes`` in use; tests pass a seeded one."""

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford: no i, l, o or u to misread


def new_id(random_bytes: RandomBytes = secrets.token_bytes, length: int = 12) -> str:
    """``length`` characters of five random bits each (12: a collision among a million ids has chance 4e-7)."""
    return "".join(ALPHABET[byte & 31] for byte in random_bytes(length))
