"""Thirty small inputs: textbook tables and edge cases. Values were had from exact rationals and a second
implementation.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parent / "fixtures"


def read(name: str) -> dict[str, Any]:
    return json.loads((FIXTURES / name).read_text(encoding="utf-8"))


def coders(case: dict[str, Any]) -> list[list[Any]]:
    """Each coder's labels over the units; a table of counts is written out, rows the first coder."""
    if "ratings" in case:
        return case["ratings"]
    cells = [
        (row + 1, column + 1)
        for row, counts in enumerate(case["table"])
        for column, count in enumerate(counts)
        for _ in range(count)
    ]
    return [[first for first, _ in cells], [second for _, second in cells]]


CODERS = {name: coders(case) for name, case in read("probe_ratings.json").items()}
UNITS = {name: [list(unit) for unit in zip(*labels, strict=True)] for name, labels in CODERS.items()}
VALUES = read("probe_values.json")
