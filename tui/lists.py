"""The lists that open above the decision bar: the queue, the reasons of a skip, the commands."""

from __future__ import annotations

from collections.abc import Sequence

from db.records import QueueEntry
from tui import cells
from tui.keymachine import Desk, State
from tui.modes import Mode
from tui.palette import found
from tui.pieces import Piece, Row, piece
from tui.safetext import safe

LISTS = frozenset({Mode.GO, Mode.SKIP, Mode.PALETTE})
_STATES = {"open": "·", "done": "✓", "skipped": "↷", "stale": "!"}
_WORDS = {"open": "unlabelled", "done": "labelled", "skipped": "skipped", "stale": "label again"}


def count(desk: Desk, state: State, entries: Sequence[QueueEntry]) -> int:
    """How many rows the open list has in all."""
    if state.mode is Mode.SKIP:
        return len(desk.protocol.skip_reasons) + 1
    if state.mode is Mode.PALETTE and state.under is not None:
        return len(found(state.line.text, state.under.mode))
    return len(entries)


def first_row(state: State, rows: int, height: int) -> int:
    """The first row in view, so that the chosen one is."""
    return max(0, min(state.row - height // 2, rows - height))


def rows(desk: Desk, state: State, entries: Sequence[QueueEntry], height: int, wide: int) -> list[Row]:
    """The rows in view of the list that is open, under a rule."""
    return [Row((piece("─" * wide, "empty"),)), *_rows(desk, state, entries, height)]


def _rows(desk: Desk, state: State, entries: Sequence[QueueEntry], height: int) -> list[Row]:
    start = first_row(state, count(desk, state, entries), height)
    if state.mode is Mode.SKIP:
        return _reasons(desk, state)[start : start + height]
    if state.mode is Mode.PALETTE:
        return _commands(desk, state)[start : start + height]
    shown = entries[start : start + height]
    return [_entry(entry, start + number == state.row) for number, entry in enumerate(shown)]


def _line(chosen: bool, *pieces: Piece, right: tuple[Piece, ...] = ()) -> Row:
    if not chosen:
        return Row((piece("   "), *pieces), right)
    strong = [item if item.style == "key" else item._replace(style="strong") for item in (*pieces, *right)]
    return Row((piece(" ▸ "), *strong[: len(pieces)]), tuple(strong[len(pieces) :]), "chosen")


def _reasons(desk: Desk, state: State) -> list[Row]:
    texts = [*desk.protocol.skip_reasons, "another reason, in your own words"]
    numbers = [str(number) if number < 10 else " " for number in range(1, len(texts))] + ["0"]
    return [
        _line(row == state.row, piece(f" {number} ", "key"), piece(" "), piece(safe(text).one_line()))
        for row, (number, text) in enumerate(zip(numbers, texts, strict=True))
    ]


def _commands(desk: Desk, state: State) -> list[Row]:
    mode = state.under.mode if state.under is not None else desk.base
    return [
        _line(
            row == state.row,
            piece(f"{action.title:<20}", "strong"),
            piece(action.help, "quiet"),
            right=(piece(desk.keymap.shown(action.name), "label"), piece("  ")),
        )
        for row, action in enumerate(found(state.line.text, mode))
    ]


def _entry(entry: QueueEntry, chosen: bool) -> Row:
    word = safe(entry.label).one_line() if entry.label and entry.state == "done" else safe(_WORDS[entry.state])
    flag = "⚑ flagged  " if entry.flagged else ""
    return _line(
        chosen,
        piece(f"{entry.position:>6,}  ", "strong"),
        piece(
            f"{_STATES[entry.state]} ",
            "good" if entry.state == "done" else "loud" if entry.state != "open" else "quiet",
        ),
        piece(f"{cells.pad(word.text, 12)}  ", "label" if entry.label else "quiet"),
        piece(safe(entry.question).one_line()),
        right=(piece(flag, "loud"), piece(" ")) if flag else (),
    )
