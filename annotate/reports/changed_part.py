"""The first finding: what the headline score and the ranking become, as a figure and a table."""

from __future__ import annotations

from collections.abc import Iterator

from annotate.analysis.worst_errors import headline
from annotate.reports.document import Block, Figure, Heading, Line, Mark, Name, Ref, Row, pointer
from annotate.reports.pieces import Cell, Pieces, name, paragraph, row, said, table

NO_FACT = (
    "On the sample alone there is no such score: people labelled whole questions, but no fact with all of its "
    "questions. What judge and people say of the questions of the sample stands with the profiles of each judge."
)

SERIES = ("judge", "people, corrected for the whole corpus", "people, on the sample")
SEEN = (
    "For each model the score under the judge as an open square, the corrected score under people as a filled circle "
    "and the score of the labelled sample as a diamond, each of people's with its interval. The numbers stand in the "
    "table below."
)
SEEN_WITHOUT = (
    "For each model the score under the judge as an open square and the corrected score under people as a filled "
    "circle with its interval. The numbers stand in the table below."
)


def changed_part(pieces: Pieces) -> Iterator[Block]:
    """The main judge's headline score of every model; nothing where nobody labelled or nothing is scored."""
    impact = pieces.results.get("impact")
    if not impact or impact["judge_only"]:
        return
    root = pointer("impact", "judges", impact["judge"])
    places = _places(pieces, root)
    if not places:
        return
    part = places[0][1]
    yield Heading(2, ("What changed",))
    yield paragraph(
        Name(part), " by model, under judge ", Name(impact["judge"]), " and under people. Order: people's ranking."
    )
    rows = tuple(
        Row((name(model),), _marks(pieces, place), _ranks(pieces, root, part, model)) for model, _, place in places
    )
    sampled = any(pieces.get(place)["sample"] for _, _, place in places)
    series, seen = (SERIES, SEEN) if sampled else (SERIES[:2], SEEN_WITHOUT)
    yield Figure("scores", said(Name(part), " under the judge and under people"), seen, series, rows, part)
    yield _table(pieces, root, part, places, sampled)
    if impact.get("profiles") and not sampled:
        yield paragraph(NO_FACT)


def _places(pieces: Pieces, root: str) -> list[tuple[str, str, str]]:
    """(model, part, place) of one part, best model under people first."""
    found = pieces.get(root)
    places = [
        (model, part, f"{root}/models{pointer(model, 'parts', part)}")
        for model, facts in found["models"].items()
        if (part := headline(found, facts))
    ]
    if not places:
        return []
    main = places[0][1]
    kept = [each for each in places if each[1] == main]
    return sorted(kept, key=lambda each: -(pieces.get(f"{each[2]}/human/value") or 0.0))


def _marks(pieces: Pieces, place: str) -> tuple[Mark, ...]:
    found = [Mark(0, f"{place}/judge/value"), _with_interval(1, f"{place}/human")]
    if pieces.get(place)["sample"]:
        found.append(_with_interval(2, f"{place}/sample/human"))
    return tuple(found)


def _with_interval(series: int, place: str) -> Mark:
    return Mark(series, f"{place}/value", f"{place}/low", f"{place}/high")


def _rank_paths(pieces: Pieces, root: str, part: str, model: str) -> tuple[str, str] | None:
    ranking = pieces.get(f"{root}/rankings").get(part)
    if ranking is None or model not in ranking["models"] or len(ranking["models"]) < 2:
        return None
    at, place = ranking["models"].index(model), f"{root}/rankings{pointer(part)}"
    return f"{place}/judge_rank/{at}", f"{place}/human_rank/{at}"


def _ranks(pieces: Pieces, root: str, part: str, model: str) -> Line:
    paths = _rank_paths(pieces, root, part, model)
    if paths is None or None in (pieces.get(paths[0]), pieces.get(paths[1])):
        return ()
    return ("rank ", Ref(paths[0], "rank"), " → ", Ref(paths[1], "rank"))


def _table(pieces: Pieces, root: str, part: str, places: list[tuple[str, str, str]], some: bool) -> Block:
    """``some``: whether any model has a score on the sample alone."""
    rows: list[tuple[Cell, ...]] = []
    for model, _, place in places:
        paths = _rank_paths(pieces, root, part, model)
        sampled = pieces.get(place)["sample"]
        rows.append(
            row(
                name(model),
                pieces.value(f"{place}/judge/value"),
                *((pieces.estimate(f"{place}/sample/human") if sampled else ("–",),) if some else ()),
                pieces.estimate(f"{place}/human"),
                pieces.estimate(f"{place}/delta", "change"),
                pieces.value(paths[0], "rank") if paths else ("–",),
                pieces.value(paths[1], "rank") if paths else ("–",),
                pieces.count(f"{root}/models{pointer(model)}/n_labelled"),
            )
        )
    head = (
        *("model", "judge", *(("people, sample [95 %]",) if some else ()), "people, corrected [95 %]", "change [95 %]"),
        *("rank, judge", "rank, people", "labelled"),
    )
    return table(said(Name(part), ", before and after"), head, rows, right=range(1, len(head)))
