"""The one registry of what a coder can do: footer, help, palette, user keymap and documentation are made from it."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from tui.modes import CODING, Mode

Role = Literal["code", "move", "read", "session"]

ROLES: Final[dict[Role, str]] = {
    "code": "Coding",
    "move": "Moving between items",
    "read": "Reading",
    "session": "The session",
}


class Action(NamedTuple):
    """One thing to do. ``keys`` are the default keys, the first is the one shown; none: palette and keymap only.

    ``short`` is the footer's word (empty: not in the footer), ``modes`` where the key means this.
    """

    name: str
    keys: tuple[str, ...]
    title: str
    help: str
    role: Role
    modes: frozenset[Mode] = CODING
    short: str = ""


_ITEM = CODING
_QUEUE = CODING | {Mode.DONE}
_READ = CODING | {Mode.RATING, Mode.DONE}

ACTIONS: Final[tuple[Action, ...]] = (
    Action("undo", ("u", "ctrl+z"), "Undo", "Take back the last act, on whatever item it was.", "code", _QUEUE, "undo"),
    Action("redo", ("ctrl+r", "ctrl+y"), "Redo", "Do again what was undone.", "code", _QUEUE),
    Action("note", ("n",), "Note", "Write a note to this item; an unsent one is kept.", "code", _ITEM, "note"),
    Action("flag", ("f",), "Flag", "Mark the item for discussion, or as a technical failure.", "code", _ITEM, "flag"),
    Action("skip", ("s",), "Skip", "Skip with a reason; the item returns once.", "code", _ITEM, "skip"),
    Action("previous", ("left",), "Previous item", "Go back one item.", "move", _QUEUE, "back"),
    Action("next", ("right",), "Next item", "Go on one item without labelling.", "move", _QUEUE),
    Action("open", (".",), "Next unlabelled", "Go to the next item without a label.", "move", _QUEUE),
    Action("go", ("g",), "Go to…", "Go to an item by number, or pick it from the list.", "move", _QUEUE, "go to"),
    Action("flagged", (), "Next flagged", "Go to the next flagged item.", "move", _QUEUE),
    Action("skipped", (), "Next skipped", "Go to the next skipped item.", "move", _QUEUE),
    Action("down", ("down",), "Scroll down", "One line down in the panel in use.", "read", _READ),
    Action("up", ("up",), "Scroll up", "One line up.", "read", _READ),
    Action("page_down", ("space", "pagedown"), "Page down", "One page down in the panel in use.", "read", _READ),
    Action("page_up", ("pageup",), "Page up", "One page up.", "read", _READ),
    Action("top", ("home",), "To the top", "To the start of the panel in use.", "read", _READ),
    Action("end", ("end",), "To the end", "To the end of the panel in use.", "read", _READ),
    Action("panel", ("tab",), "Next panel", "Use, and unfold, the next panel.", "read", _READ, "panel"),
    Action("panel_back", ("shift+tab",), "Previous panel", "Use the panel before.", "read", _READ),
    Action("search", ("/",), "Search", "Find words in this item.", "read", _ITEM, "search"),
    Action(
        "differences",
        ("ctrl+d",),
        "Differences",
        "Mark what response and gold answer share and do not share. Its use is recorded.",
        "read",
        _ITEM,
    ),
    Action(
        "codebook", ("?", "f1"), "Codebook and keys", "The rule of each label, and all keys.", "read", _READ, "help"
    ),
    Action("palette", ("ctrl+p",), "Command palette", "Find a command by name.", "session", _QUEUE),
    Action("summary", ("f2",), "Session summary", "Items, pace and time of this session.", "session", _QUEUE),
    Action("theme", ("ctrl+t",), "Next theme", "Dark, light, high contrast.", "session", _READ),
    Action("leave", ("ctrl+c", "ctrl+q", "q"), "Leave", "Leave the desk. It asks first.", "session", _QUEUE, "leave"),
)

BY_NAME: Final[dict[str, Action]] = {action.name: action for action in ACTIONS}


class FixedKey(NamedTuple):
    """A key inside a panel or a line of input; the same for everyone."""

    mode: Mode
    keys: str
    meaning: str


FIXED: Final[tuple[FixedKey, ...]] = (
    FixedKey(Mode.RATING, "0-9", "two digits"),
    FixedKey(Mode.RATING, "Backspace", "clear"),
    FixedKey(Mode.RATING, "Esc", "take the label back"),
    FixedKey(Mode.NOTE, "Enter", "save"),
    FixedKey(Mode.NOTE, "Esc", "close, keeping the draft"),
    FixedKey(Mode.SKIP, "1-9", "choose the reason"),
    FixedKey(Mode.SKIP, "0", "another reason"),
    FixedKey(Mode.SKIP, "Esc", "do not skip"),
    FixedKey(Mode.REASON, "Enter", "skip"),
    FixedKey(Mode.REASON, "Esc", "do not skip"),
    FixedKey(Mode.FLAG, "d", "to discuss, on or off"),
    FixedKey(Mode.FLAG, "t", "technical failure, on or off"),
    FixedKey(Mode.FLAG, "Esc", "close"),
    FixedKey(Mode.SEARCH, "Enter ↓", "next"),
    FixedKey(Mode.SEARCH, "↑", "previous"),
    FixedKey(Mode.SEARCH, "Esc", "close"),
    FixedKey(Mode.GO, "0-9 Enter", "item by number"),
    FixedKey(Mode.GO, "n", "next unlabelled"),
    FixedKey(Mode.GO, "f", "flagged"),
    FixedKey(Mode.GO, "s", "skipped"),
    FixedKey(Mode.GO, "↑ ↓ Enter", "choose"),
    FixedKey(Mode.GO, "Esc", "close"),
    FixedKey(Mode.PALETTE, "↑ ↓ Enter", "choose"),
    FixedKey(Mode.PALETTE, "Esc", "close"),
    FixedKey(Mode.HELP, "a label's key", "its rule"),
    FixedKey(Mode.HELP, "↑ ↓ Space", "scroll"),
    FixedKey(Mode.HELP, "Esc ?", "close"),
    FixedKey(Mode.SUMMARY, "Esc", "back to work"),
    FixedKey(Mode.LEAVE, "Enter", "leave"),
    FixedKey(Mode.LEAVE, "Esc", "stay"),
    FixedKey(Mode.PROTOCOL, "Enter", "I have read it"),
    FixedKey(Mode.PROTOCOL, "↑ ↓ Space", "scroll"),
    FixedKey(Mode.PROTOCOL, "Ctrl+C", "leave"),
    FixedKey(Mode.FAILED, "Enter", "save again"),
    FixedKey(Mode.FAILED, "Esc", "drop it"),
    FixedKey(Mode.FAILED, "Ctrl+C", "leave"),
)

_NAMES: Final[dict[str, str]] = {
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "tab": "Tab",
    "space": "Space",
    "enter": "Enter",
    "escape": "Esc",
    "backspace": "Backspace",
    "delete": "Del",
    "insert": "Ins",
}


def spell(key: str) -> str:
    """A key as a person reads it: ``ctrl+r`` is Ctrl+R, ``left`` an arrow."""
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    name = _NAMES.get(last) or (last.upper() if modifiers or _is_function_key(last) else last)
    return "+".join([*(modifier.capitalize() for modifier in modifiers), name])


def _is_function_key(name: str) -> bool:
    return name[:1] == "f" and name[1:].isdigit()
