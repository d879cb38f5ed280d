"""The people (and simulated coders) of a study. A name stands only in its row, so that it can be forgotten."""

from __future__ import annotations

import secrets
import sqlite3
import unicodedata
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


LONGEST_NAME = 80
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
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
    _check_distinct(connection, name.strip(), kind)
    number = connection.execute("SELECT count(*) + 1 FROM coders WHERE kind <> 'lead'").fetchone()[0]
    uid = new_id(random_bytes)
    connection.execute(
        "INSERT INTO coders (uid, pseudonym, name, kind, created_utc) VALUES (?, ?, ?, ?, ?)",
        (uid, f"coder-{number}", name.strip(), kind, utc_now()),
    )
    record(connection, "coder", {"coder": uid, "kind": kind}, random_bytes=random_bytes)
    return find_coder(connection, name)


def checked_name(name: str) -> str:
    """The name without spaces around it. Raises BadRequest where it is empty, long or holds what cannot be seen."""
    plain = name.strip()
    if not plain or any(_unseen(character) for character in plain):
        raise BadRequest(f"{name!r} cannot be the name of a coder.", "Use letters, digits, spaces and signs.")
    if len(plain) > LONGEST_NAME:
        raise BadRequest(
            f"A coder's name has at most {LONGEST_NAME} characters; {plain[:20]!r}… has {len(plain):,}.",
            "Use a short name or a pseudonym.",
        )
    return plain


def _unseen(character: str) -> bool:
    """Whether a character moves the cursor, changes the direction of text or ends a line instead of being seen."""
    return unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in _DIRECTIONS


def _check_distinct(connection: sqlite3.Connection, name: str, kind: CoderKind) -> None:
    """Ada and ada would be two people: that is a slip of the hand. Imported names are what their source says."""
    if kind == "imported":
        return
    for (known,) in connection.execute("SELECT name FROM coders WHERE kind = ? AND name IS NOT NULL", (kind,)):
        if _folded(known) == _folded(name):
            raise Refused(
                f"There is a coder {known!r} already: {name!r} differs in nothing that is seen but case.",
                f"Write {known!r}, or a name of its own.",
            )


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


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
