"""The part of a report on score impact: what scores and ranking become under people's labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotate.reports.document import Block, Bullets, Heading, Line, Name, Ref, pointer
from annotate.reports.fairness_part import fairness_blocks
from annotate.reports.pieces import Cell, Pieces, name, paragraph, row, said, table
from annotate.reports.profiles_part import profiles_part

CELLS = 5
STEP = 10
WIDEST = 8
ALONE = "Scores from the judge's labels alone"
BY_DESIGN = ("another ", "needs no judgement")
SWEPT = ("agreement", "kappa", "precision", "recall")


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
        yield from profiles_part(pieces, judge)


def impact_sentences(pieces: Pieces) -> list[Line]:
    """What happened to each model under the main judge, in plain words."""
    impact = pieces.results.get("impact")
    if impact is None or impact["judge_only"]:
        return []
    root = pointer("impact", "judges", impact["judge"], "models")
    models = pieces.get(root)
    return [
        said(*((name(model), ": ") if len(models) > 1 else ()), Ref(f"{root}{pointer(model)}/sentence", "text"))
        for model in models
    ]


def _judge_only(pieces: Pieces, root: str) -> Iterator[Block]:
    models = pieces.get(f"{root}/models")
    parts = pieces.get("/impact/parts")
    if len(parts) > WIDEST >= len(models):
        yield _upright(pieces, root, list(models), parts)
    else:
        rows = [
            row(
                name(model),
                pieces.count(f"{root}/models{pointer(model)}/n"),
                *(pieces.value(f"{root}/models{pointer(model, 'judge', part)}") for part in parts),
            )
            for model in models
        ]
        head = row("model", "records", *(Name(part) for part in parts))
        yield table(ALONE, head, rows, right=range(1, len(head)))
    yield from _excluded(pieces, root)
    yield from _judge_levels(pieces, root, parts)


def _upright(pieces: Pieces, root: str, models: list[str], parts: list[str], title: str = ALONE) -> Block:
    """Many scores of few models: a row a score."""
    rows = [
        row(Name(part), *(pieces.value(f"{root}/models{pointer(model, 'judge', part)}") for model in models))
        for part in parts
    ]
    records = row("records", *(pieces.count(f"{root}/models{pointer(model)}/n") for model in models))
    head = row("score", *(name(model) for model in models))
    return table(title, head, [records, *rows], right=range(1, len(head)))


def _judge_levels(pieces: Pieces, root: str, parts: list[str]) -> Iterator[Block]:
    models = pieces.get(f"{root}/models")
    for variable in next(iter(models.values()))["by"] if models else ():
        places = [
            (model, level, f"{root}/models{pointer(model, 'by', variable, level)}")
            for model, found in models.items()
            for level in found["by"][variable]
        ]
        known = [part for part in parts if any(part in pieces.get(place)["judge"] for _, _, place in places)]
        rows = [
            row(
                name(model),
                name(level),
                pieces.count(f"{place}/n"),
                *(
                    pieces.value(f"{place}/judge{pointer(p)}") if p in pieces.get(place)["judge"] else ("–",)
                    for p in known
                ),
            )
            for model, level, place in places
        ]
        head = row("model", Name(variable), "records", *(Name(part) for part in known))
        yield table(said("By ", Name(variable)), head, rows, right=range(2, len(head)))


def _judge(pieces: Pieces, root: str) -> Iterator[Block]:
    yield from _scores(pieces, root)
    yield from _excluded(pieces, root)
    yield from _rankings(pieces, root)
    yield from _cells(pieces, root)
    yield from fairness_blocks(pieces, root)
    yield from _thresholds(pieces, root)
    yield from _treatments(pieces, root)
    yield from _pooling(pieces, root)
    notes = pieces.texts(f"{root}/notes")
    if notes:
        yield Bullets(tuple(notes))


def _scores(pieces: Pieces, root: str) -> Iterator[Block]:
    models = pieces.get(f"{root}/models")
    yield Bullets(tuple(said(name(m), ": ", Ref(f"{root}/models{pointer(m)}/sentence", "text")) for m in models))
    alike = _alike(pieces, root)
    yield _whole(pieces, root, alike)
    if any(pieces.get(place)["sample"] for _, _, place in _parts(pieces, root)):
        yield _on_sample(pieces, root, alike)
    yield from _others(pieces, root)
    if alike:
        yield _upright(
            pieces, root, list(models), alike, "Scores that need no judgement: the same under judge and people"
        )


def _others(pieces: Pieces, root: str) -> Iterator[Block]:
    """Other estimators that were asked for, and the judge's value without its outputs that are no label."""
    rows = []
    for model, part, place in _parts(pieces, root):
        found = pieces.get(place)
        for method in found["methods"]:
            rows.append(
                row(name(model), Name(part), Name(method), pieces.estimate(f"{place}/methods{pointer(method)}"))
            )
        if found["without_non_labels"] is not None:
            value = pieces.value(f"{place}/without_non_labels")
            rows.append(row(name(model), Name(part), "judge, outputs that are no label left out", value))
    if rows:
        yield table("The same by other ways", ("model", "score", "estimator", "value [95 %]"), rows, right=(3,))


