"""The dashboard at real studies; what it shows is counted by hand from what the coders said."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotate.board_counts import drift_z
from annotate.dashboard import StudyDashboard, board_lines
from annotate.protocols import load_protocol
from db.coding import CodingSession
from db.monitor import Drift
from db.records import Act
from db.study import open_study
from tests.tui.conftest import several, write_study
from tests.tui.test_adjudication_screen import two_coders
from tui.ports import Board, Line, Section
from tui.screens.dashboard import DashboardApp


def shown(app: DashboardApp) -> str:
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips()[: app.size[1]])


async def until(pilot: Any, holds: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came"
        await pilot.pause(0.02)


async def test_counts_are_shown_and_follow_a_coder_who_labels_meanwhile(tmp_path: Path) -> None:
    protocol = replace(load_protocol("ehq"), impossible=())
    path = write_study(tmp_path / "s.db", protocol, several(6), "ada")
    with open_study(path) as study, CodingSession.open(path, "ada", protocol) as coder:
        app = DashboardApp(StudyDashboard(study, blind=True), counts_every=0.05)
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: "ada, main  0 of 6" in shown(app))
            for _ in range(2):
                item = coder.next()
                coder.save(Act("label", item.assignment, label="HEDGE"))
            await until(pilot, lambda: "ada, main  2 of 6" in shown(app))
            assert "Not looked at." in shown(app) and "looks at interim results  0" in shown(app)
            await pilot.press("q")
        app.finish()


async def test_disagreements_and_a_small_terminal(tmp_path: Path) -> None:
    protocol = replace(load_protocol("ehq"), impossible=())
    path = two_coders(tmp_path / "study.db", protocol)
    with open_study(path) as study:
        app = DashboardApp(StudyDashboard(study, blind=True))
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: "! disagreements to decide  3" in shown(app))
            assert "67% → 33%" in shown(app) or app.screen.counts.known > 10
            await pilot.press("down", "pagedown", "end", "home", "tab", "down")
        app.finish()


class SlowBoard:
    """Live numbers that take until they are let go."""

    def __init__(self) -> None:
        self.gate, self.counted = threading.Event(), 0

    def counts(self) -> Board:
        self.counted += 1
        section = Section("S", (Line("count", str(self.counted), "\x1b[31m[b]x[/b]", alert=True),))
        return Board("t", (section,), "2026-01-01T00:00:00.000Z", {})

    def live(self) -> Board:
        self.gate.wait(20)
        return Board("t", (Section("Agreement", (Line("alpha", "0.80"),)),), "2026-01-01T00:00:01.000Z", {})

    def close(self) -> None:
        self.gate.set()


async def test_slow_live_numbers_block_neither_counts_nor_keys_and_markup_stays_text() -> None:
    board = SlowBoard()
    app = DashboardApp(board, counts_every=0.02)
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: board.counted > 3)
        assert "Computing agreement" in shown(app) and "[b]x[/b]" in shown(app)
        board.gate.set()
        await until(pilot, lambda: "alpha  0.80" in shown(app))
        await pilot.press("q")
    app.finish()


def test_the_plain_board_says_the_same(tmp_path: Path) -> None:
    protocol = replace(load_protocol("ehq"), impossible=())
    path = two_coders(tmp_path / "study.db", protocol)
    with open_study(path) as study:
        told = list(board_lines(StudyDashboard(study).counts()))
    assert "  ! disagreements to decide: 3 (0 decided, 0 wait for a coder)" in told
    assert any(line.strip().startswith("ada: 67% → 33%") for line in told)  # 2 of 3 the same, then 1 of 3


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((100, 90), (100, 70), -3.5355),  # by hand: .2 / sqrt(.8 * .2 * .02)
        ((100, 80), (100, 80), 0.0),
        ((19, 10), (100, 50), None),
        ((50, 50), (50, 50), 0.0),
    ],
)
def test_drift_is_a_two_proportion_test(
    first: tuple[int, int], second: tuple[int, int], expected: float | None
) -> None:
    found = drift_z(Drift("ada", first, second))
    assert found is None if expected is None else found == pytest.approx(expected, abs=1e-4)


async def test_a_training_label_is_answered_on_the_screen_and_in_plain_mode(tmp_path: Path) -> None:
    import io

    from db.known import set_known
    from tests.tui.seat import seated
    from tui.keymap import load_keymap
    from tui.plain import run_plain

    protocol = replace(load_protocol("ehq"), impossible=(), min_dwell_ms=0)
    path = write_study(tmp_path / "s.db", protocol, several(3), "ada")
    with open_study(path) as study:
        study.connection.execute("UPDATE rounds SET kind = 'training'")
        units = [row[0] for row in study.connection.execute("SELECT public_id FROM units ORDER BY id")]
        set_known(study, "main", dict.fromkeys(units, "HEDGE"), explanations={units[0]: "It says maybe."})
    async with seated((path, protocol)) as seat:
        await seat.press("w")
        assert "Training: you said WRONG, it is HEDGE. It says maybe." in seat.text()
        await seat.press("h")
        assert "Training: HEDGE it is." in seat.text()
    out = io.StringIO()
    run_plain(lambda: CodingSession.open(path, "ada", protocol), load_keymap, lines=io.StringIO("a\nq\n"), out=out)
    assert "Training: you said ABSTAIN, it is HEDGE." in out.getvalue()


async def test_the_leads_answer_stands_on_the_item(tmp_path: Path) -> None:
    from db.questions import answer_question, open_questions
    from tests.tui.seat import seated

    protocol = replace(load_protocol("ehq"), impossible=(), min_dwell_ms=0)
    path = write_study(tmp_path / "s.db", protocol, several(3), "ada")
    with CodingSession.open(path, "ada", protocol) as session:
        item = session.next()
        session.save(Act("flag", item.assignment, flag="discuss", note="Is this a hedge?"))
    with open_study(path) as study:
        (question,) = open_questions(study)
        assert (question.asked, question.coder) == ("Is this a hedge?", "coder-1")
        answer_question(study, question.assignment, "Yes, it says maybe.")
        assert open_questions(study) == ()
    async with seated((path, protocol)) as seat:
        assert "Answer" in seat.text() and "Yes, it says maybe." in seat.text()
