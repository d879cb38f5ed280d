"""A whole block of rows checked at once, and the columns that are staged for it.

Only what is beyond doubt passes: keys and texts of the kind that nearly all are. Anything else (a half surrogate, a
control character in a key, a missing text) gives None, and the rows are then checked one by one (``db.rowcheck``),
which says what is wrong with which. Both ways stage the same values under the same digests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import repeat
from typing import Any

from db.canonical import canonical_json
from db.row_block import JudgeColumns, RowBlock
from db.rowcheck import DIGEST_LENGTH, BadRow, Checker, check_confidence

Values = dict[str, Sequence[Any]]
_NOTHING = type(None)
# The content of a response in the order in which its digest takes it: the field, its staged column, its usual value.
_CONTENT: tuple[tuple[str, str, Any], ...] = (
    ("text", "text", None),
    ("text_b", "text_b", None),
    ("model_b", "model_b", None),
    ("reason", "reason", None),
    ("choice", "choice", None),
    ("confidence", "confidence", None),
    ("confidence_grid", "grid", None),
    ("confidence_usable", "usable", 1),
    ("searched", "searched", None),
    ("failure", "failure", None),
    ("extra", "extra", "{}"),
)
_TEXTS = frozenset({"text", "text_b", "model_b", "reason", "choice", "failure"})


def response_columns(block: RowBlock, checker: Checker) -> Values | None:
    """{staged column: its values} of the responses of a block, keys and digests included; None where one needs a look.

    Columns that are not named have their usual value in every row.
    """
    if not _good_key(block, checker):
        return None
    content = _content(block)
    if content is None:
        return None
    try:
        digests = _digests(content, len(block.rows))
    except UnicodeEncodeError:  # half a surrogate
        return None
    return {**block.key, **content, "digest": digests}


def judge_columns(judge: JudgeColumns) -> Values | None:
    """{staged column: its values} of one judge's labels, keys not included; None where one needs a look."""
    found: Values = dict(judge.columns)
    if not judge.judge or not set(found) <= {"raw", "score", "rationale", "reply"}:
        return None
    if not all(_storable(found[name]) for name in ("raw", "rationale", "reply") if name in found):
        return None
    if any(score is not None and score != score for score in found.get("score", ())):
        return None
    if "raw" in found:
        keys = [None if raw is None else raw.strip() for raw in found["raw"]]
        found["raw_key"] = found["raw"] if keys == found["raw"] else keys
    return found


def _good_key(block: RowBlock, checker: Checker) -> bool:
    """True where every key is one that the checker has passed, or passes now."""
    numbers = block.key.get("repeat", ())
    if any(number is not None and not (type(number) is int and number >= 1) for number in numbers):
        return False
    try:
        for name in ("item", "model", "condition"):
            checker.keys(block.key.get(name, ()), name)
        for judge in block.judges:
            checker.keys((judge.judge,), "judge")
    except BadRow:
        return False
    return True


def _content(block: RowBlock) -> Values | None:
    content: Values = {}
    for field, column, _ in _CONTENT:
        if field not in block.columns:
            continue
        values = _staged(field, block.columns[field])
        if values is None or (field == "text" and None in values):
            return None
        content[column] = values
    return content if "text" in content and _good_confidence(content) else None


def _staged(field: str, values: Sequence[Any]) -> Sequence[Any] | None:
    """The values of one field as they are staged; None where one needs a look."""
    if field in _TEXTS:
        return values if _whole_texts(values) else None
    if field == "searched":
        return [None if value is None else 1 if value else 0 for value in values]
    if field == "confidence_usable":
        return [1 if value else 0 for value in values]
    if field != "extra":
        return values
    try:
        texts = [canonical_json(value) if value else "{}" for value in values]
    except (TypeError, ValueError):
        return None
    return texts if _whole_texts(texts) else None


def _storable(values: Sequence[Any]) -> bool:
    """True where all are text that SQLite can hold, or nothing."""
    if not _whole_texts(values):
        return False
    try:
        "".join([value for value in values if value]).encode()
    except UnicodeEncodeError:
        return False
    return True


def _whole_texts(values: Sequence[Any]) -> bool:
    """True where all are text without a NUL, or nothing; half surrogates are seen when it is encoded."""
    if not set(map(type, values)) <= {str, _NOTHING}:
        return False
    return "\0" not in "".join([value for value in values if value])


def _good_confidence(content: Values) -> bool:
    if ("confidence" in content) != ("grid" in content):
        return False
    try:
        for confidence, grid in zip(content.get("confidence", ()), content.get("grid", ()), strict=True):
            if confidence is not None or grid is not None:
                check_confidence(confidence, grid)
    except BadRow:
        return False
    return True


def _digests(content: Values, number: int) -> list[str]:
    """The digest of each response, as ``db.rowcheck`` makes it of one."""
    parts: list[Iterable[str]] = []
    same = ""  # what all rows have in common, up to the next column that is named
    for _, column, usual in _CONTENT:
        if column not in content:
            same += "n\0" if usual is None else f"s{usual}\0"
            continue
        parts.append([f"{same}n\0" if value is None else f"{same}s{value}\0" for value in content[column]])
        same = ""
    parts.append(repeat(same, number))
    return [sha256("".join(part).encode()).hexdigest()[:DIGEST_LENGTH] for part in zip(*parts, strict=True)]
