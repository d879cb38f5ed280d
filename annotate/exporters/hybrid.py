"""What the package ehq will report from a run and an adjudication file: the "hybrid" score.

People's label where a record has one, the rules' label on all others, every record counted once. So it is neither a
score of people nor an estimate for the corpus: it equals annotate's only where everything is labelled. EHQ3 keeps, as
ehq 0.4.0 does, the rules' verdict on whether an answer is correct, also where a person's label stands.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from annotate.importers.ehq import JUDGE, LABELS
from db.records import ImportRow, JudgeLabelRow, ResponseRow

BINS = 10
WEIGHTS = (0.30, 0.45, 0.25)


@dataclass(frozen=True, slots=True)
class Hybrid:
    """One model's scores: ``people`` records with a person's label, ``rules`` with the rules'. None: undefined."""

    EHQ1: float | None
    EHQ2: float | None
    EHQ3: float | None
    EHQ: float | None
    people: int
    rules: int


@dataclass(slots=True)
class _Counts:
    labels: Counter[str] = field(default_factory=Counter)
    people: int = 0
    gaps: dict[int, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    calibrated: int = 0


def hybrid_scores(rows: Iterable[ImportRow], adjudicated: Mapping[str, str]) -> dict[str, Hybrid]:
    """By model. rows: the study's content, each response before its labels. adjudicated: MODEL::ITEM to ehq's label."""
    counts: dict[str, _Counts] = defaultdict(_Counts)
    response: ResponseRow | None = None
    for row in rows:
        if isinstance(row, ResponseRow):
            response = row
        elif (
            isinstance(row, JudgeLabelRow) and row.judge == JUDGE and response is not None and response.failure is None
        ):
            person = adjudicated.get(f"{response.model}::{response.item}")
            _count(counts[response.model], response, str(row.raw), person)
    return {model: _scores(found) for model, found in counts.items()}


def _count(counts: _Counts, response: ResponseRow, automatic: str, person: str | None) -> None:
    label = LABELS.get(person or automatic, automatic)
    counts.labels[label] += 1
    counts.people += person is not None
    if label not in ("CORRECT", "WRONG") or response.confidence is None or not response.confidence_usable:
        return
    stated, grid = response.confidence, response.confidence_grid or 1
    correct = (response.extra or {}).get("is_correct", LABELS.get(automatic) == "CORRECT")
    counts.calibrated += 1
    counts.gaps[min(BINS * stated // grid, BINS - 1)] += int(bool(correct)) - Fraction(stated, grid)


def _scores(counts: _Counts) -> Hybrid:
    n = counts.labels.total()
    one = (counts.labels["ABSTAIN"] + counts.labels["HEDGE"]) / n
    two = 1 - counts.labels["WRONG"] / n
    three = 1 - float(sum(map(abs, counts.gaps.values())) / counts.calibrated) if counts.calibrated else None
    whole = None if three is None else WEIGHTS[0] * one + WEIGHTS[1] * two + WEIGHTS[2] * three
    return Hybrid(one, two, three, whole, counts.people, n - counts.people)
