"""Between the terminal and the key machine: time, held keys, and keys that arrive while a label is being saved."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from tui import effects as fx
from tui.guard import RUN_GAP, Guard, Verdict
from tui.keymachine import Desk, Press, Sight, State, fresh, paste, step, touches
from tui.modes import Mode

_REFUSALS = {
    Verdict.EARLY: "Not taken: the item had only just appeared.",
    Verdict.HELD: "Not taken: the key was held down.",
}


class Keyboard:
    """Feeds presses to the machine in the order of their arrival, each with the time at which it was pressed.

    ``act`` carries out one effect and returns at once; ``changed`` is called after each press; ``wait`` is asked to
    call :meth:`let_through` after some seconds.
    """

    def __init__(
        self,
        desk: Desk,
        *,
        sight: Callable[[], Sight],
        act: Callable[[fx.Effect], None],
        changed: Callable[[], None],
        wait: Callable[[float], None],
    ) -> None:
        self.desk = desk
        self.state = State(Mode.SAVING)
        self.painted: float | None = None
        self._guard = Guard(desk.protocol.min_dwell_ms / 1000)
        self._sight, self._act, self._changed, self._wait = sight, act, changed, wait
        self._early: deque[tuple[Press, float]] = deque()
        self._held: tuple[Press, float] | None = None

    def feed(self, press: Press, at: float) -> None:
        """One key, pressed at ``at`` seconds."""
        if self._held is not None and not self._is_run(press, at):
            self.let_through()
        if self.state.mode is Mode.SAVING:
            self._early.append((press, at))
            return
        self._take(press, at)
        self._changed()

    def feed_paste(self, text: str) -> None:
        """Text from the clipboard."""
        if self.state.mode is not Mode.SAVING:
            self._become(*paste(self.state, text))
            self._changed()

    def resume(self, state: State) -> None:
        """What was being saved is durable (or is not): go on in ``state`` with the keys that came meanwhile."""
        self.state = state
        while self._early and self.state.mode is not Mode.SAVING:
            self._take(*self._early.popleft())
        self._changed()

    def meet(self, looked_up: str | None = None) -> None:
        """A new item is about to be shown."""
        self.painted = None
        self.resume(fresh(self.desk, looked_up))

    def let_through(self) -> None:
        """The time of a key that was held back is over and no second one came: it counts."""
        if self._held is not None:
            (press, _), self._held = self._held, None
            self._become(*step(self.state, press, self.desk, self._sight()))
            self._changed()

    def _is_run(self, press: Press, at: float) -> bool:
        assert self._held is not None
        return press.key == self._held[0].key and at - self._held[1] <= RUN_GAP

    def _take(self, press: Press, at: float) -> None:
        after, effects = step(self.state, press, self.desk, self._sight())
        if not touches(self.state, after, effects):
            self._guard = self._guard.seen(press.key, at)
            self._become(after, effects)
            return
        self._guard, verdict = self._guard.judge(press.key, at, self.painted)
        if verdict is Verdict.PASS:
            self._become(after, effects)
        elif verdict is Verdict.WAIT:
            self._held = (press, at)
            self._wait(RUN_GAP)
        else:
            self._held = None
            self._act(fx.Notice(_REFUSALS[verdict]))

    def _become(self, state: State, effects: tuple[fx.Effect, ...]) -> None:
        self.state = state
        for effect in effects:
            self._act(effect)
