"""The part of a report on knowledge profiles: each treatment of what cannot be graded, thresholds, and grades."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotate.reports.document import Block, Line, Name, Ref, pointer
from annotate.reports.pieces import Pieces, name, row, said, table

TREATMENTS = {
    "fact": "any question",
    "pair": "any pair of questions",
    "partial": "any pair, part credit",
}
RATES = ("encodes", "knows", "knows with thinking")


def profiles_part(pieces: Pieces, judge: str) -> Iterator[Block]:
    """Tables of one judge; nothing where the scores are no profiles."""
    impact = pieces.get("/impact")
    if judge not in impact.get("profiles", {}):
        return
    root = pointer("impact", "profiles", judge)
    found = pieces.get(root)
    if found["questions"]:
        yield _questions(pieces, root, found)
    yield _kept(pieces, root, found)
    for model in dict.fromkeys(each["model"] for each in found["rows"]):
        yield _treatments(pieces, root, found, model)
        yield _thresholds(pieces, root, found, model)
        yield _grades(pieces, root, found, model)


def _questions(pieces: Pieces, root: str, found: dict[str, Any]) -> Block:
    """Judge and people on what was labelled whole, and on the corpus: what the sample alone can say of profiles."""
    rows = [
        row(
            name(each["model"]),
            each["asked"],
            pieces.value(f"{root}/questions/{at}/judge/value"),
            pieces.value(f"{root}/questions/{at}/sample_judge/value") if each["sample_judge"] else ("–",),
            pieces.estimate(f"{root}/questions/{at}/sample_people") if each["sample_people"] else ("–",),
            pieces.estimate(f"{root}/questions/{at}/sample_change", "change") if each["sample_change"] else ("–",),
            pieces.estimate(f"{root}/questions/{at}/corrected"),
            pieces.count(f"{root}/questions/{at}/n"),
        )
        for at, each in enumerate(found["questions"])
    ]
    sides = ("judge", "judge, sample", "people, sample [95 %]", "change, sample [95 %]", "people, corpus [95 %]")
    head = ("model", "questions", *sides, "labelled")
    title = (
        "Share of gradable questions above the threshold; on the sample judge and people on the same questions, paired"
    )
    return table(title, head, rows, right=range(2, 8))


def _kept(pieces: Pieces, root: str, found: dict[str, Any]) -> Block:
    rows = [
        row(
            name(each["model"]),
            TREATMENTS[each["treatment"]],
            *(pieces.count(f"{root}/kept/{at}/{key}") for key in ("facts", "kept", "not_gradable", "direct_inference")),
        )
        for at, each in sorted(enumerate(found["kept"]), key=lambda pair: _first(found, pair[1]["model"]))
        if each["threshold"] == found["threshold"]
    ]
    head = ("model", "dropped for", "facts", "kept", "not gradable", "direct inference")
    return table(
        "Facts kept under the judge; a fact is dropped for what cannot be graded in it", head, rows, right=range(2, 6)
    )


def _places(found: dict[str, Any], model: str, **chosen: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    for at, each in enumerate(found["rows"]):
        if each["model"] == model and all(each[key] == value for key, value in chosen.items()):
            yield at, each


def _sides(pieces: Pieces, place: str, people: bool) -> tuple[Line, ...]:
    """Under the judge; under people where whole facts were labelled; corrected, where people labelled."""
    sides: tuple[Line, ...] = (pieces.value(f"{place}/judge"),)
    if people:
        sides += (pieces.estimate(f"{place}/people"),)
    return (*sides, _short(pieces, f"{place}/corrected"))


def _short(pieces: Pieces, place: str) -> Line:
    return pieces.estimate(place) if pieces.get(place)["value"] is not None else ("–",)


def _heads(people: bool, *first: str) -> tuple[str, ...]:
    return (*first, "judge", *(("people, sample [95 %]",) if people else ()), "people, corpus [95 %]")


def _with_people(found: dict[str, Any]) -> bool:
    return any(each["people"]["value"] is not None for each in found["rows"])


def _treatments(pieces: Pieces, root: str, found: dict[str, Any], model: str) -> Block:
    people = _with_people(found)
    rows = [
        row(Name(each["part"]), TREATMENTS[each["treatment"]], *_sides(pieces, f"{root}/rows/{at}", people))
        for at, each in sorted(
            _places(found, model, threshold=found["threshold"]), key=lambda pair: _order(found, pair[1]["part"])
        )
    ]
    title = said("Profiles of ", name(model), " by treatment, share of the facts kept")
    return table(title, _heads(people, "score", "dropped for"), rows, right=range(2, 5))


def _first(found: dict[str, Any], model: str) -> int:
    return list(dict.fromkeys(each["model"] for each in found["kept"])).index(model)


def _order(found: dict[str, Any], part: str) -> int:
    return list(dict.fromkeys(each["part"] for each in found["rows"])).index(part)


def _thresholds(pieces: Pieces, root: str, found: dict[str, Any], model: str) -> Block:
    wanted = [(at, each) for at, each in _places(found, model, treatment=found["treatment"]) if each["part"] in RATES]
    wanted.sort(key=lambda pair: (RATES.index(pair[1]["part"]), pair[1]["threshold"]))
    people = _with_people(found)
    rows = [
        row(
            Name(each["part"]),
            pieces.value(f"{root}/rows/{at}/threshold", "decimal"),
            *_sides(pieces, f"{root}/rows/{at}", people),
        )
        for at, each in wanted
    ]
    title = said("Threshold of a grade, ", name(model))
    return table(title, _heads(people, "score", "above"), rows, right=range(1, 5))


def _grades(pieces: Pieces, root: str, found: dict[str, Any], model: str) -> Block:
    rows = [
        row(
            Name(each["question_type"]),
            "on" if each["thinking"] else "off",
            pieces.value(f"{root}/grades/{at}/judge"),
            pieces.value(f"{root}/grades/{at}/judge_labelled"),
            pieces.value(f"{root}/grades/{at}/people"),
            _short(pieces, f"{root}/grades/{at}/corrected"),
            said(Ref(f"{root}/grades/{at}/gradable", "count"), " of ", Ref(f"{root}/grades/{at}/questions", "count")),
            pieces.count(f"{root}/grades/{at}/labelled"),
        )
        for at, each in enumerate(found["grades"])
        if each["model"] == model
    ]
    sides = ("judge", "judge, sample", "people, sample", "people, corpus [95 %]")
    head = ("question", "thinking", *sides, "gradable", "labelled")
    title = said("Mean grade of a question, ", name(model), "; no interval where judge and people hardly differ")
    return table(title, head, rows, right=range(2, 8))
