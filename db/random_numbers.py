"""Permanent random numbers: each record has one for each seed, the same on every machine and in every version.

u = the first 16 hexadecimal digits of SHA-256(seed, U+001F, record key), the record key being item, model, condition
and repeat joined by U+001F (the item's key alone where items are drawn). A stratum's sample is its n smallest.
"""

from __future__ import annotations

import hashlib

SEPARATOR = "\x1f"
DIGITS = 16


def record_key(item: str, model: str, condition: str, repeat: int) -> str:
    """The canonical key of a response."""
    return f"{item}\x1f{model}\x1f{condition}\x1f{repeat}"


def random_number(seed: str, key: str) -> str:
    """``u`` of a record under a seed; as text it sorts like the number that it is."""
    return hashlib.sha256(f"{seed}\x1f{key}".encode()).hexdigest()[:DIGITS]


def random_for(seed: str, purpose: str, *parts: str) -> str:
    """A number for another purpose (an overlap, an order, a side) that has nothing to do with the draw's."""
    return random_number(seed, SEPARATOR.join((purpose, *parts)))
