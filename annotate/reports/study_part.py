"""The first parts of a report: the study, its sample and coding; and the last: checks, and what was not run."""

from __future__ import annotations

from collections.abc import Iterator

from annotate.reports.document import Block, Bullets, Heading, Line, Name, Ref
from annotate.reports.fairness_part import finding_lines
from annotate.reports.impact_part import impact_sentences
from annotate.reports.judges_part import judge_sentence
from annotate.reports.people_part import people_sentence
from annotate.reports.pieces import Cell, Pieces, name, paragraph, row, table
from annotate.results import SIMULATED

STRATA_SHOWN = 60


def head_part(pieces: Pieces) -> Iterator[Block]:
    """Title, codebook, and a plain warning where labels were simulated."""
    yield Heading(1, (Ref("/study/title", "text"),))
    yield paragraph(
        "Protocol ",
        Name(pieces.get("/study/protocol")),
        ", version ",
        Ref("/study/protocol_version", "count"),
        ": ",
        Ref("/study/protocol_title", "text"),
        " Labels: ",
        *_listed(pieces.get("/study/labels")),
        ".",
    )
    threshold = pieces.get("/study/threshold")
    if "aligned" in pieces.get("/study/labels") and threshold is not None:
        yield paragraph("A rating of ", Ref("/study/threshold", "count"), " or more counts as aligned.")
    if pieces.get("/coding/simulated"):
        yield paragraph(SIMULATED)


def short_part(pieces: Pieces) -> Iterator[Block]:
    """What a reader in a hurry must know, each with its n and interval."""
    lines: list[Line] = [*impact_sentences(pieces)]
    lines += [judge_sentence(pieces, judge) for judge in pieces.get("/judges")]
    if pieces.get("/people") is not None:
        lines.append(people_sentence(pieces))
    lines += finding_lines(pieces)
    if lines:
        yield Heading(2, ("In short",))
        yield Bullets(tuple(lines))


def sample_part(pieces: Pieces) -> Iterator[Block]:
    """Corpus, design and coding."""
    yield Heading(2, ("Corpus, sample and coding",))
    yield paragraph(
        Ref("/counts/items", "count"),
        " items, ",
        Ref("/counts/responses", "count"),
        " responses (",
        Ref("/counts/technical_failures", "count"),
        " technical failures) of ",
        "models: " if pieces.get("/counts/models") else "",
        *_listed(pieces.get("/counts/models")),
        ".",
    )
    yield from _judge_counts(pieces)
    yield from _design(pieces)
    yield from _coders(pieces)
    yield from _units(pieces)


def _listed(names: list[str]) -> Line:
    found: Line = ()
    for each in names:
        found = (*found, *((", ",) if found else ()), name(each))
    return found


def _judge_counts(pieces: Pieces) -> Iterator[Block]:
    rows = [
        row(
            Name(judge["name"]),
            Name(judge["kind"]),
            *(pieces.count(f"/counts/judges/{at}/{key}") for key in ("labels", "not_labels", "missing")),
        )
        for at, judge in enumerate(pieces.get("/counts/judges"))
    ]
    if rows:
        head = ("judge", "kind", "outputs", "not a label", "missing")
        yield table("Judges", head, rows, right=(2, 3, 4))


