"""The part of a report on judges against people."""

from __future__ import annotations

from collections.abc import Iterator

from annotate.reports.document import Block, Bullets, Heading, Line, Name, Ref, pointer
from annotate.reports.pieces import Cell, Pieces, name, paragraph, row, said, table

MEASURES = (
    ("agreement", "Agreement (accuracy)"),
    ("kappa", "Cohen's κ"),
    ("agreement_labels_only", "Agreement, outputs that are no label left out"),
    ("kappa_labels_only", "Cohen's κ, outputs that are no label left out"),
    ("macro_f1", "Macro F1"),
    ("weighted_f1", "Weighted F1"),
    ("balanced_accuracy", "Balanced accuracy"),
    ("mcc", "Matthews correlation"),
)
SLIGHT = 0.20
LITTLE = ", which says little, for people hardly agree with each other"
PER_LABEL = ("precision", "recall", "f1", "human_share", "judge_share")
HEADS = {"f1": "F1", "human_share": "share, people", "judge_share": "share, judge"}


def judges_part(pieces: Pieces) -> Iterator[Block]:
    """Every judge, one after the other."""
    judges = pieces.get("/judges")
    if not judges:
        return
    yield Heading(2, ("Judges against people",))
    yield paragraph(
        "People's label is the reference: a final adjudication; else what all coders agree on; else a strict majority; "
        "else the unit is unresolved and its label is split. Of ",
        Ref("/reference/units", "count"),
        " drawn units ",
        Ref("/reference/status/labelled", "count"),
        " have a label and ",
        Ref("/reference/status/unresolved", "count"),
        " are unresolved. Totals are estimates for the whole corpus, weighted by the design.",
    )
    for judge in judges:
        yield from _judge(pieces, judge)


def judge_sentence(pieces: Pieces, judge: str) -> Line:
    """One judge in one line."""
    root = pointer("judges", judge)
    return said(
        "Judge ",
        Name(judge),
        " agrees with people on ",
        pieces.estimate(f"{root}/measures/agreement", "percent"),
        " of records, κ ",
        pieces.estimate(f"{root}/measures/kappa"),
        " (",
        Ref(f"{root}/n", "count"),
        " labelled units)",
        *_verdict(pieces, root),
        ".",
    )


def _verdict(pieces: Pieces, root: str) -> Line:
    if pieces.get(f"{root}/ceiling") is None:
        return ()
    found = pieces.get(f"{root}/ceiling/comparisons/0/verdict")
    if found == "not shown":
        return ("; whether it is within the human range is not shown",)
    return (f"; {found}{LITTLE}",) if _apart(pieces, root) else (f"; {found}",)


def _apart(pieces: Pieces, root: str) -> bool:
    """Whether people agree with each other so little that to be within their range means nothing.

    Landis and Koch (1977) call a kappa of .20 and less slight.
    """
    people = pieces.get(f"{root}/ceiling/comparisons/0/people")
    return people is not None and people <= SLIGHT


def _judge(pieces: Pieces, judge: str) -> Iterator[Block]:
    root = pointer("judges", judge)
    found = pieces.get(root)
    yield Heading(3, said("Judge ", Name(judge)))
    if found["warnings"]:
        yield Bullets(tuple(pieces.texts(f"{root}/warnings")))
    yield from _matrix(pieces, root)
    yield from _measures(pieces, root)
    yield from _per_label(pieces, root)
    yield from _by(pieces, root)
    yield from _ceiling(pieces, root)
    yield from _alt_test(pieces, root)
    notes = [line for key in ("notes",) for line in pieces.texts(f"{root}/{key}")]
    if notes:
        yield Bullets(tuple(notes))