def _alike(pieces: Pieces, root: str) -> list[str]:
    """Parts that no label can change, in any model."""
    moved = {
        part
        for _, part, place in _parts(pieces, root)
        if any(pieces.get(f"{place}/delta")[key] != 0 for key in ("value", "low", "high"))
    }
    return [part for part in pieces.get("/impact/parts") if part not in moved]


def _whole(pieces: Pieces, root: str, left_out: list[str]) -> Block:
    rows = [
        row(
            name(model),
            Name(part),
            pieces.value(f"{place}/judge/value"),
            pieces.estimate(f"{place}/human"),
            pieces.estimate(f"{place}/delta", "change"),
            pieces.count(_records(pieces, root, model, part)),
        )
        for model, part, place in _parts(pieces, root)
        if part not in left_out
    ]
    head = ("model", "score", "judge", "people [95 %]", "change [95 %]", "records")
    title = "On the whole corpus: the judge is known for every record, people are estimated"
    return table(title, head, rows, right=range(2, 6))


def _records(pieces: Pieces, root: str, model: str, part: str) -> str:
    """Where the number of records behind a part stands: a score of some categories has its own."""
    details = pieces.get(f"{root}/models{pointer(model, 'details')}")
    own = part in details and "n" in details[part]
    return f"{root}/models{pointer(model, 'details', part, 'n')}" if own else f"{root}/models{pointer(model)}/n"


def _on_sample(pieces: Pieces, root: str, left_out: list[str]) -> Block:
    """Beside each score, where there are such units: with unresolved ones dropped, with skips at their extremes."""
    places = [each for each in _parts(pieces, root) if each[1] not in left_out and pieces.get(each[2])["sample"]]
    dropped = any(pieces.get(place)["dropped"] for _, _, place in places)
    skipped = any(pieces.get(place)["skips"] for _, _, place in places)
    rows = [
        row(
            name(model),
            Name(part),
            pieces.value(f"{place}/sample/judge/value"),
            pieces.estimate(f"{place}/sample/human"),
            pieces.estimate(f"{place}/sample/delta", "change"),
            pieces.count(f"{place}/sample/n"),
            *((pieces.value(f"{place}/dropped/value") if pieces.get(place)["dropped"] else ("–",),) if dropped else ()),
            *((_skips(pieces, place),) if skipped else ()),
        )
        for model, part, place in places
    ]
    head = row("model", "score", "judge", "people [95 %]", "change [95 %]", "units")
    head += (("unresolved dropped",) if dropped else ()) + (("skips at worst, best",) if skipped else ())
    title = "On the labelled sample: judge and people on the same responses, paired, weighted by the design"
    return table(title, head, rows, right=range(2, len(head)))


def _parts(pieces: Pieces, root: str) -> Iterator[tuple[str, str, str]]:
    for model, found in pieces.get(f"{root}/models").items():
        for part in found["parts"]:
            yield model, part, f"{root}/models{pointer(model, 'parts', part)}"


def _skips(pieces: Pieces, place: str) -> Line:
    if not pieces.get(place)["skips"]:
        return ("–",)
    return said(pieces.value(f"{place}/skips/low"), ", ", pieces.value(f"{place}/skips/high"))


