"""Opening the adjudication screen in a terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tui.runlead import LeadApp, run_lead

if TYPE_CHECKING:
    from db.adjudicating import AdjudicationSession


def run_case_screen(session: AdjudicationSession, who: str, *, theme: str | None = None) -> None:
    """The adjudication screen until the lead leaves. Raises AnnotateError."""

    def make(wanted: str) -> LeadApp:
        from tui.screens.adjudication import CaseApp

        return CaseApp(session, who, clock=time.monotonic, theme=wanted)

    run_lead(make, session.study.side, theme)
