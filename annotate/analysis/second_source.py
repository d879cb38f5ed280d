"""A second source for the numbers that matter: scikit-learn and krippendorff on the same labels, where size allows."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agreement import cohen_kappa, krippendorff_alpha
from annotate.analysis.labels import StudyLabels

MOST_UNITS = 20_000
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Check:
    """One number computed twice, without design weights. ``agrees`` None: not run, and ``note`` says why."""

    quantity: str
    source: str
    ours: float | None
    theirs: float | None
    n_units: int
    agrees: bool | None
    note: str = ""


def check_people(study: StudyLabels) -> tuple[Check, ...]:
    """Alpha over all main coders against krippendorff, kappa of every pair against scikit-learn."""
    rows = study.fresh
    checks = [_alpha(study, rows)] if len(study.coders) > 1 else []
    for a in range(len(study.coders)):
        for b in range(a + 1, len(study.coders)):
            names = f"{study.coders[a].name}, {study.coders[b].name}"
            pairs = [(row[a], row[b]) for row in rows if row[a] is not None and row[b] is not None]
            checks.append(_kappa(f"Cohen's kappa: {names}", pairs, study.labels))
    return tuple(checks)


def check_judge(study: StudyLabels, judge: str, reference: Sequence[str | None]) -> tuple[Check, ...]:
    """Kappa and macro F1 of a judge against the reference, on units where both have a label."""
    pairs = [
        (people, said)
        for people, said in zip(reference, study.judges[judge], strict=True)
        if people is not None and said in study.labels
    ]
    return (
        _kappa(f"Cohen's kappa: judge {judge}, human reference", pairs, study.labels),
        *_scores(judge, pairs, study.labels),
    )


def _alpha(study: StudyLabels, rows: Sequence[Sequence[str | None]]) -> Check:
    quantity = "Krippendorff's alpha, nominal"
    kept = [row for row in rows if sum(label is not None for label in row) > 1]

    def theirs(module: Any) -> float:
        code = {label: float(place) for place, label in enumerate(study.labels)}
        numbers = [[np.nan if label is None else code[label] for label in row] for row in kept]
        found = module.alpha(
            reliability_data=np.array(numbers).T, level_of_measurement="nominal", value_domain=list(code.values())
        )
        return float(found)

    ours = krippendorff_alpha([list(row) for row in kept], labels=study.labels, interval="none").value if kept else None
    return _compare(quantity, "krippendorff", ours, theirs, len(kept))


def _kappa(quantity: str, pairs: Sequence[tuple[Any, Any]], labels: Sequence[str]) -> Check:
    def theirs(module: Any) -> float:
        first, second = zip(*pairs, strict=True)
        return float(module.metrics.cohen_kappa_score(first, second, labels=list(labels)))

    ours = (
        cohen_kappa([a for a, _ in pairs], [b for _, b in pairs], labels=labels, interval="none").value
        if pairs
        else None
    )
    return _compare(quantity, "scikit-learn", ours, theirs, len(pairs))


def _scores(judge: str, pairs: Sequence[tuple[Any, Any]], labels: Sequence[str]) -> Iterator[Check]:
    from agreement.against_people import point_measures
    from agreement.confusion_matrix import confusion

    if not pairs:
        return
    matrix = confusion([said for _, said in pairs], [people for people, _ in pairs], labels=labels)
    ours = point_measures(matrix)
    for label in labels:

        def theirs(module: Any, label: str = label) -> float:
            people, said = zip(*pairs, strict=True)
            return float(module.metrics.f1_score(people, said, labels=[label], average="macro", zero_division=np.nan))

        yield _compare(f"F1 of {label}: judge {judge}", "scikit-learn", ours["F1", label], theirs, len(pairs))


_MODULES = {"krippendorff": "krippendorff", "scikit-learn": "sklearn.metrics"}


def _compare(quantity: str, source: str, ours: float | None, theirs: Callable[[Any], float], n: int) -> Check:
    if ours is None:
        return Check(quantity, source, None, None, n, None, "undefined here, so there is nothing to compare")
    if n > MOST_UNITS:
        return Check(quantity, source, ours, None, n, None, f"not run above {MOST_UNITS:,} units")
    try:
        module = importlib.import_module(_MODULES[source])
    except ModuleNotFoundError:
        return Check(quantity, source, ours, None, n, None, f"{source} is not installed")
    package = importlib.import_module(_MODULES[source].partition(".")[0])
    version = f"{source} {importlib.metadata.version(source)}"
    found = theirs(module if source == "krippendorff" else package)
    if not np.isfinite(found):
        return Check(quantity, version, ours, None, n, None, f"{source} gives no number")
    return Check(quantity, version, ours, found, n, abs(ours - found) <= TOLERANCE)
