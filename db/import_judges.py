"""Staged judge labels into the study, raw as they came; what they mean is the mapping's part."""

from __future__ import annotations

from collections.abc import Mapping

from db.canonical import canonical_json
from db.clock import utc_now
from db.import_labels import RESOLVED, resolve_repeats, unresolved
from db.import_run import Run
from db.staging import JUDGE_LABELS

_FROM = f"""
    FROM staging.judge_labels s
    JOIN judges j ON j.name = s.judge
    {RESOLVED}
    LEFT JOIN staging.sources o ON o.position = s.source
    LEFT JOIN staging.refused_responses x ON x.n = s.link AND s.repeat IS NULL"""
_INSERT = f"""
    INSERT INTO judge_labels (judge_id, response_id, repeat, raw, raw_key, score, rationale, reply, import_id,
                              source_id, source_row)
    SELECT j.id, r.id, s.judge_repeat, s.raw, s.raw_key, s.score, s.rationale, s.reply, :import, o.id, s.row
    {_FROM}
    WHERE s.n BETWEEN :low AND :high AND r.id IS NOT NULL AND x.n IS NULL ORDER BY s.n
    ON CONFLICT (judge_id, response_id, repeat) DO NOTHING"""
# Where every response is new and every label followed its own, the response needs no looking up.
_INSERT_LINKED = """
    INSERT INTO judge_labels (judge_id, response_id, repeat, raw, raw_key, score, rationale, reply, import_id,
                              source_id, source_row)
    SELECT j.id, :before + s.link, s.judge_repeat, s.raw, s.raw_key, s.score, s.rationale, s.reply, :import, o.id, s.row
    FROM staging.judge_labels s CROSS JOIN judges j ON j.name = s.judge
    LEFT JOIN staging.sources o ON o.position = s.source
    WHERE s.n BETWEEN :low AND :high ORDER BY s.n
    ON CONFLICT (judge_id, response_id, repeat) DO NOTHING"""
# The key of a label that came with its response in one block.
_FILL_IN = """
    UPDATE staging.judge_labels AS s
    SET (item, model, condition) = (SELECT r.item, r.model, r.condition FROM staging.responses r WHERE r.n = s.link)
    WHERE s.item IS NULL"""
_LOST = f"""
    SELECT s.source, s.row, s.item, s.model, coalesce(s.repeat, sr.repeat), x.n IS NOT NULL, i.id IS NOT NULL
    {_FROM} WHERE r.id IS NULL OR x.n IS NOT NULL ORDER BY s.n"""
_EQUAL = "(l.raw IS s.raw AND l.score IS s.score AND l.rationale IS s.rationale AND l.reply IS s.reply)"
_LEFT = f"""
    {_FROM}
    JOIN judge_labels l ON l.judge_id = j.id AND l.response_id = r.id AND l.repeat = s.judge_repeat
    LEFT JOIN sources was ON was.id = l.source_id
    WHERE x.n IS NULL
      AND NOT (l.import_id IS :import AND l.source_id IS o.id AND l.source_row IS s.row AND l.raw IS s.raw)"""
_SAME = f"""
    SELECT coalesce(sum(was.sha256 IS o.sha256 AND l.source_row IS s.row), 0), count(*) {_LEFT} AND {_EQUAL}"""
_OTHER = f"""
    SELECT s.source, s.row, s.judge, s.item, was.name, l.source_row {_LEFT} AND NOT {_EQUAL} ORDER BY s.n"""


def store_judge_labels(run: Run, kinds: Mapping[str, str], default_kind: str) -> tuple[str, ...]:
    """Store the labels and return the names of their judges, new or not. ``kinds``: judge name -> kind."""
    if not run.read.staged[JUDGE_LABELS]:
        return ()
    names = list(run.read.judges)
    origin, now = canonical_json({"import": run.batch}), utc_now()
    run.database.table("judges").insert_all(
        ({"name": n, "kind": kinds.get(n, default_kind), "origin": origin, "created_utc": now} for n in names),
        ignore=True,
    )
    if run.read.linked and run.before_responses is not None:
        run.insert(JUDGE_LABELS, _INSERT_LINKED, before=run.before_responses)
    else:
        run.connection.execute(_FILL_IN)
        resolve_repeats(run, "judge_labels", "s.judge, s.judge_repeat")
        run.insert(JUDGE_LABELS, _INSERT)
    if run.left(JUDGE_LABELS):
        _settle(run)
    return tuple(names)


def _settle(run: Run) -> None:
    connection, mine = run.connection, {"import": run.id}
    connection.execute(_FILL_IN)
    for source, row, item, model, repeat, refused, known in connection.execute(_LOST):
        run.reject(JUDGE_LABELS, source, row, unresolved(item, model, repeat, bool(refused), bool(known)))
    already, same = connection.execute(_SAME, mine).fetchone()
    run.count(run.already, JUDGE_LABELS, already)
    run.count(run.unchanged, JUDGE_LABELS, same - already)
    for source, row, judge, item, where, at in connection.execute(_OTHER, mine):
        before = f"{where} row {at}" if where else "a run of this judge"
        run.reject(JUDGE_LABELS, source, row, f"judge {judge!r} has another label for item {item!r} ({before})")
    run.count(run.unchanged, JUDGE_LABELS, run.left(JUDGE_LABELS))
