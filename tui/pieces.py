"""Lines made of styled pieces, before a widget draws them."""

from __future__ import annotations

from typing import NamedTuple

from tui import cells
from tui.safetext import SafeText, safe


class Piece(NamedTuple):
    """One stretch of a line; ``sends`` is the key that a click on it stands for."""

    text: SafeText
    style: str = ""
    sends: str = ""


def piece(text: SafeText | str, style: str = "", sends: str = "") -> Piece:
    """A piece of one line. A plain string is one of our own and is made safe all the same."""
    shown = text if isinstance(text, SafeText) else safe(text)
    return Piece(shown if "\n" not in shown.text and "\t" not in shown.text else shown.one_line(), style, sends)


class Row(NamedTuple):
    """A line: pieces from the left, pieces up to the right edge. What does not fit is cut on the left part.

    ``ground``: the look of the whole line, where it differs."""

    left: tuple[Piece, ...] = ()
    right: tuple[Piece, ...] = ()
    ground: str = ""


def width(pieces: tuple[Piece, ...]) -> int:
    """The cells of some pieces side by side."""
    return sum(cells.width(item.text.text) for item in pieces)
