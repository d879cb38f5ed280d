"""Where a long name may break, so that no form has to cut it off."""

from __future__ import annotations

import re
import unicodedata

# Behind these marks, behind a space, and within a longer run of anything else.
_SEAM = re.compile(r"(?<=[-_/.:,;@|=+])(?=\S)|(?<= )(?=\S)|(?<=[^-\s_/.:,;@|=+]{22})(?=\S{4})")


def seams(text: str) -> list[str]:
    """The parts of a text between which a line may break; joined they are the text."""
    return _SEAM.split(text)


def width(text: str) -> int:
    """Columns that a text takes: wide letters of East Asian scripts take two."""
    return sum(2 if unicodedata.east_asian_width(mark) in "WF" else 1 for mark in text)


def wrapped(text: str, most: int) -> list[str]:
    """The text on lines of at most ``most`` columns where its parts allow; nothing of it is left out."""
    lines = [""]
    for part in (piece for seam in seams(text) for piece in _pieces(seam, most)):
        if lines[-1] and width(lines[-1] + part.rstrip()) > most:
            lines.append("")
        lines[-1] += part
    return lines


def _pieces(part: str, most: int) -> list[str]:
    """A part that is wider than a line, cut into pieces that fit."""
    if width(part.rstrip()) <= most:
        return [part]
    half = max(1, most // 2) if width(part) > len(part) else most
    return [part[at : at + half] for at in range(0, len(part), half)]
