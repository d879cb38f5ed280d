"""Known labels: what a training or check round holds its coders' labels against. Fixed when the round is made."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from db.canonical import canonical_json, sha256_text
from db.coders import find_coder
from db.connection import writing
from db.faults import Refused
from db.ids import RandomBytes, new_id
from db.lead import record
from db.random_numbers import random_for
from db.study import Study

TOLD = """(d.kind = 'training' OR json_extract(d.settings, '$.known') IS NOT NULL OR EXISTS (
    SELECT 1 FROM batches w WHERE w.round = d.name AND json_extract(w.parameters, '$.review') IS NOT NULL))"""
"""Whether a round ``d`` tells its coders, or holds them to, the labels of its units: training, checks, reviews."""


@dataclass(frozen=True, slots=True)
class KnownLabel:
    """A coder's label on a unit whose label is known; ``given`` None: not coded yet."""

    round: str
    coder: str
    pseudonym: str
    unit: str
    assignment: str
    known: str
    given: str | None
    explanation: str


def set_known(
    study: Study,
    round_name: str,
    known: Mapping[str, str],
    *,
    pass_mark: float | None = None,
    explanations: Mapping[str, str] | None = None,
    random_bytes: RandomBytes = secrets.token_bytes,
) -> None:
    """Keep the known labels of a round's units (by random id), and the share that a coder must reach to pass.

    Raises Refused for a round that is not training or check, or in which somebody has labelled already.
    """
    with writing(study.connection) as connection:
        row = connection.execute("SELECT kind, settings FROM rounds WHERE name = ?", (round_name,)).fetchone()
        if row is None:
            raise Refused(f"There is no round {round_name!r}.")
        if row[0] not in ("training", "check"):
            raise Refused(f"Round {round_name!r} is of kind {row[0]}: known labels belong to training and checks.")
        before = json.loads(row[1])
        if before.get("known") not in (None, dict(known)) and _begun(connection, round_name):
            raise Refused(f"Round {round_name!r} has begun: its known labels stay as they are.")
        settings = {
            **before,
            "known": dict(known),
            "pass_mark": pass_mark,
            "explanations": dict(explanations or {}),
        }
        text = canonical_json(settings)
        connection.execute("UPDATE rounds SET settings = ? WHERE name = ?", (text, round_name))
        body = {"round": round_name, "digest": sha256_text(text), "units": len(known), "pass_mark": pass_mark}
        record(connection, "known", body, random_bytes=random_bytes)


def drawn_of_round(connection: sqlite3.Connection, round_name: str) -> int:
    """How many units of a round are in the sample in force: who is told their labels does not code them besides."""
    found = connection.execute(
        "SELECT count(DISTINCT a.unit_id) FROM assignments a JOIN sample_units s ON s.unit_id = a.unit_id"
        " WHERE a.round = ? AND s.sample_id = (SELECT max(id) FROM samples)",
        (round_name,),
    ).fetchone()
    return int(found[0])


def _begun(connection: sqlite3.Connection, round_name: str) -> bool:
    found = connection.execute("SELECT 1 FROM assignments WHERE round = ? AND state = 2", (round_name,)).fetchone()
    return found is not None


def known_rounds(connection: sqlite3.Connection) -> dict[str, tuple[str, float | None]]:
    """(kind, pass mark) of each round that has known labels."""
    rows = connection.execute("SELECT name, kind, settings FROM rounds ORDER BY name").fetchall()
    told = {name: (kind, json.loads(settings)) for name, kind, settings in rows}
    return {name: (kind, said.get("pass_mark")) for name, (kind, said) in told.items() if said.get("known")}


def known_labels(connection: sqlite3.Connection, round_name: str | None = None) -> tuple[KnownLabel, ...]:
    """Every assignment whose unit has a known label, coder by coder."""
    found = []
    for name in known_rounds(connection):
        if round_name not in (None, name):
            continue
        (settings,) = connection.execute("SELECT settings FROM rounds WHERE name = ?", (name,)).fetchone()
        told = json.loads(settings)
        rows = connection.execute(
            "SELECT coalesce(c.name, c.pseudonym), c.pseudonym, u.public_id, a.uid, n.label FROM assignments a"
            " JOIN coders c ON c.id = a.coder_id JOIN units u ON u.id = a.unit_id"
            " LEFT JOIN annotations n ON n.assignment_id = a.id AND n.stale = 0"
            " WHERE a.round = ? AND a.withdrawn_utc IS NULL AND a.occurrence = 1 ORDER BY c.id, a.position",
            (name,),
        )
        for coder, pseudonym, unit, uid, label in rows:
            if unit in told["known"]:
                why = told["explanations"].get(unit, "")
                found.append(KnownLabel(name, coder, pseudonym, unit, uid, told["known"][unit], label, why))
    return tuple(found)


