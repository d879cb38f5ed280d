"""Opening a program of the lead's in a terminal, and what is said when it fails."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol as Port

from tui.crash import report_crash
from tui.preferences import load_preferences
from tui.run import checked_theme, look_of, require_terminal


class LeadApp(Port):
    """An app that can be waited for, or ended, after it was left."""

    failure: Exception | None

    def run(self, *, mouse: bool) -> None: ...

    def finish(self) -> None: ...


def run_lead(make: Callable[[str], LeadApp], side: Path, theme: str | None) -> None:
    """What ``make`` makes of the name of a theme, until the lead leaves. ``side``: where a crash is logged.

    Raises AnnotateError.
    """
    require_terminal()
    preferences = load_preferences()
    wanted = look_of(checked_theme(theme or preferences.theme))
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")  # before Textual reads it
    app = make(wanted)
    try:
        app.run(mouse=preferences.mouse)
    finally:
        app.finish()
    if app.failure is not None:
        raise report_crash(app.failure, side) from None
