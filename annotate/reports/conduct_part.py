"""How the study was conducted: what was frozen, looks at interim results, training, checks, reviews after unmasking."""

from __future__ import annotations

from collections.abc import Iterator

from annotate.reports.document import Block, Bullets, Heading, Name
from annotate.reports.pieces import Cell, Pieces, row, table


def conduct_part(pieces: Pieces) -> Iterator[Block]:
    """Sentences, and a table of what coders did with known labels."""
    if not pieces.results.get("conduct"):
        return
    yield Heading(2, ("Conduct",))
    yield Bullets(tuple(pieces.texts("/conduct/sentences")))
    rows: list[tuple[Cell, ...]] = []
    for at, known in enumerate(pieces.get("/conduct/known_labels")):
        root = f"/conduct/known_labels/{at}"
        passed = {True: "yes", False: "no", None: "–"}[known["passed"]]
        numbers = (pieces.count(f"{root}/{key}") for key in ("known", "done", "failed"))
        rows.append(row(Name(known["round"]), Name(known["coder"]), *numbers, passed))
    if rows:
        head = ("round", "coder", "known labels", "coded", "not as known", "passed")
        yield table("Training and hidden checks", head, rows, right=(2, 3, 4))
