"""What a judge's raw text means: exact mappings, kept apart from the raw labels, every one that was ever in force."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from db.canonical import canonical_json, sha256_text
from db.clock import utc_now
from db.connection import writing
from db.faults import Refused
from db.records import JudgeRule, Protocol
from db.study import Study

ANY_JUDGE = "*"
RUN_HERE = frozenset({"llm", "rule", "majority", "command", "callable"})


def set_judge_mapping(study: Study, judge: str, mapping: Mapping[str, str], digest: str) -> bool:
    """Put a mapping of stripped raw text to labels in force for a judge; False where it is in force already.

    Raises Refused where there is no such judge.
    """
    with writing(study.connection) as connection:
        row = connection.execute("SELECT id FROM judges WHERE name = ?", (judge,)).fetchone()
        if row is None:
            known = ", ".join(name for (name,) in connection.execute("SELECT name FROM judges ORDER BY id")) or "none"
            raise Refused(f"There is no judge {judge!r} in this study (there is: {known}).")
        return put_in_force(connection, row[0], mapping, digest)


def put_in_force(connection: sqlite3.Connection, judge_id: int, mapping: Mapping[str, str], digest: str) -> bool:
    """``set_judge_mapping`` inside the open transaction."""
    stripped = {raw.strip(): label for raw, label in mapping.items()}
    present = connection.execute("SELECT raw_key, label FROM judge_map_entries WHERE judge_id = ?", (judge_id,))
    known = connection.execute("SELECT 1 FROM judge_mappings WHERE judge_id = ? LIMIT 1", (judge_id,)).fetchone()
    if known and dict(present.fetchall()) == stripped:
        return False
    version = connection.execute("SELECT max(version) FROM protocols").fetchone()[0]
    connection.execute(
        "INSERT INTO judge_mappings (judge_id, digest, mapping, protocol_version, created_utc) VALUES (?, ?, ?, ?, ?)",
        (judge_id, digest, canonical_json(stripped), version, utc_now()),
    )
    connection.execute("DELETE FROM judge_map_entries WHERE judge_id = ?", (judge_id,))
    connection.executemany(
        "INSERT INTO judge_map_entries (judge_id, raw_key, label) VALUES (?, ?, ?)",
        [(judge_id, raw, label) for raw, label in stripped.items()],
    )
    return True


def rule_for(protocol: Protocol, judge: str) -> JudgeRule:
    """The protocol's rule for a judge: its own, else that for any judge, else each label as itself."""
    for name in (judge, ANY_JUDGE):
        for rule in protocol.judges:
            if rule.name == name:
                return rule
    same = {label: label for label in protocol.label_names}
    return JudgeRule(judge, same, sha256_text(canonical_json(same)))


def apply_protocol(connection: sqlite3.Connection, protocol: Protocol, judges: Iterable[str] | None = None) -> None:
    """Put the protocol's mappings in force for the named judges (None: all) inside the open transaction.

    A judge of which the protocol says nothing keeps the mapping that it has, and so does one that was run here: its
    mapping is part of how it was asked (the labels of a swapped pair are turned back by it).
    """
    wanted = None if judges is None else set(judges)
    mapped = mapping_digests(connection)
    declared = {rule.name for rule in protocol.judges}
    for judge_id, name, kind in connection.execute("SELECT id, name, kind FROM judges ORDER BY id").fetchall():
        if (wanted is not None and name not in wanted) or (kind in RUN_HERE and name in mapped):
            continue
        if name not in mapped or declared & {name, ANY_JUDGE}:
            rule = rule_for(protocol, name)
            put_in_force(connection, judge_id, rule.mapping, rule.digest)


def mapping_digests(connection: sqlite3.Connection) -> dict[str, str]:
    """The digest of the mapping in force, by judge."""
    rows = connection.execute(
        "SELECT j.name, m.digest FROM judges j JOIN judge_mappings m ON m.judge_id = j.id"
        " WHERE m.id = (SELECT max(id) FROM judge_mappings WHERE judge_id = j.id) ORDER BY j.id"
    )
    return dict(rows.fetchall())
