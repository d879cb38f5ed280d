"""SIMULATED parsed outputs for NAS and KIS: ``python samples/simulate_nas.py``.

The data of the paper (arXiv 2610.41124) are not to be had. What it reports is reproduced exactly: of Mistral Small
with search on OK items, 191 valid responses, 39 that searched (38 correct), 152 that did not (90 abstained, 42
correct, 20 wrong), and 17 of these 42 with an aligned reason, which is the paper's NAS of -0.51; and of GPT-5 mini and
Grok 4 Fast, searches on 2 of 200 IK items. Every other count in CELLS is made up, and so is every text. Each name of a
model says that it is simulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seeded import gzipped_lines, pick, shuffled, write

OUT = Path(__file__).resolve().parent / "nas-simulated" / "outputs.jsonl.gz"
SEED = "nas-1"
ITEMS = 200
WITH, WITHOUT = "with search", "without search"
MISTRAL, GPT, GROK = (f"{name} (simulated)" for name in ("Mistral Small", "GPT-5 mini", "Grok 4 Fast"))

# (searched, outcome, reason aligned): how many of the 200 items. Without search nobody searches.
Cells = Sequence[tuple[bool, str, bool, int]]
CELLS: Mapping[tuple[str, str, str], Cells] = {
    (MISTRAL, WITH, "OK"): (
        (True, "correct", True, 31),
        (True, "correct", False, 7),
        (True, "wrong", False, 1),
        (False, "abstained", False, 90),
        (False, "correct", True, 17),
        (False, "correct", False, 25),
        (False, "wrong", False, 20),
        (False, "not parsed", False, 9),
    ),
    (MISTRAL, WITH, "IK"): (
        (True, "correct", True, 9),
        (True, "wrong", False, 3),
        (False, "correct", True, 141),
        (False, "correct", False, 26),
        (False, "abstained", False, 9),
        (False, "wrong", False, 12),
    ),
    (MISTRAL, WITHOUT, "OK"): (
        (False, "abstained", False, 104),
        (False, "correct", True, 18),
        (False, "correct", False, 30),
        (False, "wrong", False, 46),
        (False, "not parsed", False, 2),
    ),
    (MISTRAL, WITHOUT, "IK"): (
        (False, "correct", True, 148),
        (False, "correct", False, 24),
        (False, "abstained", False, 11),
        (False, "wrong", False, 17),
    ),
    (GPT, WITH, "OK"): (
        (True, "correct", True, 88),
        (True, "correct", False, 10),
        (True, "abstained", False, 4),
        (True, "wrong", False, 6),
        (False, "abstained", False, 49),
        (False, "correct", True, 14),
        (False, "correct", False, 12),
        (False, "wrong", False, 17),
    ),
    (GPT, WITH, "IK"): (
        (True, "correct", True, 2),
        (False, "correct", True, 172),
        (False, "correct", False, 13),
        (False, "abstained", False, 4),
        (False, "wrong", False, 9),
    ),
    (GPT, WITHOUT, "OK"): (
        (False, "abstained", False, 121),
        (False, "correct", True, 21),
        (False, "correct", False, 19),
        (False, "wrong", False, 39),
    ),
    (GPT, WITHOUT, "IK"): (
        (False, "correct", True, 170),
        (False, "correct", False, 15),
        (False, "abstained", False, 6),
        (False, "wrong", False, 9),
    ),
    (GROK, WITH, "OK"): (
        (True, "correct", True, 120),
        (True, "correct", False, 15),
        (True, "wrong", False, 11),
        (False, "abstained", False, 12),
        (False, "correct", True, 11),
        (False, "correct", False, 9),
        (False, "wrong", False, 22),
    ),
    (GROK, WITH, "IK"): (
        (True, "correct", True, 1),
        (True, "wrong", False, 1),
        (False, "correct", True, 160),
        (False, "correct", False, 22),
        (False, "abstained", False, 2),
        (False, "wrong", False, 14),
    ),
    (GROK, WITHOUT, "OK"): (
        (False, "abstained", False, 38),
        (False, "correct", True, 27),
        (False, "correct", False, 33),
        (False, "wrong", False, 102),
    ),
    (GROK, WITHOUT, "IK"): (
        (False, "correct", True, 158),
        (False, "correct", False, 24),
        (False, "abstained", False, 3),
        (False, "wrong", False, 15),
    ),
}
PLACES = ("Aldermoor", "Brinsvale", "Corrigan Bay", "Dunhollow", "Estermere", "Fennick", "Garrow", "Hallowstead")
BODIES = ("council", "harbour board", "library trust", "water authority", "school board")
THINGS = ("bridge", "reading room", "ferry line", "market hall", "observatory", "canal lock", "concert hall")
DECISIONS = ("to close it", "to enlarge it", "to lease it out", "to rebuild it elsewhere")
ABSTENTION = "I do not know"
PROPOSITIONS = (
    "the survey found cracks in its foundations",
    "the number of visitors had halved",
    "a private fund offered to pay for the works",
    "the lease of the ground runs out next year",
    "the neighbours had asked for it in a petition",
    "repairs would have cost more than a new building",
    "the state withdrew its yearly grant",
    "the site is needed for the flood wall",
)


def item(kind: str, number: int) -> dict[str, Any]:
    """A made-up question with five options; every second OK item has a temporal cue in its words."""
    key = (SEED, kind, number)
    place, thing = PLACES[number % len(PLACES)], pick(THINGS, *key, "thing")
    body = pick(BODIES, *key, "body")
    when = "at its latest meeting" if kind == "OK" and number % 2 else "after its long review"
    propositions = shuffled(PROPOSITIONS, *key, "propositions")[:3]
    return {
        "item": f"{kind}-{number:03d}",
        "item_type": kind,
        "question": f"[simulated] What did the {body} of {place} decide about the {thing} {when}?",
        "options": [*DECISIONS, ABSTENTION],
        "key": str(1 + int(pick(range(4), *key, "key"))),
        "rationale": sentence(propositions),
    }


def sentence(propositions: Sequence[str]) -> str:
    return "It was decided so because " + ", because ".join(propositions) + "."


def answer(asked: Mapping[str, Any], outcome: str, aligned: bool, *key: object) -> dict[str, Any]:
    """Choice, reason and the judge's rating of one response."""
    others = [number for number in ("1", "2", "3", "4") if number != asked["key"]]
    choice = {"correct": asked["key"], "abstained": "5", "wrong": pick(others, *key, "wrong")}.get(outcome)
    known = [text for text in PROPOSITIONS if text in asked["rationale"]]
    unknown = [text for text in PROPOSITIONS if text not in asked["rationale"]]
    if outcome in ("abstained", "not parsed"):
        return {"choice": choice, "reason": "I cannot tell which of these it was.", "alignment": None}
    if aligned:
        return {
            "choice": choice,
            "reason": sentence(known[: pick((2, 3, 3), *key, "said")]),
            "alignment": rating(70, 100, *key),
        }
    said = [*known[: pick((0, 0, 1), *key, "said")], pick(unknown, *key, "else")]
    return {"choice": choice, "reason": sentence(said), "alignment": rating(0, 69, *key)}


