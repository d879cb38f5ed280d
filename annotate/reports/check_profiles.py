"""The scores of check.py where they are knowledge profiles: what stands below is put in place of its own scores."""

from collections import defaultdict
from typing import Any

# Scores on the sample: knowledge profiles. The ten questions of a fact, by kind and whether the model was thinking:
KINDS = ("completion", "contextual", "direct", "direct natural", "reverse", "reverse natural")
ASKED = [*((kind, False) for kind in KINDS), *((kind, True) for kind in KINDS[2:])]
GROUPS = {"encoding, thinking off": (0, 2), "recall, thinking off": (2, 6), "recall, thinking on": (6, 10)}
PROFILES = ("direct recall", "recall with thinking", "recall failure", "inference without encoding", "encoding failure")
RATES = {"encodes": (0, 1, 2), "knows": (0, 5), "knows with thinking": (0, 1, 3, 5)}  # 5: known by direct inference


def above(told: list[float], grading: Any) -> bool | None:
    """Whether right / (right + wrong) is above the threshold; None where there is neither. A part may count for .51."""
    right, wrong, part = told[0], told[1], told[2] * (grading["treatment"] == "partial")
    size = right + wrong + part
    return (right + 0.51 * part) / size > grading["threshold"] + 1e-12 if size else None


def profile(verdicts: list[bool | None], grading: Any) -> int | None:
    """The profile of a fact by its ten verdicts; None where it is dropped for what cannot be graded."""
    enough = all if grading["treatment"] == "fact" else any
    if not all(enough(each is not None for each in verdicts[at : at + 2]) for at in range(0, 10, 2)):
        return None
    off, on = (all(each is not False for each in verdicts[at : at + 4]) for at in (2, 6))
    return ((0, 1, 2) if any(verdicts[:2]) else (5, 3, 4))[0 if off else 1 if on else 2]


def questions(rows: list[Any], grading: Any, says: str, model: str) -> Any:
    """(fact, place) of each question of a model: its weight, and what people and the judge say of its responses."""
    found: Any = defaultdict(lambda: [0.0, [0.0] * 4, [0.0] * 4])
    for row, ref in (each for each in rows if each[0]["model"] == model):
        asked = (row["stratum:question_type"], row["condition"] in grading["thinking"])
        if asked in ASKED:
            one = found[row["stratum:fact"], ASKED.index(asked)]
            one[0] = max(one[0], float(row["weight"]) or 1 / float(row["pi"]))
            for at, label in enumerate(grading["labels"] if row["fate"] != "technical" else []):
                one[1][at] += ref.get(label, 0)
                one[2][at] += row[says] == label
    return found


def share(pairs: list[tuple[float, Any]], hits: Any, among: Any) -> float | None:
    total = sum(weight for weight, each in pairs if each in among)
    return sum(weight for weight, each in pairs if each in hits) / total if total else None


def headlines(rows: list[Any], results: Any) -> Any:
    grading, impact = results["corpus"]["grading"], results["impact"] or {"judges": {}}
    for judge, model in ((judge, model) for judge, each in impact["judges"].items() for model in each["models"]):
        parts, asked = impact["judges"][judge]["models"][model]["parts"], grading["asked"].get(model, {})
        found = questions(rows, grading, f"judge:{judge}", model)
        whole = {(f, n) for (f, n), (_, told, _) in found.items() if 0 < sum(told) >= asked[f][n] - 1e-9}
        facts = [fact for fact in asked if all((fact, n) in whole or not asked[fact][n] for n in range(10))]
        weight = {fact: max(each[0] for (f, _), each in found.items() if f == fact) for fact in facts}
        for at, key, who in ((1, "people", f"people (judge {judge})"), (2, "judge", f"judge {judge}")):
            said, end = {k: above(each[at], grading) for k, each in found.items()}, f", model {model}, sample, {who}"
            for row in (row for row in impact["profiles"][judge]["questions"] if row["model"] == model and row["n"]):
                of = [(found[k][0], said[k]) for k in whole if k[1] in range(*GROUPS[row["asked"]])]
                value = share(of, (True,), (True, False))
                yield f"questions above the threshold, {row['asked']}{end}", value, row[f"sample_{key}"]["value"]
            kept = {fact: profile([said.get((fact, n)) for n in range(10)], grading) for fact in facts}
            for part, hits in (RATES | {name: (at,) for at, name in enumerate(PROFILES)}).items() if facts else ():
                value = share([(weight[fact], kept[fact]) for fact in facts], hits, range(5))
                yield part + end, value, parts[part]["sample"][key.replace("people", "human")]["value"]
