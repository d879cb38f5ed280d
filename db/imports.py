"""Importing: a stream of rows into the study, all of it or (where asked) all but the rows that are refused.

The stream is read and checked into a staging file first. Only when it has been read to its end is the study locked,
and one transaction takes everything over; where rows are refused and the import is to stop, nothing was changed.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

from sqlite_utils import Database

from db.canonical import canonical_json, sha256_text
from db.clock import utc_now
from db.connection import StudyConnection, writing
from db.faults import translate
from db.ids import RandomBytes, new_id
from db.import_humans import Humans, store_human_labels
from db.import_items import store_items
from db.import_judges import store_judge_labels
from db.import_report import ImportRefused, ImportReport, KindCount, SourceFile
from db.import_responses import store_responses
from db.import_run import Progress, Run
from db.judge_maps import apply_protocol
from db.lead import record
from db.records import CoderKind, ImportRow, Protocol, Reject
from db.row_block import RowBlock
from db.staging import Stager, staging
from db.study import Study
from db.version import TOOL_VERSION

__all__ = ["ImportRefused", "ImportReport", "KindCount", "SourceFile", "import_rows"]

CACHE_KIB = 64 * 1024


def import_rows(
    study: Study,
    rows: Iterable[ImportRow | RowBlock | Reject],
    *,
    format: str,
    sources: Sequence[SourceFile],
    mapping: Mapping[str, Any] | None = None,
    protocol: Protocol | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    judge_kind: str = "imported",
    judge_kinds: Mapping[str, str] | None = None,
    coder_kind: CoderKind = "imported",
    rows_read: Sequence[int] | None = None,
    progress: Progress | None = None,
    random_bytes: RandomBytes = secrets.token_bytes,
) -> ImportReport:
    """Import a stream of rows in one transaction, in memory that does not grow with it, and account for each row.

    sources: the files, at the positions that the rows' ``source`` names. mapping: how their columns were read, kept
    with the import. protocol: the codebook in force, needed for human labels; its mappings are put in force for the
    judges that came in. judge_kinds: kinds by judge, else ``judge_kind``. coder_kind: imported, or simulated where the
    labels were not given by people. rows_read: records read per file, looked at when the stream has ended.
    progress(done, total): total is None while reading.

    Raises ImportRefused (which holds the report) where rows were refused and ``on_error`` is stop; Refused where the
    stream as a whole cannot go in; StudyError. The study is unchanged then.
    """
    connection = study.connection
    if connection.in_transaction:
        raise ValueError("import_rows begins a transaction of its own")
    files = tuple(sources)
    database = Database(connection, execute_plugins=False)
    with staging(connection, study.side / "staging"):
        try:
            stager = Stager(connection, tuple(file.name for file in files), stop=on_error == "stop")
            read = stager.take(rows, progress)
        except sqlite3.Error as error:
            raise translate(error, study.path) from error
        if on_error == "stop" and read.refused:
            raise ImportRefused(_report(Run(connection, database, 0, "", files, read), Humans(), (), new=False))
        run = Run(connection, database, 0, new_id(random_bytes), files, read, progress)
        how = _How(format, dict(mapping or {}), protocol, dict(judge_kinds or {}), judge_kind, coder_kind, random_bytes)
        return _store(connection, run, how, stop=on_error == "stop", rows_read=rows_read)


@dataclass(frozen=True, slots=True)
class _How:
    """What the caller says of the whole stream."""

    format: str
    mapping: dict[str, Any]
    protocol: Protocol | None
    judge_kinds: dict[str, str]
    judge_kind: str
    coder_kind: CoderKind
    random_bytes: RandomBytes


class _Nothing(Exception):
    """Nothing new came in: the transaction is undone, so that the study's bytes stay as they were."""


def _store(
    connection: StudyConnection, run: Run, how: _How, *, stop: bool, rows_read: Sequence[int] | None
) -> ImportReport:
    humans = Humans()
    judges: tuple[str, ...] = ()
    connection.execute(f"PRAGMA cache_size = {-CACHE_KIB}")
    try:
        with writing(connection):
            _open_import(run, how, rows_read)
            store_items(run)
            store_responses(run)
            judges = store_judge_labels(run, how.judge_kinds, how.judge_kind)
            humans = store_human_labels(run, how.protocol, how.coder_kind, how.random_bytes)
            if stop and run.rejected:
                raise ImportRefused(_report(run, humans, judges, new=False))
            if not any(run.imported.values()):
                raise _Nothing
            if how.protocol is not None and judges:
                apply_protocol(connection, how.protocol, judges)
            _close_import(run, how.random_bytes)
    except _Nothing:
        return _report(run, humans, judges, new=False)
    finally:
        connection.execute("PRAGMA cache_size = -2000")
    return _report(run, humans, judges, new=True)


def _open_import(run: Run, how: _How, rows_read: Sequence[int] | None) -> None:
    connection = run.connection
    digests = [source.sha256 for source in run.sources]
    fingerprint = sha256_text(canonical_json([how.format, how.mapping, digests]))
    row = {
        "batch": run.batch,
        "format": how.format,
        "fingerprint": fingerprint,
        "mapping": canonical_json(how.mapping),
        "counts": "{}",
        "created_utc": utc_now(),
        "tool_version": TOOL_VERSION,
    }
    run.id = cast(int, run.database.table("imports").insert(row).last_pk)
    for position, source in enumerate(run.sources):
        rows = rows_read[position] if rows_read is not None else 0
        number = run.database.table("sources").insert({"import_id": run.id, **asdict(source), "rows": rows}).last_pk
        connection.execute("INSERT INTO staging.sources VALUES (?, ?, ?)", (position, number, source.sha256))


def _close_import(run: Run, random_bytes: RandomBytes) -> None:
    counts = {kind: asdict(count) for kind, count in run.kinds().items()}
    counts["records"] = {"rejected": run.read.unreadable, "replaced": run.read.replaced}
    run.database.table("imports").update(run.id, {"counts": canonical_json(counts)})
    run.database.table("rejects").insert_all({"import_id": run.id, **asdict(reject)} for reject in run.read.rejects)
    record(run.connection, "import", {"batch": run.batch, "counts": counts}, random_bytes=random_bytes)


def _report(run: Run, humans: Humans, judges: tuple[str, ...], *, new: bool) -> ImportReport:
    return ImportReport(
        batch=run.batch if new else None,
        kinds=run.kinds(),
        unreadable=run.read.unreadable,
        rejected=run.rejected,
        rejects=tuple(run.read.rejects),
        replaced=run.read.replaced,
        judges=judges,
        coders=humans.coders,
        sample=humans.sample,
        notes=tuple(run.notes),
    )
