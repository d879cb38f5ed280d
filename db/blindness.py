"""Who could know what a judge or others said when a label was given: sealed, masked or open, told apart by the log."""

from __future__ import annotations

import getpass
import hashlib
import hmac
import os
import secrets
import sqlite3

from db.connection import writing
from db.ids import RandomBytes
from db.lead import record
from db.records import Blindness
from db.study import Study

RESULTS = frozenset({"agreement", "impact", "report", "dashboard"})
"""The commands that show results, as opposed to labels."""


def account_of(study: Study) -> str:
    """A keyed digest of the account that runs this process: it tells two accounts apart and names nobody."""
    user = str(os.getuid()) if hasattr(os, "getuid") else getpass.getuser()
    return hmac.new(study.secret, user.encode(), hashlib.sha256).hexdigest()[:16]


def blindness_of(
    connection: sqlite3.Connection, coder_id: int, account: str | None, unit_id: int | None, base: Blindness
) -> Blindness:
    """``base``; or open where the coder unmasked this unit or all, or this account ran a command that shows labels."""
    seen = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM unmaskings WHERE coder_id = ?1 AND (unit_id IS NULL OR unit_id = ?2))"
        " OR EXISTS (SELECT 1 FROM unmaskings WHERE account = ?3)",
        (coder_id, unit_id, account),
    ).fetchone()[0]
    return "open" if seen else base


def unmask(
    connection: sqlite3.Connection,
    log_id: int,
    seq: int,
    *,
    coder_id: int | None,
    account: str | None,
    unit_id: int | None,
) -> None:
    """Keep what the event (log_id, seq) says about who has seen what."""
    connection.execute(
        "INSERT INTO unmaskings (coder_id, account, unit_id, log_id, seq) VALUES (?, ?, ?, ?, ?)",
        (coder_id, account, unit_id, log_id, seq),
    )


def record_lead_view(study: Study, what: str, *, random_bytes: RandomBytes = secrets.token_bytes) -> None:
    """Log that a command showed judges' or coders' labels to this account: what it codes from now on counts as open.

    ``what`` names the command. Once an account is known to have seen labels, it is not logged again; a look at results
    before coding is finished is, once for each state of the labels. A study that cannot be written is left alone.
    """
    if study.read_only:
        return
    if what in RESULTS:
        from db.freezing import record_look

        record_look(study, what, random_bytes=random_bytes)
    account = account_of(study)
    known = "SELECT 1 FROM unmaskings WHERE account = ?"
    if study.connection.execute(known, (account,)).fetchone():
        return
    with writing(study.connection) as connection:
        if connection.execute(known, (account,)).fetchone():
            return
        log_id, seq = record(connection, "unmask", {"account": account, "what": what}, random_bytes=random_bytes)
        unmask(connection, log_id, seq, coder_id=None, account=account, unit_id=None)
