"""Opening the dashboard in a terminal."""

from __future__ import annotations

import os
from pathlib import Path

from tui.crash import report_crash
from tui.ports import Dashboard
from tui.preferences import load_preferences
from tui.run import checked_theme, look_of, require_terminal


def run_dashboard_screen(dashboard: Dashboard, side: Path, *, theme: str | None = None) -> None:
    """The dashboard until the lead leaves. ``side``: where a crash is logged. Raises AnnotateError."""
    require_terminal()
    preferences = load_preferences()
    wanted = look_of(checked_theme(theme or preferences.theme))
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")  # before Textual reads it
    from tui.screens.dashboard import DashboardApp

    app = DashboardApp(dashboard, theme=wanted)
    try:
        app.run(mouse=preferences.mouse)
    finally:
        app.finish()
    if app.failure is not None:
        raise report_crash(app.failure, side) from None
