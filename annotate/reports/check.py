"""Recompute the main numbers of this report with Python's standard library alone: python check.py [FOLDER]

Reads labels.csv and, to compare with, results.json. Recomputes the human reference of every unit, each judge's
confusion matrix, percent agreement, Cohen's kappa of each pair of coders, Krippendorff's alpha (nominal), and EHQ and
each score that is a share of labels, on the sample, weighted by the design. It shares no code with annotate.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

Row = dict[str, str]
Shares = dict[str, float]
Given = list[tuple[Row, float, Shares]]
PARTS = {"EHQ1": ("ABSTAIN", "HEDGE"), "EHQ2": ("ABSTAIN", "HEDGE", "CORRECT"), "accuracy": ("CORRECT",),
         "EHQ3": ("CORRECT", "WRONG"), "EHQ": ("ABSTAIN", "HEDGE", "CORRECT", "WRONG")}  # fmt: skip


def given(row: Row, kind: str) -> list[str]:
    """The labels in a row's columns of one kind, "" where there is none or it is stale."""
    return [row[n] if row.get("stale:" + n.partition(":")[2]) != "1" else "" for n in row if n.startswith(kind)]


def reference(row: Row) -> Shares:
    """Shares of the labels: a final one; else a strict majority; else split over the labels given."""
    if row["fate"] == "technical":
        return {}
    if row.get("adjudicated"):
        return {row["adjudicated"]: 1.0}
    labels = list(filter(None, given(row, "coder:")))
    if len(set(labels)) > 1:
        labels += filter(None, given(row, "tiebreak:"))
    counts = Counter(labels)
    most = next((label for label, n in counts.items() if 2 * n > len(labels)), None)
    return {most: 1.0} if most else {label: n / len(labels) for label, n in counts.items()}


def kappa(pairs: list[tuple[str, str, float]]) -> tuple[float, float | None]:
    """Observed agreement and Cohen's kappa of weighted pairs."""
    total = math.fsum(w for _, _, w in pairs)
    seen = math.fsum(w for a, b, w in pairs if a == b) / total
    one, two = defaultdict[str, float](float), defaultdict[str, float](float)
    for a, b, w in pairs:
        one[a], two[b] = one[a] + w / total, two[b] + w / total
    chance = math.fsum(one[label] * two[label] for label in one)
    return seen, None if chance >= 1 else (seen - chance) / (1 - chance)


def alpha(units: list[list[str]]) -> float | None:
    """Krippendorff's alpha, nominal: 1 - observed / expected disagreement over the pairs within units."""
    kept = [Counter(labels) for labels in units if len(labels) > 1]
    n = (values := sum(kept, Counter[str]())).total()
    differ = math.fsum(sum(c * (u.total() - c) for c in u.values()) / (u.total() - 1) for u in kept)
    expected = sum(c * (n - c) for c in values.values()) / (n - 1) if n > 1 else 0
    return None if not expected else 1 - differ / expected


def matrices(rows: list[Row], refs: list[Shares], results: dict[str, Any]) -> Any:
    for judge, report in results["judges"].items():
        matrix, cells = report["matrix"], defaultdict[tuple[str, str], float](float)
        for row, ref in zip(rows, refs, strict=True):
            for label, share in ref.items():
                cells[row[f"judge:{judge}"], label] += share
        for r, said in enumerate(matrix["rows_judge"]):
            for c, label in enumerate(matrix["columns_human"]):
                yield f"judge {judge} says {said}, people {label}", cells[said, label], matrix["counts"][r][c]


