"""The codebook's versions in one study, and which annotations a change leaves stale."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any, Literal

from db.canonical import canonical_json
from db.clock import utc_now
from db.columns import condition_sql, quoted
from db.connection import writing
from db.faults import Refused
from db.judge_maps import apply_protocol
from db.lead import record
from db.records import Protocol, ProtocolVersion
from db.study import Study

_COLUMNS = "version, name, digest, toml, change, touches, created_utc"


def protocol_versions(study: Study) -> tuple[ProtocolVersion, ...]:
    """All versions, oldest first."""
    return versions_of(study.connection)


def versions_of(connection: sqlite3.Connection, *, after: int = 0) -> tuple[ProtocolVersion, ...]:
    rows = connection.execute(f"SELECT {_COLUMNS} FROM protocols WHERE version > ? ORDER BY version", (after,))
    return tuple(ProtocolVersion(v, n, d, t, c, json.loads(touches), utc) for v, n, d, t, c, touches, utc in rows)


def version_of(connection: sqlite3.Connection, number: int) -> ProtocolVersion:
    return versions_of(connection, after=number - 1)[0]


def change_protocol(
    study: Study,
    protocol: Protocol,
    *,
    change: Literal["editorial", "substantive"],
    touches: Mapping[str, Any] | None = None,
) -> int:
    """Make ``protocol`` the codebook in force; return how many annotations became stale (none by an editorial change).

    Its judge mappings are put in force with it.

    ``touches`` as in ProtocolVersion. Raises Refused where this very text was in force before.
    """
    with writing(study.connection) as connection:
        known = connection.execute("SELECT version FROM protocols WHERE digest = ?", (protocol.digest,)).fetchone()
        if known is not None:
            raise Refused(f"This codebook is version {known[0]} of the study already; nothing was changed.")
        version = study.protocol_version + 1
        touched = dict(touches or {}) if change == "substantive" else {}
        connection.execute(
            "INSERT INTO protocols (version, name, digest, toml, change, touches, created_utc)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (version, protocol.name, protocol.digest, protocol.toml, change, canonical_json(touched), utc_now()),
        )
        record(
            connection,
            "protocol",
            {"version": version, "digest": protocol.digest, "change": change, "touches": touched},
        )
        apply_protocol(connection, protocol)
        return mark_stale(connection)


def mark_stale(connection: sqlite3.Connection) -> int:
    """Bring ``stale`` of all annotations up to date and return how many are newly so; they are to be coded again."""
    stale = stale_sql(connection)
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS newly_stale (assignment_id INTEGER PRIMARY KEY)")
    connection.execute("DELETE FROM temp.newly_stale")
    connection.execute(
        "INSERT INTO temp.newly_stale SELECT n.assignment_id FROM annotations n"
        f" WHERE n.stale = 0 AND (n.label IS NOT NULL OR n.rating IS NOT NULL) AND ({stale})"
    )
    touched = "(SELECT assignment_id FROM temp.newly_stale)"
    connection.execute(f"UPDATE annotations SET stale = 1 WHERE assignment_id IN {touched}")
    connection.execute(f"UPDATE assignments SET state = 0 WHERE state = 2 AND id IN {touched}")
    connection.execute(
        f"UPDATE coders SET queue_version = queue_version + 1"
        f" WHERE id IN (SELECT coder_id FROM assignments WHERE id IN {touched})"
    )
    return int(connection.execute("SELECT count(*) FROM temp.newly_stale").fetchone()[0])


def is_stale(connection: sqlite3.Connection, assignment_id: int, label: str | None, version: int | None) -> bool:
    """Whether a label given under ``version`` has been made stale by a later codebook."""
    if version is None or not versions_of(connection, after=version):
        return False
    stale = stale_sql(connection)
    row = connection.execute(
        f"SELECT {stale} FROM (SELECT ? AS assignment_id, ? AS label, ? AS protocol_version) n",
        (assignment_id, label, version),
    ).fetchone()
    return bool(row[0])


def stale_sql(connection: sqlite3.Connection) -> str:
    """A condition over ``n`` (assignment_id, label, protocol_version) that holds for stale annotations."""
    changes = [v for v in versions_of(connection) if v.change == "substantive"]
    return " OR ".join(touched_sql(change) for change in changes) or "0"


_UNIT_OF = (
    "SELECT 1 FROM assignments a JOIN units u ON u.id = a.unit_id"
    " JOIN responses r ON r.id = u.response_id JOIN items i ON i.id = r.item_id"
)


def touched_sql(change: ProtocolVersion) -> str:
    """The same for one substantive change."""
    parts = [f"n.protocol_version < {change.version}"]
    labels, where = change.touches.get("labels"), change.touches.get("where")
    if isinstance(labels, list):
        parts.append(f"n.label IN ({', '.join(quoted(str(label)) for label in labels)})")
    if isinstance(where, list) and where:
        conditions = " AND ".join(condition_sql(str(each["field"]), each["values"]) for each in where)
        parts.append(f"EXISTS ({_UNIT_OF} WHERE a.id = n.assignment_id AND {conditions})")
    return f"({' AND '.join(parts)})"
