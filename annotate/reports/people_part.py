"""The part of a report on agreement between people."""

from __future__ import annotations

from collections.abc import Iterator

from annotate.reports.document import Block, Bullets, Heading, Line, Name, Ref, pointer
from annotate.reports.pieces import Cell, Pieces, name, paragraph, row, said, table

NAMES = {
    "percent_agreement": "Percent agreement",
    "cohen_kappa": "Cohen's κ",
    "scott_pi": "Scott's π",
    "fleiss_kappa": "Fleiss' κ",
    "conger_kappa": "Conger's κ",
    "light_kappa": "Light's κ",
    "brennan_prediger": "Brennan-Prediger",
    "gwet_ac1": "Gwet's AC1",
    "krippendorff_alpha": "Krippendorff's α",
    "icc_a1": "ICC(A,1)",
    "lin_concordance": "Lin's concordance",
    "alpha_interval": "Krippendorff's α, interval",
}
IN_STRATA = ("percent_agreement", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha")
ORDER = ("percent_agreement", "cohen_kappa", "krippendorff_alpha", "gwet_ac1")


def people_part(pieces: Pieces) -> Iterator[Block]:
    """Coefficients, pairs, labels and strata; nothing where nobody labelled."""
    people = pieces.get("/people")
    if people is None:
        return
    yield Heading(2, ("Agreement between people",))
    yield paragraph(
        Ref("/people/n_units", "count"),
        " units have the labels of two or more coders (",
        Ref("/people/n_single", "count"),
        " have one label). ",
        "Numbers are weighted by the design. " if people["weighted"] else "",
        "Intervals are at the 95 % level.",
    )
    yield from _overall(pieces)
    yield from _pairs(pieces)
    yield from _labels(pieces)
    yield from _strata(pieces)
    yield from _more(pieces, "with_tiebreakers", "With the tie-breakers' labels as further columns")
    yield from _more(pieces, "ratings", "Agreement of the 0-100 ratings")
    if people["notes"]:
        yield Bullets(tuple(pieces.texts("/people/notes")))


def people_sentence(pieces: Pieces) -> Line:
    """The agreement of people in one line."""
    people = pieces.get("/people")
    pair = "cohen_kappa" in people["coefficients"]
    chosen = "cohen_kappa" if pair else "fleiss_kappa"
    root = "/people/coefficients"
    if people["coefficients"]["percent_agreement"]["value"] is None:
        why = Ref(f"{root}/percent_agreement/undefined", "text")
        return said("How far people agree with each other is undefined: ", why, " (", *_coders(people["coders"]), ").")
    return said(
        "People agree with each other on ",
        pieces.estimate(f"{root}/percent_agreement", "percent"),
        " of units; ",
        NAMES[chosen],
        " ",
        pieces.estimate(f"{root}/{chosen}"),
        ", Krippendorff's α ",
        pieces.estimate(f"{root}/krippendorff_alpha"),
        " (",
        Ref("/people/n_units", "count"),
        " units, ",
        *_coders(people["coders"]),
        ").",
    )


def _coders(names: list[str]) -> Line:
    parts: list[str | Name] = []
    for each in names:
        parts += [", " if parts else "", Name(each)]
    return tuple(parts)


def _overall(pieces: Pieces) -> Iterator[Block]:
    found = pieces.get("/people/coefficients")
    keys = [key for key in ORDER if key in found] + [key for key in found if key not in ORDER]
    rows = [
        row(
            NAMES[key],
            pieces.estimate(f"/people/coefficients/{key}"),
            _error(pieces, f"/people/coefficients/{key}"),
            pieces.count(f"/people/coefficients/{key}/n_units"),
            (Ref(f"/people/coefficients/{key}/convention", "text"),),
        )
        for key in keys
    ]
    yield table("", ("coefficient", "value [95 %]", "SE", "units", "convention"), rows, right=(1, 2, 3))
    notes = [
        said(NAMES[key], ": ", Ref(f"/people/coefficients/{key}/notes/{at}", "text"))
        for key in keys
        for at in range(len(found[key]["notes"]))
    ]
    if notes:
        yield Bullets(tuple(notes))


def _error(pieces: Pieces, path: str) -> Line:
    """The standard error; a dash where the labels do not vary enough to show one, which would print as 0."""
    found = pieces.get(path)
    return (Ref(f"{path}/se"),) if found["se"] and found["se"] > 1e-12 and found["n_units"] > 2 else ("–",)


def _pairs(pieces: Pieces) -> Iterator[Block]:
    pairs = pieces.get("/people/pairs")
    if len(pairs) < 2:
        return
    rows: list[tuple[Cell, ...]] = []
    for at, pair in enumerate(pairs):
        root = f"/people/pairs/{at}"
        rows.append(
            row(
                said(Name(pair["first"]), ", ", Name(pair["second"])),
                pieces.estimate(f"{root}/coefficients/percent_agreement"),
                pieces.estimate(f"{root}/coefficients/cohen_kappa"),
                pieces.value(f"{root}/largest_kappa"),
                pieces.count(f"{root}/coefficients/cohen_kappa/n_units"),
            )
        )
    head = ("coders", "percent agreement", "Cohen's κ", "largest κ", "units")
    yield table("Pairs of coders (largest κ: what their label shares allow)", head, rows, right=(1, 2, 3, 4))


def _labels(pieces: Pieces) -> Iterator[Block]:
    labels, indices = pieces.get("/people/labels"), pieces.get("/people/indices")
    rows: list[tuple[Cell, ...]] = []
    for label in labels:
        root = pointer("people", "indices", label)
        rows.append(
            row(
                Name(label),
                pieces.estimate(pointer("people", "labels", label)),
                pieces.value(f"{root}/prevalence") if label in indices else ("–",),
                pieces.value(f"{root}/bias") if label in indices else ("–",),
            )
        )
    head = ("label", "specific agreement", "prevalence index", "bias index")
    yield table("By label: the chance that another coder agrees, given that one chose it", head, rows, right=(1, 2, 3))


def _strata(pieces: Pieces) -> Iterator[Block]:
    for variable, levels in pieces.get("/people/by").items():
        keys = [key for key in IN_STRATA if all(key in found for found in levels.values())]
        rows = [
            row(
                name(level),
                *(pieces.estimate(pointer("people", "by", variable, level, key)) for key in keys),
                pieces.count(pointer("people", "by", variable, level, keys[0], "n_units")),
            )
            for level in levels
        ]
        head = row(Name(variable), *(NAMES[key] for key in keys), "units")
        yield table(said("By ", Name(variable)), head, rows, right=range(1, len(head)))


def _more(pieces: Pieces, key: str, title: str) -> Iterator[Block]:
    found = pieces.get(f"/people/{key}")
    if not found:
        return
    rows = [
        row(
            NAMES[each],
            pieces.estimate(f"/people/{key}/{each}"),
            pieces.count(f"/people/{key}/{each}/n_units"),
            (Ref(f"/people/{key}/{each}/convention", "text"),),
        )
        for each in found
    ]
    yield table(title, ("coefficient", "value [95 %]", "units", "convention"), rows, right=(1, 2))
