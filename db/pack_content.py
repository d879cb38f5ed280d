"""What a pack says to its coder, in one spelling: this is what the study's code is made over, and checked over."""

from __future__ import annotations

import sqlite3
from typing import Any

from db.canonical import canonical_json

FORMAT = 1
PLACE = "pack-"
"""How the place of a log that is in a pack begins; the places of studies have no hyphen."""
TABLES = (
    "CREATE TABLE pack (id INTEGER PRIMARY KEY CHECK (id = 1), format INTEGER NOT NULL, code TEXT NOT NULL,"
    " digest TEXT NOT NULL, ratchet BLOB NOT NULL) STRICT",
    "CREATE TABLE seals (seq INTEGER PRIMARY KEY, code TEXT NOT NULL) STRICT",
    # Unsent notes while an encrypted pack is at rest: elsewhere they lie beside the file.
    "CREATE TABLE drafts (assignment TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT",
)

_ITEMS = """
    SELECT a.uid, u.public_id, a.position, a.round, a.occurrence, a.role, a.sides_swapped, i.question, i.context,
           i.gold, i.rationale, i.options, i.strata, r.text, r.text_b, r.reason, r.choice,
           (SELECT t.text FROM answers w JOIN texts t ON t.digest = w.text WHERE w.assignment_id = a.id
            ORDER BY w.id DESC LIMIT 1),
           EXISTS (SELECT 1 FROM unmaskings m WHERE m.seq = 0 AND m.unit_id = u.id)
    FROM assignments a
    JOIN units u ON u.id = a.unit_id
    JOIN responses r ON r.id = u.response_id
    JOIN items i ON i.id = r.item_id
    ORDER BY a.position, a.uid"""
_HEAD = """
    SELECT s.uid, c.uid, c.name, l.uid, l.place, l.protocol_digest, l.genesis
    FROM study s, logs l JOIN coders c ON c.id = l.coder_id ORDER BY l.id LIMIT 1"""


def content_of(connection: sqlite3.Connection) -> dict[str, Any]:
    """The content of a pack, read from its tables. Every column that the coding screen reads is in it."""
    study, coder, name, log, place, digest, genesis = connection.execute(_HEAD).fetchone()
    protocols = connection.execute(
        "SELECT version, name, digest, toml, change, touches FROM protocols ORDER BY version"
    ).fetchall()
    return {
        "format": connection.execute("SELECT format FROM pack").fetchone()[0],
        "study": study,
        "coder": coder,
        "name": name,
        "log": log,
        "place": place,
        "protocol": digest,
        "genesis": genesis,
        "protocols": [list(row) for row in protocols],
        "items": [list(row) for row in connection.execute(_ITEMS)],
    }


def spelled(content: dict[str, Any]) -> str:
    """The content as the text that codes and digests are made over."""
    return canonical_json(content)
