"""The Textual application: one screen, its themes, and the way from the study's thread to the screen."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message

from db.records import Protocol
from tui.controller import Controller
from tui.keymap import Keymap
from tui.quiet import QuietApp
from tui.requests import Report
from tui.screens.coding import CodingScreen
from tui.studythread import StudyThread
from tui.themes import THEMES


class CodingApp(QuietApp, inherit_bindings=False):
    """Runs one coder's session. Keys go to the key machine; nothing is bound here."""

    TITLE = "annotate"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []

    # The clock that stamps Textual's events.
    clock = staticmethod(time.perf_counter if sys.platform == "win32" else time.monotonic)

    class FromStudy(Message):
        """A report of the study's thread."""

        def __init__(self, report: Report) -> None:
            super().__init__()
            self.report = report

    def __init__(
        self,
        thread: StudyThread,
        *,
        coder: str,
        protocol: Protocol,
        make_keymap: Callable[[Protocol], Keymap],
        read_protocol: Callable[[str, str], Protocol] | None = None,
        theme: str = "dark",
    ) -> None:
        super().__init__(ansi_color=theme not in THEMES)
        # Nothing here uses Textual's tooltips and toasts; each of them would be a widget to mount.
        self._disable_tooltips = self._disable_notifications = True
        self.look = theme
        self.coder = coder
        self._thread_of_study = thread
        self._screen = CodingScreen(coder)
        self.controller = Controller(
            self._screen,
            thread.submit,
            protocol=protocol,
            make_keymap=make_keymap,
            read_protocol=read_protocol,
            clock=self.clock,
        )

    def get_default_screen(self) -> CodingScreen:
        return self._screen

    def screen_ready(self) -> None:
        """The screen can show something: let reports come."""
        for report in self._thread_of_study.start(self._deliver):
            self.controller.receive(report)

    def _deliver(self, report: Report) -> None:
        """Called in the study's thread; posting a message is all that is allowed there."""
        self.post_message(self.FromStudy(report))

    def on_coding_app_from_study(self, message: FromStudy) -> None:
        self.controller.receive(message.report)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.MouseEvent) and not event.is_forwarded:
            self.controller.touch(event.time)
        await super().on_event(event)

    def turn_theme(self) -> str:
        """Take the next theme; returns its name. A terminal without colours has only its own."""
        if self.look in THEMES:
            names = list(THEMES)
            self.look = names[(names.index(self.look) + 1) % len(names)]
            self._screen.set_theme(self.look)
        return self.look
