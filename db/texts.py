"""Words that people wrote (notes, reasons in their own words), kept apart from the log so that they can be erased.

The log holds a salted digest: after erasure nothing tells what was said, and the chain still holds.
"""

from __future__ import annotations

import re
import secrets
import sqlite3

from db.canonical import sha256_text
from db.ids import RandomBytes

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def keep_text(connection: sqlite3.Connection, text: str, random_bytes: RandomBytes = secrets.token_bytes) -> str:
    """Store ``text`` inside the open transaction and return its digest; half surrogates and NULs become U+FFFD."""
    text = storable(text)
    salt = random_bytes(16).hex()
    digest = text_digest(salt, text)
    connection.execute("INSERT INTO texts (digest, salt, text) VALUES (?, ?, ?)", (digest, salt, text))
    return digest


def storable(text: str) -> str:
    """The text without what SQLite cannot hold, as a paste may bring it: U+FFFD stands for each such character."""
    if text.isascii() and "\0" not in text:
        return text
    return UNSTORABLE.sub("\ufffd", text)


def text_digest(salt: str, text: str) -> str:
    """SHA-256 over salt, U+001F and text."""
    return sha256_text(f"{salt}\x1f{text}")


def read_text(connection: sqlite3.Connection, digest: str | None) -> str | None:
    """The text, or None where it was erased (or there is no digest)."""
    if digest is None:
        return None
    row = connection.execute("SELECT text FROM texts WHERE digest = ?", (digest,)).fetchone()
    return None if row is None else row[0]
