"""Units: responses that are in the study, each with a random id that tells nothing of it."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable

from db.ids import RandomBytes, new_id


def ensure_unit(
    connection: sqlite3.Connection, response_id: int, random_bytes: RandomBytes = secrets.token_bytes
) -> tuple[int, str]:
    """The unit (number, random id) of a response, made where it is new."""
    row = connection.execute("SELECT id, public_id FROM units WHERE response_id = ?", (response_id,)).fetchone()
    if row is not None:
        return int(row[0]), str(row[1])
    public = new_id(random_bytes)
    cursor = connection.execute("INSERT INTO units (response_id, public_id) VALUES (?, ?)", (response_id, public))
    return int(cursor.lastrowid or 0), public


def ensure_units(
    connection: sqlite3.Connection, response_ids: Iterable[int], random_bytes: RandomBytes = secrets.token_bytes
) -> dict[int, int]:
    """The unit number of each response."""
    return {response: ensure_unit(connection, response, random_bytes)[0] for response in response_ids}
