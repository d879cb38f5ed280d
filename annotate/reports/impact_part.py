"""The part of a report on score impact: what scores and ranking become under people's labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotate.reports.document import Block, Bullets, Heading, Line, Name, Ref, pointer
from annotate.reports.pieces import Cell, Pieces, name, paragraph, row, said, table

CELLS = 5


def impact_part(pieces: Pieces) -> Iterator[Block]:
    """Every judge, one after the other; the judge's scores alone where nobody labelled."""
    impact = pieces.get("/impact")
    if impact is None:
        return
    yield Heading(2, ("Scores under the judge" if impact["judge_only"] else "Scores under the judge and under people",))
    yield paragraph("Convention: ", Ref("/impact/convention", "text"), ".")
    if impact["notes"]:
        yield Bullets(tuple(pieces.texts("/impact/notes")))
    for judge in impact["judges"]:
        root = pointer("impact", "judges", judge)
        yield Heading(3, said("Judge ", Name(judge)))
        yield from _judge_only(pieces, root) if impact["judge_only"] else _judge(pieces, root)


def impact_sentences(pieces: Pieces) -> list[Line]:
    """What happened to each model under the main judge, in plain words."""
    impact = pieces.get("/impact")
    if impact is None or impact["judge_only"]:
        return []
    root = pointer("impact", "judges", impact["judge"], "models")
    models = pieces.get(root)
    return [
        said(*((name(model), ": ") if len(models) > 1 else ()), Ref(f"{root}{pointer(model)}/sentence", "text"))
        for model in models
    ]


def finding_lines(pieces: Pieces) -> list[Line]:
    """Where a judge was found to be unfair or broken."""
    impact = pieces.get("/impact")
    found: list[Line] = []
    for judge in impact["judges"] if impact else ():
        root = pointer("impact", "judges", judge, "fairness")
        fair = pieces.get(root)
        for at in range(len(fair["findings"]) if fair else 0):
            found.append(said("Judge ", Name(judge), ": ", Ref(f"{root}/findings/{at}/text", "text"), "."))
    return found


def _judge_only(pieces: Pieces, root: str) -> Iterator[Block]:
    models = pieces.get(f"{root}/models")
    parts = pieces.get("/impact/parts")
    rows = [
        row(
            name(model),
            pieces.count(f"{root}/models{pointer(model)}/n"),
            *(pieces.value(f"{root}/models{pointer(model, 'judge', part)}") for part in parts),
        )
        for model in models
    ]
    head = row("model", "records", *(Name(part) for part in parts))
    yield table("Scores from the judge's labels alone", head, rows, right=range(1, len(head)))
    yield from _excluded(pieces, root)
    yield from _judge_levels(pieces, root, parts)


def _judge_levels(pieces: Pieces, root: str, parts: list[str]) -> Iterator[Block]:
    models = pieces.get(f"{root}/models")
    for variable in next(iter(models.values()))["by"] if models else ():
        rows: list[tuple[Cell, ...]] = []
        for model, found in models.items():
            for level in found["by"][variable]:
                place = f"{root}/models{pointer(model, 'by', variable, level)}"
                known = pieces.get(f"{place}/judge")
                rows.append(
                    row(
                        name(model),
                        name(level),
                        pieces.count(f"{place}/n"),
                        *(pieces.value(f"{place}/judge{pointer(part)}") if part in known else ("–",) for part in parts),
                    )
                )
        head = row("model", Name(variable), "records", *(Name(part) for part in parts))
        yield table(said("By ", Name(variable)), head, rows, right=range(2, len(head)))


def _judge(pieces: Pieces, root: str) -> Iterator[Block]:
    yield from _scores(pieces, root)
    yield from _excluded(pieces, root)
    yield from _rankings(pieces, root)
    yield from _cells(pieces, root)
    yield from _findings(pieces, root)
    yield from _fairness(pieces, root)
    yield from _thresholds(pieces, root)
    yield from _treatments(pieces, root)
    yield from _pooling(pieces, root)
    notes = pieces.texts(f"{root}/notes")
    if notes:
        yield Bullets(tuple(notes))


def _scores(pieces: Pieces, root: str) -> Iterator[Block]:
    models = pieces.get(f"{root}/models")
    rows: list[tuple[Cell, ...]] = []
    for model, found in models.items():
        for part in found["parts"]:
            place = f"{root}/models{pointer(model, 'parts', part)}"
            sample = pieces.get(place)["sample"]
            rows.append(
                row(
                    name(model),
                    Name(part),
                    pieces.value(f"{place}/judge/value"),
                    pieces.estimate(f"{place}/human"),
                    pieces.estimate(f"{place}/delta", "change"),
                    pieces.value(f"{place}/sample/judge/value") if sample else ("–",),
                    pieces.value(f"{place}/sample/human/value") if sample else ("–",),
                    pieces.estimate(f"{place}/sample/delta", "change") if sample else ("–",),
                    pieces.count(f"{place}/sample/n") if sample else ("–",),
                )
            )
    head = ("model", "score", "judge", "people [95 %]", "change", "sample: judge", "people", "change", "n")
    title = "The whole corpus (judge known for all records, people estimated), and beside it the labelled sample"
    yield table(title, head, rows, right=range(2, 9))
    yield Bullets(tuple(said(name(m), ": ", Ref(f"{root}/models{pointer(m)}/sentence", "text")) for m in models))


