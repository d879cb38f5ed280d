"""Units to write, and reading them back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.exporters import Unit
from annotate.importers import prepare
from db.records import HumanLabelRow, ItemRow, JudgeLabelRow, ResponseRow


@pytest.fixture
def units() -> list[Unit]:
    """Two responses to one question and one to another: labels, a rating, notes, a blank, a final label, a judge."""

    def human(coder: str, item: str, model: str, label: str | None, **more: Any) -> HumanLabelRow:
        return HumanLabelRow(coder, item, 0, label, model=model, repeat=1, **more)

    first = ItemRow("q1", 0, "Where is it?", context="A map.", gold=("Landover", "Maryland"), rationale="It moved.")
    second = ItemRow("q2", 0, 'A "quoted" question\nof two lines')
    judge = JudgeLabelRow("gpt", "q1", 0, model="m1", repeat=1, raw="CORRECT", score=0.75, rationale="It is.")
    return [
        Unit(
            first,
            ResponseRow("q1", 0, "In Landover.", model="m1", repeat=1),
            (
                human(
                    "Ann", "q1", "m1", "CORRECT", note="sure\n“quite”", utc="2026-11-30T15:28:49.000Z", active_ms=4500
                ),
                human("Bo", "q1", "m1", "WRONG"),
                human("final", "q1", "m1", "CORRECT", role="adjudicator"),
            ),
            (judge,),
        ),
        Unit(
            first,
            ResponseRow("q1", 0, "Nowhere.", model="m2", repeat=1),
            (human("Ann", "q1", "m2", "WRONG", rating=40),),
        ),
        Unit(
            second, ResponseRow("q2", 0, "[1,\t2] \x1b[31m ü", model="m1", repeat=1), (human("Bo", "q2", "m1", None),)
        ),
    ]


@pytest.fixture
def read_back() -> Callable[[Path], list[Any]]:
    """Every row that annotate makes of a file that it wrote, its format recognised."""
    return lambda path: list(prepare([path]).rows)
