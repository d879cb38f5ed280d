"""Labels that people gave in another tool: their names mapped onto the protocol's, each response handed on once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from annotate.importers.base import Request
from db.errors import AnnotateError
from db.records import ResponseRow

LABELS_HELP = "what the labels are called here: theirs=ours,…"
CODER_HELP = "the coder's name, where the file does not say it"


def label_names(request: Request) -> Mapping[str, str]:
    """The option ``labels`` as a mapping, theirs to ours; raises AnnotateError."""
    names = {}
    for part in filter(None, (part.strip() for part in request.option("labels").split(","))):
        theirs, given, ours = part.partition("=")
        if not given or not ours.strip():
            raise AnnotateError(f"{part!r} in labels is no pair.", "Write labels=positive=CORRECT,negative=WRONG.")
        names[theirs.strip()] = ours.strip()
    return names


class Responses:
    """Gives each text of an item its repeat, so that the rows of several raters meet at one response.

    A rater who meets the same text again met another response with that text: records are never merged by their text
    alone. Without a rater's name (the record has a key of its own), the same text is the same response.
    """

    def __init__(self) -> None:
        self._repeats: dict[tuple[str, str, str], dict[tuple[str, int], int]] = {}
        self._met: Counter[tuple[str, str, str, str, str]] = Counter()

    def place(self, row: ResponseRow, rater: str = "") -> tuple[dict[str, Any], ResponseRow | None]:
        """(what a label's row needs to name this response, the response where it is met for the first time)."""
        met = (rater, row.item, row.model, row.condition, row.text)
        occurrence = self._met[met] if rater else 0
        self._met[met] += 1
        texts = self._repeats.setdefault((row.item, row.model, row.condition), {})
        text = row.text if row.repeat is None else f"repeat {row.repeat}"
        new = (text, occurrence) not in texts
        repeat = texts.setdefault((text, occurrence), row.repeat or len(texts) + 1)
        named = {"item": row.item, "model": row.model, "condition": row.condition, "repeat": repeat}
        place = {**named, "row": row.row, "source": row.source}
        return place, replace(row, repeat=repeat) if new else None
