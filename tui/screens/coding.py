"""The coding screen: it shows what the controller holds, and passes keys on. It decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen
from textual.timer import Timer

from tui import bars, lists, sheets
from tui.codebook import RATING, codebook
from tui.controller import Controller
from tui.differences import differences
from tui.document import Document, Span, places
from tui.keymachine import Press
from tui.layout import Need, share
from tui.modes import Mode
from tui.parts import Part, parts
from tui.pieces import Row, piece
from tui.requests import View
from tui.widgets.rows import Rows
from tui.widgets.textpanel import TextPanel

if TYPE_CHECKING:
    from tui.app import CodingApp

PARTS = ("question", "context", "response", "second", "gold", "rationale")
WIDE = 100
"""Cells from which on the codebook stands beside the item."""
GUTTER = 13
LOW = 28
"""Lines below which nothing is spent on space."""
MOST_LINES = 400


class CodingScreen(Screen[None], inherit_bindings=False):
    """Status line, item, codebook, decision bar, footer; a sheet or a list opens over or under the item."""

    AUTO_FOCUS: ClassVar[str | None] = ""
    ALLOW_SELECT: ClassVar[bool] = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012 (declared so by Screen)
    VERTICAL_BREAKPOINTS = [(0, "-low"), (LOW, "-tall")]  # noqa: RUF012

    app: CodingApp

    def __init__(self, coder: str) -> None:
        super().__init__()
        self.coder = coder
        self._telling = bars.Telling()
        self._parts: dict[str, Part] = {}
        self._used = "response"
        self._found: list[tuple[str, int, int]] = []
        self._place = -1
        self._wait: Timer | None = None
        self._book: tuple[str | None, str] | None = None
        self._sheet: object = None

    def compose(self) -> ComposeResult:
        yield Rows(id="status")
        with Container(id="desk"):
            with Container(id="item"):
                for name in PARTS:
                    yield TextPanel(gutter=GUTTER, bar=name in ("response", "second"), id=name)
            yield TextPanel(id="codebook")
        yield TextPanel(id="sheet")
        yield Rows(id="list")
        yield Rows(id="rule")
        yield Rows(id="decision")
        yield Rows(id="footer")

    def on_mount(self) -> None:
        for name in PARTS:
            self._panel(name).display = False
        self.app.screen_ready()

    # --- keys and mouse -------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        self._controller.press(press_of(event), event.time)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._controller.keyboard.feed_paste(event.text)

    def on_text_panel_used(self, message: TextPanel.Used) -> None:
        if message.panel.id in self._parts:
            self._use(message.panel.id)

    def on_rows_clicked(self, message: Rows.Clicked) -> None:
        at = message.time
        if message.sends:
            self._controller.press(Press(message.sends, message.sends if len(message.sends) == 1 else None), at)
        elif message.rows.id == "list":
            self._pick(message.row, at)

    def _pick(self, row: int, at: float) -> None:
        """A click on a row chooses it, as the arrow keys and Enter would."""
        controller, state = self._controller, self._controller.state
        size = self._list.size.height
        target = lists.first_row(state, self._list_length(), size) + row
        step = "down" if target > state.row else "up"
        for _ in range(abs(target - state.row)):
            controller.press(Press(step), at)
        controller.press(Press("enter"), at)

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._arrange)

    # --- what the controller asks for -----------------------------------------------------------

    def show(self, view: View) -> None:
        """Show another item, from its top."""
        self._telling = bars.Telling()
        self._found, self._place = [], -1
        self._parts = {} if view.item is None else {part.name: part for part in parts(view.item)}
        for name in PARTS:
            panel = self._panel(name)
            panel.display = name in self._parts
            if name in self._parts:
                panel.title = self._parts[name].title
                panel.show(self._parts[name].document)
        self._use("response")
        if view.item is not None:
            assignment = view.item.assignment
            self.call_after_refresh(lambda: self._controller.painted(assignment, self.app.clock()))

    def annotated(self, view: View) -> None:
        """The same item, with something else standing on it."""

    def refresh_mode(self) -> None:
        """Draw what depends on the mode."""
        controller = self._controller
        state, desk, view = controller.state, controller.desk, controller.view
        wide = self.size.width
        self._rows("status").set_rows([bars.status(desk.protocol.name, self.coder, view, state, wide)])
        self._rows("footer").set_rows([bars.footer(desk, state, wide)])
        self._rows("rule").set_rows([Row((piece("─" * wide, "empty"),))])
        rows = bars.decision(desk, state, view, self._told(), wide)
        self._rows("decision").set_rows(rows)
        self._show_book()
        self._show_sheet()
        self._show_list()
        if self._heights != (heights := (len(rows), state.mode in lists.LISTS, self._list_length())):
            self._heights = heights
            self._arrange()

    _heights: tuple[int, bool, int] = (0, False, 0)

    def notice(self, text: str, *, loud: bool = False) -> None:
        self._telling = bars.Telling(text, loud)
        self.refresh_mode()

    def hush(self) -> None:
        """A key was pressed: what was said before it is old."""
        self._telling = bars.Telling()

    def scroll(self, action: str) -> None:
        """Carry out one of the reading actions on the panel in use, or on the sheet."""
        if action in ("panel", "panel_back"):
            self._turn(1 if action == "panel" else -1)
            return
        panel = self._sheet_panel if self._controller.state.mode in sheets.SHEETS else self._panel(self._used)
        page = max(panel.size.height - 2, 1)
        by = {"down": 1, "up": -1, "page_down": page, "page_up": -page, "top": -(10**9), "end": 10**9}[action]
        if by > 0:
            panel.ensure(None if action == "end" else round(panel.scroll_y) + by + panel.size.height)
        panel.go_to(max(round(panel.scroll_y) + by, 0))

    def find(self, text: str, turn: int) -> None:
        """Mark every place of ``text`` in the item; go to the next or previous one."""
        if not turn:
            self._found = [
                (name, *place) for name, part in self._parts.items() for place in places(part.document, text)
            ]
            self._place = 0 if self._found else -1
        elif self._found:
            self._place = (self._place + turn) % len(self._found)
        self._mark_found()

    def highlight(self, on: bool) -> None:
        """Mark what response and gold answer share."""
        if "gold" in self._parts:
            said, wanted = differences(self._parts["response"].document, self._parts["gold"].document)
            self._panel("response").mark(said if on else ())
            self._panel("gold").mark(wanted if on else ())
        self.notice("" if on else "Differences are no longer marked.")

    def next_theme(self) -> None:
        self.notice(f"Theme: {self.app.turn_theme()}.")

    def unseen(self) -> int:
        """Lines of what is judged that were never on the screen."""
        return sum(self._panel(name).lines_below for name, part in self._parts.items() if part.judged)

    def codebook_changed(self) -> None:
        self._book = None

    def after(self, seconds: float, call: Callable[[], None]) -> None:
        if self._wait is not None:
            self._wait.stop()
        self._wait = self.set_timer(seconds, call)

    def leave(self) -> None:
        self.app.exit()

    def crash(self, error: BaseException) -> None:
        raise error

    # --- inside ---------------------------------------------------------------------------------

    @property
    def _controller(self) -> Controller:
        return self.app.controller

    def _panel(self, name: str) -> TextPanel:
        return self.get_widget_by_id(name, TextPanel)

    def _rows(self, name: str) -> Rows:
        return self.get_widget_by_id(name, Rows)

    @property
    def _sheet_panel(self) -> TextPanel:
        return self._panel("sheet")

    @property
    def _list(self) -> Rows:
        return self._rows("list")

    def _list_length(self) -> int:
        controller = self._controller
        if controller.state.mode not in lists.LISTS:
            return 0
        return lists.count(controller.desk, controller.state, controller.queue.entries)

    def _told(self) -> bars.Telling:
        controller = self._controller
        found = ""
        if controller.state.mode is Mode.SEARCH and controller.state.line.text:
            found = f"{self._place + 1:,} of {len(self._found):,}" if self._found else "not found"
        label = controller.state.label
        return bars.Telling(
            self._telling.notice,
            self._telling.loud,
            failure=controller.failure,
            found=found,
            impossible=controller.impossible().get(label, "") if label else "",
        )

    def _considered(self) -> str | None:
        """The label whose rule is in view: the one that waits, the one looked up, or the one that was given."""
        controller = self._controller
        given = (
            None if controller.view is None or controller.view.annotation is None else controller.view.annotation.label
        )
        return controller.state.label or controller.looked_up or given

    def _show_book(self) -> None:
        mode = self._controller.state.mode
        key = (self._considered(), f"{self._controller.desk.protocol.digest} {mode is Mode.RATING}")
        if key != self._book and self.has_class("-wide"):
            self._book = key
            desk = self._controller.desk
            document, starts = codebook(desk.protocol, desk.keymap, key[0])
            panel = self._panel("codebook")
            panel.show(document)
            start = RATING if mode is Mode.RATING else key[0]
            if start in starts:
                panel.go_to(panel.line_of(starts[start]))

    def _show_sheet(self) -> None:
        mode, controller = self._controller.state.mode, self._controller
        self.set_class(mode in sheets.SHEETS, "-sheet")
        key = (mode, controller.state.looked_up)
        if mode not in sheets.SHEETS:
            self._sheet = None
        elif key != self._sheet:
            self._sheet = key
            document, offset = self._sheet_page(mode)
            self._sheet_panel.show(document)
            self.call_after_refresh(lambda: self._sheet_panel.go_to(self._sheet_panel.line_of(offset)))

    def _sheet_page(self, mode: Mode) -> tuple[Document, int]:
        controller = self._controller
        if mode is Mode.HELP:
            return sheets.help_page(controller.desk, controller.state.looked_up)
        if mode is Mode.SUMMARY:
            return sheets.summary_page(controller.summary(self.coder)), 0
        assert controller.pending is not None
        return sheets.change_page(controller.pending), 0

    def _show_list(self) -> None:
        controller = self._controller
        self.set_class(controller.state.mode in lists.LISTS, "-list")
        if controller.state.mode in lists.LISTS:
            height = self._list_height()
            self._list.set_rows(lists.rows(controller.desk, controller.state, controller.queue.entries, height))

    def _list_height(self) -> int:
        return max(min(self._list_length(), self.size.height * 2 // 5), 3)

    def _turn(self, by: int) -> None:
        names = list(self._parts)
        if names:
            self._use(names[(names.index(self._used) + by) % len(names)])

    def _use(self, name: str) -> None:
        self._used = name
        for part in PARTS:
            self._panel(part).set_used(part == name)
        self._arrange()

    def _mark_found(self) -> None:
        for name in self._parts:
            self._panel(name).mark(list(self._marks(name)))
        if self._place >= 0:
            name, start, _ = self._found[self._place]
            if name != self._used:
                self._use(name)
            self._panel(name).reveal(start)

    def _marks(self, name: str) -> Iterator[Span]:
        for number, (where, start, end) in enumerate(self._found):
            if where == name:
                yield Span(start, end, "here" if number == self._place else "match")

    def _arrange(self) -> None:
        """Give every panel its height for the size that the terminal has now."""
        width, height = self.size
        if not width or not self._parts:
            return
        rows = self._rows("decision")
        rows.styles.height = len(rows.rows) or 2
        listed = self._list_height() + 1 if self._controller.state.mode in lists.LISTS else 0
        self._list.styles.height = max(listed, 1)
        low, shown = height < LOW, [self._panel(name) for name in self._parts]
        book = self._book_width(width)
        self._panel("codebook").styles.width = max(book, 1)
        room = height - 3 - (len(rows.rows) or 2) - listed - (0 if low else 1)
        self._share(shown, width - book - 1, room)

    def _judged(self) -> int:
        return sum(part.judged for part in self._parts.values())

    def _book_width(self, width: int) -> int:
        return 0 if width < WIDE else max(36, min(width * 36 // 100, TextPanel.WIDEST + 4))

    def _share(self, shown: Sequence[TextPanel], width: int, room: int) -> None:
        """A line of space between all panels where everything fits, else only around what is judged."""
        needs = [
            Need(panel.needed(width, MOST_LINES), self._parts[str(panel.id)].judged, panel.id == self._used)
            for panel in shown
        ]
        tight = sum(need.lines + 1 for need in needs) - 1 > room
        self.set_class(tight, "-tight")
        room -= min(2 * self._judged(), len(shown) - 1) if tight else len(shown) - 1
        for panel, lines in zip(shown, share(needs, room), strict=True):
            panel.styles.height = lines


def press_of(event: events.Key) -> Press:
    """A key event as the machine wants it: case ignored, characters by themselves, all others by name."""
    character = event.character if event.is_printable and "ctrl+" not in event.key and "alt+" not in event.key else None
    if character is None:
        return Press(event.key)
    return Press("space" if character == " " else character.lower(), character)
