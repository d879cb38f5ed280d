"""What the coverage simulations share: counting hits, and which engine was run."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROUNDING = 1e-12


@dataclass
class Tally:
    """Hits, widths and errors of one interval over the replications in which it and its truth exist."""

    hits: int = 0
    runs: int = 0
    width: float = 0.0
    undefined: int = 0
    errors: list[float] = field(default_factory=list)

    def add(self, low: float, high: float, truth: float) -> None:
        self.runs += 1
        self.hits += low - ROUNDING <= truth <= high + ROUNDING
        self.width += high - low

    @property
    def coverage(self) -> float:
        return self.hits / self.runs


def last_commit(path: Path) -> str:
    """Of the code that runs: asked before the run, since the working copy may move on while it lasts."""
    command = ["git", "log", "-1", "--format=%h", "--", str(path)]
    shown = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    return shown.stdout.strip() or "unknown"