def _excluded(pieces: Pieces, root: str) -> Iterator[Block]:
    """Records without a score, but for those that a score is not about; all counts are in results.json."""
    rows: list[tuple[Cell, ...]] = []
    for model, found in pieces.get(f"{root}/models").items():
        place = f"{root}/models{pointer(model)}"
        for score, reasons in found["excluded"].items():
            for reason in (each for each in reasons if " not " not in each and not each.startswith(BY_DESIGN)):
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
    """Rankings on what labels can change; the others are the same under judge and people."""
    alike = _alike(pieces, root)
    for part, found in pieces.get(f"{root}/rankings").items():
        if part in alike:
            continue
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
    needed = pieces.get(f"{root}/labels_needed").get(part, [])
    more = {(each["first"], each["second"]): at for at, each in enumerate(needed)}
    rows = [
        row(
            said(name(pair["first"]), " above ", name(pair["second"])),
            pieces.value(f"{place}/{at}/probability", "decimal"),
            pieces.estimate(f"{place}/{at}/difference", "change"),
            _further(pieces, f"{root}/labels_needed{pointer(part)}", more.get((pair["first"], pair["second"])), pair),
        )
        for at, pair in enumerate(pieces.get(place))
    ]
    head = ("pair", "probability", "difference", "labels that would settle it (4 times in 5)")
    yield table(said("Pairs by ", Name(part)), head, rows, right=(1, 2))


def _further(pieces: Pieces, place: str, at: int | None, pair: dict[str, Any]) -> Line:
    if pair["settled"]:
        return ("settled",)
    if at is None:
        return ("–",)
    needed = pieces.get(f"{place}/{at}")
    if needed["reason"]:
        return (Ref(f"{place}/{at}/reason", "text"),)
    uncertain = "> " if needed["uncertain"] else ""
    return (uncertain, Ref(f"{place}/{at}/total", "count"), " more, half for each model")


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


def _thresholds(pieces: Pieces, root: str) -> Iterator[Block]:
    """The judge's rating threshold against people: agreement and score as functions of it."""
    for score, sweep in pieces.get(f"{root}/thresholds").items():
        place = f"{root}/thresholds{pointer(score)}"
        if not sweep["points"]:
            continue
        rows = [
            row(
                pieces.value(f"{place}/points/{at}/threshold", "count"),
                *(pieces.value(f"{place}/points/{at}/{key}") for key in SWEPT),
                *(
                    pieces.value(f"{place}/points/{at}/scores{pointer(model)}")
                    for model in sweep["points"][0]["scores"]
                ),
            )
            for at, point in enumerate(sweep["points"])
            if point["threshold"] % STEP == 0
        ]
        head = row("threshold", *SWEPT, *(name(model) for model in sweep["points"][0]["scores"]))
        title = said("Threshold of the judge's rating: agreement with people, and ", Name(score), " under the judge")
        yield table(title, head, rows, right=range(len(head)))
        yield paragraph(
            "The threshold that agrees best with people is ",
            pieces.estimate(f"{place}/best", "count"),
            ", on ",
            Ref(f"{place}/n", "count"),
            " units.",
        )


def _treatments(pieces: Pieces, root: str) -> Iterator[Block]:
    found = pieces.get(f"{root}/treatments")
    if not found:
        return
    headline = next(iter(pieces.get(f"{root}/rankings")), found[0]["part"])
    models = list(pieces.get(f"{root}/models"))
    rows = [
        row(
            Name(each["treatment"]),
            *(
                pieces.estimate(f"{root}/treatments/{at}/human{pointer(m)}") if m in each["human"] else ("–",)
                for m in models
            ),
        )
        for at, each in enumerate(found)
        if each["part"] == headline
    ]
    head = row("human reference", *(name(model) for model in models))
    title = said(Name(headline), " on the corpus under other ways to treat disagreement")
    yield table(title, head, rows, right=range(1, len(head)))


def _pooling(pieces: Pieces, root: str) -> Iterator[Block]:
    found = pieces.get(f"{root}/pooling")
    if found:
        yield Bullets(tuple((Ref(f"{root}/pooling/{at}/why", "text"), ".") for at in range(len(found))))
