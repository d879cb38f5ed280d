"""The part of a report on fairness: where a judge errs differently, and its errors by model and stratum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotate.reports.document import Block, Bullets, Line, Name, Ref, pointer
from annotate.reports.pieces import Pieces, name, paragraph, row, said, table

STRONGEST = 3
OF_QUESTIONS = (
    "Of questions: an error is a grade that judge and people put on different sides of the threshold, or that one of "
    "them alone can give."
)


def finding_lines(pieces: Pieces) -> list[Line]:
    """Where a judge was found unfair or broken: the strongest findings of each; all of them stand further down."""
    impact = pieces.results.get("impact")
    found: list[Line] = []
    for judge in impact["judges"] if impact else ():
        root = pointer("impact", "judges", judge, "fairness")
        fair = pieces.get(root)
        listed = fair["findings"] if fair else []
        strongest = sorted(range(len(listed)), key=lambda at: -(listed[at]["strength"] or 0.0))[:STRONGEST]
        for at in strongest:
            found.append(said("Judge ", Name(judge), ": ", Ref(f"{root}/findings/{at}/text", "text"), "."))
    return found


def fairness_blocks(pieces: Pieces, root: str) -> Iterator[Block]:
    """What was found and the table, of the judge whose results stand at ``root``; nothing without fairness."""
    yield from _findings(pieces, root)
    yield from _fairness(pieces, root)


def _findings(pieces: Pieces, root: str) -> Iterator[Block]:
    fair: dict[str, Any] | None = pieces.get(f"{root}/fairness")
    if fair is None:
        return
    if fair["findings"]:
        lines = [(Ref(f"{root}/fairness/findings/{at}/text", "text"),) for at in range(len(fair["findings"]))]
        yield paragraph("Where the judge errs differently:")
        yield Bullets(tuple(lines))
    else:
        yield paragraph(
            "No model or stratum was found in which the judge errs differently; that is no proof of fairness."
        )


def _fairness(pieces: Pieces, root: str) -> Iterator[Block]:
    fair = pieces.get(f"{root}/fairness")
    if fair is None or len(fair["levels"]) < 2:
        return
    rows = [
        row(
            said(Name(level["variable"]), " ", name(level["level"])),
            pieces.estimate(f"{root}/fairness/levels/{at}/error_rate"),
            pieces.estimate(f"{root}/fairness/levels/{at}/youden"),
            pieces.count(f"{root}/fairness/levels/{at}/labelled"),
        )
        for at, level in enumerate(fair["levels"])
    ]
    head = ("stratum", "error rate", "Youden's J", "labelled")
    note = (OF_QUESTIONS,) if pieces.get("/impact").get("profiles") else ()
    yield table("Errors of the judge by stratum", head, rows, right=(1, 2, 3), note=note)
