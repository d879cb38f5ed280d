"""What a study holds, how its sample was drawn and how far coding is: the part of the results that is counted."""

from __future__ import annotations

from collections import Counter
from typing import Any

from annotate import __version__
from annotate.analysis.labels import declared_labels
from db.labels import label_rows
from db.overview import coder_progress, study_counts
from db.records import Protocol
from db.samples import Sample, current_sample
from db.study import Study


def study_facts(study: Study, protocol: Protocol) -> dict[str, Any]:
    """Which study, under which codebook."""
    return {
        "title": study.title,
        "protocol": protocol.name,
        "protocol_title": protocol.title,
        "protocol_version": study.protocol_version,
        "protocol_digest": protocol.digest,
        "labels": list(declared_labels(protocol)),
        "scores": [{"name": score.name, "kind": score.kind, "title": score.title} for score in protocol.scores],
        "threshold": protocol.rating.threshold if protocol.rating else None,
        "version": __version__,
    }


def count_facts(study: Study) -> dict[str, Any]:
    """What came in: every count of rows, and each judge's outputs that are no label."""
    counts = study_counts(study)
    return {
        "items": counts.items,
        "responses": counts.responses,
        "technical_failures": counts.failures,
        "models": list(counts.models),
        "conditions": [name for name in counts.conditions if name],
        "judges": [
            {
                "name": judge.name,
                "kind": judge.kind,
                "labels": judge.labels,
                "responses": judge.responses,
                "not_labels": judge.not_labels,
                "missing": judge.missing,
            }
            for judge in counts.judges
        ],
        "sampled": counts.sampled,
    }


def design_facts(study: Study) -> dict[str, Any] | None:
    """How the sample was drawn, or None before there is one."""
    sample = current_sample(study)
    return None if sample is None else sample_facts(sample)


def sample_facts(sample: Sample) -> dict[str, Any]:
    return {
        "kind": sample.kind,
        "unit": sample.unit,
        "by": list(sample.strata_by),
        "allocation": sample.allocation,
        "seed": sample.seed,
        "judge": sample.judge,
        "n": sample.n,
        "population": sample.population,
        "combined": sample.combined,
        "strata": [
            {"stratum": dict(s.values), "population": s.population, "drawn": s.drawn, "pi": s.drawn / s.population}
            for s in sample.strata
            if s.population
        ],
    }


def coding_facts(study: Study, *, names: bool) -> dict[str, Any]:
    """Each coder's progress, how labels were given, and how blind."""
    progress = [
        {
            "coder": each.coder if names else each.pseudonym,
            "kind": each.kind,
            "round": each.round,
            "total": each.total,
            "done": each.done,
            "skipped": each.skipped,
            "left": each.left,
            "flagged": each.flagged,
            "stale": each.stale,
            "active_minutes": round(each.active_ms / 60_000, 1),
        }
        for each in coder_progress(study)
    ]
    rows = [row for row in label_rows(study) if row.label is not None or row.rating is not None]
    return {
        "coders": progress,
        "simulated": any(each["kind"] == "simulated" for each in progress),
        "blindness": dict(sorted(Counter(row.blindness or "unknown" for row in rows).items())),
        "stale_labels": sum(row.stale for row in rows),
    }
