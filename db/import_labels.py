"""Which response a staged label is about, where its row does not say the repeat."""

from __future__ import annotations

from db.import_run import Run

# A label's response: the repeat that its row names, else that of the response it followed in the stream.
RESOLVED = """
    LEFT JOIN staging.responses sr ON sr.n = s.link
    LEFT JOIN items i ON i.key = s.item
    LEFT JOIN responses r ON r.item_id = i.id AND r.model = s.model AND r.condition = s.condition
                          AND r.repeat = coalesce(s.repeat, sr.repeat, CASE WHEN s.link IS NOT NULL THEN 1 END)"""
_SAME_KEY = "i.key = s.item AND r.model = s.model AND r.condition = s.condition"
_OF_KEY = f"SELECT {{}} FROM items i CROSS JOIN responses r ON r.item_id = i.id WHERE {_SAME_KEY}"
_ONLY = f"({_OF_KEY.format('CASE WHEN count(*) = 1 THEN min(r.repeat) END')})"
_SAME_ROW = f"""(
    SELECT CASE WHEN count(*) = 1 THEN min(r.repeat) END
    FROM items i CROSS JOIN responses r ON r.item_id = i.id
    JOIN sources was ON was.id = r.source_id
    JOIN staging.sources o ON o.sha256 = was.sha256
    WHERE {_SAME_KEY} AND o.position = s.source AND r.source_row = s.row)"""


def resolve_repeats(run: Run, table: str, rater: str) -> None:
    """Fill in the repeat of labels that name none and followed no response: the only response of their key, else that
    of the same row of the same file, else the one at the same place in file order where their numbers are equal.

    ``rater``: the columns of the staging table ``table`` that tell one rater's labels of a response from another's.
    """
    bare = "s.repeat IS NULL AND s.link IS NULL"
    if not run.connection.execute(f"SELECT EXISTS (SELECT 1 FROM staging.{table} s WHERE {bare})").fetchone()[0]:
        return
    run.connection.execute(f"UPDATE staging.{table} AS s SET repeat = coalesce({_ONLY}, {_SAME_ROW}) WHERE {bare}")
    same = f"s.item, s.model, s.condition, {rater}"
    run.connection.execute(
        f"""UPDATE staging.{table} AS s SET repeat = placed.repeat
            FROM (SELECT t.n, t.k, t.rows, t.item, t.model, t.condition, r.repeat,
                         row_number() OVER (PARTITION BY t.n ORDER BY r.repeat) AS place,
                         count(*) OVER (PARTITION BY t.n) AS responses
                  FROM (SELECT s.n, s.item, s.model, s.condition,
                               row_number() OVER (PARTITION BY {same} ORDER BY s.n) AS k,
                               count(*) OVER (PARTITION BY {same}) AS rows
                        FROM staging.{table} s WHERE {bare}) t
                  JOIN items i ON i.key = t.item
                  JOIN responses r ON r.item_id = i.id AND r.model = t.model AND r.condition = t.condition) placed
            WHERE placed.n = s.n AND placed.place = placed.k AND placed.rows = placed.responses"""
    )


def unresolved(item: str, model: str, repeat: int | None, link_refused: bool, item_known: bool) -> str:
    """Why a label has no response."""
    if link_refused:
        return "its response was refused"
    if not item_known:
        return f"there is no item {item!r} in the study"
    whose = f" of model {model!r}" if model else ""
    if repeat is None:
        return f"which response{whose} to item {item!r} is meant cannot be told: there is none, or no repeat is given"
    return f"there is no response{whose} to item {item!r} with repeat {repeat}"