def people(rows: list[Row], _: Any, results: dict[str, Any]) -> Any:
    names = [name[6:] for name in rows[0] if name.startswith("coder:")]
    reported = {check["quantity"]: check["ours"] for check in results["checks"]}
    columns: list[Any] = [given(row, "coder:") for row in rows]
    if (what := "Krippendorff's alpha, nominal") in reported:
        yield "Krippendorff's alpha, unweighted", alpha([list(filter(None, each)) for each in columns]), reported[what]
    for a, b in combinations(range(len(names)), 2):
        pairs = [(labels[a], labels[b], 1.0) for labels in columns if labels[a] and labels[b]]
        if pairs and (what := f"Cohen's kappa: {names[a]}, {names[b]}") in reported:
            yield f"{what}, unweighted", kappa(pairs)[1], reported[what]
    coefficients = (results["people"] or {}).get("coefficients", {})
    shared = [(row, *each) for row, each in zip(rows, columns, strict=True) if len(names) == 2 and float(row["pi2"])]
    both = [each for each in shared if each[1] and each[2]]
    if both and "cohen_kappa" in coefficients:  # the labelled units of a stratum stand for all that were drawn in it
        drawn, done = (Counter(row["design"] for row, _, _ in each) for each in (shared, both))
        scale = {stratum: drawn[stratum] / done[stratum] for stratum in done}
        pairs = [(a, b, scale[row["design"]] / float(row["pi"]) / float(row["pi2"])) for row, a, b in both]
        for name, value in zip(("percent_agreement", "cohen_kappa"), kappa(pairs), strict=True):
            yield f"{name}, by the design", value, coefficients[name]["value"]


def ehq3(labelled: Given) -> float | None:
    """1 - expected calibration error over CORRECT and WRONG, in ten bins of the stated confidence."""
    gaps, total = defaultdict[int, float](float), 0.0
    for row, weight, label in labelled:
        if row.get("confidence") and row["confidence_usable"] == "1":
            k, grid, right = int(row["confidence"]), int(row["confidence_grid"]), weight * label.get("CORRECT", 0)
            mass = right + weight * label.get("WRONG", 0)
            total += mass
            gaps[min(10 * k // grid, 9)] += right - mass * k / grid
    return 1 - math.fsum(map(abs, gaps.values())) / total if total else None


def score(part: str, labelled: Given) -> Any:
    if part == "EHQ3" or (part == "EHQ" and ehq3(labelled) is None):
        return ehq3(labelled)
    if part == "EHQ":
        return 0.3 * score("EHQ1", labelled) + 0.45 * score("EHQ2", labelled) + 0.25 * score("EHQ3", labelled)
    of, total = PARTS.get(part, (part,)), math.fsum(weight for _, weight, _ in labelled)
    return math.fsum(weight * sum(label.get(each, 0) for each in of) for _, weight, label in labelled) / total


def headlines(rows: list[Row], refs: list[Shares], results: dict[str, Any]) -> Any:
    labels, known = results["study"]["labels"], [each for each in zip(rows, refs, strict=True) if each[1]]
    for judge, report in ((results["impact"] or {}).get("judges") or {}).items():
        for model, part in ((model, part) for model, facts in report["models"].items() for part in facts["parts"]):
            usable = [*labels, "(not a label)"] if part in labels else labels
            mine = [(row, ref) for row, ref in known if row["model"] == model and row[f"judge:{judge}"] in usable]
            reported = report["models"][model]["parts"][part]["sample"]
            if not reported or not mine or not set(PARTS.get(part, (part,))) <= set(labels):
                continue
            human = score(part, [(row, float(row["weight"]), ref) for row, ref in mine])
            said = score(part, [(row, float(row["weight"]), {row[f"judge:{judge}"]: 1.0}) for row, _ in mine])
            yield f"{part}, model {model}, sample, people (judge {judge})", human, reported["human"]["value"]
            yield f"{part}, model {model}, sample, judge {judge}", said, reported["judge"]["value"]


def main(folder: Path) -> int:
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    results, refs = json.loads((folder / "results.json").read_text(encoding="utf-8")), [reference(row) for row in rows]
    if not any(refs):
        return print("labels.csv holds no label of a person: there is nothing to recompute.") or 0
    outcomes = []
    for what, mine, reported in (each for part in (matrices, people, headlines) for each in part(rows, refs, results)):
        outcomes.append(
            mine is reported or (None not in (mine, reported) and math.isclose(mine, reported, abs_tol=1e-9))
        )
        print(f"{'ok     ' if outcomes[-1] else 'DIFFERS'} {what}: {mine} (reported: {reported})")
    print(f"{sum(outcomes)} numbers match, {outcomes.count(False)} differ.")
    return 0 if outcomes and all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)))
