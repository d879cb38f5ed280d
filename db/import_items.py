"""Staged items into the study: a key that is there keeps its content, and other content under it is refused."""

from __future__ import annotations

from db.import_run import Run
from db.staging import ITEMS

_INSERT = """
    INSERT INTO items (key, question, context, gold, rationale, options, answer_key, strata, extra, digest,
                       import_id, source_id, source_row)
    SELECT s.key, s.question, s.context, s.gold, s.rationale, s.options, s.answer_key, s.strata, s.extra, s.digest,
           :import, o.id, s.row
    FROM staging.items s LEFT JOIN staging.sources o ON o.position = s.source
    WHERE s.n BETWEEN :low AND :high ORDER BY s.n
    ON CONFLICT (key) DO NOTHING"""
_LEFT = """
    FROM staging.items s
    JOIN items i ON i.key = s.key
    LEFT JOIN staging.sources o ON o.position = s.source
    LEFT JOIN sources was ON was.id = i.source_id
    WHERE NOT (i.import_id = ? AND i.source_id IS o.id AND i.source_row = s.row AND i.digest = s.digest)"""
_SAME = f"""
    SELECT coalesce(sum(was.sha256 IS o.sha256 AND i.source_row = s.row), 0), count(*)
    {_LEFT} AND i.digest = s.digest"""
_OTHER = f"""
    SELECT s.source, s.row, s.key, was.name, i.source_row {_LEFT} AND i.digest <> s.digest ORDER BY s.n"""


def store_items(run: Run) -> None:
    run.insert(ITEMS, _INSERT)
    if not run.left(ITEMS):
        return
    already, same = run.connection.execute(_SAME, (run.id,)).fetchone()
    run.count(run.already, ITEMS, already)
    run.count(run.unchanged, ITEMS, same - already)
    for source, row, key, where, at in run.connection.execute(_OTHER, (run.id,)):
        run.reject(ITEMS, source, row, f"item {key!r} is in the study with other content ({where} row {at})")
