"""Study files for the desk's tests: real ones, made through the study's own schema."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotate.protocols import load_protocol
from db.clock import utc_now
from db.coders import insert_coder
from db.connection import writing
from db.ids import new_id
from db.records import Protocol
from db.study import create_study, open_study

QUESTIONS = [
    {"question": "Who designed the Nine Arch Bridge?", "gold": ["Harold Marwood"], "category": "HNQ"},
    {"question": "When was the hall opened?", "gold": ["1912"], "category": "FEQ"},
    {"question": "What is the capital of Sri Lanka?", "gold": ["Sri Jayawardenepura Kotte"], "category": "HNQ"},
]


def shipped(name: str, **changes: Any) -> Protocol:
    """A shipped protocol without dwell time, so that tests may type as fast as they can."""
    return replace(load_protocol(name), **{"min_dwell_ms": 0, **changes})


def write_study(path: Path, protocol: Protocol, items: Sequence[dict[str, Any]], coder: str = "ada") -> Path:
    """A study in which ``coder`` has each of ``items`` once, in this order; returns its path, closed.

    An item may have: question, context, gold, rationale, options, category, text, text_b, reason, choice, swapped.
    """
    with create_study(path, protocol) as study, writing(study.connection) as connection:
        now = utc_now()
        connection.execute(
            "INSERT INTO imports (id, batch, format, fingerprint, mapping, counts, created_utc, tool_version)"
            " VALUES (1, 'b', 'test', 'f', '{}', '{}', ?, '0')",
            (now,),
        )
        who = insert_coder(connection, coder, "person", secrets.token_bytes)
        connection.execute("INSERT INTO rounds (name, kind) VALUES ('main', 'main')")
        batch = connection.execute(
            "INSERT INTO batches (round, seed, order_kind, overlap, released_utc, created_utc)"
            " VALUES ('main', '1', 'file', 1.0, ?, ?)",
            (now, now),
        ).lastrowid
        for number, item in enumerate(items, start=1):
            connection.execute(
                "INSERT INTO items (id, key, question, context, gold, rationale, options, strata, digest, import_id,"
                " source_row) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'd', 1, ?)",
                (
                    number,
                    f"q{number}",
                    item.get("question", f"Question {number}?"),
                    item.get("context"),
                    json.dumps(item.get("gold", [])),
                    item.get("rationale"),
                    json.dumps(item.get("options", [])),
                    json.dumps({"category": item.get("category", "HNQ")}),
                    number,
                ),
            )
            connection.execute(
                "INSERT INTO responses (id, item_id, model, condition, repeat, text, text_b, reason, choice, digest,"
                " import_id, source_row) VALUES (?, ?, 'secret-model', '', 1, ?, ?, ?, ?, 'd', 1, ?)",
                (
                    number,
                    number,
                    item.get("text", f"Answer {number}"),
                    item.get("text_b"),
                    item.get("reason"),
                    item.get("choice"),
                    number,
                ),
            )
            connection.execute(
                "INSERT INTO units (id, response_id, public_id) VALUES (?, ?, ?)",
                (number, number, new_id(secrets.token_bytes)),
            )
            connection.execute(
                "INSERT INTO assignments (uid, unit_id, coder_id, round, batch_id, position, sides_swapped)"
                " VALUES (?, ?, ?, 'main', ?, ?, ?)",
                (new_id(secrets.token_bytes), number, who.id, batch, number, int(item.get("swapped", False))),
            )
        connection.execute("UPDATE coders SET queue_version = queue_version + 1 WHERE id = ?", (who.id,))
    return path


def several(count: int) -> list[dict[str, Any]]:
    """``count`` items, the questions above by turns."""
    return [{**QUESTIONS[number % 3], "text": f"Answer {number + 1}"} for number in range(count)]


@pytest.fixture
def make_study(tmp_path: Path) -> Callable[..., tuple[Path, Protocol]]:
    """``make_study(items, protocol="ehq", **changes)``: the path of a new study, and its protocol."""

    def make(items: Sequence[dict[str, Any]] | int = 3, protocol: str = "ehq", **changes: Any) -> tuple[Path, Protocol]:
        codebook = shipped(protocol, **changes)
        rows = several(items) if isinstance(items, int) else items
        return write_study(tmp_path / "study.db", codebook, rows), codebook

    return make


def events(path: Path) -> list[dict[str, Any]]:
    """Every event of the study in order: kind, position of its item, and its body with texts put back."""
    with open_study(path, read_only=True) as study:
        texts = dict(study.connection.execute("SELECT digest, text FROM texts"))
        rows = study.connection.execute(
            "SELECT e.kind, a.position, e.body, e.active_ms FROM events e LEFT JOIN assignments a"
            " ON a.id = e.assignment_id ORDER BY e.log_id, e.seq"
        ).fetchall()
    found = []
    for kind, position, body, active in rows:
        told = {
            name: texts.get(value, value) if isinstance(value, str) else value
            for name, value in json.loads(body).items()
        }
        found.append({**told, "kind": kind, "position": position, "active_ms": active})
    return found


def acts(path: Path) -> list[tuple[Any, ...]]:
    """The events that coders made, short: (kind, position, label, rating)."""
    return [
        (event["kind"], event["position"], event.get("label"), event.get("rating"))
        for event in events(path)
        if event["position"] is not None
    ]
