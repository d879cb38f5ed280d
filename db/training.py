"""Feedback in a training round: what the known label is, told at once after the coder's own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import NamedTuple

from db.records import Annotation


class Training(NamedTuple):
    """The known labels of one coder's training assignments, with an explanation where there is one."""

    known: Mapping[str, tuple[str, str]]

    @classmethod
    def of(cls, connection: sqlite3.Connection, coder_id: int) -> Training:
        """Read them once for a session."""
        found: dict[str, tuple[str, str]] = {}
        rounds = connection.execute(
            "SELECT name, settings FROM rounds WHERE kind = 'training' AND settings <> '{}'"
        ).fetchall()
        for name, settings in rounds:
            told = json.loads(settings)
            known, why = told.get("known", {}), told.get("explanations", {})
            rows = connection.execute(
                "SELECT a.uid, u.public_id FROM assignments a JOIN units u ON u.id = a.unit_id"
                " WHERE a.round = ? AND a.coder_id = ?",
                (name, coder_id),
            )
            found |= {uid: (known[unit], why.get(unit, "")) for uid, unit in rows if unit in known}
        return cls(found)

    def feedback(self, annotation: Annotation) -> str:
        """What is told after this label, in words; empty where nothing is known."""
        if annotation.assignment not in self.known or annotation.label is None:
            return ""
        label, why = self.known[annotation.assignment]
        if annotation.label == label:
            return f"Training: {label} it is.{f' {why}' if why else ''}"
        return f"Training: you said {annotation.label}, it is {label}.{f' {why}' if why else ''}"