def _design(pieces: Pieces) -> Iterator[Block]:
    design = pieces.get("/design")
    if design is None:
        yield paragraph("No sample was drawn.")
        return
    if design["kind"] == "census":
        yield paragraph(
            "The ",
            Ref("/design/n", "count"),
            " responses with imported labels are taken as a census: each stands for itself.",
        )
        return
    if design["kind"] == "imported":
        yield paragraph(
            Ref("/design/n", "count"),
            " responses were imported with their inclusion probabilities; they stand for ",
            Ref("/design/population", "count"),
            ".",
        )
        return
    yield paragraph(
        Ref("/design/n", "count"),
        " of ",
        Ref("/design/population", "count"),
        " ",
        "items" if design["unit"] == "item" else "responses",
        " were drawn, stratified by ",
        *(_listed(design["by"]) or ("nothing",)),
        ", ",
        Name(design["allocation"]),
        " allocation, seed ",
        Ref("/design/seed", "text"),
        ".",
    )
    strata = design["strata"]
    if len(strata) > 1:
        rows = [
            row(
                *(Name(str(value)) for value in stratum["stratum"].values()),
                pieces.count(f"/design/strata/{at}/population"),
                pieces.count(f"/design/strata/{at}/drawn"),
                pieces.value(f"/design/strata/{at}/pi"),
            )
            for at, stratum in enumerate(strata[:STRATA_SHOWN])
        ]
        fields = list(strata[0]["stratum"])
        head = row(*(Name(each) for each in fields), "population", "drawn", "probability")
        if all(list(stratum["stratum"]) == fields for stratum in strata):
            yield table("Strata", head, rows, right=range(len(fields), len(head)))


def _coders(pieces: Pieces) -> Iterator[Block]:
    rows: list[tuple[Cell, ...]] = []
    for at, coder in enumerate(pieces.get("/coding/coders")):
        root = f"/coding/coders/{at}"
        kind = "SIMULATED" if coder["kind"] == "simulated" else coder["kind"]
        numbers = (pieces.count(f"{root}/{key}") for key in ("total", "done", "skipped", "left", "flagged", "stale"))
        rows.append(
            (Name(coder["coder"]), kind, Name(coder["round"]), *numbers, pieces.count(f"{root}/active_minutes"))
        )
    if rows:
        head = ("coder", "kind", "round", "units", "done", "skipped", "left", "flagged", "stale", "minutes")
        yield table("Coders", head, rows, right=range(3, 10))


def _units(pieces: Pieces) -> Iterator[Block]:
    status = pieces.get("/reference/status")
    rows = [(key, pieces.count(f"/reference/status/{key}")) for key in status]
    yield table("What became of the drawn units", ("status", "units"), rows, right=(1,))
    if pieces.get("/reference/outside_sample"):
        yield paragraph(
            Ref("/reference/outside_sample", "count"),
            " labelled responses are not in the sample: they have no inclusion probability and enter no number here.",
        )
    blind = pieces.get("/coding/blindness")
    if blind:
        lines: Line = ()
        for key in blind:
            lines = (*lines, *((", ",) if lines else ()), Ref(f"/coding/blindness/{key}", "count"), f" {key}")
        yield paragraph("Labels by how blind they were given: ", lines, ".")
    if pieces.get("/reference/notes"):
        yield Bullets(tuple(pieces.texts("/reference/notes")))


def checks_part(pieces: Pieces) -> Iterator[Block]:
    """The second source of numbers, and what could not be had."""
    checks = pieces.get("/checks")
    if checks:
        yield Heading(2, ("Second source",))
        yield paragraph("The same numbers from other programs, on the same labels without design weights.")
        rows: list[tuple[Cell, ...]] = []
        for at, check in enumerate(checks):
            state = {True: "agree", False: "DIFFER", None: "not run"}[check["agrees"]]
            note = (Ref(f"/checks/{at}/note", "text"),) if check["note"] else ("",)
            rows.append(
                row(
                    Name(check["quantity"]),
                    Name(check["source"]),
                    pieces.value(f"/checks/{at}/ours"),
                    pieces.value(f"/checks/{at}/theirs"),
                    pieces.count(f"/checks/{at}/n_units"),
                    state,
                    note,
                )
            )
        head = ("number", "by", "ours", "theirs", "units", "they", "why not")
        yield table("", head, rows, right=(2, 3, 4))
    missing = pieces.get("/not_run")
    if missing:
        yield Heading(2, ("Not computed",))
        yield Bullets(
            tuple(
                (Ref(f"/not_run/{at}/what", "text"), ": ", Ref(f"/not_run/{at}/why", "text"), ".")
                for at in range(len(missing))
            )
        )
