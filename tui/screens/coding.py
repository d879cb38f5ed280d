"""The coding screen: it shows what the controller holds, and passes keys on. It decides nothing."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from tui import bars, lists
from tui.codebook import RATING, codebook
from tui.controller import Controller
from tui.document import Document
from tui.fragments import Fragments
from tui.itemview import ItemView
from tui.keymachine import Press
from tui.modes import SHEETS, TYPING, Mode
from tui.pane import WIDEST, Pane
from tui.pieces import Row
from tui.presses import press_of
from tui.requests import View
from tui.widgets.rows import Rows
from tui.widgets.stack import Stack

if TYPE_CHECKING:
    from tui.app import CodingApp

WIDE = 100
"""Cells from which on the codebook stands beside the item."""
SLOW = 0.1
"""Seconds after which a save that is still under way is shown as such."""


class CodingScreen(Screen[None], inherit_bindings=False):
    """Status line, item, codebook, decision bar, footer; a sheet instead of the item, or a list under it."""

    AUTO_FOCUS: ClassVar[str | None] = ""
    ALLOW_SELECT: ClassVar[bool] = False

    app: CodingApp

    def __init__(self, coder: str) -> None:
        super().__init__()
        self.coder = coder
        self.item = ItemView()
        self._telling = bars.Telling()
        self._status, self._bottom = Rows(id="status"), Rows(id="bottom")
        self._stack, self._beside = Stack(id="item"), Stack(id="codebook", ground="side", left=2)
        self._book = Pane()
        self._page = Pane()
        self._book_shows: object = None
        self._page_shows: object = None
        self._listed = 0
        self._fragments = Fragments()
        self._wait: Timer | None = None
        self._slow: Timer | None = None

    def _place(self) -> None:
        """Status line on top, decision bar and footer at the bottom, the item and the codebook side by side between.

        Set here and not in a style sheet, which would have to be read and parsed before the first item is shown.
        """
        self.styles.layout = "horizontal"
        self.styles.overflow_x = self.styles.overflow_y = "hidden"
        self._status.styles.dock, self._status.styles.height = "top", 1
        self._bottom.styles.dock, self._bottom.styles.height = "bottom", 4
        self._stack.styles.width, self._stack.styles.height = "1fr", "100%"
        self._beside.styles.height = "100%"

    def compose(self) -> ComposeResult:
        self._place()
        self.set_theme(self.app.look)  # here, because a frame may be drawn before the screen is mounted
        yield self._status
        yield self._bottom
        yield self._stack
        yield self._beside

    def on_mount(self) -> None:
        self._beside.show([self._book])
        self._fit(self.app.size.width)
        self.app.screen_ready()

    def set_theme(self, name: str) -> None:
        """Draw everything in this theme."""
        for widget in (self._status, self._stack, self._beside, self._bottom):
            widget.set_theme(name)

    # --- keys and mouse -------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        press = press_of(event)
        part = self._fragments.swallows(press.character or press.key, event.time)
        if not part or self._controller.state.mode in TYPING:
            self._controller.press(press, event.time)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._controller.keyboard.feed_paste(event.text)

    def on_stack_used(self, message: Stack.Used) -> None:
        self.item.use_pane(message.pane)
        self._stack.fit_panes()

    def on_rows_clicked(self, message: Rows.Clicked) -> None:
        if message.sends:
            typed = message.sends if len(message.sends) == 1 else None
            self._controller.press(Press(message.sends, typed), message.time)
        elif message.rows is self._bottom and 0 < message.row <= self._listed:
            self._pick(message.row - 1, message.time)

    def _pick(self, row: int, at: float) -> None:
        """A click on a row chooses it, as the arrow keys and Enter would."""
        controller, state = self._controller, self._controller.state
        target = lists.first_row(state, self._list_length(), self._list_height()) + row
        step = "down" if target > state.row else "up"
        for _ in range(abs(target - state.row)):
            controller.press(Press(step), at)
        controller.press(Press("enter"), at)

    def on_resize(self, event: events.Resize) -> None:
        self._fit(event.size.width)
        self.refresh_mode()

    # --- what the controller asks for -----------------------------------------------------------

    def show(self, view: View) -> None:
        """Show another item, from its top."""
        self._telling = bars.Telling()
        self.item.show(view.item)
        self._show_panes()
        if view.item is not None:
            assignment = view.item.assignment
            self.call_after_refresh(lambda: self._painted(assignment))

    def _painted(self, assignment: str) -> None:
        self._controller.painted(assignment, self.app.clock())
        if not gc.isenabled():
            gc.freeze()  # what is loaded stays: later collections need not look at it
            gc.enable()

    def refresh_mode(self) -> None:
        """Draw what depends on the mode. A save is shown as under way only if it takes a while."""
        if self._controller.state.mode is Mode.SAVING:
            self._slow = self._slow or self.set_timer(SLOW, self._draw_mode)
        else:
            self._draw_mode()

    def notice(self, text: str, *, loud: bool = False) -> None:
        self._telling = bars.Telling(text, loud)
        self.refresh_mode()

    def hush(self) -> None:
        """A key was pressed: what was said before it is old."""
        self._telling = bars.Telling()

    def scroll(self, action: str) -> None:
        """Carry out one of the reading actions on the pane in use, or on the sheet."""
        if action in ("panel", "panel_back"):
            self.item.turn(1 if action == "panel" else -1)
            self._stack.fit_panes()
            return
        on_sheet = self._controller.state.mode in SHEETS
        pane = self._page if on_sheet else self.item.pane
        if pane is not None:
            self._stack.scroll_pane(pane, _target(pane, action))

    def find(self, text: str, turn: int) -> None:
        self.item.find(text, turn)
        self._stack.fit_panes()

    def highlight(self, on: bool) -> None:
        self.item.highlight(on)
        self._stack.fit_panes()
        self.notice("" if on else "Differences are no longer marked.")

    def next_theme(self) -> None:
        self.notice(f"Theme: {self.app.turn_theme()}.")

    def unseen(self) -> int:
        return self.item.unseen

    def codebook_changed(self) -> None:
        self._book_shows = None

    def after(self, seconds: float, call: Callable[[], None]) -> None:
        if self._wait is not None:
            self._wait.stop()
        self._wait = self.set_timer(seconds, call)

    def leave(self) -> None:
        self.app.exit()

    def crash(self, error: BaseException) -> None:
        raise error

    # --- inside ---------------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        """Nothing of the screen itself is ever in view."""
        return [Strip.blank(crop.width)] * crop.height

    @property
    def _controller(self) -> Controller:
        return self.app.controller

    def _show_panes(self) -> None:
        self._stack.show(list(self.item.panes.values()), self.item.judged)

    def _draw_mode(self) -> None:
        if self._slow is not None:
            self._slow.stop()
            self._slow = None
        controller = self._controller
        state, desk, view, wide = controller.state, controller.desk, controller.view, self.size.width
        tired = controller.tally.tired
        self._status.set_rows([bars.status(desk.protocol.name, self.coder, view, state, wide, tired=tired)])
        decision = bars.decision(desk, state, view, self._told(), wide)
        self._bottom.set_rows([*self._list_rows(), *decision, bars.footer(desk, state, wide)], grow=True)
        self._show_page()
        self._show_book()

    def _told(self) -> bars.Telling:
        controller = self._controller
        state, label = controller.state, controller.state.label
        return self._telling._replace(
            failure=controller.failure,
            found=self.item.found if state.mode is Mode.SEARCH and state.line.text else "",
            impossible=controller.impossible().get(label, "") if label else "",
            rule=self._rule(),
        )

    def _rule(self) -> str:
        """The rule under consideration in a line, where the codebook has no place beside the item."""
        label, protocol = self._considered(), self._controller.desk.protocol
        if self._beside.display or label not in protocol.label_names or self._controller.state.mode is not Mode.LABEL:
            return ""
        return f"{label}: {' '.join(protocol.label(label).definition.split())}"

    def _fit(self, width: int) -> None:
        """The codebook stands beside the item where there is room for both."""
        _display(self._beside, width >= WIDE and self._page_shows is None)
        book, now = max(36, min(width * 36 // 100, WIDEST + 4)), self._beside.styles.width
        if now is None or now.value != book:
            self._beside.styles.width = book

    def _considered(self) -> str | None:
        """The label whose rule is in view: the one that waits, the one looked up, or the one that was given."""
        controller = self._controller
        annotation = None if controller.view is None else controller.view.annotation
        given = None if annotation is None else annotation.label
        return controller.state.label or controller.looked_up or given

    def _show_book(self) -> None:
        mode, desk = self._controller.state.mode, self._controller.desk
        shows = (self._considered(), desk.protocol.digest, mode is Mode.RATING)
        if shows == self._book_shows or mode in SHEETS:
            return
        self._book_shows = shows
        document, starts = codebook(desk.protocol, desk.keymap, shows[0])
        self._book.show(document)
        start = starts.get(RATING if mode is Mode.RATING else shows[0] or "", 0)
        self._beside.fit_panes()
        self._beside.scroll_pane(self._book, self._book.line_of(start) if start else 0)

    def _show_page(self) -> None:
        """A sheet covers the item in some modes."""
        mode, looked_up = self._controller.state.mode, self._controller.state.looked_up
        shows = (mode, looked_up) if mode in SHEETS else None
        if shows == self._page_shows:
            return
        opens_or_closes = (shows is None) != (self._page_shows is None)
        self._page_shows = shows
        if opens_or_closes:
            self._fit(self.size.width)
        if shows is None:
            self._show_panes()
            return
        document, offset = self._sheet_page(mode)
        self._page.show(document)
        self._stack.show([self._page])
        self.call_after_refresh(
            lambda: self._stack.scroll_pane(self._page, self._page.line_of(offset) if offset else 0)
        )

    def _sheet_page(self, mode: Mode) -> tuple[Document, int]:
        from tui import sheets

        controller = self._controller
        if mode is Mode.HELP:
            return sheets.help_page(controller.desk, controller.state.looked_up)
        if mode is Mode.SUMMARY:
            return sheets.summary_page(controller.summary(self.coder)), 0
        assert controller.pending is not None
        return sheets.change_page(controller.pending), 0

    def _list_rows(self) -> list[Row]:
        """The list that is open, above the decision bar; its first row is a rule."""
        controller, wide = self._controller, self.size.width
        desk, state = controller.desk, controller.state
        if state.mode not in lists.LISTS:
            self._listed = 0
            return []
        shown = lists.rows(desk, state, controller.queue.entries, self._list_height(), wide)
        self._listed = len(shown) - 1
        return shown

    def _list_length(self) -> int:
        controller = self._controller
        return lists.count(controller.desk, controller.state, controller.queue.entries)

    def _list_height(self) -> int:
        return max(min(self._list_length(), self.size.height * 2 // 5), 3)


def _display(widget: Widget, shown: bool) -> None:
    if widget.display != shown:
        widget.display = shown


def _target(pane: Pane, action: str) -> int:
    """The line that an action of reading puts at the top."""
    page = max(pane.height - 2, 1)
    if action == "end":
        pane.ensure(None)
        return pane.known
    return {
        "down": pane.top + 1,
        "up": pane.top - 1,
        "page_down": pane.top + page,
        "page_up": pane.top - page,
        "top": 0,
    }[action]
