"""Recompute the main numbers of this report with Python's standard library alone: python check.py [FOLDER]

From labels.csv and corpus.json: confusion matrices, agreement, kappa, alpha, scores on the sample. No code is shared.
"""

import csv
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any


def given(row: Any, kind: str) -> list[str]:
    """The labels in a row's columns of one kind, "" where there is none or it is stale."""
    return [row[n] if row.get("stale:" + n.partition(":")[2]) != "1" else "" for n in row if n.startswith(kind)]


def reference(row: Any) -> Any:
    """Shares of the labels: a final one; else a strict majority; else split over the labels given."""
    labels = [row["adjudicated"]] if row.get("adjudicated") else list(filter(None, given(row, "coder:")))
    labels += filter(None, given(row, "tiebreak:") if len(set(labels)) > 1 else [])
    counts = Counter(labels if row["fate"] != "technical" else [])
    most = next((label for label, n in counts.items() if 2 * n > len(labels)), None)
    return {most: 1.0} if most else {label: n / len(labels) for label, n in counts.items()}


def kappa(pairs: list[tuple[str, str, float]]) -> tuple[float, float | None]:
    """Observed agreement and Cohen's kappa of weighted pairs."""
    total = sum(w for _, _, w in pairs)
    seen = sum(w for a, b, w in pairs if a == b) / total
    sides = [[sum(w for *pair, w in pairs if pair[i] == x) / total for i in (0, 1)] for x in {a for a, _, _ in pairs}]
    chance = sum(one * two for one, two in sides)
    return seen, None if chance >= 1 else (seen - chance) / (1 - chance)


def alpha(units: list[Any]) -> float | None:
    """Krippendorff's alpha, nominal: 1 - observed / expected disagreement over the pairs within units."""
    kept = [labels for unit in units if (labels := Counter(filter(None, unit))).total() > 1]
    n = (values := sum(kept, Counter[str]())).total()
    differ = sum(sum(c * (u.total() - c) for c in u.values()) / (u.total() - 1) for u in kept)
    expected = sum(c * (n - c) for c in values.values()) / (n - 1) if n > 1 else 0
    return None if not expected else 1 - differ / expected


def matrices(rows: list[Any], results: Any) -> Any:
    for judge, matrix in ((judge, report["matrix"]) for judge, report in results["judges"].items()):
        for said, counts in zip(matrix["rows_judge"], matrix["counts"], strict=True):
            for label, count in zip(matrix["columns_human"], counts, strict=True):
                mine = sum(ref.get(label, 0) for row, ref in rows if row[f"judge:{judge}"] == said)
                yield f"judge {judge} says {said}, people {label}", mine, count


def people(rows: list[Any], results: Any) -> Any:
    names = list(enumerate((name[6:] for name in rows[0][0] if name.startswith("coder:")), 1))
    reported = {check["quantity"].replace("nominal", "unweighted"): check["ours"] for check in results["checks"]}
    columns: list[Any] = [(row, *given(row, "coder:")) for row, _ in rows]
    yield (what := "Krippendorff's alpha, unweighted"), alpha([each[1:] for each in columns]), reported.get(what, "")
    for (a, one), (b, two) in ((first, second) for first in names for second in names if first < second):
        if pairs := [(each[a], each[b], 1.0) for each in columns if each[a] and each[b]]:
            yield (what := f"Cohen's kappa: {one}, {two}") + ", unweighted", kappa(pairs)[1], reported.get(what, "")
    shared = [each for each in columns if len(names) == 2 and float(each[0]["pi2"])]
    both, found = [each for each in shared if each[1] and each[2]], (results["people"] or {}).get("coefficients", {})
    if both and "cohen_kappa" in found:  # the labelled units of a stratum stand for all that were drawn in it
        drawn, done = (Counter(row["design"] for row, _, _ in each) for each in (shared, both))
        pairs = [(a, b, drawn[s := r["design"]] / done[s] / float(r["pi"]) / float(r["pi2"])) for r, a, b in both]
        for name, value in zip(("percent_agreement", "cohen_kappa"), kappa(pairs), strict=True):
            yield f"{name}, by the design", value, found[name]["value"]


# Scores on the sample: EHQ, NAS, KIS and shares of labels. What of a label makes a part:
PARTS = {"EHQ1": ("ABSTAIN", "HEDGE"), "EHQ2": ("ABSTAIN", "HEDGE", "CORRECT"), "accuracy": ("CORRECT",),
         "EHQ3": ("CORRECT", "WRONG"), "EHQ": ("ABSTAIN", "HEDGE", "CORRECT", "WRONG")}  # fmt: skip
