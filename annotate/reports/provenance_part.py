"""The last part of a report: versions, seeds, digests of what was read, command lines, the codebook's text."""

from __future__ import annotations

from collections.abc import Iterator

from annotate.reports.document import Block, Bullets, Heading, Line, Name, Ref, Verbatim
from annotate.reports.pieces import Pieces, paragraph, row, said, table


def provenance_part(pieces: Pieces) -> Iterator[Block]:
    """Nothing in a document without provenance. Paths, users and times stand in run.json alone."""
    found = pieces.results.get("provenance")
    if not found:
        return
    yield Heading(2, ("Provenance",))
    packages: Line = ()
    for each in found["packages"]:
        packages = said(packages, ", ", Name(each), " ", Ref(f"/provenance/packages/{each}", "text"))
    yield paragraph("annotate ", Ref("/provenance/annotate", "text"), packages, ".")
    draw: Line = ("none drawn",) if found["seeds"]["draw"] is None else (Ref("/provenance/seeds/draw", "text"),)
    yield paragraph(
        "Seeds: sample ", draw, ", intervals ", Ref("/provenance/seeds/intervals", "count"), " (",
        Ref("/provenance/draws", "count"), " draws).",
    )  # fmt: skip
    rows = [
        row(
            (Ref(f"/provenance/inputs/{at}/name", "text"),),
            (Ref(f"/provenance/inputs/{at}/format", "text"),),
            pieces.count(f"/provenance/inputs/{at}/records"),
            (Ref(f"/provenance/inputs/{at}/sha256", "text"),),
        )
        for at in range(len(found["inputs"]))
    ]
    if rows:
        yield table("Files that were read", ("file", "format", "records", "SHA of its bytes"), rows, right=(2,))
    yield paragraph(
        "Command lines that make this report again. They were put together from what the study keeps of each import, "
        "of the draw and of this report; files go by their names alone. Coding, adjudication and changes of the "
        "codebook are in the study's log."
    )
    yield Bullets(tuple((Ref(f"/provenance/commands/{at}", "text"),) for at in range(len(found["commands"]))))
    versions = [
        row(
            pieces.count(f"/provenance/codebooks/{at}/version"),
            (Ref(f"/provenance/codebooks/{at}/change", "text"),),
            (Ref(f"/provenance/codebooks/{at}/digest", "text"),),
        )
        for at in range(len(found["codebooks"]))
    ]
    yield table("Versions of the codebook", ("version", "change", "digest"), versions, right=(0,))
    yield Verbatim(("The codebook in force, in full",), Ref("/provenance/protocol", "text"))
