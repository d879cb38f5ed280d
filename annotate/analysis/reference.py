"""One human label per unit of a study, and the weights that go with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from agreement.cells import FloatArray
from agreement.design import DesignWeights, design_weights
from agreement.reference import UNRESOLVED, HumanReference, human_reference
from annotate.analysis.labels import StudyLabels

TECHNICAL = "technical"


@dataclass(frozen=True, slots=True)
class Reference:
    """human: the label of every unit, technical failures without one. status: labelled, unresolved, skipped, technical
    or unfinished, by unit. weights: by the design, scaled where coding is unfinished."""

    human: HumanReference
    status: tuple[str, ...]
    weights: DesignWeights

    @property
    def shares(self) -> FloatArray:
        return self.human.shares


def study_reference(study: StudyLabels) -> Reference:
    """Final adjudication; else all coders agree; else strict majority; else unresolved, split over the labels given."""
    technical = np.array([fate == TECHNICAL for fate in study.fate], np.bool_)
    human = human_reference(
        _without(study.table, technical, len(study.coders)) if study.coders else [[None]] * len(study),
        study.labels,
        adjudicated=None
        if study.final is None
        else [None if t else v for v, t in zip(study.final, technical, strict=True)],
        tiebreak=_without(study.tiebreaks, technical, len(study.tiebreakers)) if study.tiebreakers else None,
        stale=np.array(study.stale, np.bool_) if study.coders and len(study) else None,
    )
    status = tuple(
        _status(fate, found, usable) for fate, found, usable in zip(study.fate, human.status, human.usable, strict=True)
    )
    drawn = ~technical
    weights = design_weights(study.pi, human.usable, study.design, overlap=drawn.astype(np.float64))
    return Reference(human, status, weights)


def _without(table: tuple[tuple[str | None, ...], ...], technical: np.ndarray, width: int) -> list[list[str | None]]:
    return [[None] * width if gone else list(row) for row, gone in zip(table, technical, strict=True)]


def _status(fate: str, found: str, usable: bool) -> str:
    if fate == TECHNICAL:
        return fate
    if found == UNRESOLVED:
        return "unresolved"
    return "labelled" if usable else ("skipped" if fate == "skipped" else "unfinished")


def reference_facts(labels: StudyLabels, reference: Reference) -> dict[str, Any]:
    """Where the human label of each drawn unit comes from, and which weights were scaled."""
    statuses = Counter(reference.status)
    return {
        "units": len(labels),
        "status": {
            name: statuses.get(name, 0) for name in ("labelled", "unresolved", "skipped", "technical", "unfinished")
        },
        "source": {name: count for name, count in reference.human.counts.items() if count},
        "labels": _label_counts(labels, reference),
        "stale": reference.human.stale,
        "outside_sample": labels.outside,
        "scaled_strata": len(reference.weights.scaled),
        "notes": list(reference.weights.notes[:20]),
    }


def _label_counts(labels: StudyLabels, reference: Reference) -> dict[str, float]:
    """Units per label, unweighted; a split unit counts in parts."""
    return {label: float(count) for label, count in zip(labels.labels, reference.shares.sum(axis=0), strict=True)}