# Points of a response (searched, correct, abstained), r being 1 where its reason is aligned and 0 where it is not.
REASONED: Any = {"NAS with search": lambda r, s, y, a: y if s else y * r - 1,
                 "NAS without search": lambda r, s, y, a: 1 if a else y * r - (not y),
                 "KIS with search": lambda r, s, y, a: -1 if s or a else y * r,
                 "KIS without search": lambda r, s, y, a: 2 * y * r - 1}  # fmt: skip


def rated(row: Any, limit: float) -> Any:
    """The same of a decision, or else of coders' ratings, on either side of the threshold."""
    sides = {"coder:" + n: "not " * (float(row[n]) < limit) + "aligned" for n in row if n[:7] == "rating:" and row[n]}
    return reference({"fate": "", "adjudicated": row.get("adjudicated", ""), **sides})


def ehq3(labelled: list[Any]) -> float | None:
    """1 - expected calibration error over CORRECT and WRONG, in ten bins of the stated confidence."""
    gaps, total = defaultdict[int, float](float), 0.0
    for row, weight, label in labelled:
        if row.get("confidence") and row["confidence_usable"] == "1":
            k, grid, right = int(row["confidence"]), int(row["confidence_grid"]), weight * label.get("CORRECT", 0)
            mass = right + weight * label.get("WRONG", 0)
            total += mass
            gaps[min(10 * k // grid, 9)] += right - mass * k / grid
    return 1 - sum(map(abs, gaps.values())) / total if total else None


def score(part: str, labelled: list[Any]) -> Any:
    if part in ("EHQ", "EHQ3"):
        three, (one, two) = ehq3(labelled), (score(each, labelled) for each in ("EHQ1", "EHQ2"))
        return three if part == "EHQ3" or three is None else 0.3 * one + 0.45 * two + 0.25 * three
    of, total = PARTS.get(part, (part,)), sum(weight for _, weight, _ in labelled)
    return sum(weight * sum(label.get(each, 0) for each in of) for _, weight, label in labelled) / total


def completed(part: str, share: float, counted: list[Any], judge: str) -> Any:
    """NAS or KIS over all responses of a model. share: of those that rest on a rating, the aligned ones."""
    points = REASONED[part]
    used = [cell for cell in counted if judge in cell[-1] or points(0, *cell[1:4]) == points(1, *cell[1:4])]
    return sum(n * points(share, *facts) for n, *facts, _ in used) / sum(n for n, *_ in used)


def headlines(rows: list[Any], results: Any) -> Any:
    labels, limit = results["study"]["labels"], results["study"]["threshold"]
    cells, units = results["corpus"].get("searching", {"cells": {}, "units": {}}).values()
    for judge, report in ((results["impact"] or {}).get("judges") or {}).items():
        for model, part in ((model, part) for model, facts in report["models"].items() for part in facts["parts"]):
            says, usable = f"judge:{judge}", [*labels, *["(not a label)"] * (part in labels)]
            mine = [(r, float(r["weight"]), f) for r, f in rows if f and r["model"] == model and r[says] in usable]
            if searched := part in REASONED:
                rest = {u for u, f in units.get(part, {}).items() if REASONED[part](0, *f) != REASONED[part](1, *f)}
                mine = [(row, weight, rated(row, limit)) for row, weight, _ in mine if row["unit"] in rest]
            reported, of = report["models"][model]["parts"][part]["sample"], "aligned" if searched else part
            if reported and mine and set(PARTS.get(of, (of,))) <= set(labels):
                said = [(row, weight, {row[says]: 1.0}) for row, weight, _ in mine]
                for who, side, each in ((f"people (judge {judge})", "human", mine), (f"judge {judge}", "judge", said)):
                    value = completed(part, score(of, each), cells[part][model], judge) if searched else score(of, each)
                    yield f"{part}, model {model}, sample, {who}", value, reported[side]["value"]


def main(folder: Path) -> int:
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row, reference(row)) for row in csv.DictReader(file)]
    results, corpus = (json.loads((folder / f"{n}.json").read_text(encoding="utf-8")) for n in ("results", "corpus"))
    if not any(ref for _, ref in rows):
        return print("labels.csv holds no label of a person: there is nothing to recompute.") or 0
    results["corpus"], outcomes = corpus, []
    for what, mine, reported in (each for part in (matrices, people, headlines) for each in part(rows, results)):
        if reported != "":
            outcomes.append(mine is reported or (None not in (mine, reported) and abs(mine - reported) < 1e-9))
            print(f"{'ok     ' if outcomes[-1] else 'DIFFERS'} {what}: {mine} (reported: {reported})")
    print(f"{sum(outcomes)} numbers match, {outcomes.count(False)} differ.")
    return 0 if outcomes and all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)))
