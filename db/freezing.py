"""What was fixed before the first main label, and how often somebody looked at results before the last one."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from db.canonical import canonical_json, sha256_text
from db.connection import writing
from db.faults import Refused
from db.ids import RandomBytes
from db.lead import record
from db.logs import current_protocol
from db.samples import sample_in_force
from db.study import Study


@dataclass(frozen=True, slots=True)
class Frozen:
    """A freeze: digests of design and protocol, the primary score, and ``labels`` main labels that there were by then.

    ``holds``: design and protocol in force now are still these.
    """

    digest: str
    design: str
    protocol: str
    primary: str
    judge: str | None
    labels: int
    utc: str
    holds: bool


def freeze(
    study: Study,
    primary: str,
    *,
    judge: str | None = None,
    late: bool = False,
    random_bytes: RandomBytes = secrets.token_bytes,
) -> Frozen:
    """Fix the design, the protocol and the primary score. Raises Refused after the first main label, but for ``late``.

    A late freeze is kept with the number of labels that there were: it says what it cannot promise.
    """
    with writing(study.connection) as connection:
        known = frozen(study)
        if known is not None:
            raise Refused(
                f"Frozen already, for the primary score {known.primary}: the first freeze counts.",
                "'annotate freeze STUDY' shows it.",
            )
        labels = main_labels(connection)
        if labels and not late:
            raise Refused(
                f"{labels:,} main labels are there already: what is frozen now was not fixed before them.",
                "--late freezes all the same, and the report says so.",
            )
        body: dict[str, Any] = {
            "design": _design_digest(connection),
            "protocol": current_protocol(connection)[1],
            "primary": primary,
            "judge": judge,
            "labels": labels,
        }
        body["digest"] = sha256_text(canonical_json({key: body[key] for key in _BOUND}))
        record(connection, "freeze", body, random_bytes=random_bytes)
    found = frozen(study)
    assert found is not None
    return found


_BOUND = ("design", "protocol", "primary", "judge")


def frozen(study: Study) -> Frozen | None:
    """The first freeze of the study, and whether design and protocol are still the same."""
    connection = study.connection
    row = connection.execute(
        "SELECT e.body, e.utc FROM events e JOIN logs l ON l.id = e.log_id JOIN coders c ON c.id = l.coder_id"
        " WHERE e.kind = 'freeze' AND c.kind = 'lead' ORDER BY e.log_id, e.seq LIMIT 1"
    ).fetchone()
    if row is None:
        return None
    body: Mapping[str, Any] = json.loads(row[0])
    now = (_design_digest(connection, missing=""), current_protocol(connection)[1])
    return Frozen(
        body["digest"],
        body["design"],
        body["protocol"],
        body["primary"],
        body["judge"],
        body["labels"],
        row[1],
        now == (body["design"], body["protocol"]),
    )


def freezes(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """What ``frozen`` depends on, in three numbers: how many freezes, the newest sample, the newest codebook."""
    found = connection.execute(
        "SELECT (SELECT count(*) FROM events e JOIN logs l ON l.id = e.log_id JOIN coders c ON c.id = l.coder_id"
        " WHERE e.kind = 'freeze' AND c.kind = 'lead'), (SELECT coalesce(max(id), 0) FROM samples),"
        " (SELECT max(version) FROM protocols)"
    ).fetchone()
    return (int(found[0]), int(found[1]), int(found[2]))


def main_labels(connection: sqlite3.Connection) -> int:
    """Labels and ratings that stand in main rounds."""
    found = connection.execute(
        "SELECT count(*) FROM annotations n JOIN assignments a ON a.id = n.assignment_id"
        " JOIN rounds d ON d.name = a.round WHERE d.kind = 'main' AND (n.label IS NOT NULL OR n.rating IS NOT NULL)"
    ).fetchone()
    return int(found[0])


def _design_digest(connection: sqlite3.Connection, missing: str | None = None) -> str:
    sample = sample_in_force(connection)
    if sample is None:
        if missing is not None:
            return missing
        raise Refused("There is no sample yet, so there is no design to freeze.", "'annotate sample' draws one.")
    (parameters,) = connection.execute("SELECT parameters FROM samples WHERE id = ?", (sample.id,)).fetchone()
    units = connection.execute(
        "SELECT u.public_id, s.u FROM sample_units s JOIN units u ON u.id = s.unit_id"
        " WHERE s.sample_id = ? ORDER BY s.u, u.public_id",
        (sample.id,),
    ).fetchall()
    return sha256_text(canonical_json({"parameters": json.loads(parameters), "units": [list(row) for row in units]}))


def record_look(study: Study, what: str, *, random_bytes: RandomBytes = secrets.token_bytes) -> None:
    """Log that results were shown before coding was finished. Seeing the same labels again is no other look."""
    if study.read_only or not _unfinished(study.connection):
        return
    labels = main_labels(study.connection)  # before the lock: counting a large study takes longer than a save
    if not labels or _looked(study.connection, labels):
        return
    with writing(study.connection) as connection:
        if not _looked(connection, labels):
            record(connection, "look", {"what": what, "labels": labels}, random_bytes=random_bytes)


def _looked(connection: sqlite3.Connection, labels: int) -> bool:
    found = connection.execute(
        "SELECT 1 FROM events e JOIN logs l ON l.id = e.log_id JOIN coders c ON c.id = l.coder_id"
        " WHERE e.kind = 'look' AND c.kind = 'lead' AND json_extract(e.body, '$.labels') = ?",
        (labels,),
    ).fetchone()
    return found is not None


def looks(study: Study) -> int:
    """How many different interim states of the labels somebody has seen results of."""
    found = study.connection.execute(
        "SELECT count(*) FROM events e JOIN logs l ON l.id = e.log_id JOIN coders c ON c.id = l.coder_id"
        " WHERE e.kind = 'look' AND c.kind = 'lead'"
    ).fetchone()
    return int(found[0])


def _unfinished(connection: sqlite3.Connection) -> bool:
    found = connection.execute(
        "SELECT 1 FROM assignments a JOIN rounds d ON d.name = a.round WHERE d.kind = 'main' AND a.state < 2"
        " AND a.withdrawn_utc IS NULL LIMIT 1"
    ).fetchone()
    return found is not None
