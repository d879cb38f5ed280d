"""A line of text under edit, without a widget: keys typed ahead can never reach anything else."""

from __future__ import annotations

from typing import NamedTuple

LIMIT = 4000
"""Characters of a note."""


class Line(NamedTuple):
    """``cursor`` is an offset, 0 to ``len(text)``."""

    text: str = ""
    cursor: int = 0

    @classmethod
    def of(cls, text: str) -> Line:
        """``text`` with the cursor behind it."""
        return cls(text, len(text))

    def insert(self, piece: str) -> Line:
        """Type or paste ``piece``; what goes beyond the limit is left out."""
        piece = piece[: max(0, LIMIT - len(self.text))]
        return Line(self.text[: self.cursor] + piece + self.text[self.cursor :], self.cursor + len(piece))


def edit(line: Line, key: str, character: str | None) -> Line | None:
    """The line after a key, or None where the key is no editing key."""
    at, text = line.cursor, line.text
    moves = {"left": max(at - 1, 0), "right": min(at + 1, len(text)), "home": 0, "end": len(text)}
    moves |= {"ctrl+a": 0, "ctrl+e": len(text), "ctrl+left": _word_start(text, at), "ctrl+right": _word_end(text, at)}
    if key in moves:
        return Line(text, moves[key])
    cuts = {"backspace": (max(at - 1, 0), at), "delete": (at, at + 1), "ctrl+w": (_word_start(text, at), at)}
    cuts |= {"ctrl+u": (0, at), "ctrl+k": (at, len(text))}
    if key in cuts:
        start, end = cuts[key]
        return Line(text[:start] + text[end:], start)
    return line.insert(character) if character and character.isprintable() else None


def _word_start(text: str, at: int) -> int:
    head = text[:at].rstrip()
    return head.rfind(" ") + 1


def _word_end(text: str, at: int) -> int:
    rest = text[at:]
    word = len(rest) - len(rest.lstrip())
    space = rest.find(" ", word)
    return len(text) if space < 0 else at + space
