"""Proving a study: every chain, the fold, the design and the counts made anew and compared with what is stored."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from db.assigning import assignments_digest
from db.canonical import canonical_json, sha256_text
from db.chain import EventRow, genesis, row_hash
from db.connection import reading
from db.drawing import units_digest
from db.stacks import Stacks
from db.study import Study
from db.texts import text_digest
from db.verify_contents import broken_contents
from db.verify_design import broken_draws
from db.verify_fold import broken_folds

Found = Iterator[str | None]
"""One entry for each thing that was looked at: None where it holds, else what is wrong, naming the row."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was proved: ``examined`` rows, of which ``broken`` do not hold; ``first`` names the first."""

    name: str
    examined: int
    broken: int
    first: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    """All checks. ``heads``: for each log its id, number of rows and last hash, to be compared with a copy's."""

    checks: tuple[Check, ...]
    heads: tuple[tuple[str, int, str], ...]

    @property
    def holds(self) -> bool:
        return not any(check.broken for check in self.checks)


def verify(study: Study) -> Verified:
    """Check the whole study against itself, in one consistent view. It reads only."""
    connection = study.connection
    with reading(connection):
        checks = tuple(_run(connection, name, check) for name, check in _CHECKS.items())
        return Verified(checks, _heads(connection))


def verify_pack(connection: sqlite3.Connection) -> Verified:
    """Check a pack by itself. That it is what the study packed needs the study: merging checks it."""
    from db.pack_verify import PACK_CHECKS, pack_head

    looks = {**PACK_CHECKS, "annotations": broken_folds}
    checks = tuple(_run(connection, name, check) for name, check in looks.items())
    return Verified(checks, (pack_head(connection),))


def _run(connection: sqlite3.Connection, name: str, check: Callable[[sqlite3.Connection], Found]) -> Check:
    examined = broken = 0
    first = ""
    try:
        for problem in check(connection):
            examined += 1
            if problem is not None:
                broken += 1
                first = first or problem
    except Exception as error:
        # A damaged file can fail in any query and give any value; what was found up to then still counts.
        return Check(name, examined, broken + 1, first or f"cannot be read: {error}")
    return Check(name, examined, broken, first)


def _file(connection: sqlite3.Connection) -> Found:
    for (found,) in connection.execute("PRAGMA integrity_check(20)"):
        yield None if found == "ok" else " ".join(str(found).split())


def _foreign_keys(connection: sqlite3.Connection) -> Found:
    bad = connection.execute("PRAGMA foreign_key_check").fetchall()
    if not bad:
        yield None
    for table, row, parent, _ in bad:
        yield f"{table} row {row} points to no row of {parent}"


_JSON = {
    "study": ("settings",),
    "protocols": ("touches",),
    "imports": ("mapping", "counts"),
    "items": ("gold", "options", "strata", "extra"),
    "responses": ("extra",),
    "judges": ("origin",),
    "judge_labels": ("extra",),
    "judge_mappings": ("mapping",),
    "samples": ("strata_by", "parameters"),
    "sample_strata": ("stratum",),
    "rounds": ("settings",),
    "batches": ("parameters",),
    "events": ("body",),
    "annotations": ("flags", "detail"),
}


def _json_columns(connection: sqlite3.Connection) -> Found:
    for table, columns in _JSON.items():
        for column in columns:
            bad = connection.execute(f"SELECT count(*) FROM {table} WHERE NOT json_valid({column})").fetchone()[0]
            yield f"{table}.{column}: {bad} values are not JSON" if bad else None


def _protocols(connection: sqlite3.Connection) -> Found:
    for version, digest, toml in connection.execute("SELECT version, digest, toml FROM protocols ORDER BY version"):
        yield None if sha256_text(toml) == digest else f"codebook version {version}: its text was changed"


# --- the logs ---------------------------------------------------------------------------------------

_ROWS = """
    SELECT e.seq, e.kind, a.uid, e.unit, e.protocol_version, e.tool_version, e.utc, e.active_ms, e.fence, e.origin,
           e.blindness, e.body, e.hash
    FROM events e LEFT JOIN assignments a ON a.id = e.assignment_id
    WHERE e.log_id = ? ORDER BY e.seq"""