def mix_in(study: Study, round_name: str, *, seed: str = "1", random_bytes: RandomBytes = secrets.token_bytes) -> int:
    """Hide a check round among what its coders have still to do: their places are dealt anew. Returns how many.

    A check cannot be told from the rest: it has a random id, and stands at a random place. What was coded stays.
    """
    from db.assigning import assignments_digest

    with writing(study.connection) as connection:
        coders = connection.execute(
            "SELECT DISTINCT coder_id FROM assignments WHERE round = ? AND withdrawn_utc IS NULL", (round_name,)
        ).fetchall()
        batches: set[int] = set()
        moved = 0
        for (coder,) in coders:
            moved += _deal(connection, coder, round_name, seed, batches)
        for batch in sorted(batches):
            body = {"batch": batch, "round": round_name, "mixed": True}
            record(
                connection,
                "assign",
                {**body, "digest": assignments_digest(connection, batch)},
                random_bytes=random_bytes,
            )
        return moved


def _deal(connection: sqlite3.Connection, coder: int, round_name: str, seed: str, batches: set[int]) -> int:
    """Spread the checks evenly over the open places of a queue, each at a random place of its stretch."""
    rows = connection.execute(
        "SELECT a.id, a.uid, a.position, a.batch_id, a.round = ? FROM assignments a JOIN rounds d ON d.name = a.round"
        " WHERE a.coder_id = ? AND a.state = 0 AND a.in_queue = 1 AND a.withdrawn_utc IS NULL"
        " AND (d.kind = 'main' OR a.round = ?) AND NOT EXISTS"
        " (SELECT 1 FROM annotations n WHERE n.assignment_id = a.id) ORDER BY a.position",
        (round_name, coder, round_name),
    ).fetchall()
    checks = [row for row in rows if row[4]]
    rest = [row for row in rows if not row[4]]
    if not checks or not rest:
        return 0
    places = [position for _, _, position, _, _ in rows]
    queue = list(rest)
    step = len(rest) / len(checks)
    for number, check in reversed(list(enumerate(checks))):
        low, high = int(number * step), max(int((number + 1) * step), int(number * step) + 1)
        chance = int(random_for(seed, "check place", str(number), str(coder)), 16)
        queue.insert(low + chance % (high - low), check)
    connection.executemany(
        "UPDATE assignments SET position = ? WHERE id = ?",
        [(place, row[0]) for place, row in zip(places, queue, strict=True)],
    )
    batches.update(row[3] for row in rows)
    connection.execute("UPDATE coders SET queue_version = queue_version + 1 WHERE id = ?", (coder,))
    return len(checks)


def unit_of_record(
    connection: sqlite3.Connection,
    item: str,
    model: str | None = None,
    *,
    random_bytes: RandomBytes = secrets.token_bytes,
) -> str:
    """The unit of a response, made where there is none yet, inside the open transaction. Raises Refused.

    ``model`` may be left out where the item has one response.
    """
    rows = connection.execute(
        "SELECT r.id, u.public_id FROM responses r JOIN items i ON i.id = r.item_id"
        " LEFT JOIN units u ON u.response_id = r.id WHERE i.key = ?1 AND (?2 IS NULL OR r.model = ?2) LIMIT 2",
        (item, model or None),
    ).fetchall()
    if len(rows) != 1:
        which = item if not model else f"{item}, {model}"
        found = "is no response in this study" if not rows else "has several responses: name the model"
        raise Refused(f"{which} {found}.", "Each known label names the item's key, and the model where it has several.")
    response, unit = rows[0]
    if unit is None:
        unit = new_id(random_bytes)
        connection.execute("INSERT INTO units (response_id, public_id) VALUES (?, ?)", (response, unit))
    return str(unit)


def labels_of(connection: sqlite3.Connection, source: str | None) -> dict[str, str]:
    """{unit: label} of one coder (name, pseudonym or id); None: the final labels of the adjudication."""
    if source is None:
        where, values = "a.role = 'adjudicator'", list[int]()
    else:
        where, values = "a.coder_id = ? AND a.occurrence = 1", [find_coder(connection, source).id]
    rows = connection.execute(
        "SELECT u.public_id, n.label FROM assignments a JOIN units u ON u.id = a.unit_id"
        f" JOIN annotations n ON n.assignment_id = a.id WHERE n.label IS NOT NULL AND n.stale = 0 AND {where}",
        values,
    )
    return dict(rows.fetchall())


def units_unknown_to(connection: sqlite3.Connection, coders: tuple[str, ...]) -> set[str]:
    """Units that none of these people (those who are in the study already) has to code, or has coded, in any round."""
    marks = ", ".join("?" * len(coders))
    rows = connection.execute(
        "SELECT u.public_id FROM units u WHERE NOT EXISTS (SELECT 1 FROM assignments a JOIN coders c"
        f" ON c.id = a.coder_id WHERE a.unit_id = u.id AND c.name IN ({marks}))",
        coders,
    )
    return {row[0] for row in rows}
