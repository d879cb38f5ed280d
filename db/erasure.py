"""Forgetting a person and redacting a record, without breaking a chain: logs hold digests and random ids alone."""

from __future__ import annotations

import secrets
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from db.clock import utc_now
from db.coders import find_coder
from db.connection import StudyConnection, writing
from db.faults import Refused
from db.ids import RandomBytes
from db.lead import record
from db.study import Study

REDACTED = "[redacted]"


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased: the coder's pseudonym or the unit, and how many notes with it.

    ``backups`` still hold it. ``scrubbed`` False: another process was reading, so that the old bytes lie in the study's
    -wal file until the last process closes it.
    """

    name: str
    texts: int
    backups: tuple[str, ...]
    scrubbed: bool


def forget(study: Study, coder: str, *, random_bytes: RandomBytes = secrets.token_bytes) -> Erased:
    """Erase a coder's name and words (notes, reasons, unsent notes); the labels stay, under the pseudonym.

    Raises Refused where there is no such coder. Copies of the file and backups are not reached: they are named.
    """
    with _erasing(study) as connection:
        who = find_coder(connection, coder)
        texts = erase_texts(connection, "e.log_id IN (SELECT id FROM logs WHERE coder_id = ?)", (who.id,))
        connection.execute("UPDATE coders SET name = NULL, forgotten_utc = ? WHERE id = ?", (utc_now(), who.id))
        record(connection, "forget", {"coder": who.uid, "texts": texts}, random_bytes=random_bytes)
    shutil.rmtree(study.side / "drafts" / who.uid, ignore_errors=True)
    return Erased(who.pseudonym, texts, _backups(study), _scrub(study))


def redact(
    study: Study, unit: str, *, with_item: bool = False, random_bytes: RandomBytes = secrets.token_bytes
) -> Erased:
    """Erase the texts of a unit (random id): response, reason, judges' replies and coders' notes; its labels stay.

    ``with_item``: the item's question, context, gold answers and rationale too. Raises Refused where there is no such
    unit. A redacted response can no longer be drawn, and importing it again does not bring its text back.
    """
    with _erasing(study) as connection:
        row = connection.execute(
            "SELECT u.response_id, r.item_id FROM units u JOIN responses r ON r.id = u.response_id"
            " WHERE u.public_id = ?",
            (unit,),
        ).fetchone()
        if row is None:
            raise Refused(f"There is no unit {unit!r} in this study.")
        redact_response(connection, row[0])
        if with_item:
            redact_item(connection, row[1])
        texts = erase_texts(connection, OF_UNIT, (unit,))
        record(connection, "redact", {"item": with_item, "texts": texts}, unit=unit, random_bytes=random_bytes)
    return Erased(unit, texts, _backups(study), _scrub(study))


OF_UNIT = (
    "(e.unit = ?1 OR e.assignment_id IN"
    " (SELECT a.id FROM assignments a JOIN units u ON u.id = a.unit_id WHERE u.public_id = ?1))"
)
"""The events of a unit; those that came in a pack name its assignment alone."""


def redact_response(connection: sqlite3.Connection, response: int) -> None:
    connection.execute(
        "UPDATE responses SET text = ?, text_b = CASE WHEN text_b IS NULL THEN NULL ELSE ? END, reason = NULL,"
        " extra = '{}', redacted_utc = ? WHERE id = ?",
        (REDACTED, REDACTED, utc_now(), response),
    )
    connection.execute(
        "UPDATE judge_labels SET reply = NULL, rationale = NULL, extra = '{}',"
        " failure = CASE WHEN failure IS NULL THEN NULL ELSE ? END WHERE response_id = ?",
        (REDACTED, response),
    )
    # An output that is no label was kept whole and may quote the text; what the mapping knows is a label's name.
    connection.execute(
        "UPDATE judge_labels AS l SET raw = ?, raw_key = ? WHERE l.response_id = ? AND l.raw_key <> '' AND NOT EXISTS"
        " (SELECT 1 FROM judge_map_entries m WHERE m.judge_id = l.judge_id AND m.raw_key = l.raw_key)",
        (REDACTED, REDACTED, response),
    )


def redact_item(connection: sqlite3.Connection, item: int) -> None:
    connection.execute(
        "UPDATE items SET question = ?, context = NULL, gold = '[]', rationale = NULL, options = '[]', extra = '{}',"
        " redacted_utc = ? WHERE id = ?",
        (REDACTED, utc_now(), item),
    )


def erase_texts(connection: sqlite3.Connection, where: str, values: Iterable[object]) -> int:
    """Erase the words behind the events that ``where`` names; their digests stay, without the salt to check them by."""
    digests = connection.execute(
        f"SELECT json_extract(e.body, '$.note'), json_extract(e.body, '$.words') FROM events e WHERE {where}",
        tuple(values),
    ).fetchall()
    named = {digest for row in digests for digest in row if digest is not None}
    return sum(
        connection.execute(
            "UPDATE texts SET text = NULL, salt = '' WHERE digest = ? AND text IS NOT NULL", (digest,)
        ).rowcount
        for digest in sorted(named)
    )


@contextmanager
def _erasing(study: Study) -> Iterator[StudyConnection]:
    """A transaction that overwrites what it deletes, instead of leaving it in the file."""
    connection = study.connection
    connection.execute("PRAGMA secure_delete = ON")
    try:
        with writing(connection):
            yield connection
    finally:
        connection.execute("PRAGMA secure_delete = OFF")


def _scrub(study: Study) -> bool:
    """Move the write-ahead log into the file and cut it to nothing: it too holds the old bytes."""
    busy: int = study.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return not busy


def _backups(study: Study) -> tuple[str, ...]:
    folder = study.side / "backups"
    return tuple(path.name for path in sorted(folder.glob("*.db"))) if folder.is_dir() else ()
