"""The key machine: (state, key) to (state, effects), a table without a screen, a clock or a file.

Every mode has one handler; a key that has no meaning in a mode is refused with a notice and changes nothing. The
machine never waits, so that keys typed ahead meet exactly the mode that the keys before them led to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from db.records import Protocol
from tui import effects as fx
from tui import rating
from tui.actions import Action, spell
from tui.keymap import Keymap
from tui.lineedit import Line, edit
from tui.modes import CODING, TYPING, Mode
from tui.palette import found

Step = tuple["State", tuple[fx.Effect, ...]]

FLAGS: Final[dict[str, str]] = {"d": "discuss", "f": "discuss", "t": "technical"}


class Press(NamedTuple):
    """One key: ``key`` is the character in lower case or a name such as ``left``; ``character`` what it would type."""

    key: str
    character: str | None = None


class State(NamedTuple):
    """Where the coder is. ``label`` is chosen, not yet saved; ``note`` goes with it; Esc returns to ``under``."""

    mode: Mode
    label: str | None = None
    note: str | None = None
    digits: str = ""
    line: Line = Line()
    row: int = 0
    under: State | None = None
    looked_up: str | None = None


class Desk(NamedTuple):
    """What does not change from item to item."""

    protocol: Protocol
    keymap: Keymap

    @property
    def base(self) -> Mode:
        """The mode in which a new item is met."""
        return Mode.RATE if self.protocol.rating_only else Mode.LABEL


class Sight(NamedTuple):
    """What is true of the item on the screen. ``impossible``: label to the reason why it cannot occur here.

    ``note``: the unsent or saved note; ``unseen``: lines of the response that were never on the screen; ``rows``: the
    length of the list that is open.
    """

    impossible: Mapping[str, str] = MappingProxyType({})
    note: str = ""
    unseen: int = 0
    rows: int = 0


def step(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    """The state after a key, and what is to be done. Pure."""
    if press.key in ("ctrl+c", "ctrl+q") and state.mode is not Mode.LEAVE:
        return State(Mode.LEAVE, under=state), ()
    return _HANDLERS[state.mode](state, press, desk, sight)


def paste(state: State, text: str) -> Step:
    """Pasted text is text where text is typed, and nothing anywhere else."""
    if state.mode not in TYPING:
        return state, (fx.Notice("Pasted text means nothing here."),)
    line = state.line.insert(" ".join(text.split("\n")))
    return state._replace(line=line, row=0), _typed(state, line)


def fresh(desk: Desk, looked_up: str | None = None) -> State:
    """The state in which an item is met."""
    return State(desk.base, looked_up=looked_up)


def touches(before: State, after: State, effects: tuple[fx.Effect, ...]) -> bool:
    """True where a key labels or rates, or chooses the label that a rating or a note will complete."""
    chosen = after.label is not None and before.label is None
    return chosen or any(isinstance(effect, fx.Commit) for effect in effects)


# --- an item is shown -------------------------------------------------------------------------------


def _coding(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    if state.mode is Mode.LABEL and press.key in desk.keymap.labels:
        return _choose(state, desk.keymap.labels[press.key], desk, sight)
    if state.mode is Mode.RATE and (state.digits or press.key in _RATING_KEYS):
        return _rate(state, press, desk, sight)
    action = desk.keymap.action(state.mode, press.key)
    return _refused(state, press, desk) if action is None else _do(state, action, desk, sight)


def _choose(state: State, label: str, desk: Desk, sight: Sight) -> Step:
    if sight.unseen:
        return state, (fx.Unseen(sight.unseen),)
    if label in sight.impossible and not sight.note.strip():
        return State(Mode.NOTE, label=label, under=state), ()
    note = sight.note.strip() if label in sight.impossible else None
    return _chosen(State(desk.base, label=label, note=note), desk)


def _chosen(state: State, desk: Desk) -> Step:
    """A label with all the note it needs: ask for its rating, or save it."""
    if desk.protocol.asks_rating(state.label):
        return state._replace(mode=Mode.RATING, digits="", line=Line(), under=None), ()
    return State(Mode.SAVING), (fx.Commit(state.label, None, state.note),)


def _rate(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    rule = desk.protocol.rating
    assert rule is not None
    if sight.unseen and state.mode is Mode.RATE:
        return state, (fx.Unseen(sight.unseen),)
    entry = rating.press(rule, state.digits, press.key)
    if entry.value is not None:
        return State(Mode.SAVING), (fx.Commit(state.label, entry.value, state.note),)
    if entry.refusal:
        return state, (fx.Notice(f"{spell(press.key)} is refused: expected {entry.refusal}."),)
    return state._replace(digits=entry.digits), ()


def _rating(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    if press.key == "escape" or (press.key == "backspace" and not state.digits):
        return fresh(desk), (fx.Notice(f"{state.label} is taken back."),)
    action = desk.keymap.action(Mode.RATING, press.key)
    return _rate(state, press, desk, sight) if action is None else _do(state, action, desk, sight)


def _refused(state: State, press: Press, desk: Desk) -> Step:
    if press.key in _RATING_KEYS and desk.protocol.rating is not None:
        return state, (fx.Notice(f"{spell(press.key)} is refused: choose the label first, then its rating."),)
    return state, (
        fx.Notice(f"{spell(press.key)} means nothing here. {desk.keymap.shown('codebook')} shows the keys."),
    )


# --- actions ----------------------------------------------------------------------------------------


def _do(state: State, action: Action, desk: Desk, sight: Sight) -> Step:
    opened = _OPENS.get(action.name)
    if opened is None:
        return state, (fx.Run(action.name),)
    line = Line.of(sight.note) if opened is Mode.NOTE else Line()
    return State(opened, line=line, under=state, looked_up=state.looked_up), (fx.Opened(opened),)


_OPENS: Final[dict[str, Mode]] = {
    "note": Mode.NOTE,
    "flag": Mode.FLAG,
    "skip": Mode.SKIP,
    "go": Mode.GO,
    "search": Mode.SEARCH,
    "codebook": Mode.HELP,
    "palette": Mode.PALETTE,
    "summary": Mode.SUMMARY,
    "leave": Mode.LEAVE,
}


def _back(state: State, desk: Desk) -> State:
    return state.under or fresh(desk)


def _done(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    action = desk.keymap.action(Mode.DONE, press.key)
    if action is not None:
        return _do(state, action, desk, sight)
    return state, (fx.Notice(f"Nothing is left to code. {desk.keymap.shown('previous')} goes back to change a label."),)


# --- lines of text ----------------------------------------------------------------------------------


def _typed(state: State, line: Line) -> tuple[fx.Effect, ...]:
    if state.mode is Mode.NOTE:
        return (fx.Draft(line.text),)
    return (fx.Find(line.text, 0),) if state.mode is Mode.SEARCH else ()


def _edited(state: State, press: Press) -> Step:
    line = edit(state.line, press.key, press.character)
    if line is None:
        return state, (fx.Notice(f"{spell(press.key)} means nothing while you type."),)
    if line.text == state.line.text:
        return state._replace(line=line), ()
    return state._replace(line=line, row=0), _typed(state, line)


def _note(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    text = state.line.text.strip()
    if press.key == "escape":
        return _back(state, desk), (fx.Notice(f"{state.label} is taken back."),) if state.label else ()
    if press.key != "enter":
        return _edited(state, press)
    if state.label is None:
        return State(Mode.SAVING, under=_back(state, desk)), (fx.SaveNote(text),)
    if not text:
        return state, (fx.Notice(f"{state.label} needs a note here: say why, or Esc to take it back."),)
    return _chosen(state._replace(note=text), desk)


def _search(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    if press.key == "escape":
        return _back(state, desk), (fx.Find("", 0),)
    turn = {"enter": 1, "down": 1, "up": -1, "shift+tab": -1, "tab": 1}.get(press.key)
    return _edited(state, press) if turn is None else (state, (fx.Find(state.line.text, turn),))


def _reason(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    if press.key == "escape":
        return _back(state, desk), ()
    if press.key != "enter":
        return _edited(state, press)
    text = state.line.text.strip()
    if not text:
        return state, (fx.Notice("A skip needs a reason: type it, or Esc."),)
    return State(Mode.SAVING), (fx.Skip(text),)


# --- lists and panels -------------------------------------------------------------------------------


def _turned(state: State, press: Press, rows: int) -> State | None:
    turns = {"up": -1, "down": 1, "pageup": -10, "pagedown": 10, "home": -rows, "end": rows}
    if press.key not in turns:
        return None
    return state._replace(row=max(0, min(state.row + turns[press.key], rows - 1)))


def _skip(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    reasons = desk.protocol.skip_reasons
    if press.key == "escape":
        return _back(state, desk), ()
    if press.key == "0" or (press.key == "enter" and state.row >= len(reasons)):
        return State(Mode.REASON, under=_back(state, desk)), ()
    chosen = state.row if press.key == "enter" else int(press.key) - 1 if press.key in tuple("123456789") else None
    if chosen is not None and chosen < len(reasons):
        return State(Mode.SAVING), (fx.Skip(reasons[chosen]),)
    turned = _turned(state, press, len(reasons) + 1)
    if turned is None:
        return state, (fx.Notice(f"{spell(press.key)} is refused: the number of a reason, 0 for another, or Esc."),)
    return turned, ()


def _flag(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    if press.key == "escape":
        return _back(state, desk), ()
    if press.key in FLAGS:
        return State(Mode.SAVING, under=_back(state, desk)), (fx.Flag(FLAGS[press.key]),)
    return state, (fx.Notice(f"{spell(press.key)} is refused: d to discuss, t technical failure, or Esc."),)


def _go(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    if press.key == "escape":
        return _back(state, desk), ()
    jump = {"n": "open", "f": "flagged", "s": "skipped"}.get(press.key)
    if jump is not None:
        return _back(state, desk), (fx.Run(jump),)
    if press.key == "enter":
        where = fx.GoTo(int(state.line.text)) if state.line.text else fx.Pick(state.row)
        return _back(state, desk), (where,)
    turned = _turned(state, press, sight.rows)
    if turned is not None:
        return turned._replace(line=Line()), ()
    if press.key == "backspace" or (press.key.isdecimal() and press.key.isascii()):
        line = edit(state.line, press.key, press.character)
        return state._replace(line=Line.of(line.text[:9]) if line else state.line), ()
    return state, (fx.Notice(f"{spell(press.key)} is refused: a number, n, f, s, arrows, Enter or Esc."),)


def _palette(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    under = _back(state, desk)
    if press.key == "escape":
        return under, ()
    rows = found(state.line.text, under.mode)
    if press.key == "enter":
        return _do(under, rows[state.row], desk, sight) if rows else (state, (fx.Notice("No command has this name."),))
    turned = _turned(state, press, len(rows)) if press.key not in ("home", "end") else None
    return (turned, ()) if turned is not None else _edited(state, press)


def _help(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    if press.key in desk.keymap.labels:
        return state._replace(looked_up=desk.keymap.labels[press.key]), ()
    if press.key in _SCROLLS:
        return state, (fx.Run(_SCROLLS[press.key]),)
    if press.key in ("escape", "q") or press.key in desk.keymap.keys["codebook"]:
        return _back(state, desk)._replace(looked_up=state.looked_up), ()
    return state, (fx.Notice(f"{spell(press.key)} does nothing here: a label's key shows its rule, Esc closes."),)


def _summary(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    if press.key in ("escape", "enter", "q") or press.key in desk.keymap.keys["summary"]:
        return _back(state, desk), ()
    return state, (fx.Notice("Esc goes back to work."),)


def _leave(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    if press.key in ("enter", "y", "ctrl+c", "ctrl+q"):
        return state, (fx.Leave(),)
    if press.key in ("escape", "n"):
        return _back(state, desk), ()
    return state, (fx.Notice("Enter leaves, Esc stays."),)


def _protocol(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    if press.key == "enter":
        return State(Mode.SAVING, under=_back(state, desk)), (fx.ConfirmProtocol(),)
    if press.key in _SCROLLS:
        return state, (fx.Run(_SCROLLS[press.key]),)
    return state, (fx.Notice("The codebook has changed: read it, then Enter."),)


def _failed(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    if press.key == "enter":
        return state._replace(mode=Mode.SAVING), (fx.Retry(),)
    if press.key == "escape":
        return _back(state, desk), (fx.Drop(),)
    return state, (fx.Notice("Not saved. Enter saves again, Esc drops it, Ctrl+C leaves."),)


def _saving(state: State, press: Press, desk: Desk, sight: Sight) -> Step:
    return state, (fx.Notice("Still saving."),)


_RATING_KEYS: Final = frozenset("0123456789=")
_SCROLLS: Final[dict[str, str]] = {
    "up": "up",
    "down": "down",
    "space": "page_down",
    "pagedown": "page_down",
    "pageup": "page_up",
    "home": "top",
    "end": "end",
}

_HANDLERS: Final[dict[Mode, Callable[[State, Press, Desk, Sight], Step]]] = {
    **dict.fromkeys(CODING, _coding),
    Mode.RATING: _rating,
    Mode.NOTE: _note,
    Mode.SKIP: _skip,
    Mode.REASON: _reason,
    Mode.FLAG: _flag,
    Mode.SEARCH: _search,
    Mode.GO: _go,
    Mode.PALETTE: _palette,
    Mode.HELP: _help,
    Mode.SUMMARY: _summary,
    Mode.LEAVE: _leave,
    Mode.PROTOCOL: _protocol,
    Mode.FAILED: _failed,
    Mode.SAVING: _saving,
    Mode.DONE: _done,
}
