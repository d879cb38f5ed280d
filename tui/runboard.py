"""Opening the dashboard in a terminal."""

from __future__ import annotations

from pathlib import Path

from tui.ports import Dashboard
from tui.runlead import LeadApp, run_lead


def run_dashboard_screen(dashboard: Dashboard, side: Path, *, theme: str | None = None) -> None:
    """The dashboard until the lead leaves. ``side``: where a crash is logged. Raises AnnotateError."""

    def make(wanted: str) -> LeadApp:
        from tui.screens.dashboard import DashboardApp

        return DashboardApp(dashboard, theme=wanted)

    run_lead(make, side, theme)