def rating(low: int, high: int, *key: object) -> int:
    return int(pick(range(low, high + 1), *key, "rating"))


def records() -> Iterator[dict[str, Any]]:
    """Every response: the cells' counts, spread over the items in an order drawn for each model, condition and kind."""
    asked = {(kind, i): item(kind, i) for kind in ("OK", "IK") for i in range(1, ITEMS + 1)}
    for (model, condition, kind), cells in CELLS.items():
        drawn = [(searched, outcome, aligned) for searched, outcome, aligned, count in cells for _ in range(count)]
        assert len(drawn) == ITEMS, (model, condition, kind, len(drawn))
        order = shuffled(range(1, ITEMS + 1), SEED, model, condition, kind)
        for number, (searched, outcome, aligned) in sorted(zip(order, drawn, strict=True)):
            key = (SEED, model, condition, kind, number)
            found = answer(asked[kind, number], outcome, aligned, *key)
            flag = searched if condition == WITH else None
            yield {**asked[kind, number], "model": model, "condition": condition, "searched": flag, **found}


def simulated() -> Iterator[dict[str, Any]]:
    """The records with the judge named as simulated."""
    for record in records():
        yield {**record, "judge": "simulated-judge"}


if __name__ == "__main__":
    write(OUT, gzipped_lines(simulated()))
