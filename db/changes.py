"""What a change of the codebook would make stale, before it is made: by unit, coder and label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from db.columns import condition_sql
from db.connection import reading
from db.lineage import touched_sql
from db.records import ProtocolVersion
from db.study import Study


@dataclass(frozen=True, slots=True)
class TouchedUnit:
    """A unit of which ``annotations`` labels would become stale; ``question`` is the start of its item's."""

    unit: str
    item: str
    question: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Touched:
    """What a change would requeue: ``annotations`` labels on ``units``, some of them ``finals`` of an adjudication."""

    annotations: int
    finals: int
    coders: Mapping[str, int]
    labels: Mapping[str, int]
    units: tuple[TouchedUnit, ...]


_ROWS = """
    SELECT u.public_id, i.key, substr(i.question, 1, 200), coalesce(c.name, c.pseudonym), a.role,
           coalesce(n.label, CAST(n.rating AS TEXT))
    FROM annotations n
    JOIN assignments a ON a.id = n.assignment_id
    JOIN coders c ON c.id = a.coder_id
    JOIN units u ON u.id = a.unit_id
    JOIN responses r ON r.id = u.response_id
    JOIN items i ON i.id = r.item_id
    WHERE n.stale = 0 AND (n.label IS NOT NULL OR n.rating IS NOT NULL) AND ({touched})
    ORDER BY i.key, u.public_id, c.id"""


def touched_by(study: Study, touches: Mapping[str, Any]) -> Touched:
    """What a substantive change with these ``touches`` (see ProtocolVersion) would make stale. It reads only."""
    change = ProtocolVersion(study.protocol_version + 1, "", "", "", "substantive", touches)
    with reading(study.connection) as connection:
        rows = connection.execute(_ROWS.format(touched=touched_sql(change))).fetchall()
    coders: dict[str, int] = {}
    labels: dict[str, int] = {}
    units: dict[str, list[tuple[str, str, str]]] = {}
    for unit, item, question, coder, _, label in rows:
        coders[coder] = coders.get(coder, 0) + 1
        labels[label] = labels.get(label, 0) + 1
        units.setdefault(unit, []).append((item, question, label))
    return Touched(
        len(rows),
        sum(row[4] == "adjudicator" for row in rows),
        coders,
        labels,
        tuple(
            TouchedUnit(unit, said[0][0], said[0][1], tuple(label for _, _, label in said))
            for unit, said in units.items()
        ),
    )


def matching_units(study: Study, field: str, values: tuple[str, ...]) -> int:
    """How many units have one of ``values`` in ``field``; 0 hints at a misspelt name."""
    found = study.connection.execute(
        "SELECT count(*) FROM units u JOIN responses r ON r.id = u.response_id JOIN items i ON i.id = r.item_id"
        f" WHERE {condition_sql(field, values)}"
    ).fetchone()
    return int(found[0])
