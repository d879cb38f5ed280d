"""What a pack proves by itself, without the study's secret; and what a study proves of the packs that came back."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping

from db.canonical import sha256_text
from db.chain import genesis, row_hash
from db.incoming import rows_of
from db.pack_content import PLACE, content_of, spelled
from db.pack_seal import act_code, first_key, next_key
from db.queue import count_states
from db.records import Progress
from db.stacks import Stacks
from db.texts import text_digest

Found = Iterator[str | None]


def pack_head(connection: sqlite3.Connection) -> tuple[str, int, str]:
    """Log, number of acts and last hash of a pack: what is compared with what was merged."""
    uid, start, number = connection.execute("SELECT uid, genesis, id FROM logs").fetchone()
    row = connection.execute(
        "SELECT seq, hash FROM events WHERE log_id = ? ORDER BY seq DESC LIMIT 1", (number,)
    ).fetchone()
    return (uid, 0, start) if row is None else (uid, row[0], row[1])


def pack_progress(connection: sqlite3.Connection) -> tuple[str, Progress, str]:
    """Whose pack it is, how far it is, and when it was made."""
    name, number = connection.execute("SELECT name, id FROM coders").fetchone()
    made = connection.execute("SELECT created_utc FROM study").fetchone()[0]
    return name, count_states(connection, number).progress(), made


def _file(connection: sqlite3.Connection) -> Found:
    for (found,) in connection.execute("PRAGMA integrity_check(20)"):
        yield None if found == "ok" else " ".join(str(found).split())


def _content(connection: sqlite3.Connection) -> Found:
    (digest,) = connection.execute("SELECT digest FROM pack").fetchone()
    same = sha256_text(spelled(content_of(connection))) == digest
    yield None if same else "the items or the codebook are not those that were packed"


def _acts(connection: sqlite3.Connection) -> Found:
    """The chain from its start, and that every act was sealed when it was written."""
    study, coder, log, digest, start, number = connection.execute(
        "SELECT s.uid, c.uid, l.uid, l.protocol_digest, l.genesis, l.id FROM study s, logs l"
        " JOIN coders c ON c.id = l.coder_id"
    ).fetchone()
    if genesis(study, coder, log, digest) != start:
        yield "its log does not begin as it should"
        return
    sealed = {row[0] for row in connection.execute("SELECT seq FROM seals")}
    previous, stacks = start, Stacks()
    for expected, (row, stored) in enumerate(rows_of(connection, number), 1):
        if row.seq != expected or row_hash(previous, row) != stored:
            yield f"row {expected}: was changed after it was written (its hash does not hold)"
            return
        try:
            stacks.add(row.seq, row.kind, row.body.get("target"))
        except ValueError as error:
            yield str(error)
            return
        yield None if expected in sealed else f"row {expected}: was not sealed when it was written"
        previous = stored
    if len(sealed) != pack_head(connection)[1]:
        yield "acts are missing at its end"


def _notes(connection: sqlite3.Connection) -> Found:
    for digest, salt, text in connection.execute("SELECT digest, salt, text FROM texts WHERE salt <> ''"):
        yield None if text_digest(salt, text) == digest else f"note {digest[:12]}: was changed"


PACK_CHECKS: Mapping[str, Callable[[sqlite3.Connection], Found]] = {
    "file": _file,
    "content": _content,
    "acts": _acts,
    "notes": _notes,
}
"""The checks of a pack by name; each gives None for what holds, else what is wrong."""


# --- in the study -----------------------------------------------------------------------------------


def broken_heads(connection: sqlite3.Connection) -> Found:
    """Each pack that came back: its log still leads to the code that was kept when it was merged."""
    (secret,) = connection.execute("SELECT secret FROM study").fetchone()
    logs = connection.execute(
        f"SELECT id, uid, sealed_head FROM logs WHERE sealed_head IS NOT NULL AND place GLOB '{PLACE}*' ORDER BY id"
    )
    for number, uid, head in logs.fetchall():
        length, _, code = str(head).partition(":")
        rows = connection.execute("SELECT seq, hash FROM events WHERE log_id = ? ORDER BY seq", (number,)).fetchall()
        whole = _code_at(secret, uid, rows, int(length)) == code
        repaired = len(rows) < int(length) and _was_repaired(connection)
        yield None if whole or repaired else f"pack {uid}: its log is not what was merged"


def _was_repaired(connection: sqlite3.Connection) -> bool:
    """A repaired study says so itself, and names what was lost: logs stand in it as far as they could be saved."""
    lead = "SELECT 1 FROM events e JOIN logs l ON l.id = e.log_id JOIN coders c ON c.id = l.coder_id"
    return connection.execute(f"{lead} WHERE c.kind = 'lead' AND e.kind = 'repair'").fetchone() is not None


def _code_at(secret: bytes, uid: str, rows: list[tuple[int, str]], length: int) -> str | None:
    key, code = first_key(secret, uid), None
    for seq, stored in rows[:length]:
        code, key = act_code(key, stored), next_key(key)
        if seq == length:
            return code
    return None
