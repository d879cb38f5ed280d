"""The lead's dashboard: counts on one side, live numbers on the other. It refreshes by itself, in a thread."""

from __future__ import annotations

import os
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message

from db.errors import AnnotateError
from tui.document import Document, Writer
from tui.pane import Pane
from tui.pieces import Row, piece
from tui.ports import Board, Dashboard, Section
from tui.presses import press_of
from tui.quiet import QuietApp
from tui.safetext import safe
from tui.screens.split import SCROLL, SplitScreen
from tui.themes import THEMES
from tui.widgets.rows import Rows

WIDE = 110
"""Cells from which on counts and live numbers stand side by side."""
COUNTS_EVERY = 5.0
LIVE_EVERY = 60.0
"""Seconds from the end of one refresh to the start of the next, at least."""
REST = 4
"""A refresh rests this many times as long as it took: never more than a fifth of a processor for a large study."""
LOW = 10


def board_document(board: Board | None, waiting: str) -> Document:
    """The sections of a board; ``!`` marks what needs the lead."""
    writer = Writer()
    if board is None:
        return writer.add(waiting, "quiet").document()
    for section in board.sections:
        _section(writer, section)
    return writer.document()


def _section(writer: Writer, section: Section) -> None:
    writer.line(safe(section.title).one_line(), "strong")
    for line in section.lines:
        writer.line("! " if line.alert else "  ", "own" if line.alert else None, indent=(0, 4))
        writer.add(safe(line.name).one_line()).add("  ")
        writer.add(safe(line.value).one_line(), "label")
        if line.more:
            writer.add("  ").add(safe(line.more).one_line(), "quiet")
    for note in section.note.splitlines():
        writer.line(safe(note), "quiet", indent=(2, 2))
    writer.line()


class BoardScreen(SplitScreen, inherit_bindings=False):
    """Two panes, a status line, a footer."""

    app: DashboardApp

    def __init__(self) -> None:
        super().__init__()
        self.counts, self.live = Pane(), Pane()
        self.counts.used = True

    def look(self) -> str:
        return self.app.look

    def on_mount(self) -> None:
        self._bottom.styles.height = 1
        self.redraw()
        self.app.begin()

    def redraw(self) -> None:
        """Draw both boards where they stand; a refresh keeps the place that is read."""
        app = self.app
        for pane, board, waiting in (
            (self.counts, app.counted, "Counting …"),
            (self.live, app.computed, "Computing agreement and score change …"),
        ):
            top = pane.top
            pane.show(board_document(board, waiting))
            pane.top = top
        self._arrange()
        at = f"{app.counted.at[11:19]} UTC" if app.counted else "…"
        live = f"{app.computed.at[11:19]} UTC" if app.computed else "…"
        title = app.counted.title if app.counted else ""
        left = (piece(" dashboard  ", "quiet"), piece(safe(title).one_line(), "strong"))
        self._status.set_rows([Row(left, (piece(f"counts {at}  live {live} ", "quiet"),))])
        keys = [(" r ", "refresh"), (" Tab ", "panel"), (" ↑↓ ", "scroll"), (" q ", "leave")]
        pieces = [p for key, word in keys for p in (piece(key, "key", key.strip()), piece(f" {word}  ", "quiet"))]
        failed = (piece(app.problem, "bad"),) if app.problem else ()
        self._bottom.set_rows([Row((piece(" "), *pieces, *failed))])

    def _arrange(self) -> None:
        wide = self.size.width >= WIDE
        self._right.display = wide
        self._right.styles.width = self.size.width * 2 // 5
        self._left.show([self.counts] if wide else [self.counts, self.live], [] if wide else [self.live])
        self._right.show([self.live])

    def on_resize(self, event: events.Resize) -> None:
        self._arrange()

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        press = press_of(event)
        if self._fragments.swallows(press.character or press.key, event.time):
            return
        if press.key in ("q", "escape", "ctrl+c", "ctrl+q"):
            self.app.exit()
        elif press.key == "r":
            self.app.refresh_now()
        elif press.key in ("tab", "shift+tab"):
            self.counts.used, self.live.used = self.live.used, self.counts.used
            self._arrange()
        elif press.key in SCROLL:
            pane = self.live if self.live.used else self.counts
            holder = self._right if pane is self.live and self._right.display else self._left
            holder.scroll_pane(pane, SCROLL[press.key](pane))

    def on_rows_clicked(self, message: Rows.Clicked) -> None:
        if message.sends == "r":
            self.app.refresh_now()
        elif message.sends == "q":
            self.app.exit()


def _step_back() -> None:
    """Where a thread can have a priority of its own, this one's is low: a coder's save comes first."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOW)


class DashboardApp(QuietApp, inherit_bindings=False):
    """Asks the port for boards in two threads, so that counts never wait for live numbers."""

    CSS_PATH = "../desk.tcss"
    TITLE = "annotate"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []

    @dataclass
    class Came(Message):
        """A board, or what went wrong."""

        which: str
        found: Any

    def __init__(
        self,
        dashboard: Dashboard,
        *,
        theme: str = "dark",
        counts_every: float = COUNTS_EVERY,
        live_every: float = LIVE_EVERY,
    ) -> None:
        super().__init__(ansi_color=theme not in THEMES)
        self.look, self.problem = theme, ""
        self.counted: Board | None = None
        self.computed: Board | None = None
        self._calls = {"counts": dashboard.counts, "live": dashboard.live}
        self._every = {"counts": counts_every, "live": live_every}
        self._close = dashboard.close
        self._pools = {
            name: ThreadPoolExecutor(1, thread_name_prefix=name, initializer=_step_back) for name in self._calls
        }
        self._busy: set[str] = set()
        self._asked: dict[str, float] = {}
        self._board_screen = BoardScreen()

    def get_default_screen(self) -> BoardScreen:
        return self._board_screen

    def begin(self) -> None:
        """Ask for both boards for the first time."""
        self.refresh_now()

    def refresh_now(self) -> None:
        """Ask for both boards, unless they are being made."""
        for which in self._calls:
            self._ask(which)

    def _ask(self, which: str) -> None:
        if which in self._busy:
            return
        self._busy.add(which)
        self._asked[which] = time.monotonic()

        def deliver(future: Future[Board]) -> None:
            error = future.exception()
            self.post_message(self.Came(which, future.result() if error is None else error))

        self._pools[which].submit(self._calls[which]).add_done_callback(deliver)

    def on_dashboard_app_came(self, message: Came) -> None:
        self._busy.discard(message.which)
        self.problem = ""
        if isinstance(message.found, AnnotateError):
            self.problem = str(safe(str(message.found)).one_line(200))
        elif isinstance(message.found, BaseException):
            raise message.found
        elif message.which == "counts":
            self.counted = message.found
        else:
            self.computed = message.found
        self._board_screen.redraw()
        took = time.monotonic() - self._asked[message.which]
        rest = max(self._every[message.which], REST * took)
        self.set_timer(rest, lambda: self._ask(message.which))

    def finish(self) -> None:
        """End what is still being computed; nobody is there to be told."""
        self._close()
        for pool in self._pools.values():
            pool.shutdown(wait=True, cancel_futures=True)
