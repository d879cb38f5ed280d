"""The judge's errors that move the headline score most, with items to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from annotate.analysis.labels import StudyLabels
from annotate.analysis.reference import Reference
from annotate.studies import study_protocol
from db.export_rows import content_rows
from db.records import MISSING_LABEL, ItemRow, Protocol, ResponseRow
from db.study import Study

SHOWN = 5
EXAMPLES = 10
LONGEST = 600
LONGEST_ID = 64


def worst_errors(
    study: Study, labels: StudyLabels, reference: Reference, impact: Mapping[str, Any], *, text: bool
) -> dict[str, list[dict[str, Any]]]:
    """By judge, the off-diagonal cells of the confusion matrix that are worth most, summed over models, largest first.

    They are those of the headline score, or of the next one that models are ranked by where that has none. Each has
    the units in it and up to ten of them, taken in the order of their random ids. A score that is no sum over
    units, as profiles are, gives no cell a worth: then they come by their number of units. ``text`` False: examples say
    which unit, model and labels only.
    """
    within = _scopes(study_protocol(study), labels)
    found = {
        judge: [
            {**cell, "examples": _examples(labels, reference, judge, cell, within)}
            for cell in (_cells(impact["judges"][judge]) or _frequent(labels, reference, judge))[:SHOWN]
        ]
        for judge in impact["judges"]
    }
    wanted = {example["unit"] for cells in found.values() for cell in cells for example in cell["examples"]}
    read = dict(_texts(study, wanted, text))
    for cells in found.values():
        for cell in cells:
            cell["examples"] = [{**example, **read.get(example["unit"], {})} for example in cell["examples"]]
    return found


def headline(impact: Mapping[str, Any], model: Mapping[str, Any]) -> str:
    """The part that errors are weighed by: the first that models are ranked by, else the first of all."""
    return next((part for part in impact["rankings"] if part in model["parts"]), next(iter(model["parts"]), ""))


def _cells(impact: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The cells of the headline; where people corrected nothing in it, those of the next part that models rank by."""
    found = (_of_part(impact, part) for part in (*impact["rankings"], None))
    return next(filter(None, found), [])


def _of_part(impact: Mapping[str, Any], wanted: str | None) -> list[dict[str, Any]]:
    """The cells of this part, or where none is ``wanted`` of each model's first, summed over models."""
    total: dict[tuple[str, str, str], dict[str, Any]] = {}
    for name, model in impact["models"].items():
        part = next(iter(model["parts"]), "") if wanted is None else wanted
        for cell in model["parts"][part]["cells"] if part in model["parts"] else ():
            if cell["judge"] == cell["human"] or not cell["contribution"]:
                continue
            key = (part, cell["judge"], cell["human"])
            mine = total.setdefault(
                key, {"part": part, "judge": cell["judge"], "human": cell["human"], "units": 0.0, "worth": {}}
            )
            mine["units"] += cell["units"]
            mine["worth"][name] = cell["contribution"]
    return sorted(total.values(), key=lambda cell: -sum(abs(value) for value in cell["worth"].values()))


def _frequent(labels: StudyLabels, reference: Reference, judge: str) -> list[dict[str, Any]]:
    """Off-diagonal cells by their labelled units, most first; their worth is not known."""
    pairs = zip(labels.judges[judge], reference.human.label, strict=True)
    counts = Counter((said, human) for said, human in pairs if human is not None and said != human)
    return [
        {"part": "", "judge": said, "human": human, "units": float(n), "worth": {}}
        for (said, human), n in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        if said != MISSING_LABEL
    ]


Scope = Callable[[str, int], bool]


def _scopes(protocol: Protocol, labels: StudyLabels) -> Scope:
    """Whether a unit belongs to a part: a score may be about some items, or one condition, alone."""
    conditions = labels.strata.get("condition", ())
    names = {f" {name}" for name in conditions if name}

    def within(part: str, at: int) -> bool:
        rule = next((each for each in protocol.scores if part == each.name or part.startswith(f"{each.name} ")), None)
        options = rule.options if rule else {}
        field, items = options.get("items_field"), options.get("items")
        if isinstance(items, list | tuple) and field in labels.strata and labels.strata[str(field)][at] not in items:
            return False
        named = next((name for name in names if part.endswith(name)), None)
        return named is None or f" {conditions[at]}" == named

    return within


def _examples(
    labels: StudyLabels, reference: Reference, judge: str, cell: Mapping[str, Any], within: Scope
) -> list[dict[str, Any]]:
    said, people = labels.judges[judge], reference.human.label
    wanted = cell["judge"].casefold(), cell["human"].casefold()  # a score may write labels in capitals
    places = [
        at
        for at in range(len(labels))
        if (said[at].casefold(), (people[at] or "").casefold()) == wanted and within(cell["part"], at)
    ]
    return [
        {
            "unit": labels.units[at],
            "model": labels.strata["model"][at] if "model" in labels.strata else "",
            "people": {
                coder.name: label
                for coder, label in zip(labels.coders, labels.table[at], strict=True)
                if label is not None
            },
            "adjudicated": None if labels.final is None else labels.final[at],
        }
        for at in sorted(places, key=lambda at: labels.units[at])[:EXAMPLES]
    ]


def _texts(study: Study, units: set[str], text: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    item: ItemRow | None = None
    keys = _unit_keys(study) if units else {}
    for row in content_rows(study, units=units) if units else ():
        if isinstance(row, ItemRow):
            item = row
        elif isinstance(row, ResponseRow) and item is not None:
            unit = keys[row.item, row.model, row.condition, row.repeat]
            named = {} if _is_text(item) and not text else {"item": item.key}
            yield unit, named | (_shown(item, row) if text else {})


def _unit_keys(study: Study) -> dict[tuple[str, str, str, int | None], str]:
    from db.labels import unit_rows

    return {(row.item, row.model, row.condition, row.repeat): row.unit for row in unit_rows(study)}


def _is_text(item: ItemRow) -> bool:
    """Whether the item's key may be its text: keys are usually short and of one word."""
    return len(item.key) > LONGEST_ID or " " in item.key.strip() or item.key == item.question


def _shown(item: ItemRow, row: ResponseRow) -> dict[str, Any]:
    texts = {
        "question": item.question,
        "gold": " | ".join(item.gold),
        "rationale": item.rationale,
        "response": row.text,
        "response_b": row.text_b,
        "reason": row.reason,
    }
    return {name: _cut(value) for name, value in texts.items() if value}


def _cut(value: str) -> str:
    return value if len(value) <= LONGEST else value[:LONGEST].rstrip() + " […]"
