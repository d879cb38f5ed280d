"""What seals a pack: a code over its content under the study's secret, and a key that is replaced after each act.

The code is HMAC-SHA-256 under a key made from the secret that never leaves the study: only the study can make it or
check it. Each act's hash gets a code under the key of the moment, and the key is then replaced by its SHA-256 in the
same transaction (Bellare and Yee 1997; Schneier and Kelsey 1998): who gets hold of a pack cannot rewrite what was coded
before, and rows that are cut off leave a key that does not fit.
"""

from __future__ import annotations

import hashlib
import hmac
import sqlite3

_ARMED = (
    """CREATE TEMP TRIGGER acts_are_sealed AFTER INSERT ON events BEGIN
        INSERT INTO seals (seq, code) SELECT NEW.seq, act_code(ratchet, NEW.hash) FROM pack;
        UPDATE pack SET ratchet = next_key(ratchet);
    END""",
)


def content_code(secret: bytes, content: str) -> str:
    """The code over a pack's content (canonical JSON) under the study's secret; 64 hexadecimal digits."""
    return hmac.new(_key(secret), b"content\x1f" + content.encode(), hashlib.sha256).hexdigest()


def first_key(secret: bytes, log: str) -> bytes:
    """The key that the first act of a pack's log is sealed with."""
    return hmac.new(_key(secret), b"ratchet\x1f" + log.encode(), hashlib.sha256).digest()


def next_key(key: bytes) -> bytes:
    """What replaces a key once it was used: the way back is closed."""
    return hashlib.sha256(b"annotate ratchet\x1f" + key).digest()


def act_code(key: bytes, row_hash: str) -> str:
    """The code of one act: over its hash, which covers it and every act before it."""
    return hmac.new(key, row_hash.encode(), hashlib.sha256).hexdigest()


def same(one: str | bytes, other: str | bytes) -> bool:
    """Compared in a time that does not tell where they differ."""
    if isinstance(one, str) and isinstance(other, str):
        return hmac.compare_digest(one.encode(), other.encode())
    return isinstance(one, bytes) and isinstance(other, bytes) and hmac.compare_digest(one, other)


def arm(connection: sqlite3.Connection) -> None:
    """From now on this connection seals each act that it adds to a pack, in the transaction of the act.

    The triggers are temporary: those of a file may not call functions of ours (trusted_schema is off).
    """
    connection.create_function("act_code", 2, act_code, deterministic=True)
    connection.create_function("next_key", 1, next_key, deterministic=True)
    for statement in _ARMED:
        connection.execute(statement)


def _key(secret: bytes) -> bytes:
    return hmac.new(secret, b"annotate pack 1", hashlib.sha256).digest()
