"""Which words response and gold answer share: a help to the eye, off unless asked for."""

from __future__ import annotations

import re
from typing import Final

from tui.document import Document, Span

_WORD: Final = re.compile(r"\w+(?:[.,'’-]\w+)*")
MOST_WORDS: Final = 50_000


def differences(response: Document, gold: Document) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Spans for (response, gold): ``shared`` in both; in the gold answer also ``own``, what the response lacks.

    Words are compared without case; order plays no part.
    """
    said, wanted = _words(response), _words(gold)
    in_gold, in_response = {word for _, _, word in wanted}, {word for _, _, word in said}
    return (
        tuple(Span(start, end, "shared") for start, end, word in said if word in in_gold),
        tuple(Span(start, end, "shared" if word in in_response else "own") for start, end, word in wanted),
    )


def _words(document: Document) -> list[tuple[int, int, str]]:
    found = zip(_WORD.finditer(document.text), range(MOST_WORDS), strict=False)
    return [(match.start(), match.end(), match.group().casefold()) for match, _ in found]
