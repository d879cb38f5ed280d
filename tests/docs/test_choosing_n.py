"""The table of widths by n on choosing-n.md is what `annotate sample --dry-run` says of the sample run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from annotate.__main__ import run
from tests.docs.pages import DOCS

ROW = re.compile(r"^\| (\d+) \| (\d+) \| (\.\d+) \| (\.\d+) \|$", re.MULTILINE)
BOLD, CAUTIOUS = "gemma-3-270m-bold", "gemma-3-270m-cautious"


def test_widths_by_n_are_the_programs(studies: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    rows = ROW.findall((DOCS / "choosing-n.md").read_text(encoding="utf-8"))
    assert len(rows) == 3
    for n, labels, width, difference in rows:
        capsys.readouterr()
        assert run(["sample", str(studies("ehq")), "--n", n, "--seed", "42", "--dry-run", "--json"]) == 0
        plan = json.loads(capsys.readouterr().out)
        one = next(w for w in plan["expected_width"] if (w["model"], w["label"]) == (BOLD, "WRONG"))
        two = next(
            w for w in plan["expected_pair_width"] if (w["first"], w["second"], w["label"]) == (BOLD, CAUTIOUS, "WRONG")
        )
        assert (round(one["labels"]), f"{one['width']:.3f}"[1:]) == (int(labels), width)
        assert f"{two['width']:.3f}"[1:] == difference
