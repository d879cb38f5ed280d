"""Whether items and responses still say what was imported: a flipped bit in a text is in no chain."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from db.rowcheck import DIGEST_LENGTH, content_digest

_ITEMS = """
    SELECT 'item ' || key, digest, question, context, gold, rationale, options, answer_key, strata, extra
    FROM items WHERE redacted_utc IS NULL ORDER BY id"""
_RESPONSES = """
    SELECT 'response ' || r.id || ' to item ' || i.key, r.digest, r.text, r.text_b, r.model_b, r.reason, r.choice,
           r.confidence, r.confidence_grid, r.confidence_usable, r.searched, r.failure, r.extra
    FROM responses r JOIN items i ON i.id = r.item_id WHERE r.redacted_utc IS NULL ORDER BY r.id"""


def broken_contents(connection: sqlite3.Connection) -> Iterator[str | None]:
    """One entry for each item and response that was not redacted."""
    for sql in (_ITEMS, _RESPONSES):
        for name, digest, *content in connection.execute(sql):
            if len(digest) == DIGEST_LENGTH:
                same = content_digest(tuple(content)) == digest
                yield None if same else f"{name}: it is not what was imported"
