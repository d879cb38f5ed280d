"""What a coder does in the tests, and what that leaves in the log."""

from __future__ import annotations

from pathlib import Path

from db.coding import CodingSession
from db.records import Act
from db.study import open_study


def label(session: CodingSession, position: int, name: str = "WRONG", **more: object) -> str:
    item = session.item(position)
    assert item is not None
    session.save(Act("label", item.assignment, label=name, **more))  # type: ignore[arg-type]
    return item.assignment


def events(path: Path) -> list[tuple[object, ...]]:
    with open_study(path) as study:
        return study.connection.execute("SELECT seq, kind, body, fence FROM events ORDER BY log_id, seq").fetchall()
