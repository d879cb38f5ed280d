"""A methods paragraph with the study's own numbers, and the checklist for reports of reliability and agreement.

The checklist: Kottner, Audigé, Brorson et al. (2011), Guidelines for Reporting Reliability and Agreement Studies
(GRRAS), Journal of Clinical Epidemiology 64, 96-106; its items are named in our words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotate.reports.document import Block, Heading, Inline, Line, Name, Ref, pointer
from annotate.reports.people_part import NAMES
from annotate.reports.pieces import Cell, Pieces, paragraph, row, said, table

EDIT = "[TO COMPLETE: "
ADJUDICATION = "adjudication"


def methods_part(pieces: Pieces) -> Iterator[Block]:
    """The paragraph, ready to edit: what only the authors know is marked."""
    if "flow" not in pieces.results:
        return
    yield Heading(2, ("Methods paragraph",))
    yield paragraph("To edit; what only the authors know stands in brackets.")
    yield paragraph(
        *_corpus(pieces), *_design(pieces), *_coding(pieces), *_reference(pieces), *_people(pieces), *_judges(pieces),
        *_impact(pieces), *_software(pieces),
    )  # fmt: skip


def _corpus(pieces: Pieces) -> Line:
    models = len(pieces.get("/counts/models"))
    return (
        "The corpus holds ", Ref("/counts/responses", "count"), " responses to ", Ref("/counts/items", "count"),
        " items", " of several models. " if models > 1 else ". ",
    )  # fmt: skip


def _design(pieces: Pieces) -> Line:
    design = pieces.get("/design")
    if design is None:
        return ("No sample was drawn. ",)
    if design["kind"] != "draw":
        return ("Human labels were imported for ", Ref("/reference/units", "count"), " of them. ")
    unit = "items" if design["unit"] == "item" else "responses"
    by: list[Inline] = []
    for each in design["by"]:
        by += [" and " if by else "", Name(each)]
    strata: Line = (" stratified by ", *by, " (", Name(design["allocation"]), " allocation)") if by else ()
    return (
        "We drew ", Ref("/design/n", "count"), f" {unit} at random from ", Ref("/design/population", "count"),
        *strata, ", seed ", Ref("/design/seed", "text"), ". ",
    )  # fmt: skip


def _coding(pieces: Pieces) -> Line:
    coders = {each["coder"]: each["kind"] for each in pieces.get("/coding/coders") if each["round"] != ADJUDICATION}
    if not coders:
        return ()
    names: list[Inline] = []
    for coder, kind in coders.items():
        names += [", " if names else "", Name(coder), " (SIMULATED)" if kind == "simulated" else ""]
    blind = pieces.get("/coding/blindness")
    levels: list[Inline] = []
    for level in blind:
        levels += [", " if levels else "", Ref(f"/coding/blindness/{level}", "count"), f" {level}"]
    return (
        "Coders ", *names, f" ({EDIT}who they are, how they were trained and paid]) labelled them with the codebook ",
        Name(pieces.get("/study/protocol")), ", version ", Ref("/study/protocol_version", "count"),
        *((". Blindness to model, judge and the other coders, by labels: ", *levels) if levels else ()), ". ",
    )  # fmt: skip


def _reference(pieces: Pieces) -> Line:
    return (
        "The human label of a unit is its final label, else the label that all coders agree on, else that of a strict "
        "majority; ", Ref("/reference/status/labelled", "count"), " units have one, ",
        Ref("/reference/status/unresolved", "count"), " stayed unresolved and were split over the labels given. ",
        *_adjudication(pieces),
    )  # fmt: skip


def _adjudication(pieces: Pieces) -> Line:
    """Who decided how many units; nothing where nobody did."""
    found: list[Inline] = []
    for at, each in enumerate(pieces.get("/coding/coders")):
        if each["round"] == ADJUDICATION and each["done"]:
            kind = " (SIMULATED)" if each["kind"] == "simulated" else ""
            found += ["; " if found else "Adjudicated: ", Ref(f"/coding/coders/{at}/done", "count")]
            found += [" units by ", Name(each["coder"]), kind]
    return (*found, ". ") if found else ()


def _people(pieces: Pieces) -> Line:
    people = pieces.get("/people")
    if people is None:
        return ()
    root = "/people/coefficients"
    keys = [
        key
        for key in ("percent_agreement", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha")
        if key in people["coefficients"]
    ]
    found: list[Inline] = ["On "]
    found += [Ref("/people/n_units", "count"), " units with several labels, "]
    for at, key in enumerate(keys):
        found += [", " if at else "", f"{NAMES[key]} was ", *pieces.estimate(f"{root}/{key}")]
    weighted = ", weighted by the inverse of the inclusion probabilities" if people["weighted"] else ""
    return (*found, f"{weighted}. ")


def _judges(pieces: Pieces) -> Line:
    found: list[Inline] = []
    for judge in pieces.get("/judges"):
        root = pointer("judges", judge)
        found += [
            "Judge ", Name(judge), " agreed with people on ", *pieces.estimate(f"{root}/measures/agreement", "percent"),
            " of records (κ ", *pieces.estimate(f"{root}/measures/kappa"), "). ",
        ]  # fmt: skip
    return tuple(found)


def _impact(pieces: Pieces) -> Line:
    impact = pieces.results.get("impact")
    if not impact or impact["judge_only"]:
        return ()
    return ("Scores under people's labels were estimated ", Ref("/impact/convention", "text"), ". ")


def _software(pieces: Pieces) -> Line:
    return (
        "Intervals are at the 95 % level. Computed with annotate ", Name(pieces.get("/provenance/annotate")),
        ", seed ", Ref("/provenance/seeds/intervals", "count"), ", ", Ref("/provenance/draws", "count"), " draws.",
    )  # fmt: skip


def checklist_part(pieces: Pieces) -> Iterator[Block]:
    """GRRAS filled in, as far as the study file knows."""
    if "flow" not in pieces.results:
        return
    yield Heading(2, ("Reporting checklist",))
    yield paragraph("GRRAS (Kottner et al. 2011), as far as the study file knows the answer; the rest is marked.")
    yield table("", ("where", "what to report", "here"), list(_items(pieces)), right=())


def _todo(what: str) -> Line:
    return (f"{EDIT}{what}]",)


def _items(pieces: Pieces) -> Iterator[tuple[Cell, ...]]:
    design: Any = pieces.get("/design")
    title: Line = (Ref("/study/title", "text"),)
    subjects: Line = (Ref("/counts/responses", "count"), " responses to ", Ref("/counts/items", "count"), " items")
    units: Line = (Ref("/reference/units", "count"), " units; the expected precision is printed when a sample is drawn")
    drawn = "section “Corpus, sample and coding”" if design else "no sample was drawn"
    ceiling = "coefficients with intervals: section “Agreement between people”"
    yield row("title, abstract", "that agreement or reliability was studied", said("study: ", title))
    yield row(
        "introduction",
        "name and describe the instrument",
        said("codebook ", Name(pieces.get("/study/protocol")), "; full text under “Provenance”"),
    )
    yield row("introduction", "the population of subjects", subjects)
    yield row("introduction", "the population of raters", _todo("who could have been a coder"))
    yield row("introduction", "what is known of agreement so far, and why this study", _todo("rationale"))
    yield row("methods", "how sample size was chosen", units)
    yield row(
        "methods", "how subjects and raters were sampled", said(drawn, "; coders: ", *_todo("how they were chosen"))
    )
    yield row(
        "methods",
        "the process of measuring: times, training, blindness",
        "table of coders and blindness under “Corpus, sample and coding”",
    )
    yield row(
        "methods",
        "whether ratings were independent",
        "labels by how blind they were given, same section; no coder sees another's label before coding is done",
    )
    yield row("methods", "the statistical analysis", "“Methods paragraph”; each number names its convention")
    yield row("results", "actual numbers of raters, subjects and ratings", "“Flow of counts”")
    yield row(
        "results",
        "characteristics of raters and subjects",
        said("subjects by stratum: table “Strata”; raters: ", *_todo("experience, language")),
    )
    yield row(
        "results",
        "estimates with their uncertainty",
        ceiling if pieces.get("/people") else "no coefficient could be computed; see “Not computed”",
    )
    yield row("discussion", "what the results mean in practice", said("“What changed”; ", *_todo("discussion")))
    yield row(
        "additional",
        "detailed results for readers",
        "results.json, tables as CSV, labels.csv, check.py and check.R beside this file",
    )