def _matrix(pieces: Pieces, root: str) -> Iterator[Block]:
    matrix = pieces.get(f"{root}/matrix")
    weighted = any(
        abs(total - count) > 1e-9
        for totals, counts in zip(matrix["totals"], matrix["counts"], strict=True)
        for total, count in zip(totals, counts, strict=True)
    )
    rows: list[tuple[Cell, ...]] = []
    for at, output in enumerate(matrix["rows_judge"]):
        cells: list[Line] = []
        for column in range(len(matrix["columns_human"])):
            cell: Line = (Ref(f"{root}/matrix/totals/{at}/{column}", "count"),)
            if weighted:
                cell = (*cell, " (", Ref(f"{root}/matrix/counts/{at}/{column}", "count"), ")")
            cells.append(cell)
        rows.append(row(Name(output), *cells))
    what = "estimated records, labelled units in brackets" if weighted else "records"
    note: Line = ("Estimator: ", Ref(f"{root}/matrix/estimator", "text"), ".")
    head = row("judge \\ people", *(Name(label) for label in matrix["columns_human"]))
    title = said("Confusion matrix on ", Ref(f"{root}/n", "count"), f" labelled units: {what}")
    yield table(title, head, rows, right=range(1, len(head)), note=note)
    shares = [
        row(Name(output), *((Ref(f"{root}/matrix/shares/{at}/{column}"),) for column in range(len(head) - 1)))
        for at, output in enumerate(matrix["rows_judge"])
    ]
    yield table("The same as shares of all records", head, shares, right=range(1, len(head)))


def _measures(pieces: Pieces, root: str) -> Iterator[Block]:
    found = pieces.get(f"{root}/measures")
    silent = any(row.startswith("(") for row in pieces.get(f"{root}/matrix/rows_judge"))
    rows = [
        (title, pieces.estimate(f"{root}/measures/{key}"), (Ref(f"{root}/measures/{key}/method", "text"),))
        for key, title in MEASURES
        if key in found and (silent or not key.endswith("labels_only"))
    ]
    yield table("", ("number", "value [95 %]", "interval"), rows, right=(1,))


def _per_label(pieces: Pieces, root: str) -> Iterator[Block]:
    labels = pieces.get(f"{root}/labels")
    rows = [
        row(Name(label), *(_of_label(pieces, f"{root}/labels{pointer(label)}/{key}") for key in PER_LABEL))
        for label in labels
    ]
    head = row("label", *(HEADS.get(key, key) for key in PER_LABEL))
    yield table("By label", head, rows, right=range(1, len(head)))


def _of_label(pieces: Pieces, path: str) -> Line:
    """What is known of every record, as the share of a label under the judge, has no interval."""
    found = pieces.get(path)
    known = found["value"] is not None and found["low"] == found["high"] == found["value"]
    return (Ref(f"{path}/value"),) if known else pieces.estimate(path)


def _by(pieces: Pieces, root: str) -> Iterator[Block]:
    for variable, levels in pieces.get(f"{root}/by").items():
        rows: list[tuple[Cell, ...]] = []
        for level in levels:
            place = f"{root}/by{pointer(variable, level)}"
            rows.append(
                row(
                    name(level),
                    pieces.estimate(f"{place}/measures/agreement"),
                    pieces.estimate(f"{place}/measures/kappa"),
                    pieces.estimate(f"{place}/measures/macro_f1"),
                    pieces.count(f"{place}/n"),
                    said(*_joined(pieces.texts(f"{place}/warnings"))),
                )
            )
        head = (Name(variable), "agreement", "κ", "macro F1", "labelled", "warnings")
        yield table(said("By ", Name(variable)), head, rows, right=(1, 2, 3, 4))


def _joined(lines: list[Line]) -> Line:
    found: Line = ()
    for line in lines:
        found = (*found, *(("; ",) if found else ()), *line)
    return found


def _ceiling(pieces: Pieces, root: str) -> Iterator[Block]:
    if pieces.get(f"{root}/ceiling") is None:
        yield paragraph("Human ceiling: not computed, because ", Ref(f"{root}/no_ceiling", "text"), ".")
        return
    little = LITTLE if _apart(pieces, root) else ""
    yield paragraph("Human ceiling: ", Ref(f"{root}/ceiling/sentence", "text"), f"{little}.")


def _alt_test(pieces: Pieces, root: str) -> Iterator[Block]:
    test = pieces.get(f"{root}/alt_test")
    if test is None:
        yield paragraph("Alternative annotator test: refused, because it ", Ref(f"{root}/no_alt_test", "text"), ".")
        return
    yield paragraph(
        "Alternative annotator test (",
        Ref(f"{root}/alt_test/convention", "text"),
        "): the judge ",
        "passes" if test["passes"] else "does not pass",
        "; winning rate ω ",
        Ref(f"{root}/alt_test/winning_rate"),
        ", average advantage ρ ",
        Ref(f"{root}/alt_test/advantage"),
        ".",
    )