def _excluded(pieces: Pieces, root: str) -> Iterator[Block]:
    rows: list[tuple[Cell, ...]] = []
    for model, found in pieces.get(f"{root}/models").items():
        place = f"{root}/models{pointer(model)}"
        for score, reasons in found["excluded"].items():
            for reason in reasons:
                rows.append(
                    (name(model), Name(score), reason, pieces.count(f"{place}{pointer('excluded', score, reason)}"))
                )
        for key, reason in (("not_labels", "judge output is no label"), ("missing_labels", "judge output is missing")):
            if found[key]:
                rows.append(row(name(model), "", reason, pieces.count(f"{place}/{key}")))
    if rows:
        yield table(
            "Records that are left out or have no judge label", ("model", "score", "why", "records"), rows, right=(3,)
        )


def _rankings(pieces: Pieces, root: str) -> Iterator[Block]:
    for part, found in pieces.get(f"{root}/rankings").items():
        place = f"{root}/rankings{pointer(part)}"
        if len(found["models"]) < 2:
            continue
        rows = [
            row(
                name(model),
                pieces.value(f"{place}/judge_rank/{at}", "rank"),
                pieces.value(f"{place}/human_rank/{at}", "rank"),
                pieces.value(f"{place}/expected/{at}", "decimal"),
                *(pieces.value(f"{place}/probability/{at}/{rank}", "decimal") for rank in range(len(found["models"]))),
            )
            for at, model in enumerate(found["models"])
        ]
        ranks = [f"P(rank {rank + 1})" for rank in range(len(found["models"]))]
        head = row("model", "rank, judge", "rank, people", "expected", *ranks)
        yield table(said("Ranking by ", Name(part)), head, rows, right=range(1, len(head)))
        yield paragraph("Kendall's τ between the two rankings: ", pieces.estimate(f"{place}/kendall", "decimal"), ".")
        yield from _pairs(pieces, root, part)


def _pairs(pieces: Pieces, root: str, part: str) -> Iterator[Block]:
    place = f"{root}/rankings{pointer(part)}/pairs"
    needed = pieces.get(f"{root}/labels_needed{pointer(part)}") if part in pieces.get(f"{root}/labels_needed") else []
    at_pair = {(each["first"], each["second"]): at for at, each in enumerate(needed)}
    rows: list[tuple[Cell, ...]] = []
    for at, pair in enumerate(pieces.get(place)):
        more: Line = ("settled",) if pair["settled"] else ("–",)
        if (pair["first"], pair["second"]) in at_pair:
            more = (
                Ref(f"{root}/labels_needed{pointer(part)}/{at_pair[pair['first'], pair['second']]}/sentence", "text"),
            )
        rows.append(
            row(
                said(name(pair["first"]), " above ", name(pair["second"])),
                pieces.value(f"{place}/{at}/probability", "decimal"),
                pieces.estimate(f"{place}/{at}/difference", "change"),
                more,
            )
        )
    yield table(
        said("Pairs by ", Name(part)), ("pair", "probability", "difference", "further labels"), rows, right=(1, 2)
    )


def _cells(pieces: Pieces, root: str) -> Iterator[Block]:
    """What moves the headline score of each model, cell by cell of the confusion matrix."""
    rows: list[tuple[Cell, ...]] = []
    for model, found in pieces.get(f"{root}/models").items():
        headline = next(iter(found["parts"]))
        for part in (p for p in pieces.get(f"{root}/rankings") if p in found["parts"]):
            headline = part
            break
        cells = found["parts"][headline]["cells"]
        order = sorted(range(len(cells)), key=lambda at: -abs(cells[at]["contribution"] or 0.0))[:CELLS]
        for at in order:
            place = f"{root}/models{pointer(model, 'parts', headline, 'cells', at)}"
            rows.append(
                row(
                    name(model),
                    Name(headline),
                    said(Name(cells[at]["judge"]), ", people ", Name(cells[at]["human"])),
                    pieces.count(f"{place}/units"),
                    pieces.value(f"{place}/contribution", "change"),
                )
            )
    if rows:
        head = ("model", "score", "judge says", "units", "moves the score by")
        yield table("What moves the score on the sample: the largest cells", head, rows, right=(3, 4))


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
    yield table(
        "Errors of the judge by stratum", ("stratum", "error rate", "Youden's J", "labelled"), rows, right=(1, 2, 3)
    )


def _thresholds(pieces: Pieces, root: str) -> Iterator[Block]:
    for score, sweep in pieces.get(f"{root}/thresholds").items():
        place = f"{root}/thresholds{pointer(score)}"
        if "sentence" in sweep:
            yield paragraph(Name(score), ": ", Ref(f"{place}/sentence", "text"))


def _treatments(pieces: Pieces, root: str) -> Iterator[Block]:
    found = pieces.get(f"{root}/treatments")
    if not found:
        return
    headline = next(iter(pieces.get(f"{root}/rankings")), found[0]["part"])
    models = list(pieces.get(f"{root}/models"))
    rows = [
        row(
            Name(row["treatment"]),
            *(
                pieces.estimate(f"{root}/treatments/{at}/human{pointer(m)}") if m in row["human"] else ("–",)
                for m in models
            ),
        )
        for at, row in enumerate(found)
        if row["part"] == headline
    ]
    head = row("human reference", *(name(model) for model in models))
    title = said(Name(headline), " on the corpus under other ways to treat disagreement")
    yield table(title, head, rows, right=range(1, len(head)))


def _pooling(pieces: Pieces, root: str) -> Iterator[Block]:
    found = pieces.get(f"{root}/pooling")
    if found:
        yield Bullets(tuple((Ref(f"{root}/pooling/{at}/why", "text"), ".") for at in range(len(found))))
