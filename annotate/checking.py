"""Training and hidden checks: how each coder does against the labels that are known."""

from __future__ import annotations

from typing import Any

from db.known import KnownLabel, known_labels, known_rounds
from db.study import Study


def check_results(study: Study, *, names: bool = True) -> list[dict[str, Any]]:
    """By round and coder (by pseudonym unless ``names``): known labels coded, failed, and whether that passes."""
    rounds = known_rounds(study.connection)
    groups: dict[tuple[str, str], list[KnownLabel]] = {}
    for each in known_labels(study.connection):
        groups.setdefault((each.round, each.coder if names else each.pseudonym), []).append(each)
    return [_result(name, coder, *rounds[name], rows) for (name, coder), rows in groups.items()]


def _result(name: str, coder: str, kind: str, mark: float | None, rows: list[KnownLabel]) -> dict[str, Any]:
    given = [row for row in rows if row.given is not None]
    right = sum(row.given == row.known for row in given)
    share = right / len(given) if given else None
    finished = len(given) == len(rows)
    return {
        "round": name,
        "kind": kind,
        "coder": coder,
        "known": len(rows),
        "done": len(given),
        "failed": len(given) - right,
        "share": share,
        "pass_mark": mark,
        "passed": None if mark is None or share is None or not finished else share >= mark,
    }
