"""A whole study driven through the screens by Textual's pilot, in one run."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotate.adjudicating import open_cases
from annotate.dashboard import StudyDashboard
from annotate.protocols import parse_protocol
from db.records import Protocol
from db.study import open_study
from tests.end_to_end.conftest import Cli
from tests.end_to_end.two_weeks import KEYS, PLACE, right_label, same_summary, two_weeks
from tests.tui.seat import Seat, seated
from tui.casedesk import Step
from tui.modes import Mode
from tui.screens.adjudication import CaseApp
from tui.screens.dashboard import DashboardApp


class Pilot:
    """The screens in this process."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def code(self, coder: str, most: int | None) -> list[str]:
        told: list[str] = []
        async with self._seat(coder) as seat:
            await _confirmed(seat)
            while seat.controller.item is not None and (most is None or len(told) < most):
                position = int(PLACE.search(seat.text()).group(1))  # type: ignore[union-attr]
                await seat.press(KEYS[right_label(self._path, coder, position)])
                told.append(seat.text())
            summary = seat.controller.summary(coder)
            same_summary(summary.items, len(told), summary.left, seat.text())
        return told

    async def ask(self, coder: str, words: str) -> None:
        async with self._seat(coder) as seat:
            await seat.press("n", *("space" if c == " " else "?" if c == "?" else c for c in words), "enter", "f", "d")

    async def header(self, coder: str) -> str:
        async with self._seat(coder) as seat:
            return str(seat.text())

    async def decide(self, *options: str, keys: tuple[str, str], undo: bool = False) -> list[str]:
        screens: list[str] = []
        with open_cases(self._path, "Lea", **_review(options)) as session:
            app = CaseApp(session, "Lea", clock=time.monotonic)
            async with app.run_test(size=(120, 40)) as pilot:
                await _ready(app, pilot)
                while app.desk.case is not None:
                    screens.append(_shown(app))
                    for key in (*keys, *(("u", *keys) if undo else ())):
                        await pilot.press(key)
                        await _ready(app, pilot)
                    undo = False
                screens.append(_shown(app))
            app.finish()
        return screens

    async def board(self, text: str) -> str:
        with open_study(self._path) as study:
            app = DashboardApp(StudyDashboard(study, blind=True))
            async with app.run_test(size=(120, 40)) as pilot:
                end = time.monotonic() + 20
                while text not in (shown := _shown(app)):
                    assert time.monotonic() < end, shown
                    await pilot.pause(0.02)
            app.finish()
        return shown

    @asynccontextmanager
    async def _seat(self, coder: str) -> Any:
        async with seated((self._path, _codebook(self._path)), coder=coder) as seat:
            yield seat


async def _confirmed(seat: Seat) -> None:
    """A codebook that has changed is shown first, and confirmed by Enter."""
    if seat.mode is Mode.PROTOCOL:
        assert "HEDGE" in seat.text()
        await seat.press("enter")


def _codebook(path: Path) -> Protocol:
    with open_study(path, read_only=True) as study:
        return replace(parse_protocol(study.protocol_toml, study.protocol_name), min_dwell_ms=0)


def _review(options: tuple[str, ...]) -> dict[str, Any]:
    given: dict[str, Any] = dict(zip(options[::2], options[1::2], strict=True))
    found: dict[str, Any] = {"controls": int(given["--controls"])} if "--controls" in given else {}
    if "--against" in given:
        found["against"] = given["--against"]
    if "--between" in given:
        found["between"] = tuple(given["--between"].split(","))
    return found


async def _ready(app: CaseApp, pilot: Any) -> None:
    for _ in range(2000):
        await pilot.pause(0.005)
        if app.desk.step is not Step.SAVING:
            return
    raise AssertionError("it was never saved")


def _shown(app: Any) -> str:
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips()[: app.size[1]])


async def test_a_whole_study_through_the_screens(ehq_study: Path, cli: Cli, tmp_path: Path) -> None:
    await two_weeks(ehq_study, cli, Pilot(ehq_study), tmp_path)
