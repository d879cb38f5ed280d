"""Opening the lead's desk in a terminal, and what is said when it fails."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from tui.crash import report_crash
from tui.preferences import load_preferences
from tui.run import checked_theme, look_of, require_terminal

if TYPE_CHECKING:
    from db.adjudicating import AdjudicationSession


def run_case_screen(session: AdjudicationSession, who: str, *, theme: str | None = None) -> None:
    """The adjudication screen until the lead leaves. Raises AnnotateError."""
    require_terminal()
    preferences = load_preferences()
    wanted = look_of(checked_theme(theme or preferences.theme))
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")  # before Textual reads it
    from tui.screens.adjudication import CaseApp

    app = CaseApp(session, who, clock=time.monotonic, theme=wanted)
    try:
        app.run(mouse=preferences.mouse)
    finally:
        app.finish()
    if app.failure is not None:
        raise report_crash(app.failure, session.study.side) from None
