"""The status line, the decision bar and the footer as rows of pieces: what the mode is, and what a key would do now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from db.records import Annotation, Progress
from tui import cells, rating
from tui.actions import ACTIONS, FIXED, spell
from tui.keymachine import FLAGS, Desk, State
from tui.modes import CODING, Mode
from tui.pieces import Piece, Row, piece, width
from tui.requests import View
from tui.safetext import safe
from tui.wrapping import wrap

FLAG_NAMES = {"discuss": "to discuss", "technical": "technical failure"}


class Telling(NamedTuple):
    """What the bars tell apart from the state: the last notice, the failure, where the search stands, why a label is
    impossible, and the rule under consideration where no codebook is beside the item."""

    notice: str = ""
    loud: bool = False
    failure: str = ""
    found: str = ""
    impossible: str = ""
    rule: str = ""
    waits: str = ""


# --- the status line --------------------------------------------------------------------------------


def status(protocol: str, coder: str, view: View | None, state: State, cells_wide: int, *, tired: bool = False) -> Row:
    """Protocol, item, progress, what is left; at the right the coder and whether the last act is saved."""
    rest = (piece("break due  ", "loud"),) if tired else ()
    right = (*rest, piece(safe(coder).one_line(24), "quiet"), piece("  "), *_saved(state), piece(" "))
    left = [piece(" "), piece(safe(protocol).one_line(24), "strong")]
    if view is None:
        return Row(tuple(left), right)
    progress = view.progress
    if view.item is not None:
        left += [piece("   item ", "quiet"), piece(f"{view.item.position:,}", "strong")]
        # Numbers run on over all rounds of a coder, the counts are those of the open ones.
        left += [piece(f" of {progress.total:,}", "quiet")] if view.item.position <= progress.total else []
    counts = _counts(progress)
    room = cells_wide - width((*left, *counts, *right)) - 8
    left += [piece("   "), *_bar(progress, min(room, 24))] if room >= 6 else []
    return Row((*left, piece("   "), *counts), right)


def _saved(state: State) -> tuple[Piece, ...]:
    if state.mode is Mode.FAILED:
        return (piece("✗ not saved", "bad"),)
    return (piece("… saving", "quiet"),) if state.mode is Mode.SAVING else (piece("✓ saved", "good"),)


def _bar(progress: Progress, size: int) -> tuple[Piece, ...]:
    done = 0 if not progress.total else (progress.total - progress.left) * size // progress.total
    return piece("━" * done, "filled"), piece("─" * (size - done), "empty")


def _counts(progress: Progress) -> tuple[Piece, ...]:
    told = [f"{progress.done:,} done", f"{progress.left:,} left"]
    told += [f"{progress.skipped:,} skipped"] if progress.skipped else []
    told += [f"{progress.flagged:,} flagged"] if progress.flagged else []
    return (piece(" · ".join(told), "quiet"),)


# --- the decision bar -------------------------------------------------------------------------------


def decision(desk: Desk, state: State, view: View | None, telling: Telling, cells_wide: int) -> list[Row]:
    """A rule, the mode with what it asks for, and a line for what was last said."""
    badge = piece(f" {state.mode.value} ", "bad" if state.mode is Mode.FAILED else "mode")
    asked = _ASKED.get(state.mode, _nothing)(desk, state, view, telling, cells_wide)
    first, *more = asked or [Row()]
    rows = [Row((piece(" "), badge, piece("  "), *first.left), first.right), *more]
    if state.mode is Mode.FAILED:
        rows += [Row((piece(f" {line}", "loud"),)) for line in _folded(telling.failure, cells_wide - 2, 2)]
    else:
        rows += _said(telling, _hint(desk, state) or telling.rule, cells_wide)
    rule = Row((piece("─" * cells_wide, "empty"),))
    return [row._replace(ground="ground") for row in (rule, *rows)]


def _said(telling: Telling, hint: str, size: int) -> list[Row]:
    """One line for what was said last; what is loud may take three."""
    if not telling.loud:
        return [Row((piece(" "), piece(telling.notice or hint, "quiet")))]
    return [Row((piece(f" {line}", "loud"),)) for line in _folded(telling.notice, size - 2, 3)]


def _folded(text: str, size: int, most: int) -> list[str]:
    shown = str(safe(text).one_line(2000))
    lines = [shown[start:end] for start, end, _ in wrap(shown, max(size, 10))]
    return [*lines[: most - 1], cells.fit(" ".join(lines[most - 1 :]), size)] if len(lines) > most else lines


def _nothing(desk: Desk, state: State, view: View | None, telling: Telling, size: int) -> list[Row]:
    return []


def _labels(desk: Desk, state: State, view: View | None, telling: Telling, size: int) -> list[Row]:
    annotation = None if view is None else view.annotation
    chips = [_chip(desk, name, key, annotation) for key, name in desk.keymap.labels.items()]
    rows: list[list[Piece]] = [[]]
    for chip in chips:
        if rows[-1] and width((*rows[-1], *chip)) > size - 14:
            rows.append([piece(" " * 10)])
        rows[-1] += chip
    marks = _marks(view)
    if width((*rows[0], *marks)) > size - 12:
        return [*(Row(tuple(row)) for row in rows), Row((piece(" " * 10), *marks))]
    return [Row(tuple(rows[0]), marks), *(Row(tuple(row)) for row in rows[1:])]


def _chip(desk: Desk, name: str, key: str, annotation: Annotation | None) -> list[Piece]:
    given = annotation is not None and annotation.label == name
    rated = f" {annotation.rating}" if given and annotation is not None and annotation.rating is not None else ""
    stale = " (old codebook)" if given and annotation is not None and annotation.stale else ""
    word = safe(f"✓ {name}{rated}{stale}" if given else name).one_line()
    return [piece(f" {key} ", "key", key), piece(" "), piece(word, "given" if given else "name", key), piece("   ")]


def _marks(view: View | None) -> tuple[Piece, ...]:
    """Flag, note, skip: in words, at the right."""
    annotation = None if view is None else view.annotation
    told = [] if annotation is None else [f"⚑ {FLAG_NAMES.get(flag, flag)}" for flag in annotation.flags]
    if view is not None and view.draft:
        told.append("✎ unsent note")
    elif annotation is not None and annotation.note:
        told.append("✎ note")
    if annotation is not None and annotation.skip_reason:
        told.append("↷ skipped")
    return (piece(safe("  ".join(told)).one_line(60), "loud"), piece(" ")) if told else ()


def _rating(desk: Desk, state: State, view: View | None, telling: Telling, size: int) -> list[Row]:
    rule = desk.protocol.rating
    assert rule is not None
    label = [piece(f" {state.label} ", "given"), piece("  ")] if state.label else []
    given = _given_rating(view) if not state.digits and state.label is None else ()
    entry, _, hint = rating.prompt(rule, state.digits).partition(" ")
    line = (
        *label,
        piece(f"{rule.name} {rule.low}-{rule.high}  "),
        piece(f" {entry} ", "input"),
        piece(f"  {hint}", "quiet"),
    )
    return [Row((*line, *given), _marks(view))]


def _given_rating(view: View | None) -> tuple[Piece, ...]:
    if view is None or view.annotation is None or view.annotation.rating is None:
        return ()
    return piece(f" ✓ {view.annotation.rating} ", "given"), piece("  ")


def _hint(desk: Desk, state: State) -> str:
    """What the last line says where there is nothing to report: the question of the rating, or its anchor."""
    rule = desk.protocol.rating
    if rule is None or state.mode not in (Mode.RATE, Mode.RATING):
        return ""
    if not state.digits:
        return str(safe(rule.question).one_line())
    value = rating.on_enter(rule, state.digits)
    return str(safe(f"{value}: {rating.anchor(rule, value) or rule.question}").one_line())


def _typing(desk: Desk, state: State, view: View | None, telling: Telling, size: int) -> list[Row]:
    prompt = {
        Mode.NOTE: "Note",
        Mode.REASON: "Why skip it?",
        Mode.SEARCH: "Find in this item",
        Mode.PALETTE: "Name or word",
        Mode.GO: "Item number",
    }[state.mode]
    right: tuple[Piece, ...] = (piece(telling.found, "quiet"), piece(" ")) if state.mode is Mode.SEARCH else ()
    if state.mode is Mode.GO and size < 100:  # the footer has no room for them there
        right = tuple(
            each for key, word in _JUMPS for each in (piece(key, "strong", key), piece(f" {word}  ", "quiet", key))
        )
    line = (piece(f"{prompt}  "), *_cursor(state, size - len(prompt) - 18 - len(telling.found)))
    if state.mode is not Mode.NOTE or state.label is None:
        return [Row(line, right)]
    return [*_why(state.label, telling, size), Row((piece(" "), *line))]


_JUMPS = (("n", "unlabelled"), ("f", "flagged"), ("s", "skipped"))


def _why(label: str, telling: Telling, size: int) -> list[Row]:
    """Why a label cannot occur here, in two lines at most."""
    first = Row(
        (
            piece(f" {label} ", "given"),
            piece("  should not occur here. Say why, or Esc to take it back."),
        )
    )
    return [first, *(Row((piece(f" {line}", "loud"),)) for line in _folded(telling.impossible, size - 2, 2))]


def _cursor(state: State, size: int) -> tuple[Piece, ...]:
    """The line under edit, the part around its cursor."""
    before, after = state.line.text[: state.line.cursor], state.line.text[state.line.cursor :]
    shown = str(safe(before).one_line(10**6)) if before.strip() == before else str(safe(before))
    while cells.width(shown) > max(size, 10):
        shown = shown[len(shown) - max(size, 10) :] if shown.isascii() else shown[1:]
    here, rest = (after[:1] or " "), cells.fit(str(safe(after[1:])), max(size - cells.width(shown), 0))
    return piece(shown, "input"), piece(str(safe(here)), "cursor"), piece(rest, "input")


def _flags(desk: Desk, state: State, view: View | None, telling: Telling, size: int) -> list[Row]:
    have = () if view is None or view.annotation is None else view.annotation.flags
    chips: list[Piece] = []
    for key, name in {name: key for key, name in reversed(FLAGS.items())}.items():
        on = "✓ " if key in have else ""
        chips += [
            piece(f" {name} ", "key", name),
            piece(" "),
            piece(f"{on}{FLAG_NAMES[key]}", "name", name),
            piece("   "),
        ]
    return [Row(tuple(chips))]


def _choosing(desk: Desk, state: State, view: View | None, telling: Telling, size: int) -> list[Row]:
    words = {
        Mode.SKIP: "Why is this item skipped?",
        Mode.HELP: "A label's key shows its rule in full; nothing is labelled here.",
        Mode.SUMMARY: "This session so far",
        Mode.LEAVE: "Leave the desk? Everything that was marked ✓ is saved."
        + (" The unsent note is kept." if view is not None and view.draft else ""),
        Mode.PROTOCOL: "The codebook has changed. Read the difference, then Enter.",
        Mode.FAILED: "The last act is not saved.",
        Mode.SAVING: telling.waits,
    }[state.mode]
    return [Row((piece(words),))]


def _done(desk: Desk, state: State, view: View | None, telling: Telling, size: int) -> list[Row]:
    total = 0 if view is None else view.progress.total
    words = f"All {total:,} items are done. Thank you." if total else "Nothing is assigned to you yet."
    return [Row((piece(words, "good"),))]


_ASKED = {
    Mode.LABEL: _labels,
    Mode.RATE: _rating,
    Mode.RATING: _rating,
    **dict.fromkeys((Mode.NOTE, Mode.REASON, Mode.SEARCH, Mode.PALETTE, Mode.GO), _typing),
    Mode.FLAG: _flags,
    **dict.fromkeys(
        (Mode.SKIP, Mode.HELP, Mode.SUMMARY, Mode.LEAVE, Mode.PROTOCOL, Mode.FAILED, Mode.SAVING), _choosing
    ),
    Mode.DONE: _done,
}


# --- the footer -------------------------------------------------------------------------------------


def footer(desk: Desk, state: State, cells_wide: int) -> Row:
    """The keys of this mode, as many as fit; help and leaving always."""
    hints = _mode_hints(desk, state.mode)
    pieces: list[Piece] = [piece(" ")]
    kept = _fitting(hints, cells_wide - 1)
    for key, word, sends in kept:
        pieces += [piece(key, "strong", sends), piece(f" {word}   ", "quiet", sends)]
    return Row(tuple(pieces))


def _mode_hints(desk: Desk, mode: Mode) -> list[tuple[str, str, str]]:
    fixed = [(hint.keys, hint.meaning, "") for hint in FIXED if hint.mode is mode]
    if mode is Mode.RATING and desk.protocol.rating is not None:
        fixed.insert(1, ("=", str(desk.protocol.rating.high), "="))
    if fixed:
        return fixed
    live = desk.keymap.actions[mode] if mode in CODING or mode is Mode.DONE else {}
    named = [action for action in ACTIONS if action.short and desk.keymap.keys[action.name]]
    return [
        (spell(desk.keymap.keys[action.name][0]), action.short, desk.keymap.keys[action.name][0])
        for action in named
        if action.name in live.values()
    ]


def _fitting(hints: Sequence[tuple[str, str, str]], size: int) -> list[tuple[str, str, str]]:
    """Leave out hints from the middle until the rest fits: the first and the last are needed most."""
    kept = list(hints)
    while len(kept) > 2 and sum(cells.width(key) + cells.width(word) + 4 for key, word, _ in kept) > size:
        kept.pop(-3)
    return kept
