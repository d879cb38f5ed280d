"""Running the programs beside a report: what check.py and check.R say of its numbers, and of changed labels."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end.programs import program

Numbers = dict[str, tuple[str, str]]
Row = dict[str, str]


def checked(report: Path) -> Numbers:
    """What check.py says of each number: (mine, reported); every one must match."""
    ran = subprocess.run([sys.executable, "-I", report / "check.py"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = re.findall(r"(?m)^ok {6}(.*): (\S+) \(reported: (\S+)\)$", ran.stdout)
    assert ran.stdout.splitlines()[-1] == f"{len(found)} numbers match, 0 differ."
    return {what: (mine, reported) for what, mine, reported in found}


def same_in_r(report: Path) -> Numbers:
    """What check.py says, once check.R was seen to say the same of every number."""
    ran = subprocess.run([program("Rscript"), report / "check.R", report], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    said = dict(line.split("\t") for line in ran.stdout.splitlines() if "\t" in line)
    found = checked(report)
    for what, (_, reported) in found.items():
        if what in said:
            assert float(said[what]) == pytest.approx(float(reported), abs=1e-9), what
        else:  # undefined, or a cell of a matrix in which nothing is
            assert reported == "None" or float(reported) == 0, what
    assert len(set(found) & set(said)) > 10
    return found


def differing(report: Path, folder: Path, change: Callable[[Row], Row]) -> dict[str, str]:
    """What check.py finds other than reported once every row of labels.csv went through ``change``: its own number."""
    shutil.copytree(report, folder)
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = [change(row) for row in csv.DictReader(file)]
    with (folder / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    ran = subprocess.run([sys.executable, "-I", folder / "check.py"], capture_output=True, text=True)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return dict(re.findall(r"(?m)^DIFFERS (.*): (\S+) \(reported", ran.stdout))
