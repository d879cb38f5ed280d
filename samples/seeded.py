"""Random choices that come out the same on every machine and Python: from SHA-256, not from a generator."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def uniform(*key: object) -> float:
    """A number in [0, 1) that depends on the key alone: the first 13 hexadecimal digits of its SHA-256."""
    text = "\x1f".join(str(part) for part in key)
    return int(hashlib.sha256(text.encode("utf-8")).hexdigest()[:13], 16) / 16**13


def pick(options: Sequence[Any], *key: object) -> Any:
    """One of the options, each with the same chance."""
    return options[int(uniform(*key) * len(options))]


def draw(chances: Mapping[str, float], *key: object) -> str:
    """One name by its chance; chances add to 1."""
    u, total = uniform(*key), 0.0
    for name, chance in chances.items():
        total += chance
        if u < total:
            return name
    return name


def shuffled(values: Iterable[Any], *key: object) -> list[Any]:
    """The values in an order that depends on the key and their positions."""
    listed = list(values)
    return [listed[i] for i in sorted(range(len(listed)), key=lambda i: (uniform(*key, i), i))]


def apportion(shares: Mapping[str, float], total: int) -> dict[str, int]:
    """Whole numbers in proportion to the shares that add up to ``total`` (largest remainders, ties by order)."""
    whole = sum(shares.values())
    exact = {name: share / whole * total for name, share in shares.items()}
    counts = {name: int(value) for name, value in exact.items()}
    order = sorted(exact, key=lambda name: counts[name] - exact[name])
    for name in order[: total - sum(counts.values())]:
        counts[name] += 1
    return counts


def gzipped_lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Records as gzipped JSON Lines, byte for byte the same each time."""
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, compresslevel=9, mtime=0) as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n")
    return packed.getvalue()


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
