"""Safe text with styles on parts of it: what a panel draws, and what search and highlights work on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from tui.safetext import SafeText, safe

Style = Literal["strong", "quiet", "key", "label", "match", "here", "shared", "own"]
"""strong, quiet: weight. key, label: of the codebook. match, here: found by search. shared, own: of the differences."""

TAB: Final = 4
MOST_PLACES: Final = 10_000


class Span(NamedTuple):
    """``style`` from offset ``start`` to ``end``."""

    start: int
    end: int
    style: Style


class Document(NamedTuple):
    """Text without tabs, its spans in order, and the indentation of its paragraphs by their start."""

    text: str = ""
    hidden: int = 0
    spans: tuple[Span, ...] = ()
    indents: Mapping[int, tuple[int, int]] = MappingProxyType({})

    @property
    def words(self) -> int:
        return len(self.text.split())


class Writer:
    """Builds a document piece by piece."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._spans: list[Span] = []
        self._indents: dict[int, tuple[int, int]] = {}
        self._size = 0
        self._hidden = 0

    def add(self, piece: SafeText | str, style: Style | None = None) -> Writer:
        """Append a piece. A plain string is one of our own and is made safe all the same."""
        shown = piece if isinstance(piece, SafeText) else safe(piece)
        text = shown.text.expandtabs(TAB)
        if style and text:
            self._spans.append(Span(self._size, self._size + len(text), style))
        self._pieces.append(text)
        self._size += len(text)
        self._hidden += shown.hidden
        return self

    def line(self, piece: SafeText | str = "", style: Style | None = None, indent: tuple[int, int] = (0, 0)) -> Writer:
        """Begin a new line (the first one is there already) and append to it."""
        if self._size:
            self.add("\n")
        if indent != (0, 0):
            self._indents[self._size] = indent
        return self.add(piece, style)

    @property
    def size(self) -> int:
        """How many characters there are so far."""
        return self._size

    def document(self) -> Document:
        return Document("".join(self._pieces), self._hidden, tuple(self._spans), self._indents)


def plain(text: SafeText) -> Document:
    """A document without styles."""
    return Writer().add(text).document()


def places(document: Document, text: str) -> list[tuple[int, int]]:
    """Where ``text`` occurs, case ignored: at most :data:`MOST_PLACES` pairs of offsets."""
    wanted = safe(text).text
    if not wanted:
        return []
    found = re.finditer(re.escape(wanted), document.text, re.IGNORECASE)
    return [match.span() for match, _ in zip(found, range(MOST_PLACES), strict=False)]


def cut(spans: Iterable[Span], start: int, end: int) -> Iterator[tuple[int, int, Style | None]]:
    """The stretch from ``start`` to ``end`` in pieces of one style each; a later span covers an earlier one."""
    inside = [span for span in spans if span.start < end and span.end > start]
    edges = sorted({start, end, *(max(span.start, start) for span in inside), *(min(span.end, end) for span in inside)})
    for left, right in pairwise(edges):
        covering = [span.style for span in inside if span.start <= left and span.end >= right]
        yield left, right, covering[-1] if covering else None
