"""A flow of counts from the rows that were read to the labels that are used; each step says what it leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.studies import study_protocol
from db.labels import label_rows, unit_rows
from db.overview import imports_of
from db.sampling import strata_counts
from db.study import Study

FILTERED = "outside the protocol's filter"

_LEFT_OUT = {
    "unchanged": "the same content was there already",
    "already": "the same row of the same file was imported before",
    "blank": "blank",
    "rejected": "refused, with line and reason in the account of the import",
}
_KINDS = ("items", "responses", "judge labels", "human labels")
_UNUSED = {
    "skipped": "skipped by every coder",
    "technical": "flagged as a technical failure",
    "unfinished": "not labelled yet, or only under a codebook that was changed since",
}


def flow_facts(
    study: Study, counts: Mapping[str, Any], design: Mapping[str, Any] | None, reference: Mapping[str, Any]
) -> dict[str, list[dict[str, Any]]]:
    """``rows``: what each import made of each kind of row. ``units``: from responses to units with a human label.
    ``labels``: from labels given to labels in the reference. In each, n of a step less what it leaves out is the next.
    """
    return {
        "rows": _rows(study),
        "units": _units(counts, design, reference, _filtered(study)),
        "labels": _labels(study),
    }


def _step(step: str, n: int, out: Mapping[str, int]) -> dict[str, Any]:
    return {"step": step, "n": n, "out": [{"why": why, "n": number} for why, number in out.items() if number]}


def _rows(study: Study) -> list[dict[str, Any]]:
    total: dict[str, dict[str, int]] = {}
    for entry in imports_of(study):
        for kind in _KINDS:
            mine = total.setdefault(kind, {})
            for key, number in entry.counts.get(kind, {}).items():
                mine[key] = mine.get(key, 0) + number
    found = []
    for kind, sums in total.items():
        if sums.get("read"):
            step = _step(kind, sums["read"], {why: sums.get(key, 0) for key, why in _LEFT_OUT.items()})
            found.append({**step, "kept": sums.get("imported", 0)})
    return found


def _filtered(study: Study) -> int:
    """Responses that the codebook does not ask about (its filter); 0 where it asks about all."""
    protocol = study_protocol(study)
    if not protocol.filters:
        return 0
    return strata_counts(study, (), filters=protocol.filters).excluded.get(FILTERED, 0)


def _units(
    counts: Mapping[str, Any], design: Mapping[str, Any] | None, reference: Mapping[str, Any], filtered: int
) -> list[dict[str, Any]]:
    drawn, status = reference["units"], reference["status"]
    used = status["labelled"] + status["unresolved"]
    responses, failed = counts["responses"], counts["technical_failures"]
    left = {"technical failures of the models": failed, "outside the codebook's filter": filtered}
    judged = responses - failed - filtered
    steps = [
        _step("responses in the study", responses, left),
        _step("responses that can be judged", judged, {"not drawn": judged - drawn}),
    ]
    if design is None:
        return steps[:1]
    if drawn > judged:  # a sample that was drawn with failures, or a census that holds some
        steps = [_step("responses in the study", responses, {"not drawn": responses - drawn})]
    return [
        *steps,
        _step("units in the sample", drawn, {why: status[key] for key, why in _UNUSED.items()}),
        _step("units with a human label", used, {}),
    ]


def _labels(study: Study) -> list[dict[str, Any]]:
    rows = [row for row in label_rows(study) if row.label is not None or row.rating is not None]
    drawn = {row.unit for row in unit_rows(study)}
    left = {
        "on units that are not in the sample": 0,
        "of rounds that are not the main one (training, checks)": 0,
        "second labels of hidden repeats (agreement with oneself only)": 0,
        "given under a codebook that was changed since": 0,
        "final labels that the lead reopened": 0,
    }
    whys = list(left)
    kept = final = 0
    for row in rows:
        if row.unit not in drawn:
            left[whys[0]] += 1
        elif row.occurrence > 1:
            left[whys[2]] += 1
        elif row.round_kind != "main" and row.role != "adjudicator":
            left[whys[1]] += 1
        elif row.stale:
            left[whys[3]] += 1
        elif row.set_aside:
            left[whys[4]] += 1
        else:
            kept += 1
            final += row.role == "adjudicator"
    return [
        _step("labels given", len(rows), left),
        _step("labels that the reference is made of", kept, {}),
        _step("of these final labels from adjudication", final, {}),
    ]
