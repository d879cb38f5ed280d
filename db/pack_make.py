"""Making a pack: what one coder has still to do, leased and written into a file of its own.

What the coder may not see stays behind: no model, judge, stratum, probability, other coder or other coder's unit comes
in, and no round, so that a hidden check, a repeat or a tie-break is an item like any other. The ids in it are those of
assignments, which are random.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.canonical import canonical_json, sha256_text
from db.clock import utc_now
from db.coders import Coder, find_coder
from db.columns import condition_sql
from db.connection import LATEST, PACK_ID, StudyConnection, writing
from db.faults import Refused, StudyError
from db.fold import SKIPPED_ONCE, TO_DO
from db.ids import RandomBytes, new_id
from db.leases import lease
from db.logs import Log
from db.migrations import MIGRATIONS
from db.pack import rules_that_apply
from db.pack_codebook import without_judges
from db.pack_content import FORMAT, PLACE, TABLES, content_of, spelled
from db.pack_seal import content_code, first_key
from db.records import Protocol
from db.study import Study
from db.version import TOOL_VERSION

ROUND = "main"


@dataclass(frozen=True, slots=True)
class Packed:
    """A pack that was made: its log's id, how many items are in it, how many training items stayed in the study."""

    path: Path
    coder: str
    log: str
    items: int
    training: int


def make_pack(
    study: Study,
    coder: str,
    out: Path,
    protocol: Protocol,
    *,
    rounds: Sequence[str] = (),
    batch: int | None = None,
    passphrase: str | None = None,
    random_bytes: RandomBytes = secrets.token_bytes,
) -> Packed:
    """Lease what this coder has still to do and write it to ``out``, a new file that only its owner may read.

    ``rounds``, ``batch``: only of these. ``protocol``: the codebook in force. ``passphrase`` encrypts the file.
    Items of training rounds stay: their feedback is the known label, which must not be in the file.
    Raises Refused and StudyError; nothing is leased then, and there is no file.
    """
    if out.exists():
        raise StudyError(f"{out}: there is already a file of that name.", "Name another one, or delete it first.")
    written = False
    try:
        with writing(study.connection) as connection:
            who = _coder(connection, coder)
            only, values = _only(connection, rounds, batch)
            place = PLACE + new_id(random_bytes)
            log, number = lease(study, coder, place, only=only, values=values, random_bytes=random_bytes)
            content = _build(study, connection, who, log, protocol)
            if passphrase is not None:
                from db.pack_vault import encrypted

                content = encrypted(content, passphrase)
            made = Packed(out, coder, log.uid, number, _training(connection, who.id))
            write_new(out, content)
            written = True
        return made
    except BaseException:
        if written:  # the lease could not be kept: there is no pack without it
            out.unlink(missing_ok=True)
        raise


def _coder(connection: sqlite3.Connection, name: str) -> Coder:
    who = find_coder(connection, name)
    if who.name is None:
        raise Refused(f"{who.pseudonym} was forgotten: nothing more can be coded under it.")
    if who.kind == "imported":
        raise Refused(f"The labels of {who.name} were imported; there is nothing to pack.", "Name another coder.")
    return who


def _only(connection: sqlite3.Connection, rounds: Sequence[str], batch: int | None) -> tuple[str, list[object]]:
    known = dict(connection.execute("SELECT name, kind FROM rounds ORDER BY name").fetchall())
    for name in rounds:
        if name not in known:
            raise Refused(f"There is no round {name!r} (there is: {', '.join(known) or 'none yet'}).")
        if known[name] in ("training", "adjudication"):
            raise Refused(
                f"Round {name!r} is of kind {known[name]}: it cannot be packed.", "It is coded where the study is."
            )
    if batch is not None and connection.execute("SELECT 1 FROM batches WHERE id = ?", (batch,)).fetchone() is None:
        raise Refused(f"There is no batch {batch}.")
    parts = [f"a.state IN ({TO_DO}, {SKIPPED_ONCE})", "a.role <> 'adjudicator'"]
    parts.append("r.kind NOT IN ('training', 'adjudication')")
    values: list[object] = []
    if rounds:
        parts.append(f"r.name IN ({', '.join('?' * len(rounds))})")
        values += rounds
    if batch is not None:
        parts.append("a.batch_id = ?")
        values.append(batch)
    return " AND ".join(parts), values


def _training(connection: sqlite3.Connection, coder: int) -> int:
    row = connection.execute(
        "SELECT count(*) FROM assignments a JOIN rounds r ON r.name = a.round WHERE a.coder_id = ? AND a.in_queue = 1"
        " AND a.state < 2 AND r.kind = 'training' AND r.state = 'open'",
        (coder,),
    ).fetchone()
    return int(row[0])


# --- the file ---------------------------------------------------------------------------------------


def write_new(path: Path, content: bytes) -> None:
    """Write a new file for its owner alone, durably. Raises StudyError; there is no file then."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise StudyError(
            f"{path}: cannot be written ({error.strerror}).", "Check the folder and its permissions."
        ) from error


def sync_folder(folder: Path) -> None:
    """Make a new name durable, where the system lets a folder be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _build(study: Study, home: StudyConnection, coder: Coder, log: Log, protocol: Protocol) -> bytes:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as pack:
        for _, _, statements in MIGRATIONS:
            for statement in statements:
                pack.execute(statement)
        for statement in TABLES:
            pack.execute(statement)
        pack.execute(f"PRAGMA application_id = {PACK_ID}")
        pack.execute(f"PRAGMA user_version = {LATEST}")
        pack.execute("BEGIN")
        _head(pack, study, home, coder, log)
        for position, row in enumerate(_leased(home, log, protocol), 1):
            _item(pack, position, row)
        _seal(pack, study, log)
        pack.execute("COMMIT")
        return pack.serialize()


