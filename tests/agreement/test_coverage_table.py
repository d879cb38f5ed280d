"""The committed table of coverage belongs to the committed scenarios, and its bands hold."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = tomllib.loads((ROOT / "benchmarks" / "scenarios" / "posterior.toml").read_text(encoding="utf-8"))
TABLE = (ROOT / "docs" / "coverage-posterior.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("scenario", SCENARIOS["scenario"], ids=lambda scenario: scenario["name"])
def test_every_scenario_is_in_the_table_and_no_default_is_below_its_band(scenario):
    rows = [line for line in TABLE.splitlines() if line.startswith(f"| {scenario['name']} | ")]
    main = rows[0].split(" | ")
    assert "below" not in main[4] or main[4].startswith("not below")
    if "band" in scenario:
        low, high = scenario["band"]
        shares = len(scenario["judge"]) == 2
        lowest = float(main[1].split(",")[0]) if shares else float(main[2].split()[-1])
        assert low <= lowest <= high
    else:
        assert main[4] == "-"


def test_the_table_says_how_it_was_made():
    head = " ".join(TABLE.split())
    assert f"Seed {SCENARIOS['seed']}, {SCENARIOS['replications']} replications, {SCENARIOS['draws']} draws" in head
    assert re.search(r"scenarios of commit [0-9a-f]{7,}, engine of commit [0-9a-f]{7,}, 20\d\d-\d\d-\d\d", head)
