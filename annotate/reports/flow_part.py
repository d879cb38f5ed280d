"""The part of a report that follows the counts: from rows read to labels used, nothing lost on the way."""

from __future__ import annotations

from collections.abc import Iterator

from annotate.reports.document import Block, Heading, Line, Ref
from annotate.reports.pieces import Pieces, paragraph, row, said, table

TITLES = {"units": "From responses to labelled units", "labels": "From labels given to labels used"}


def flow_part(pieces: Pieces) -> Iterator[Block]:
    """One table for the imports, one for units, one for labels; nothing in a document without a flow."""
    flow = pieces.results.get("flow")
    if not flow:
        return
    yield Heading(3, ("Flow of counts",))
    yield paragraph("In each table a step less what it leaves out is the next step.")
    rows = [
        row(
            step["step"],
            pieces.count(f"/flow/rows/{at}/n"),
            _out(pieces, f"/flow/rows/{at}"),
            pieces.count(f"/flow/rows/{at}/kept"),
        )
        for at, step in enumerate(flow["rows"])
    ]
    if rows:
        yield table("Rows read", ("kind of row", "read", "left out", "in the study"), rows, right=(1, 3))
    for key, title in TITLES.items():
        steps = [
            row(step["step"], pieces.count(f"/flow/{key}/{at}/n"), _out(pieces, f"/flow/{key}/{at}"))
            for at, step in enumerate(flow[key])
        ]
        if flow[key] and flow[key][0]["n"]:
            yield table(title, ("step", "count", "left out"), steps, right=(1,))


def _out(pieces: Pieces, place: str) -> Line:
    found: Line = ()
    for at, out in enumerate(pieces.get(f"{place}/out")):
        found = said(found, "; " if found else "", Ref(f"{place}/out/{at}/n", "count"), f" {out['why']}")
    return found or ("nothing",)
