"""Columns by name for queries over responses: facts of the response and its item, judges' labels, the design stratum.

Besides the names of ``db.columns`` there are ``judge:NAME`` (the mapped label; "(not a label)" and "(missing)" are
labels), ``raw:NAME`` and ``score:NAME`` (as the judge gave them), and ``stratum`` (of the sample in force, canonical
JSON; None where the response could not be drawn).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from db.canonical import canonical_json
from db.columns import column_sql, condition_sql, text_sql
from db.designs import Elementary
from db.faults import Refused
from db.population import JUDGE_LABEL
from db.records import MISSING_LABEL, NOT_A_LABEL
from db.samples import Sample, sample_in_force

STRATUM = "stratum"
_JUDGE_PARTS = ("judge", "raw", "score")


@dataclass(slots=True)
class Select:
    """SQL for a list of columns: what is selected, what must be joined, and how a row becomes the asked-for values."""

    expressions: list[str] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)
    builders: list[Callable[[Sequence[Any]], Any]] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)
    _judges: dict[int, str] = field(default_factory=dict)

    def place(self, expression: str) -> int:
        """Select an expression (once) and return where it stands in a row."""
        if expression not in self._places:
            self._places[expression] = len(self.expressions)
            self.expressions.append(expression)
        return self._places[expression]

    def judge(self, judge_id: int) -> str:
        """Join a judge's labels (once) and return their alias."""
        if judge_id not in self._judges:
            alias = f"j{len(self._judges)}"
            self._judges[judge_id] = alias
            self.joins.append(
                f"LEFT JOIN judge_labels {alias} ON {alias}.judge_id = {judge_id} AND {alias}.response_id = r.id"
                f" AND {alias}.repeat = 1"
                f" LEFT JOIN judge_map_entries m{alias} ON m{alias}.judge_id = {judge_id}"
                f" AND m{alias}.raw_key = {alias}.raw_key"
            )
        return self._judges[judge_id]

    def row(self, values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(build(values) for build in self.builders)


def select(connection: sqlite3.Connection, columns: Sequence[str]) -> Select:
    """The SQL of the named columns, over ``r`` and ``i``. Raises Refused for a judge that there is not."""
    found = Select()
    for name in columns:
        found.builders.append(_builder(connection, found, name))
    return found


def judge_ids(connection: sqlite3.Connection) -> dict[str, int]:
    """The judges of the study in the order in which they came, by name."""
    return dict(connection.execute("SELECT name, id FROM judges ORDER BY id").fetchall())


def label_sql(alias: str) -> str:
    """The mapped label of the judge that is joined under ``alias``."""
    return (
        f"CASE WHEN {alias}.raw_key IS NULL OR {alias}.raw_key = '' THEN '{MISSING_LABEL}'"
        f" ELSE coalesce(m{alias}.label, '{NOT_A_LABEL}') END"
    )


def _builder(connection: sqlite3.Connection, found: Select, name: str) -> Callable[[Sequence[Any]], Any]:
    part, colon, judge = name.partition(":")
    if colon and part in _JUDGE_PARTS:
        return _at(found.place(_judge_sql(connection, found, part, judge)))
    if name == STRATUM:
        return _stratum(connection, found)
    return _at(found.place(column_sql(name)))


def _at(place: int) -> Callable[[Sequence[Any]], Any]:
    return lambda values: values[place]


def _judge_sql(connection: sqlite3.Connection, found: Select, part: str, judge: str) -> str:
    known = judge_ids(connection)
    if judge not in known:
        raise Refused(f"There is no judge {judge!r} in this study (there is: {', '.join(known) or 'none'}).")
    alias = found.judge(known[judge])
    return label_sql(alias) if part == "judge" else f"{alias}.{part}"


# --- the stratum of any response --------------------------------------------------------------------


def _stratum(connection: sqlite3.Connection, found: Select) -> Callable[[Sequence[Any]], Any]:
    sample = sample_in_force(connection)
    if sample is None:
        return lambda values: None
    if sample.kind != "draw":
        return _at(found.place(_stored_stratum(sample)))
    known = judge_ids(connection)
    draws = [Elementary.of_json(each, known.get(each["judge"])) for each in sample.parameters["draws"]]
    places = [[found.place(expression) for expression in _draw_sql(found, each)] for each in draws]
    return lambda values: named_stratum(draws, [[values[place] for place in own] for own in places])


def _stored_stratum(sample: Sample) -> str:
    """A design that imported labels brought is known of its own units only."""
    return (
        "(SELECT st.stratum FROM units u JOIN sample_units s ON s.unit_id = u.id"
        f" JOIN sample_strata st ON st.id = s.stratum_id WHERE u.response_id = r.id AND s.sample_id = {sample.id})"
    )


def _draw_sql(found: Select, draw: Elementary) -> list[str]:
    """Whether a draw could have taken the response, then the values of its strata."""
    frame = draw.frame
    conditions = [
        "coalesce(r.redacted_utc, i.redacted_utc) IS NULL",
        *(condition_sql(f.field, f.values) for f in frame.filters),
    ]
    if frame.last_response is not None:
        conditions.append(f"r.id <= {frame.last_response}")
    if not frame.with_failures:
        conditions.append("r.failure IS NULL")
    values = []
    for name in frame.by:
        if name == JUDGE_LABEL:
            values.append(label_sql(found.judge(frame.judge_id or 0)))
        else:
            values.append(text_sql(name))
    return [f"({' AND '.join(conditions)})", *values]


def named_stratum(draws: Sequence[Elementary], values: Sequence[Sequence[Any]]) -> str | None:
    """The design stratum, canonical JSON. ``values``: per draw whether it could take the response, then its strata."""
    strata = [own[1:] if own[0] else None for own in values]
    if all(stratum is None for stratum in strata):
        return None
    if len(draws) == 1:
        return canonical_json(draws[0].named(tuple(strata[0] or ())))
    return canonical_json(
        {
            f"draw {number}": None if stratum is None else draw.named(tuple(stratum))
            for number, (draw, stratum) in enumerate(zip(draws, strata, strict=True), 1)
        }
    )
