"""How far a study is, and what comes next. No numpy, and no label: whoever codes may look."""

from __future__ import annotations

from typing import Any

from annotate.analysis.facts import coding_facts, count_facts, design_facts
from annotate.console import typed
from annotate.studies import study_protocol
from db.cases import DIFFER, people_queue
from db.coverage import coverage
from db.overview import coder_progress
from db.study import Study


def status_facts(study: Study) -> dict[str, Any]:
    """Counts of what is there and what is left, and the command that comes next."""
    facts: dict[str, Any] = {
        "title": study.title,
        "protocol": study.protocol_name,
        "protocol_version": study.protocol_version,
        "counts": count_facts(study),
        "design": design_facts(study),
        "coders": coding_facts(study, names=True)["coders"],
        "coverage": [
            {
                "round": each.round,
                "units": each.units,
                "complete": each.complete,
                "meant": each.meant,
                "labels": each.labels,
                "skips": each.skips,
                "missing": len(each.missing),
                "over": len(each.over) + len(each.doubled),
            }
            for each in coverage(study)
        ],
    }
    facts["due"] = _due(study)
    facts["disagreements"] = _undecided(study)
    return facts | {"next": _next(facts)}


def _due(study: Study) -> list[dict[str, Any]]:
    """What is in somebody's queue and has a date: the earliest date of a coder in a round."""
    return [
        {"coder": each.coder, "round": each.round, "left": each.left - each.waiting, "due": each.due_utc}
        for each in coder_progress(study)
        if each.due_utc is not None
    ]


def _undecided(study: Study) -> int:
    """Units of the main round whose coders are done, differ, and wait for a final label."""
    queue = people_queue(study.connection, study_protocol(study))
    return sum(queue.why[unit] == DIFFER for unit in queue.units if unit not in queue.done)


def _next(facts: dict[str, Any]) -> str:
    if not facts["counts"]["responses"]:
        return "annotate import {study} …"
    if facts["design"] is None:
        return "annotate sample {study} --n …"
    if not facts["coders"]:
        return "annotate assign {study} --coders …"
    waiting = [each["coder"] for each in facts["coders"] if each["left"] and each["kind"] != "imported"]
    if waiting:
        return f"annotate code {{study}} --coder {typed(waiting[0])}"
    if facts["disagreements"]:
        return "annotate adjudicate {study} --by …"
    return "annotate agreement {study}, annotate impact {study}, annotate report {study} --out DIR"