def _logs(connection: sqlite3.Connection) -> Found:
    """Every row of every log: its place, its hash, its fencing number, and that undo and redo take acts in turn."""
    study = connection.execute("SELECT uid FROM study").fetchone()[0]
    logs = connection.execute(
        "SELECT l.id, l.uid, c.uid, l.protocol_digest, l.genesis, c.pseudonym, l.fence FROM logs l"
        " JOIN coders c ON c.id = l.coder_id ORDER BY l.id"
    ).fetchall()
    for number, uid, coder, digest, start, pseudonym, fence in logs:
        if start != genesis(study, coder, uid, digest):
            yield f"log {uid} of {pseudonym}: its genesis is not that of this study, coder and codebook"
            continue
        yield from _log(connection, number, f"log {uid} of {pseudonym}", uid, start, fence)


def _log(connection: sqlite3.Connection, number: int, name: str, uid: str, start: str, fence: int) -> Found:
    previous, expected, last_fence = start, 1, 0
    stacks = Stacks()
    for row in connection.execute(_ROWS, (number,)):
        seq, kind, assignment, unit, version, tool, utc, active, row_fence, origin, blindness, body, stored = row
        where = f"{name}, row {seq}"
        content = json.loads(body)
        hashed = EventRow(
            uid, seq, kind, assignment, unit, version, tool, utc, active, row_fence, origin, blindness, content
        )
        if seq != expected:
            yield f"{where}: row {expected} should stand here"
            return
        if row_hash(previous, hashed) != stored or canonical_json(content) != body:
            yield f"{where}: was changed after it was written (its hash does not hold)"
            return  # every later hash stands on this one
        if not last_fence <= row_fence <= fence:
            yield f"{where}: written under session {row_fence}, but sessions {last_fence} to {fence} were due"
            return
        try:
            stacks.add(seq, kind, content.get("target"))
        except ValueError as error:
            yield f"{where}: {error}"
            return
        yield None
        previous, expected, last_fence = stored, seq + 1, row_fence


def _heads(connection: sqlite3.Connection) -> tuple[tuple[str, int, str], ...]:
    try:
        return tuple(
            connection.execute(
                "SELECT l.uid, e.seq, e.hash FROM logs l JOIN events e ON e.log_id = l.id"
                " WHERE e.seq = (SELECT max(seq) FROM events WHERE log_id = l.id) ORDER BY l.id"
            ).fetchall()
        )
    except (sqlite3.Error, UnicodeDecodeError):
        return ()  # the check of the logs says what is wrong


def _texts(connection: sqlite3.Connection) -> Found:
    """Every note is the one whose digest the log holds, or was erased."""
    for digest, salt, text in connection.execute("SELECT digest, salt, text FROM texts ORDER BY digest"):
        yield None if text is None or text_digest(salt, text) == digest else f"text {digest[:12]}: was changed"
    missing = connection.execute(
        "SELECT l.uid, e.seq FROM events e JOIN logs l ON l.id = e.log_id,"
        " json_each(json_array(json_extract(e.body, '$.note'), json_extract(e.body, '$.words'))) t"
        " WHERE t.value IS NOT NULL AND t.value NOT IN (SELECT digest FROM texts)"
    )
    for log, seq in missing:
        yield f"log {log}, row {seq}: its text is not there"


# --- assignments, and the lead's acts ---------------------------------------------------------------


def _assignments(connection: sqlite3.Connection) -> Found:
    """Each batch is as the lead's log says it was assigned, and no two places of a queue are the same."""
    logged = _logged(connection, "assign", "batch", "digest")
    for (batch,) in connection.execute("SELECT id FROM batches ORDER BY id").fetchall():
        if batch not in logged:
            yield None  # labels that were imported: their own log says so
        elif logged[batch] != assignments_digest(connection, batch):
            yield f"batch {batch}: its assignments are not those that the lead's log records"
        else:
            yield None
    doubled = connection.execute(
        "SELECT c.pseudonym, a.position FROM assignments a JOIN coders c ON c.id = a.coder_id"
        " GROUP BY a.coder_id, a.position HAVING count(*) > 1"
    )
    for coder, position in doubled:
        yield f"{coder}: place {position} of the queue is there twice"


