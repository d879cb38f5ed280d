"""The adjudication file of the package ehq: ``{"MODEL::QUESTION": LABEL}``, for ``ehq run --adjudication FILE``.

ehq then takes these labels in place of its rules' and keeps the rules' on all other records. So its scores are ours
only where everything is labelled; on a sample they are neither the weighted nor the corrected score.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from annotate.exporters.files import private_text
from db.errors import AnnotateError
from db.labels import UnitRow

LABELS = {"ABSTAIN": "ABSTAIN", "HEDGE": "HEDGE", "CORRECT": "CONFIDENT_CORRECT", "WRONG": "CONFIDENT_WRONG"}


@dataclass(frozen=True, slots=True)
class Adjudicated:
    """written + open = units of the sample; ``open``: without one label (unresolved, skipped, unfinished).

    labels: MODEL::QUESTION to ehq's name of the label, as written.
    """

    written: int
    open: int
    labels: Mapping[str, str] = field(default_factory=dict)


def write_adjudication(units: Sequence[UnitRow], labels: Sequence[str | None], path: Path) -> Adjudicated:
    """Write the human reference of every unit that has one. Raises AnnotateError where ehq could not read it."""
    found: dict[str, str] = {}
    for unit, label in zip(units, labels, strict=True):
        if label is None:
            continue
        if label not in LABELS:
            raise AnnotateError(f"ehq knows no label {label!r}.", f"It knows {', '.join(LABELS)}: use protocol ehq.")
        key = f"{unit.model}::{unit.item}"
        if key in found or unit.condition:
            raise AnnotateError(
                f"{key}: there are several responses, and ehq has one a model and question.",
                "Conditions and repeats cannot go into this file.",
            )
        found[key] = LABELS[label]
    with private_text(path) as file:
        file.write(json.dumps(dict(sorted(found.items())), ensure_ascii=False, indent=1) + "\n")
    return Adjudicated(len(found), len(units) - len(found), found)
