"""The parts of a report on single responses: errors worth most points, and those that try to set their own grade."""

from __future__ import annotations

from collections.abc import Iterator

from annotate.reports.document import Block, Bullets, Fold, Heading, Line, Name, Paragraph, Ref, pointer
from annotate.reports.pieces import Pieces, name, paragraph, row, said, table

TEXTS = ("question", "gold", "rationale", "response", "response_b", "reason")
NAMES = {"response_b": "second response", "gold": "gold answers"}


def errors_part(pieces: Pieces) -> Iterator[Block]:
    """By judge the cells of the confusion matrix that move the headline score most, and examples of each."""
    errors = pieces.results.get("errors")
    if not errors or not any(errors.values()):
        return
    yield Heading(2, ("The judge's errors worth most",))
    yield paragraph(
        "Cells of the confusion matrix by what they move the headline score by (the next score that models are ranked "
        "by where it has no such cell), summed over models; by their number of units where the score is no sum over "
        "units. The examples are the first in the order of their random ids: "
        "nobody chose them."
    )
    for judge, cells in errors.items():
        if cells:
            yield Heading(3, said("Judge ", Name(judge)))
        for at in range(len(cells)):
            yield from _cell(pieces, pointer("errors", judge, at))


def _cell(pieces: Pieces, place: str) -> Iterator[Block]:
    cell = pieces.get(place)
    worth: Line = ()
    for model in cell["worth"]:
        worth = said(worth, ", " if worth else "", name(model), " ", Ref(f"{place}/worth{pointer(model)}", "change"))
    moves: Line = ("; moves ", Name(cell["part"]), " by ", *worth) if worth else ()
    yield paragraph(
        "Judge ", Name(cell["judge"]), ", people ", Name(cell["human"]), ": ", Ref(f"{place}/units", "count"),
        " units", *moves, ".",
    )  # fmt: skip
    examples = tuple(
        block for at in range(len(cell["examples"])) for block in _example(pieces, f"{place}/examples/{at}")
    )
    if examples:
        yield Fold(said("Examples: judge ", Name(cell["judge"]), ", people ", Name(cell["human"])), examples)


def _example(pieces: Pieces, place: str) -> Iterator[Block]:
    found = pieces.get(place)
    line: Line = ("Unit ", Name(found["unit"]))
    if "item" in found:
        line = said(line, ", item ", Name(found["item"]))
    if found["model"]:
        line = said(line, ", model ", Name(found["model"]))
    for coder, label in found["people"].items():
        line = said(line, "; ", Name(coder), ": ", Name(label))
    if found["adjudicated"]:
        line = said(line, "; final: ", Name(found["adjudicated"]))
    yield Paragraph(line)
    texts = [said(f"{NAMES.get(key, key)}: ", Ref(f"{place}/{key}", "text")) for key in TEXTS if key in found]
    if texts:
        yield Bullets(tuple(texts))


def attempts_part(pieces: Pieces) -> Iterator[Block]:
    """Whether labels differ more often where a response looks as if it tried to set its own grade."""
    attempts = pieces.results.get("attempts")
    if not attempts:
        return
    yield Heading(3, ("Responses that look as if they tried to set their own grade",))
    yield paragraph(
        "Found by their words, and no verdict on them: a harmless response can look so. How often two sets of labels "
        "differ on them and on all others of the sample, unweighted."
    )
    rows = [
        row(
            said(Name(found["first"]), " and ", Name(found["second"])),
            _share(pieces, f"/attempts/{at}", "attempts"),
            _share(pieces, f"/attempts/{at}", "others"),
            pieces.value(f"/attempts/{at}/excess", "change"),
        )
        for at, found in enumerate(attempts)
    ]
    head = ("labels of", "differ on such responses", "differ on the others", "excess")
    yield table("Labels that differ", head, rows, right=(1, 2, 3))


def _share(pieces: Pieces, place: str, key: str) -> Line:
    return said(
        pieces.value(f"{place}/{key}_share"), " (", Ref(f"{place}/{key}/k", "count"), " of ",
        Ref(f"{place}/{key}/n", "count"), ")",
    )  # fmt: skip
