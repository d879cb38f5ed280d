"""What a study holds, as the rows that an import takes: an item, its responses, the labels on each; texts included."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from db.connection import reading
from db.labels import LabelRow, label_rows
from db.records import HumanLabelRow, ImportRow, ItemRow, JudgeLabelRow, ResponseRow
from db.samples import sample_in_force
from db.study import Study

_RESPONSES = """
    SELECT i.id, i.key, i.question, i.context, i.gold, i.rationale, i.options, i.answer_key, i.strata, i.extra,
           r.id, r.text, r.model, r.condition, r.repeat, r.text_b, r.model_b, r.reason, r.choice, r.confidence,
           r.confidence_grid, r.confidence_usable, r.searched, r.failure, r.extra, u.public_id, s.pi
    FROM responses r JOIN items i ON i.id = r.item_id LEFT JOIN units u ON u.response_id = r.id
    LEFT JOIN sample_units s ON s.unit_id = u.id AND s.sample_id = :sample
    WHERE coalesce(r.redacted_utc, i.redacted_utc) IS NULL AND (s.unit_id IS NOT NULL OR :everything)
    ORDER BY i.key, r.model, r.condition, r.repeat"""
_JUDGED = """
    SELECT j.name, l.raw, l.score, l.rationale, l.repeat FROM judge_labels l JOIN judges j ON j.id = l.judge_id
    WHERE l.response_id = ? ORDER BY j.id, l.repeat"""


def content_rows(
    study: Study,
    *,
    everything: bool = False,
    names: bool = False,
    notes: bool = False,
    units: Collection[str] | None = None,
) -> Iterator[ImportRow]:
    """Each item, its responses in the order of their keys, and on each the judges' and people's labels.

    everything: also responses that were not drawn. names: coders by name, else by pseudonym. notes: with what coders
    wrote. units: only these random ids. Labels are the current ones of the main round, occurrence 1, stale ones left
    out, and final adjudications; redacted responses are left out.
    """
    connection = study.connection
    given = _given(study)
    with reading(connection):
        sample = sample_in_force(connection)
        chosen = {"sample": None if sample is None else sample.id, "everything": everything or sample is None}
        item: str | None = None
        probable = sample is not None and sample.kind != "census"
        for number, row in enumerate(connection.execute(_RESPONSES, chosen), 1):
            if units is not None and row[25] not in units:
                continue
            if row[1] != item:
                item = row[1]
                yield _item(row, number)
            yield _response(row, number)
            key = {"item": row[1], "row": number, "model": row[12], "condition": row[13], "repeat": row[14]}
            pi = row[26] if probable else None
            yield from (_human(label, {**key, "pi": pi}, names, notes) for label in given.get(row[25], ()))
            yield from _judged(connection, row[10], key)


def item_keys(study: Study) -> tuple[str, ...]:
    """The keys of all items, sorted."""
    return tuple(row[0] for row in study.connection.execute("SELECT key FROM items ORDER BY key"))


def unit_texts(study: Study) -> Iterator[tuple[str, str]]:
    """(unit, text of its response) of every drawn unit that is not redacted."""
    connection = study.connection
    with reading(connection):
        sample = sample_in_force(connection)
        chosen = {"sample": None if sample is None else sample.id, "everything": False}
        for row in connection.execute(_RESPONSES, chosen):
            yield row[25], row[11]


def _given(study: Study) -> dict[str, list[LabelRow]]:
    found: dict[str, list[LabelRow]] = defaultdict(list)
    for row in label_rows(study):
        final = row.role == "adjudicator" and not row.set_aside
        counts = row.round_kind == "main" or final
        if counts and row.occurrence == 1 and not row.stale and (row.label is not None or row.rating is not None):
            found[row.unit].append(row)
    return found


def _item(row: Sequence[Any], number: int) -> ItemRow:
    key, question, context, gold, rationale, options, answer, strata, extra = row[1:10]
    return ItemRow(
        key, number, question, context, tuple(json.loads(gold)), rationale, tuple(json.loads(options)), answer,
        json.loads(strata), json.loads(extra),
    )  # fmt: skip


def _response(row: Sequence[Any], number: int) -> ResponseRow:
    text, model, condition, repeat, text_b, model_b, reason, choice, confidence, grid, usable = row[11:22]
    searched, failure, extra = row[22:25]
    return ResponseRow(
        row[1], number, text, model, condition, repeat, text_b, model_b, reason, choice, confidence, grid, bool(usable),
        None if searched is None else bool(searched), failure, json.loads(extra),
    )  # fmt: skip


def _human(label: LabelRow, key: dict[str, Any], names: bool, notes: bool) -> HumanLabelRow:
    return HumanLabelRow(
        coder=label.coder if names else label.pseudonym,
        label=label.label,
        rating=label.rating,
        role=label.role,
        note=label.note if notes else None,
        active_ms=label.active_ms or None,
        **key,
    )


def _judged(connection: sqlite3.Connection, response: int, key: dict[str, Any]) -> Iterator[JudgeLabelRow]:
    for name, raw, score, rationale, repeat in connection.execute(_JUDGED, (response,)).fetchall():
        yield JudgeLabelRow(judge=name, raw=raw, score=score, rationale=rationale, judge_repeat=repeat, **key)
