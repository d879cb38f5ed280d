"""Named random streams: each depends on the seed and its names only, so adding a model changes no other number."""

from __future__ import annotations

import hashlib

import numpy as np

SEPARATOR = "\x1f"


def stream(seed: int, *names: str) -> np.random.Generator:
    """A PCG64 generator for the given names."""
    digest = hashlib.sha256(SEPARATOR.join(names).encode("utf-8", "surrogatepass")).digest()
    key = tuple(int.from_bytes(digest[i : i + 4], "big") for i in range(0, 16, 4))
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))
