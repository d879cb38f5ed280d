"""The adjudication screen: the item, what each of them said beside it, and the decision bar."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message

from db.cases import Case
from db.errors import AnnotateError
from tui import caselook
from tui.casedesk import CaseDesk, Step
from tui.codebook import codebook
from tui.document import Writer
from tui.itemview import GUTTER, ItemView
from tui.keymap import Keymap, make_keymap
from tui.pane import Pane
from tui.ports import Cases
from tui.presses import press_of
from tui.quiet import QuietApp
from tui.screens.split import SCROLL, SplitScreen
from tui.themes import THEMES
from tui.widgets.rows import Rows
from tui.widgets.stack import Stack

_TURN = {"tab": 1, "shift+tab": -1}
WIDE = 100
"""Cells from which on what was said stands beside the item."""


class CaseScreen(SplitScreen, inherit_bindings=False):
    """Shows what the desk holds and passes keys on."""

    app: CaseApp

    def __init__(self) -> None:
        super().__init__()
        self.item = ItemView()
        self._said = Pane("Said", gutter=GUTTER)
        self._beside_said, self._book = Pane(), Pane()
        self._with_book = True
        self._used: Pane | None = None
        self._considered: str | None = None

    def look(self) -> str:
        return self.app.look

    def on_mount(self) -> None:
        self.app.desk.begin()

    # --- drawing --------------------------------------------------------------------------------

    def meet(self) -> None:
        """Show the desk's case from its top."""
        case = self.app.desk.case
        self.item.show(None if case is None else case.item)
        self._said.show(_said(case))
        self._beside_said.show(_said(case))
        self._considered = None
        self._show_rules()
        self._use(self.item.pane)
        self._arrange()

    def _show_rules(self) -> None:
        """The codebook, the rule of the label that is being considered in full."""
        book, starts = codebook(self.app.desk.cases.protocol, self.app.keymap, self._considered)
        self._book.show(book)
        if self._considered in starts:
            self._book.go_to(self._book.line_of(starts[self._considered]))

    def _arrange(self) -> None:
        wide = self.size.width >= WIDE
        self._right.display = wide
        self._right.styles.width = min(max(self.size.width * 2 // 5, 40), 70)
        panes = list(self.item.panes.values())
        said = [] if wide else [self._said]
        self._left.show([*panes, *said], [*self.item.judged, *said])
        beside = [self._beside_said, self._book] if self._with_book else [self._beside_said]
        self._right.show(beside, [self._beside_said])

    def _readable(self) -> list[Pane]:
        """What the keys can scroll, in the order of Tab."""
        wide = self.size.width >= WIDE
        more = [self._beside_said, *([self._book] if self._with_book else [])] if wide else [self._said]
        return [*self.item.panes.values(), *more]

    def _use(self, pane: Pane | None) -> None:
        self._used = pane
        for each in (*self.item.panes.values(), self._said, self._beside_said, self._book):
            each.used = each is pane

    def redraw(self) -> None:
        desk, wide = self.app.desk, self.size.width
        self._status.set_rows([caselook.status(desk, self.app.who)])
        self._bottom.set_rows([*caselook.decision(desk, wide), caselook.footer(desk)], grow=True)
        if desk.draft.label != self._considered:
            self._considered = desk.draft.label
            self._show_rules()
            self._right.fit_panes()

    def on_resize(self, event: events.Resize) -> None:
        self._arrange()
        self.redraw()

    # --- keys -----------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        press = press_of(event)
        part = self._fragments.swallows(press.character or press.key, event.time)
        if not part or self.app.desk.step is Step.NOTE:
            self._press(press.key, press.character, event.time)

    def _press(self, key: str, typed: str | None, at: float) -> None:
        desk = self.app.desk
        if typed == "?" and desk.step is not Step.NOTE:
            self._with_book = not self._with_book
            self._arrange()
        elif desk.step is not Step.NOTE and (key in SCROLL or key in _TURN):
            self._scroll(key)
        else:
            desk.press(key, typed, at)

    def _scroll(self, key: str) -> None:
        panes = self._readable()
        at = panes.index(self._used) if self._used in panes else 0
        if key in _TURN:
            self._use(panes[(at + _TURN[key]) % len(panes)])
            self._left.fit_panes()
            self._right.fit_panes()
        elif panes:
            pane = panes[at]
            holder = self._right if pane in (self._beside_said, self._book) else self._left
            holder.scroll_pane(pane, SCROLL[key](pane))

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.app.desk.paste(event.text)

    def on_rows_clicked(self, message: Rows.Clicked) -> None:
        if message.sends:
            self._press(message.sends, message.sends, message.time)

    def on_stack_used(self, message: Stack.Used) -> None:
        self._use(message.pane)
        self._left.fit_panes()
        self._right.fit_panes()


def _said(case: Case | None) -> Any:
    return Writer().add("Nothing is left to decide.").document() if case is None else caselook.opinions(case)


class CaseApp(QuietApp, inherit_bindings=False):
    """One adjudicator's session. All that touches the study runs in one thread, in order."""

    CSS_PATH = "../desk.tcss"
    TITLE = "annotate"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []

    @dataclass
    class Answer(Message):
        """What came of a call on the study."""

        then: Callable[[Any], None]
        found: Any

    def __init__(self, cases: Cases, who: str, *, clock: Callable[[], float], theme: str = "dark") -> None:
        super().__init__(ansi_color=theme not in THEMES)
        self.look, self.who = theme, who
        self.keymap: Keymap = make_keymap(cases.protocol)
        self._study = ThreadPoolExecutor(max_workers=1, thread_name_prefix="study")
        self._screen = CaseScreen()
        self.desk = CaseDesk(
            cases,
            self.keymap.labels,
            run=self._run_on_study,
            changed=self._screen.redraw,
            met=self._screen.meet,
            leave=self.exit,
            clock=clock,
        )

    def get_default_screen(self) -> CaseScreen:
        return self._screen

    def _run_on_study(self, call: Callable[[], Any], then: Callable[[Any], None]) -> None:
        def deliver(future: Future[Any]) -> None:
            error = future.exception()
            self.post_message(self.Answer(then, future.result() if error is None else error))

        self._study.submit(call).add_done_callback(deliver)

    def on_case_app_answer(self, message: Answer) -> None:
        if isinstance(message.found, BaseException) and not isinstance(message.found, AnnotateError):
            raise message.found
        message.then(message.found)

    def finish(self) -> None:
        """Wait for what was asked for."""
        self._study.shutdown(wait=True)