def _samples(connection: sqlite3.Connection) -> Found:
    for number, digest in _logged(connection, "sample", "sample", "units").items():
        same = digest == units_digest(connection, number)
        yield None if same else f"sample {number}: its units are not those that the lead's log records"
    for number, digest in _logged(connection, "sample", "sample", "design").items():
        (parameters,) = connection.execute("SELECT parameters FROM samples WHERE id = ?", (number,)).fetchone()
        same = digest == sha256_text(parameters)
        yield None if same else f"sample {number}: its design is not the one that the lead's log records"
    yield from broken_draws(connection)


def _logged(connection: sqlite3.Connection, kind: str, key: str, value: str) -> dict[int, str]:
    rows = connection.execute(
        f"SELECT json_extract(e.body, '$.{key}'), json_extract(e.body, '$.{value}') FROM events e"
        " JOIN logs l ON l.id = e.log_id JOIN coders c ON c.id = l.coder_id WHERE e.kind = ? AND c.kind = 'lead'",
        (kind,),
    )
    return dict(rows.fetchall())


def _traces(connection: sqlite3.Connection) -> Found:
    """Unmaskings, reopenings and answers are as the logs tell them, and none is missing."""
    for table, kind in (("unmaskings", "unmask"), ("reopenings", "reopen"), ("answers", "answer")):
        stray = connection.execute(
            f"SELECT t.id, e.kind FROM {table} t JOIN events e ON e.log_id = t.log_id AND e.seq = t.seq ORDER BY t.id"
        )
        for number, found in stray.fetchall():
            yield None if found == kind else f"{table} row {number}: the log has a {found} there"
        lost = connection.execute(
            f"SELECT l.uid, e.seq FROM events e JOIN logs l ON l.id = e.log_id WHERE e.kind = ?"
            f" AND NOT EXISTS (SELECT 1 FROM {table} t WHERE t.log_id = e.log_id AND t.seq = e.seq)",
            (kind,),
        )
        for log, seq in lost.fetchall():
            yield f"log {log}, row {seq}: {table} does not hold it"


def _packs(connection: sqlite3.Connection) -> Found:
    """The packs that came back are as they were merged."""
    from db.pack_verify import broken_heads

    return broken_heads(connection)


# --- counts -----------------------------------------------------------------------------------------

_COUNTED = {
    "items": "SELECT count(*) FROM items WHERE import_id = ?",
    "responses": "SELECT count(*) FROM responses WHERE import_id = ?",
    "judge labels": "SELECT count(*) FROM judge_labels WHERE import_id = ?",
    "human labels": "SELECT count(*) FROM events WHERE origin = 'import:' || (SELECT batch FROM imports WHERE id = ?)",
}


def _counts(connection: sqlite3.Connection) -> Found:
    """Each import left as many rows as it said that it brought."""
    for number, batch, told in connection.execute("SELECT id, batch, counts FROM imports ORDER BY id").fetchall():
        counts = json.loads(told)
        for kind, sql in _COUNTED.items():
            found = connection.execute(sql, (number,)).fetchone()[0]
            said = counts.get(kind, {}).get("imported", 0)
            yield None if found == said else f"import {batch}: {said} {kind} came in, {found} are there"


_CHECKS: dict[str, Callable[[sqlite3.Connection], Found]] = {
    "file": _file,
    "foreign keys": _foreign_keys,
    "JSON": _json_columns,
    "codebooks": _protocols,
    "items and responses": broken_contents,
    "logs": _logs,
    "texts": _texts,
    "annotations": broken_folds,
    "assignments": _assignments,
    "samples": _samples,
    "unmaskings and reopenings": _traces,
    "packs that came back": _packs,
    "imports": _counts,
}
