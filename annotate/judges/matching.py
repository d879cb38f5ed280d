"""Two rules without a model: the response *is* a gold answer, or contains one.

Normalisation, in this order: Unicode NFKC; case folded; a comma between two digits dropped (4,200 is 4200); every
character but letters, marks, digits and a point between two digits becomes a blank; the words a, an and the dropped
(unless nothing else is left); blanks collapsed. Accents stay. ``contains`` looks for the words of the gold answer in a
row, so that "art" is not found in "party".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Literal

from annotate.judges.mapping import MATCH, NO_MATCH
from db.judging import StoredReply, Subject

_THOUSANDS = re.compile(r"(?<=\d),(?=\d)")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_ARTICLES = frozenset({"a", "an", "the"})
_KEPT_POINT = "\ue000"  # a private character stands for the decimal point while the other points go


def words(text: str) -> tuple[str, ...]:
    """The normalised words of a text."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace(_KEPT_POINT, " ")
    marked = _POINT.sub(_KEPT_POINT, _THOUSANDS.sub("", folded))
    kept = "".join(c if c == _KEPT_POINT or unicodedata.category(c)[0] in "LMN" else " " for c in marked)
    found = kept.replace(_KEPT_POINT, ".").split()
    return tuple(word for word in found if word not in _ARTICLES) or tuple(found)


class MatchRule:
    """``exact``: the response's words are those of a gold answer. ``contains``: they contain them in a row."""

    kind = "rule"
    version = "1"
    raw_labels = (MATCH, NO_MATCH)

    def __init__(self, how: Literal["exact", "contains"]) -> None:
        self._how = how

    @property
    def origin(self) -> Mapping[str, object]:
        return {"rule": self._how}

    def cannot_judge(self, subject: Subject) -> str:
        if subject.redacted:
            return "redacted"
        if subject.technical:
            return "technical failure"
        return "" if any(words(gold) for gold in subject.gold) else "no gold answer"

    def judge(self, subjects: Sequence[Subject], repeat: int) -> Sequence[StoredReply]:
        return [StoredReply(subject.response_id, repeat, raw=self.verdict(subject)) for subject in subjects]

    def verdict(self, subject: Subject) -> str:
        said = words(subject.text)
        golds = (words(gold) for gold in subject.gold)
        if self._how == "exact":
            found = any(gold and gold == said for gold in golds)
        else:
            found = any(gold and _in_a_row(gold, said) for gold in golds)
        return MATCH if found else NO_MATCH


def _in_a_row(part: Sequence[str], whole: Sequence[str]) -> bool:
    return f" {' '.join(part)} " in f" {' '.join(whole)} "
