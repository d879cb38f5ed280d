"""The hash chain of a log: each row's hash covers the row before it, so that no row can be changed unnoticed.

hash(row) = SHA-256(hash of the row before ‖ canonical JSON of the row); before the first row stands the genesis,
which binds the study, the coder, the log and the codebook that was in force. Hashes are 64 hexadecimal digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from db.canonical import canonical_json, sha256_text

_FORMAT = "annotate-log-1"


class EventRow(NamedTuple):
    """One row of a log as it is hashed. ``log``, ``assignment`` and ``unit`` are random ids: no name, no study text."""

    log: str
    seq: int
    kind: str
    assignment: str | None
    unit: str | None
    protocol: int
    tool: str
    utc: str | None
    active_ms: int | None
    fence: int
    origin: str
    blindness: str
    body: Mapping[str, Any]


def genesis(study: str, coder: str, log: str, protocol_digest: str) -> str:
    """What stands before the first row of a log."""
    return sha256_text(
        canonical_json({"coder": coder, "format": _FORMAT, "log": log, "protocol": protocol_digest, "study": study})
    )


def row_json(row: EventRow) -> str:
    """The canonical JSON of a row: sorted keys, no spaces, UTF-8."""
    return canonical_json(
        {
            "active_ms": row.active_ms,
            "assignment": row.assignment,
            "blindness": row.blindness,
            "body": row.body,
            "fence": row.fence,
            "kind": row.kind,
            "log": row.log,
            "origin": row.origin,
            "protocol": row.protocol,
            "seq": row.seq,
            "tool": row.tool,
            "unit": row.unit,
            "utc": row.utc,
        }
    )


def row_hash(previous: str, row: EventRow) -> str:
    return sha256_text(previous + row_json(row))
