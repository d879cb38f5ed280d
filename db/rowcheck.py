"""One row of an import at a time: what it must satisfy, and the values that are staged for it.

Each function returns a plain tuple in the column order of its staging table and raises BadRow with the reason.
Half surrogates and NULs, which SQLite cannot hold, are refused in keys and replaced by U+FFFD in texts, counted.

The digest of a content is SHA-256 over its fields, each tagged ("n" for nothing, "s" before any value) and ended by
NUL, which no stored text contains. (Encoding the fields as JSON costs three times as much, on every row.)
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from typing import Any

from db.canonical import canonical_json
from db.records import HumanLabelRow, ItemRow, JudgeLabelRow, ResponseRow
from db.texts import UNSTORABLE

DIGEST_LENGTH = 32
_BAD_KEY = re.compile("[\x00\x1f\ud800-\udfff]")
_MOST_KEYS = 50_000


class BadRow(Exception):
    """A row that cannot be imported; its text is the reason."""


class Checker:
    """Checks rows and turns them into values; ``replaced`` counts the characters that had to be replaced."""

    def __init__(self) -> None:
        self.replaced = 0
        self._good: set[str] = set()

    def item(self, row: ItemRow) -> tuple[Any, ...]:
        if not row.key:
            raise BadRow("the item has no key")
        self._key(row.key, "item")
        for name in row.strata:
            if '"' in name or not name:
                raise BadRow(f"a stratum field cannot be called {name!r}")
        if not row.question and not row.context:
            raise BadRow(f"item {row.key!r} has neither a question nor a context")
        content = (
            row.question,
            row.context,
            _json(row.gold) if row.gold else "[]",
            row.rationale,
            _json(row.options) if row.options else "[]",
            row.answer_key,
            _json(row.strata) if row.strata else "{}",
            _json(row.extra) if row.extra else "{}",
        )
        content, digest = self._digested(content)
        return (row.source, row.row, row.key, *content, digest)

    def response(self, row: ResponseRow) -> tuple[Any, ...]:
        item, model, condition, repeat, good = row.item, row.model, row.condition, row.repeat, self._good
        if item not in good or model not in good or condition not in good or (repeat is not None and repeat < 1):
            self._response_key(item, model, condition, repeat)
        confidence, grid = row.confidence, row.confidence_grid
        if confidence is not None or grid is not None:
            check_confidence(confidence, grid)
        searched = row.searched
        content = (
            row.text,
            row.text_b,
            row.model_b,
            row.reason,
            row.choice,
            confidence,
            grid,
            1 if row.confidence_usable else 0,
            None if searched is None else 1 if searched else 0,
            row.failure,
            _json(row.extra) if row.extra else "{}",
        )
        if type(row.text) is not str:
            raise BadRow(f"the response is {row.text!r}, expected text")
        content, digest = self._digested(content)
        return (row.source, row.row, item, model, condition, repeat, *content, digest)

    def judge_label(self, row: JudgeLabelRow) -> tuple[Any, ...]:
        judge, item, model, condition, repeat = row.judge, row.item, row.model, row.condition, row.repeat
        good = self._good
        if judge not in good:
            if not judge:
                raise BadRow("the judge has no name")
            self._key(judge, "judge")
        if item not in good or model not in good or condition not in good or (repeat is not None and repeat < 1):
            self._response_key(item, model, condition, repeat)
        if row.judge_repeat < 1:
            raise BadRow(f"the judge's repeat is {row.judge_repeat}, expected 1 or more")
        raw = row.raw
        content = (raw, None if raw is None else raw.strip(), row.score, row.rationale, row.reply)
        if row.score is not None and row.score != row.score:
            raise BadRow("the judge's score is not a number")
        content = self._storable(content)
        return (row.source, row.row, judge, item, model, condition, repeat, row.judge_repeat, *content)

    def human_label(self, row: HumanLabelRow) -> tuple[Any, ...]:
        if not row.coder:
            raise BadRow("the coder has no name")
        self._key(row.coder, "coder")
        self._response_key(row.item, row.model, row.condition, row.repeat)
        if row.pi is not None and not 0 < row.pi <= 1:
            raise BadRow(f"the inclusion probability is {row.pi}, expected a number above 0 and up to 1")
        if row.active_ms is not None and row.active_ms < 0:
            raise BadRow(f"the active time is {row.active_ms} ms, expected 0 or more")
        content = self._storable((row.label, row.rating, row.role, row.note, row.utc, row.active_ms, row.pi))
        return (row.source, row.row, row.coder, row.item, row.model, row.condition, row.repeat, *content)

    def _response_key(self, item: str, model: str, condition: str, repeat: int | None) -> None:
        if not item:
            raise BadRow("the item has no key")
        self._key(item, "item")
        self._key(model, "model")
        self._key(condition, "condition")
        if repeat is not None and repeat < 1:
            raise BadRow(f"the repeat is {repeat}, expected 1 or more")

    def _key(self, key: str, what: str) -> None:
        if key in self._good:
            return
        if type(key) is not str:
            raise BadRow(f"the {what} is {key!r}, expected text")
        if _BAD_KEY.search(key):
            raise BadRow(f"the {what} {key!r} holds a control character or half a character")
        if len(self._good) >= _MOST_KEYS:
            self._good.clear()
        self._good.add(key)

    def keys(self, keys: Iterable[str], what: str) -> None:
        """Pass many keys at once; raises BadRow for one that is empty (an item's, a judge's) or cannot be stored."""
        if self._good.issuperset(keys):
            return
        for key in dict.fromkeys(keys):
            if not key and what in ("item", "judge"):
                raise BadRow(f"the {what} has no key")
            self._key(key, what)

    def _digested(self, content: tuple[Any, ...]) -> tuple[tuple[Any, ...], str]:
        """The content as it can be stored, and its digest."""
        text = _tagged(content)
        try:
            encoded = text.encode()
        except UnicodeEncodeError:
            return self._digested(self._cleaned(content))
        if text.count("\0") != len(content):
            return self._digested(self._cleaned(content))
        return content, _digest(encoded)

    def _storable(self, content: tuple[Any, ...]) -> tuple[Any, ...]:
        """The content as it can be stored."""
        for value in content:
            if type(value) is str and (not value.isascii() or "\0" in value) and UNSTORABLE.search(value):
                return self._cleaned(content)
        return content

    def _cleaned(self, content: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(self._clean(value) if type(value) is str else value for value in content)

    def _clean(self, text: str) -> str:
        clean, number = UNSTORABLE.subn("\ufffd", text)
        self.replaced += number
        return clean


def content_digest(content: tuple[Any, ...]) -> str:
    """The digest of a content as it is stored: of an item or a response, its fields in the order of ``Checker``."""
    return _digest(_tagged(content).encode())


def _tagged(content: tuple[Any, ...]) -> str:
    return "".join(["n\0" if value is None else f"s{value}\0" for value in content])


def _digest(encoded: bytes) -> str:
    return hashlib.sha256(encoded).hexdigest()[:DIGEST_LENGTH]


def check_confidence(confidence: int | None, grid: int | None) -> None:
    """Raises BadRow unless it is a whole number from 0 to its grid."""
    if confidence is None or grid is None:
        raise BadRow("a confidence needs its grid, and a grid its confidence")
    if type(confidence) is not int or type(grid) is not int or grid < 1 or not 0 <= confidence <= grid:
        raise BadRow(f"the confidence is {confidence!r} on {grid!r}, expected a whole number from 0 to the grid")


def _json(value: Any) -> str:
    try:
        return canonical_json(value)
    except (TypeError, ValueError) as error:
        raise BadRow(f"holds a value that JSON cannot ({error})") from None


CHECKS: dict[type, Callable[[Checker, Any], tuple[Any, ...]]] = {
    ItemRow: Checker.item,
    ResponseRow: Checker.response,
    JudgeLabelRow: Checker.judge_label,
    HumanLabelRow: Checker.human_label,
}
