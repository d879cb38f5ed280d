"""Staged responses into the study, keyed (item, model, condition, repeat).

Where the source has no repeat, responses with one item, model and condition are numbered from 1 in file order. Nearly
always there is one of each, so every row goes in as the first; only where that fails are the rows of its key numbered.
"""

from __future__ import annotations

from db.import_run import Run
from db.staging import RESPONSES

_COLUMNS = (
    "item_id, model, condition, repeat, text, text_b, model_b, reason, choice, confidence, confidence_grid,"
    " confidence_usable, searched, failure, extra, digest, import_id, source_id, source_row"
)
_INSERT = f"""
    INSERT INTO responses ({_COLUMNS})
    SELECT i.id, s.model, s.condition, coalesce(s.repeat, 1), s.text, s.text_b, s.model_b, s.reason, s.choice,
           s.confidence, s.grid, s.usable, s.searched, s.failure, s.extra, s.digest, :import, o.id, s.row
    FROM staging.responses s
    CROSS JOIN items i ON i.key = s.item
    LEFT JOIN staging.sources o ON o.position = s.source
    WHERE s.n BETWEEN :low AND :high ORDER BY s.n
    ON CONFLICT (item_id, model, condition, repeat) DO NOTHING"""
_ORPHANS = """
    SELECT s.n, s.source, s.row, s.item FROM staging.responses s
    WHERE NOT EXISTS (SELECT 1 FROM items i WHERE i.key = s.item) ORDER BY s.n"""
_STAGED = """
    FROM staging.responses s
    CROSS JOIN items i ON i.key = s.item
    CROSS JOIN responses r ON r.item_id = i.id AND r.model = s.model AND r.condition = s.condition
                           AND r.repeat = coalesce(s.repeat, 1)
    LEFT JOIN staging.sources o ON o.position = s.source
    LEFT JOIN sources was ON was.id = r.source_id"""
_MINE = "r.import_id = :import AND r.source_id IS o.id AND r.source_row = s.row AND r.digest = s.digest"
_CROWDED = f"""
    CREATE TABLE staging.crowded AS
    SELECT DISTINCT s.item, s.model, s.condition {_STAGED} WHERE s.repeat IS NULL AND NOT ({_MINE})"""
# The number of a row that was imported before is the one it has; else its place among the rows of its key.
_NUMBER = """
    UPDATE staging.responses AS s SET repeat = coalesce(
        (SELECT r.repeat FROM responses r JOIN items i ON i.id = r.item_id JOIN sources was ON was.id = r.source_id
         JOIN staging.sources o ON o.sha256 = was.sha256
         WHERE i.key = s.item AND r.model = s.model AND r.condition = s.condition AND o.position = s.source
           AND r.source_row = s.row AND r.import_id <> :import), numbered.k)
    FROM (SELECT t.n, row_number() OVER (PARTITION BY t.item, t.model, t.condition ORDER BY t.n) AS k
          FROM staging.responses t
          JOIN staging.crowded c ON c.item = t.item AND c.model = t.model AND c.condition = t.condition
          WHERE t.repeat IS NULL) AS numbered
    WHERE numbered.n = s.n"""
_SAME = f"""
    SELECT coalesce(sum(was.sha256 IS o.sha256 AND r.source_row = s.row), 0), count(*)
    {_STAGED} WHERE NOT ({_MINE}) AND r.digest = s.digest"""
_OTHER = f"""
    SELECT s.n, s.source, s.row, s.item, s.model, s.repeat, was.name, r.source_row
    {_STAGED} WHERE NOT ({_MINE}) AND r.digest <> s.digest ORDER BY s.n"""


def store_responses(run: Run) -> None:
    before = run.connection.execute("SELECT coalesce(max(id), 0) FROM responses").fetchone()[0]
    run.insert(RESPONSES, _INSERT)
    if not run.left(RESPONSES):
        run.before_responses = before
        return
    _reject_orphans(run)
    run.connection.execute(_CROWDED, {"import": run.id})
    if run.connection.execute("SELECT EXISTS (SELECT 1 FROM staging.crowded)").fetchone()[0]:
        run.connection.execute("CREATE INDEX staging.crowded_key ON crowded (item, model, condition)")
        run.connection.execute(_NUMBER, {"import": run.id})
        run.insert(RESPONSES, _INSERT)
    _settle(run)


def _reject_orphans(run: Run) -> None:
    for n, source, row, item in run.connection.execute(_ORPHANS):
        _refuse(run, n, source, row, f"there is no item {item!r} in the study")


def _settle(run: Run) -> None:
    """Say of every row that did not go in why: it is there, or something else is under its key."""
    mine = {"import": run.id}
    already, same = run.connection.execute(_SAME, mine).fetchone()
    run.count(run.already, RESPONSES, already)
    run.count(run.unchanged, RESPONSES, same - already)
    for n, source, row, item, model, repeat, where, at in run.connection.execute(_OTHER, mine):
        whose = f"model {model!r} has" if model else "there is"
        number = f", repeat {repeat}" if repeat is not None else ""
        _refuse(run, n, source, row, f"{whose} another response to item {item!r} ({where} row {at}{number})")
    run.count(run.unchanged, RESPONSES, run.left(RESPONSES))  # one row twice in the stream, word for word


def _refuse(run: Run, n: int, source: int, row: int, reason: str) -> None:
    run.connection.execute("INSERT INTO staging.refused_responses (n) VALUES (?)", (n,))
    run.reject(RESPONSES, source, row, reason)
