"""A study in numbers: what is in it, where it came from, and how far each coder is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from db.connection import reading
from db.records import CoderKind, RoundKind
from db.study import Study


@dataclass(frozen=True, slots=True)
class JudgeCounts:
    """A judge: ``labels`` stored = mapped + ``not_labels`` + ``missing``; ``responses`` have at least one row."""

    name: str
    kind: str
    labels: int
    responses: int
    not_labels: int
    missing: int


@dataclass(frozen=True, slots=True)
class StudyCounts:
    """What a study holds. ``events`` counts every row of every log."""

    items: int
    responses: int
    failures: int
    models: tuple[str, ...]
    conditions: tuple[str, ...]
    judges: tuple[JudgeCounts, ...]
    units: int
    sampled: int
    coders: int
    assignments: int
    labelled: int
    events: int


@dataclass(frozen=True, slots=True)
class CoderProgress:
    """One coder in one round: ``total`` = done + skipped + left; of the left, ``stale`` are to be coded again.

    ``waiting``: of the left, those not released yet or in a pack. ``active_ms`` is time spent on all of them.
    ``due_utc``: when those in the queue that are still to do are to be done, the earliest of several dates.
    """

    coder: str
    pseudonym: str
    kind: CoderKind
    round: str
    round_kind: RoundKind
    total: int
    done: int
    skipped: int
    left: int
    flagged: int
    stale: int
    waiting: int
    active_ms: int
    last_utc: str | None
    due_utc: str | None


@dataclass(frozen=True, slots=True)
class ImportEntry:
    """An import as the study keeps it: ``counts`` by kind of row, ``sources`` by name with the records read of each."""

    batch: str
    format: str
    mapping: Mapping[str, Any]
    counts: Mapping[str, Mapping[str, int]]
    sources: Mapping[str, int]
    created_utc: str
    digests: tuple[str, ...] = field(default=())


def study_counts(study: Study) -> StudyCounts:
    connection = study.connection
    with reading(connection):
        return StudyCounts(
            items=_one(connection, "SELECT count(*) FROM items"),
            responses=_one(connection, "SELECT count(*) FROM responses"),
            failures=_one(connection, "SELECT count(*) FROM responses WHERE failure IS NOT NULL"),
            models=_names(connection, "model"),
            conditions=_names(connection, "condition"),
            judges=_judges(connection),
            units=_one(connection, "SELECT count(*) FROM units"),
            sampled=_one(connection, _SAMPLED),
            coders=_one(connection, "SELECT count(*) FROM coders WHERE kind <> 'lead'"),
            assignments=_one(connection, "SELECT count(*) FROM assignments WHERE withdrawn_utc IS NULL"),
            labelled=_one(connection, "SELECT count(*) FROM assignments WHERE state = 2 AND withdrawn_utc IS NULL"),
            events=_one(connection, "SELECT count(*) FROM events"),
        )


_SAMPLED = """
    SELECT count(*) FROM sample_units WHERE sample_id =
        (SELECT max(s.id) FROM samples s WHERE NOT EXISTS (SELECT 1 FROM samples t WHERE t.supersedes = s.id))"""


def _one(connection: sqlite3.Connection, sql: str) -> int:
    return int(connection.execute(sql).fetchone()[0])


def _names(connection: sqlite3.Connection, column: str) -> tuple[str, ...]:
    return tuple(row[0] for row in connection.execute(f"SELECT DISTINCT {column} FROM responses ORDER BY 1"))


def _judges(connection: sqlite3.Connection) -> tuple[JudgeCounts, ...]:
    rows = connection.execute(
        """SELECT j.name, j.kind, count(l.id), count(DISTINCT l.response_id),
                  coalesce(sum(l.raw_key <> '' AND coalesce(m.label, '(not a label)') = '(not a label)'), 0),
                  coalesce(sum(l.id IS NOT NULL AND coalesce(l.raw_key, '') = ''), 0)
           FROM judges j LEFT JOIN judge_labels l ON l.judge_id = j.id
           LEFT JOIN judge_map_entries m ON m.judge_id = l.judge_id AND m.raw_key = l.raw_key
           GROUP BY j.id ORDER BY j.id"""
    )
    return tuple(JudgeCounts(*row) for row in rows)


def coder_progress(study: Study) -> tuple[CoderProgress, ...]:
    """Every coder in every round but reviews, which hold verdicts; in the order in which coders came."""
    rows = study.connection.execute(
        """SELECT coalesce(c.name, c.pseudonym), c.pseudonym, c.kind, a.round, d.kind, count(*), sum(a.state = 2),
                  sum(a.state = 3), sum(a.state < 2), coalesce(sum(n.flags <> '[]'), 0), coalesce(sum(n.stale), 0),
                  sum(a.state < 2 AND a.in_queue = 0), coalesce(sum(n.active_ms), 0), max(n.utc),
                  min(CASE WHEN a.state < 2 AND a.in_queue = 1 THEN b.due_utc END)
           FROM assignments a JOIN coders c ON c.id = a.coder_id JOIN rounds d ON d.name = a.round
           JOIN batches b ON b.id = a.batch_id LEFT JOIN annotations n ON n.assignment_id = a.id
           WHERE a.withdrawn_utc IS NULL
             AND b.id NOT IN (SELECT id FROM batches WHERE json_extract(parameters, '$.review') IS NOT NULL)
           GROUP BY c.id, a.round ORDER BY c.id, a.round"""
    )
    return tuple(CoderProgress(*row) for row in rows)


def imports_of(study: Study) -> tuple[ImportEntry, ...]:
    """Every import, oldest first."""
    rows = study.connection.execute("SELECT id, batch, format, mapping, counts, created_utc FROM imports ORDER BY id")
    return tuple(_import_entry(study.connection, *row) for row in rows.fetchall())


def _import_entry(
    connection: sqlite3.Connection, number: int, batch: str, format: str, mapping: str, counts: str, utc: str
) -> ImportEntry:
    sources = connection.execute(
        "SELECT name, rows, sha256 FROM sources WHERE import_id = ? ORDER BY id", (number,)
    ).fetchall()
    read = {name: rows for name, rows, _ in sources}
    return ImportEntry(batch, format, json.loads(mapping), json.loads(counts), read, utc, tuple(s[2] for s in sources))
