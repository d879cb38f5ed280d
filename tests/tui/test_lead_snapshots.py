"""What the lead's screens look like: a fixed case and a fixed board, at two sizes in each theme.

After a change that is meant: ``ANNOTATE_WRITE_SNAPSHOTS=1 pytest tests/tui/test_lead_snapshots.py``, then see the diff.
"""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from annotate.protocols import load_protocol
from db.cases import REASONS, Case, Opinion, Queue
from db.records import CodingItem
from tests.tui.test_snapshots import ITEM, compare, snapshot
from tui.casedesk import Step
from tui.ports import Board, Line, Section
from tui.screens.adjudication import CaseApp
from tui.screens.dashboard import DashboardApp

pytestmark = [
    pytest.mark.parametrize("theme", ["dark", "light", "high-contrast", "terminal"]),
    pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"]),
]

CODING_ITEM = CodingItem(
    assignment="u1",
    unit="u1",
    position=0,
    question=ITEM["question"],
    context=ITEM["context"],
    gold=tuple(ITEM["gold"]),
    rationale=ITEM["rationale"],
    options=(),
    text=ITEM["text"],
    text_b=None,
    reason=None,
    choice=None,
    impossible=(),
    sides_swapped=False,
)
OPINIONS = (
    Opinion("coder A", "CORRECT", words="names the designer\u200b in full"),
    Opinion("coder B", "WRONG", flags=("discuss",)),
    Opinion("coder C", None, skipped="cannot be judged"),
)


class FixedCases:
    """One case that is still to be decided, and one that is."""

    mode = "people"
    protocol = replace(load_protocol("ehq"), impossible=())
    choices = protocol.label_names
    reasons = dict(REASONS)

    def queue(self):
        return Queue(("u1", "u2"), {"u1": "the labels differ"}, frozenset(("u2",)), waiting=1)

    def case(self, unit):
        return Case(unit, "the labels differ", CODING_ITEM, OPINIONS, None)

    def decide(self, unit, decision):
        raise NotImplementedError

    def undo(self):
        return None


class FixedBoard:
    """Counts, and numbers with their intervals."""

    def counts(self):
        progress = Section("Progress", (Line("ada, main", "4 of 6", "2 left"), Line("failed checks", "1", alert=True)))
        return Board("A study", (progress,), "2026-01-02T03:04:05.678Z", {})

    def live(self):
        kappa = Line("Cohen's κ", "0.61", "[0.42, 0.77], 6 units")
        return Board("A study", (Section("Agreement", (kappa,), "Weighted."),), "2026-01-02T03:04:06.000Z", {})

    def close(self):
        pass


async def until(pilot, holds):
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        await pilot.pause(0.01)
    await pilot.pause(0.05)


async def test_a_case(theme, size):
    app = CaseApp(FixedCases(), "Lea", clock=time.monotonic, theme=theme)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.desk.step is Step.DECIDE)
        await pilot.press("w")
        await pilot.pause(0.05)
        seen = snapshot(app)
    app.finish()
    compare(f"case-{size[0]}x{size[1]}-{theme}", seen)


async def test_the_dashboard(theme, size):
    app = DashboardApp(FixedBoard(), theme=theme)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.counted is not None and app.computed is not None)
        seen = snapshot(app)
    app.finish()
    compare(f"dashboard-{size[0]}x{size[1]}-{theme}", seen)
