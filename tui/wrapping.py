"""Wrapping safe text into lines of a width in cells: lazy, so that a megabyte costs nothing before it is looked at.

A line is a pair of offsets into the text and an indentation. Lines break after a blank or beside a wide character,
never between a letter and its combining marks; a word longer than the width is cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tui.cells import character_width

Line = tuple[int, int, int]
"""Start and end of a line in the text (the blanks at a break belong to no line), and the cells left free before it."""
Indents = Mapping[int, tuple[int, int]]
"""By the offset at which a paragraph starts: the indentation of its first line, and of the others."""

_NOT_FIRST = frozenset("、。，．！？：；）」』】〉》〕］｝々ー…’”,.!?;:)]}")
_MAX_MARKS = 64


def wrap(text: str, cells: int, indents: Indents | None = None) -> Iterator[Line]:
    """The lines of ``text`` at ``cells`` cells (at least 2), in order. An empty text has one empty line."""
    start, size = 0, len(text)
    while True:
        newline = text.find("\n", start)
        end = size if newline < 0 else newline
        first, rest = indents.get(start, (0, 0)) if indents else (0, 0)
        yield from _paragraph(text, start, end, cells, first, rest)
        if newline < 0:
            return
        start = newline + 1


def _paragraph(text: str, start: int, end: int, cells: int, first: int, rest: int) -> Iterator[Line]:
    indent = first
    while True:
        stop = _fitting(text, start, end, max(cells - indent, 2))
        if stop >= end:
            yield (start, end, indent)
            return
        cut = _break(text, start, stop)
        yield (start, cut, indent)
        start, indent = _after_blanks(text, cut, end), rest
        if start == end:
            return


def _fitting(text: str, start: int, end: int, cells: int) -> int:
    """The offset of the first character that no longer fits; ``end`` where all of the paragraph does."""
    ahead = text[start : min(start + cells + 1, end)]
    if ahead.isascii():
        return end if len(ahead) <= cells else start + cells
    used = 0
    for offset in range(start, end):
        used += character_width(text[offset])
        if used > cells:
            return offset
        if offset - start > cells * _MAX_MARKS:
            return offset
    return end


def _break(text: str, start: int, stop: int) -> int:
    """Where to end the line that must end at ``stop`` at the latest."""
    if text[stop] == " ":
        return _before_blanks(text, start, stop) or stop
    blank = text.rfind(" ", start, stop)
    wide = _wide_break(text, max(start, blank), stop)
    if wide > start:
        return wide
    return (_before_blanks(text, start, blank) if blank > start else 0) or stop


def _before_blanks(text: str, start: int, stop: int) -> int:
    """``stop`` without the blanks before it; 0 where there is nothing else on the line."""
    while stop > start and text[stop - 1] == " ":
        stop -= 1
    return stop if stop > start else 0


def _wide_break(text: str, start: int, stop: int) -> int:
    """The last place beside a wide character, or ``start`` where there is none."""
    if text[start:stop].isascii() and text[stop].isascii():
        return start
    for offset in range(stop, start + 1, -1):
        here, before = text[offset], text[offset - 1]
        beside = character_width(here) == 2 or (character_width(before) == 2 and character_width(here) == 1)
        if beside and here not in _NOT_FIRST:
            return offset
    return start


def _after_blanks(text: str, cut: int, end: int) -> int:
    while cut < end and text[cut] == " ":
        cut += 1
    return cut
