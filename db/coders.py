"""The people (and simulated coders) of a study. A name stands only in its row, so that it can be forgotten."""

from __future__ import annotations

import secrets
import sqlite3
from typing import NamedTuple

from db.clock import utc_now
from db.connection import writing
from db.faults import BadRequest, Refused
from db.ids import RandomBytes, new_id
from db.lead import record
from db.records import CoderKind
from db.study import Study


class Coder(NamedTuple):
    """``uid`` is in the record, ``pseudonym`` (coder-1, ...) in reports, ``name`` (None: forgotten) nowhere else."""

    id: int
    uid: str
    pseudonym: str
    name: str | None
    kind: CoderKind


_COLUMNS = "id, uid, pseudonym, name, kind"


def add_coder(
    study: Study, name: str, *, kind: CoderKind = "person", random_bytes: RandomBytes = secrets.token_bytes
) -> Coder:
    """Add a coder, or return the one of that name. Raises Refused for an empty name or another kind of coder."""
    with writing(study.connection) as connection:
        return insert_coder(connection, name, kind, random_bytes)


def insert_coder(
    connection: sqlite3.Connection, name: str, kind: CoderKind, random_bytes: RandomBytes = secrets.token_bytes
) -> Coder:
    """``add_coder`` inside the open transaction."""
    known = _by_name(connection, checked_name(name))
    if known is not None:
        if known.kind != kind:
            raise Refused(f"{name} is already in the study as a coder of kind {known.kind}.", "Use another name.")
        return known
    number = connection.execute("SELECT count(*) + 1 FROM coders WHERE kind <> 'lead'").fetchone()[0]
    uid = new_id(random_bytes)
    connection.execute(
        "INSERT INTO coders (uid, pseudonym, name, kind, created_utc) VALUES (?, ?, ?, ?, ?)",
        (uid, f"coder-{number}", name.strip(), kind, utc_now()),
    )
    record(connection, "coder", {"coder": uid, "kind": kind}, random_bytes=random_bytes)
    return find_coder(connection, name)


def checked_name(name: str) -> str:
    """The name without spaces around it. Raises Refused where it is empty or holds a control character."""
    plain = name.strip()
    if not plain or any(ord(character) < 32 for character in plain):
        raise BadRequest(f"{name!r} cannot be the name of a coder.", "Use letters, digits, spaces and signs.")
    return plain


def find_coder(connection: sqlite3.Connection, name: str) -> Coder:
    """The coder with this name, pseudonym or id. Raises Refused, and says whom there is."""
    plain = name.strip()
    found = _by_name(connection, plain)
    if found is None:
        row = connection.execute(
            f"SELECT {_COLUMNS} FROM coders WHERE (pseudonym = ?1 OR uid = ?1) AND kind <> 'lead'", (plain,)
        ).fetchone()
        found = None if row is None else Coder(*row)
    if found is None:
        known = ", ".join(coder.name or coder.pseudonym for coder in coders_of(connection)) or "nobody yet"
        raise Refused(
            f"There is no coder {plain!r} in this study (there is: {known}).", "'annotate assign' adds coders."
        )
    return found


def list_coders(study: Study) -> tuple[Coder, ...]:
    """All coders but the lead, in the order in which they came."""
    return coders_of(study.connection)


def coders_of(connection: sqlite3.Connection) -> tuple[Coder, ...]:
    rows = connection.execute(f"SELECT {_COLUMNS} FROM coders WHERE kind <> 'lead' ORDER BY id")
    return tuple(Coder(*row) for row in rows)


def _by_name(connection: sqlite3.Connection, name: str) -> Coder | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM coders WHERE name = ? AND kind <> 'lead'", (name,)).fetchone()
    return None if row is None else Coder(*row)
