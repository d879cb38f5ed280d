"""Small studies for the tests, built through SQL alone where the thing under test must not depend on the importers."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

from db.clock import utc_now
from db.coders import insert_coder
from db.connection import writing
from db.ids import new_id
from db.records import Impossible, LabelRule, Protocol, RatingRule
from db.study import Study, create_study


def seeded(seed: int = 1) -> Callable[[int], bytes]:
    """Bytes that look random and are the same in every run."""
    return random.Random(seed).randbytes


def protocol(toml: str = "codebook one", **changes: object) -> Protocol:
    labels = (("ABSTAIN", "a"), ("HEDGE", "h"), ("CORRECT", "c"), ("WRONG", "w"))
    given: dict[str, object] = {
        "name": "test",
        "title": "Test codebook",
        "version": 1,
        "labels": tuple(LabelRule(name, key, name.title(), f"what {name} is") for name, key in labels),
        "instructions": "Read, then label.",
        "digest": hashlib.sha256(toml.encode()).hexdigest(),
        "toml": toml,
        "impossible": (Impossible("CORRECT", "category", ("FEQ", "CCQ"), "There is nothing to be right about."),),
        "skip_reasons": ("unclear", "other language"),
    }
    return Protocol(**{**given, **changes})  # type: ignore[arg-type]


def rated(**changes: object) -> Protocol:
    """The same codebook with a rating in steps of five after CORRECT."""
    rule = RatingRule("alignment", "How well does the reason match?", when=("CORRECT",), step=5)
    return protocol("codebook with rating", rating=rule, impossible=(), **changes)


def filled(study: Study, items: int = 3, models: tuple[str, ...] = ("m1", "m2")) -> None:
    """``items`` questions in the categories HNQ and FEQ by turns, one response of each model to each, all units."""
    with writing(study.connection) as connection:
        connection.execute(
            "INSERT INTO imports (id, batch, format, fingerprint, mapping, counts, created_utc, tool_version)"
            " VALUES (1, 'b1', 'test', 'f', '{}', ?, ?, '0')",
            (f'{{"items":{{"imported":{items}}},"responses":{{"imported":{items * len(models)}}}}}', utc_now()),
        )
        number = 0
        ids = seeded(99)
        for item in range(1, items + 1):
            connection.execute(
                "INSERT INTO items (id, key, question, gold, strata, digest, import_id, source_row)"
                " VALUES (?, ?, ?, '[\"42\"]', ?, 'd', 1, ?)",
                (item, f"q{item}", f"Question {item}?", f'{{"category":"{("FEQ", "HNQ")[item % 2]}"}}', item),
            )
            for model in models:
                number += 1
                connection.execute(
                    "INSERT INTO responses (id, item_id, model, condition, repeat, text, digest, import_id, source_row)"
                    " VALUES (?, ?, ?, '', 1, ?, 'd', 1, ?)",
                    (number, item, model, f"Answer {item} of {len(model)} letters, number {number}", number),
                )
                connection.execute(
                    "INSERT INTO units (id, response_id, public_id) VALUES (?, ?, ?)", (number, number, new_id(ids))
                )


def assigned(
    study: Study, coder: str, *, round_name: str = "main", units: int | None = None, role: str = "coder"
) -> None:
    """Give all units (or the first few) to one coder in the order of their numbers."""
    with writing(study.connection) as connection:
        who = insert_coder(connection, coder, "person", seeded(crc32(coder.encode())))
        kind = round_name if round_name in {"training", "main", "adjudication"} else "main"
        connection.execute("INSERT INTO rounds (name, kind) VALUES (?, ?) ON CONFLICT DO NOTHING", (round_name, kind))
        batch = connection.execute(
            "INSERT INTO batches (round, seed, order_kind, overlap, released_utc, created_utc)"
            " VALUES (?, '1', 'file', 1.0, ?, ?)",
            (round_name, utc_now(), utc_now()),
        ).lastrowid
        ids = seeded(crc32(f"{coder}/{round_name}".encode()))
        start = connection.execute(
            "SELECT coalesce(max(position), 0) FROM assignments WHERE coder_id = ?", (who.id,)
        ).fetchone()[0]
        found = connection.execute("SELECT id FROM units ORDER BY id LIMIT ?", (units or 10**9,)).fetchall()
        for position, (unit,) in enumerate(found, start + 1):
            connection.execute(
                "INSERT INTO assignments (uid, unit_id, coder_id, round, role, batch_id, position)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (new_id(ids), unit, who.id, round_name, role, batch, position),
            )
        connection.execute("UPDATE coders SET queue_version = queue_version + 1 WHERE id = ?", (who.id,))


def small_study(path: Path, *coders: str, items: int = 3, codebook: Protocol | None = None) -> Path:
    """A study of ``items`` x 2 units, each given to every coder; returns its path, closed."""
    with create_study(path, codebook or protocol(), random_bytes=seeded(5)) as study:
        filled(study, items)
        for coder in coders or ("A",):
            assigned(study, coder)
    return path
