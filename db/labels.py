"""What was drawn and what coders said of it: a row a unit, and a row an assignment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from db.connection import reading
from db.facts import select
from db.records import Blindness, CoderKind, Role, RoundKind
from db.samples import sample_in_force
from db.study import Study

State = Literal["open", "skipped once", "done", "skipped"]
STATES: tuple[State, ...] = ("open", "skipped once", "done", "skipped")


@dataclass(frozen=True, slots=True)
class UnitRow:
    """A unit of the sample in force: its random id, record key, design stratum (canonical JSON) and probability.

    ``values``: the further columns that were asked for, in that order. ``stratum`` and ``pi`` are None for a unit
    that somebody was given outside the sample.
    """

    unit: str
    item: str
    model: str
    condition: str
    repeat: int
    stratum: str | None
    pi: float | None
    values: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelRow:
    """An assignment with what stands on it now. ``label`` is in terms of the texts as stored (FIRST: the first one).

    ``stale``: the codebook has changed what this label was given under. ``set_aside``: an adjudication that the lead
    reopened. ``overlap`` and ``pi2``: whether every coder of the batch has the unit, and the chance of that by design
    (None for imported labels). ``state``: open, skipped once, done, skipped (for good).
    """

    assignment: str
    unit: str
    coder: str
    pseudonym: str
    coder_kind: CoderKind
    round: str
    round_kind: RoundKind
    occurrence: int
    role: Role
    position: int
    state: State
    label: str | None
    rating: int | None
    note: str | None
    flags: tuple[str, ...]
    skip_reason: str | None
    skip_count: int
    stale: bool
    set_aside: bool
    protocol_version: int | None
    blindness: Blindness | None
    origin: str | None
    active_ms: int
    utc: str | None
    overlap: bool | None
    pi2: float | None
    sides_swapped: bool
    detail: dict[str, Any]


def unit_rows(study: Study, columns: Sequence[str] = (), *, outside: bool = False) -> tuple[UnitRow, ...]:
    """The units of the sample in force, sorted by record key, with further columns (see ``db.facts``).

    ``outside``: also units that were assigned or labelled without being in the sample.
    """
    connection = study.connection
    with reading(connection):
        sample = sample_in_force(connection)
        found = select(connection, columns)
        extra = "".join(f", {expression}" for expression in found.expressions)
        rows = connection.execute(
            f"""SELECT u.public_id, i.key, r.model, r.condition, r.repeat, st.stratum, s.pi{extra}
                FROM units u
                CROSS JOIN responses r ON r.id = u.response_id
                CROSS JOIN items i ON i.id = r.item_id
                LEFT JOIN sample_units s ON s.unit_id = u.id AND s.sample_id = ?
                LEFT JOIN sample_strata st ON st.id = s.stratum_id
                {" ".join(found.joins)}
                WHERE s.unit_id IS NOT NULL OR ?
                ORDER BY i.key, r.model, r.condition, r.repeat""",
            (None if sample is None else sample.id, outside),
        )
        return tuple(_unit_row(row[:7], found.row(row[7:])) for row in rows)


def _unit_row(row: Sequence[Any], values: tuple[Any, ...]) -> UnitRow:
    unit, item, model, condition, repeat, stratum, pi = row
    return UnitRow(unit, item, model, condition, repeat, stratum, pi, values)


_LABELS = """
    SELECT a.uid, u.public_id, coalesce(c.name, c.pseudonym), c.pseudonym, c.kind, a.round, d.kind, a.occurrence,
           a.role, a.position, a.state, n.label, n.rating, t.text, n.flags, coalesce(n.skip_reason, w.text),
           n.skip_count, n.stale,
           EXISTS (SELECT 1 FROM reopenings o WHERE o.assignment_id = a.id AND o.adjudicated_log = n.log_id
                   AND o.adjudicated_seq >= n.seq),
           n.protocol_version, n.blindness, n.origin, n.active_ms, n.utc, b.overlap, b.pi2, a.sides_swapped, n.detail
    FROM assignments a
    JOIN units u ON u.id = a.unit_id
    JOIN coders c ON c.id = a.coder_id
    JOIN rounds d ON d.name = a.round
    LEFT JOIN batch_units b ON b.batch_id = a.batch_id AND b.unit_id = a.unit_id
    LEFT JOIN annotations n ON n.assignment_id = a.id
    LEFT JOIN texts t ON t.digest = n.note
    LEFT JOIN texts w ON w.digest = n.skip_words
    WHERE a.withdrawn_utc IS NULL AND (:round IS NULL OR a.round = :round) AND (:kind IS NULL OR d.kind = :kind)
    ORDER BY c.id, a.position"""


def label_rows(study: Study, *, round_name: str | None = None, kind: RoundKind | None = None) -> Iterator[LabelRow]:
    """All assignments that were not withdrawn, labelled or not, coder by coder in their order."""
    connection = study.connection
    with reading(connection):
        for row in connection.execute(_LABELS, {"round": round_name, "kind": kind}):
            yield _label_row(row)


def _label_row(row: Sequence[Any]) -> LabelRow:
    uid, unit, coder, pseudonym, coder_kind, round_name, kind, occurrence, role, position, state = row[:11]
    label, rating, note, flags, reason, count, stale, aside, version = row[11:20]
    blindness, origin, active, utc, overlap, pi2, swapped, detail = row[20:]
    return LabelRow(
        assignment=uid,
        unit=unit,
        coder=coder,
        pseudonym=pseudonym,
        coder_kind=coder_kind,
        round=round_name,
        round_kind=kind,
        occurrence=occurrence,
        role=role,
        position=position,
        state=STATES[state],
        label=label,
        rating=rating,
        note=note,
        flags=tuple(json.loads(flags)) if flags else (),
        skip_reason=reason,
        skip_count=count or 0,
        stale=bool(stale),
        set_aside=bool(aside),
        protocol_version=version,
        blindness=blindness,
        origin=origin,
        active_ms=active or 0,
        utc=utc,
        overlap=None if overlap is None else bool(overlap),
        pi2=pi2,
        sides_swapped=bool(swapped),
        detail=json.loads(detail) if detail else {},
    )