def _insert(pack: sqlite3.Connection, table: str, **values: object) -> None:
    marks = ", ".join("?" * len(values))
    pack.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", tuple(values.values()))


def _head(pack: sqlite3.Connection, study: Study, home: StudyConnection, coder: Coder, log: Log) -> None:
    now = utc_now()
    made = {"created_utc": now, "tool_version": TOOL_VERSION}
    _insert(pack, "study", id=1, uid=study.uid, title="", place=log.place, secret=b"", **made)
    confirmed, digest = _codebooks(pack, study, home, coder, log)
    _insert(pack, "coders", id=1, uid=coder.uid, pseudonym="coder", name=coder.name, kind=coder.kind, created_utc=now)
    _insert(pack, "rounds", name=ROUND, kind="main")
    _insert(
        pack, "batches", id=1, round=ROUND, seed="", order_kind="file", overlap=0, released_utc=now, created_utc=now
    )
    _insert(pack, "imports", id=1, batch="pack", format="pack", fingerprint="", mapping="{}", counts="{}", **made)
    _insert(
        pack,
        "logs",
        id=1,
        uid=log.uid,
        coder_id=1,
        place=log.place,
        protocol_digest=digest,
        genesis=log.genesis,
        confirmed_version=confirmed,
        created_utc=now,
    )


def _codebooks(
    pack: sqlite3.Connection, study: Study, home: StudyConnection, coder: Coder, log: Log
) -> tuple[int, str]:
    """The codebook in force, and those before it that the coder has not seen changed yet: the pack asks to confirm."""
    digest, begun = home.execute(
        "SELECT protocol_digest, confirmed_version FROM logs WHERE id = ?", (log.id,)
    ).fetchone()
    row = home.execute(
        "SELECT confirmed_version FROM logs WHERE coder_id = ? AND place = ?", (coder.id, study.place)
    ).fetchone()
    confirmed: int = begun if row is None else row[0]
    columns = "version, name, digest, toml, change, touches, created_utc"
    rows = home.execute(f"SELECT {columns} FROM protocols WHERE version >= ? ORDER BY version", (confirmed,))
    for version, name, text_digest, toml, *rest in rows.fetchall():
        row = (version, name, text_digest, without_judges(toml), *rest)
        pack.execute(f"INSERT INTO protocols ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    return confirmed, digest


def _leased(home: StudyConnection, log: Log, protocol: Protocol) -> list[tuple[Any, ...]]:
    """What is shown of each leased assignment, in the coder's order, and which rules of the codebook apply to it."""
    rules = "".join(f", {condition_sql(rule.field, rule.values)}" for rule in protocol.impossible)
    return home.execute(
        f"""SELECT a.uid, a.sides_swapped, i.question, i.context, i.gold, i.rationale, i.options, r.text, r.text_b,
                   r.reason, r.choice,
                   (SELECT t.text FROM answers w JOIN texts t ON t.digest = w.text WHERE w.assignment_id = a.id
                    ORDER BY w.id DESC LIMIT 1),
                   EXISTS (SELECT 1 FROM unmaskings m WHERE m.coder_id = a.coder_id
                           AND (m.unit_id IS NULL OR m.unit_id = a.unit_id)){rules}
            FROM leases l
            JOIN assignments a ON a.id = l.assignment_id
            JOIN units u ON u.id = a.unit_id
            JOIN responses r ON r.id = u.response_id
            JOIN items i ON i.id = r.item_id
            WHERE l.log_id = ? AND l.ended_utc IS NULL
            ORDER BY a.position""",
        (log.id,),
    ).fetchall()


def _item(pack: sqlite3.Connection, number: int, row: Sequence[Any]) -> None:
    """One assignment with an item, response and unit of its own: nothing tells that two are of one question or unit.

    The two texts of a pair stand as they are shown: which of them came first in the source is not in the file.
    """
    uid, swapped, question, context, gold, rationale, options, text, text_b, reason, choice, answer, seen, *applies = (
        row
    )
    first, second = (text_b, text) if swapped and text_b is not None else (text, text_b)
    source = {"digest": "", "import_id": 1, "source_row": number}
    _insert(
        pack,
        "items",
        id=number,
        key=uid,
        question=question,
        context=context,
        gold=gold,
        rationale=rationale,
        options=options,
        strata=canonical_json(rules_that_apply(applies)),
        **source,
    )
    _insert(
        pack,
        "responses",
        id=number,
        item_id=number,
        model="",
        condition="",
        repeat=1,
        text=first,
        text_b=second,
        reason=reason,
        choice=choice,
        **source,
    )
    _insert(pack, "units", id=number, response_id=number, public_id=uid)
    _insert(
        pack, "assignments", id=number, uid=uid, unit_id=number, coder_id=1, round=ROUND, batch_id=1, position=number
    )
    if answer is not None:  # no event stands behind it here: who answered, and when, is not the coder's to see
        _insert(pack, "texts", digest=f"answer {number}", salt="", text=answer)
        _insert(pack, "answers", assignment_id=number, text=f"answer {number}", log_id=1, seq=0)
    if seen:  # what the coder has looked at in the study stays open here
        _insert(pack, "unmaskings", coder_id=1, unit_id=number, log_id=1, seq=0)


def _seal(pack: sqlite3.Connection, study: Study, log: Log) -> None:
    _insert(pack, "pack", id=1, format=FORMAT, code="", digest="", ratchet=first_key(study.secret, log.uid))
    content = spelled(content_of(pack))
    pack.execute("UPDATE pack SET code = ?, digest = ?", (content_code(study.secret, content), sha256_text(content)))
