"""The part of a report on judges' scores: calibration against people. And agreement of coders with themselves."""

from __future__ import annotations

from collections.abc import Iterator

from annotate.reports.document import Block, Heading, Name, Ref, pointer
from annotate.reports.pieces import Pieces, paragraph, row, said, table


def scores_part(pieces: Pieces) -> Iterator[Block]:
    """Reliability of each judge's score; nothing where no judge gave one."""
    scores = pieces.results.get("scores") or {}
    known = [judge for judge, found in scores.items() if found["reason"] is None]
    if not known:
        return
    yield Heading(3, ("Calibration of judges' scores",))
    for judge in known:
        place = pointer("scores", judge)
        yield paragraph(
            "Judge ", Name(judge), ": its score is read as ", Ref(f"{place}/meaning", "text"),
            ". Expected calibration error ", pieces.estimate(f"{place}/ece"), ", Brier score ",
            pieces.estimate(f"{place}/brier"), ", area under the ROC curve ", pieces.estimate(f"{place}/auc"), " on ",
            Ref(f"{place}/n", "count"), " units.",
        )  # fmt: skip
        rows = [
            row(
                said(Ref(f"{place}/bins/{at}/low", "decimal"), " to ", Ref(f"{place}/bins/{at}/high", "decimal")),
                pieces.count(f"{place}/bins/{at}/n"),
                pieces.value(f"{place}/bins/{at}/stated"),
                pieces.value(f"{place}/bins/{at}/observed"),
            )
            for at, found in enumerate(pieces.get(f"{place}/bins"))
            if found["n"]
        ]
        head = ("score", "units", "mean score", "share under people")
        yield table(said("Reliability, judge ", Name(judge)), head, rows, right=range(1, 4))


def oneself_part(pieces: Pieces) -> Iterator[Block]:
    """Agreement on hidden repeats, coder by coder, and of judges that replied several times; nothing without either."""
    oneself = pieces.results.get("oneself")
    if oneself:
        rows = [
            row(
                Name(coder),
                pieces.estimate(f"{pointer('oneself', coder)}/percent"),
                pieces.estimate(f"{pointer('oneself', coder)}/kappa"),
                pieces.estimate(f"{pointer('oneself', coder)}/alpha"),
                pieces.count(f"{pointer('oneself', coder)}/percent/n_units"),
            )
            for coder in oneself
        ]
        head = ("coder", "percent agreement", "Cohen's κ", "Krippendorff's α", "units")
        yield table("With themselves: the same unit again, not known to be one", head, rows, right=range(1, 5))
    judges = pieces.results.get("judges_oneself")
    if judges:
        rows = [
            row(
                Name(judge),
                pieces.count(f"{pointer('judges_oneself', judge)}/replies"),
                pieces.estimate(f"{pointer('judges_oneself', judge)}/percent"),
                pieces.estimate(f"{pointer('judges_oneself', judge)}/alpha"),
                pieces.count(f"{pointer('judges_oneself', judge)}/percent/n_units"),
            )
            for judge in judges
        ]
        head = ("judge", "replies, at most", "percent agreement", "Krippendorff's α", "responses")
        yield table("Judges with themselves: the same response asked again", head, rows, right=range(1, 5))
