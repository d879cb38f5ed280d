"""What can be drawn: responses (or items) that qualify, with the values of the strata they lie in."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from db.columns import column_sql, condition_sql, text_sql
from db.faults import BadRequest
from db.records import MISSING_LABEL, NOT_A_LABEL, UnitFilter
from db.samples import UnitKind

JUDGE_LABEL = "judge_label"
_OF_RESPONSE = frozenset(
    {
        "model",
        "condition",
        "repeat",
        "choice",
        "confidence",
        "confidence_grid",
        "confidence_usable",
        "searched",
        "failure",
    }
    | {"technical", "choice_is_key", "model_b", JUDGE_LABEL}
)
_JUDGE_JOIN = """
    LEFT JOIN judge_labels jl ON jl.judge_id = :judge AND jl.response_id = r.id AND jl.repeat = 1
    LEFT JOIN judge_map_entries jm ON jm.judge_id = jl.judge_id AND jm.raw_key = jl.raw_key"""
JUDGE_LABEL_SQL = f"""
    CASE WHEN jl.raw_key IS NULL OR jl.raw_key = '' THEN '{MISSING_LABEL}'
         ELSE coalesce(jm.label, '{NOT_A_LABEL}') END"""


@dataclass(frozen=True, slots=True)
class Frame:
    """A sampling frame: the strata's columns, the judge whose label is one of them, and which responses qualify."""

    by: tuple[str, ...]
    unit: UnitKind = "response"
    judge_id: int | None = None
    filters: tuple[UnitFilter, ...] = ()
    with_failures: bool = False
    last_response: int | None = None

    def __post_init__(self) -> None:
        if len(set(self.by)) < len(self.by):
            raise BadRequest(f"A stratum variable is named twice: {', '.join(self.by)}.")
        if JUDGE_LABEL in self.by and self.judge_id is None:
            raise BadRequest("Strata by judge label need a judge: name one.")
        wrong = [name for name in self.by if name in _OF_RESPONSE or name.startswith("extra:")]
        if self.unit == "item" and wrong:
            raise BadRequest(
                f"Whole items cannot be drawn by {wrong[0]}, which differs between the responses of an item.",
                "Draw by fields of the items, such as category, or draw responses.",
            )


@dataclass(frozen=True, slots=True)
class Member:
    """One sampling unit: its number (of the response, or of the item), its key, and its stratum's values."""

    id: int
    key: tuple[Any, ...]
    stratum: tuple[str, ...]


def members(connection: sqlite3.Connection, frame: Frame) -> Iterator[Member]:
    """The frame's units in the order of their numbers. An item is in it if one of its responses is."""
    columns = [_stratum_sql(name) for name in frame.by]
    own = ["r.id", "i.key", "r.model", "r.condition", "r.repeat"] if frame.unit == "response" else ["i.id", "i.key"]
    order = "ORDER BY r.id" if frame.unit == "response" else "GROUP BY i.id ORDER BY i.id"
    sql = f"SELECT {', '.join([*own, *columns])} {_from(frame)} {order}"
    width = len(own)
    for row in connection.execute(sql, _parameters(frame)):
        yield Member(row[0], row[1:width], row[width:])


def responses_of_items(connection: sqlite3.Connection, frame: Frame) -> Iterator[tuple[int, int]]:
    """(item, response) for every response that qualifies, in the order of the items."""
    return connection.execute(f"SELECT i.id, r.id {_from(frame)} ORDER BY i.id, r.id", _parameters(frame))


def strata_populations(connection: sqlite3.Connection, frame: Frame) -> dict[tuple[str, ...], int]:
    """Sampling units per stratum, strata sorted."""
    columns = ", ".join(_stratum_sql(name) for name in frame.by)
    counted = "count(*)" if frame.unit == "response" else "count(DISTINCT i.id)"
    group = f"GROUP BY {', '.join(str(n) for n in range(1, len(frame.by) + 1))}" if frame.by else ""
    sql = f"SELECT {columns}{', ' if columns else ''}{counted} {_from(frame)} {group}"
    return {row[:-1]: row[-1] for row in sorted(connection.execute(sql, _parameters(frame))) if row[-1]}


def excluded(connection: sqlite3.Connection, frame: Frame) -> dict[str, int]:
    """Responses that do not qualify, by the first reason that holds; with the others they make all responses."""
    filtered = " AND ".join(condition_sql(f.field, f.values) for f in frame.filters) or "1"
    failed = "0" if frame.with_failures else "r.failure IS NOT NULL"
    sql = f"""
        SELECT CASE WHEN coalesce(r.redacted_utc, i.redacted_utc) IS NOT NULL THEN 'redacted'
                    WHEN {failed} THEN 'technical failure'
                    WHEN NOT ({filtered}) THEN 'outside the protocol''s filter' END AS why, count(*)
        FROM responses r CROSS JOIN items i ON i.id = r.item_id
        WHERE r.id <= coalesce(:last, r.id) GROUP BY why"""
    rows = connection.execute(sql, {"last": frame.last_response})
    return {reason: number for reason, number in rows if reason is not None}


def _stratum_sql(name: str) -> str:
    return JUDGE_LABEL_SQL if name == JUDGE_LABEL else text_sql(name)


def _from(frame: Frame) -> str:
    conditions = ["r.id <= coalesce(:last, r.id)", "r.redacted_utc IS NULL", "i.redacted_utc IS NULL"]
    if not frame.with_failures:
        conditions.append("r.failure IS NULL")
    conditions += [condition_sql(each.field, each.values) for each in frame.filters]
    join = _JUDGE_JOIN if JUDGE_LABEL in frame.by else ""
    return f"FROM responses r CROSS JOIN items i ON i.id = r.item_id {join} WHERE {' AND '.join(conditions)}"


def _parameters(frame: Frame) -> dict[str, Any]:
    found: dict[str, Any] = {"last": frame.last_response}
    if JUDGE_LABEL in frame.by:
        found["judge"] = frame.judge_id
    return found


def check_column(connection: sqlite3.Connection, name: str) -> None:
    """Raise Refused where no response has a value for this stratum variable: most likely its name is misspelt."""
    if name in _OF_RESPONSE:
        return
    some = f"SELECT 1 FROM responses r CROSS JOIN items i ON i.id = r.item_id WHERE {column_sql(name)} IS NOT NULL"
    if connection.execute(f"{some} LIMIT 1").fetchone() is None:
        known = ", ".join(["model", "condition", JUDGE_LABEL, *strata_fields(connection)])
        raise BadRequest(f"No response has a value of {name!r}.", f"There is: {known}.")


def strata_fields(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The names of the items' stratum fields, sorted."""
    rows = connection.execute("SELECT DISTINCT e.key FROM items i, json_each(i.strata) e ORDER BY 1")
    return tuple(row[0] for row in rows)
