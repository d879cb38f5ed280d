"""Recompute the main numbers of this report from labels.csv, with nothing but Python's standard library.

    python check.py [FOLDER]

Reads labels.csv and, to compare with, results.json. Recomputes the human reference of every unit, each judge's
confusion matrix, percent agreement, Cohen's kappa of each pair of coders, Krippendorff's alpha (nominal), and each
score that is a share of labels, on the sample, weighted by the design. It shares no code with annotate.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

Row = dict[str, str]
# How a score that is a share is made of labels; any label is a score of that name too.
SHARES = {"EHQ1": ("ABSTAIN", "HEDGE"), "EHQ2": ("ABSTAIN", "HEDGE", "CORRECT"), "accuracy": ("CORRECT",)}


def given(row: Row, kind: str) -> list[str]:
    """The labels in a row's columns of one kind that are not stale, blanks left out."""
    return [row[n] for n in row if n.startswith(kind) and row[n] and row.get("stale:" + n.removeprefix(kind)) != "1"]


def reference(row: Row) -> dict[str, float]:
    """Shares of the labels: a final one; else a strict majority; else split over the labels given."""
    if row["fate"] == "technical":
        return {}
    if row.get("adjudicated"):
        return {row["adjudicated"]: 1.0}
    labels = given(row, "coder:")
    if len(set(labels)) > 1:
        labels += given(row, "tiebreak:")
    counts = Counter(labels)
    for label, n in counts.items():
        if 2 * n > len(labels):
            return {label: 1.0}
    return {label: n / len(labels) for label, n in counts.items()}


def kappa(pairs: list[tuple[str, str, float]]) -> tuple[float, float | None]:
    """Observed agreement and Cohen's kappa of weighted pairs."""
    total = math.fsum(w for _, _, w in pairs)
    seen = math.fsum(w for a, b, w in pairs if a == b) / total
    one: dict[str, float] = defaultdict(float)
    two: dict[str, float] = defaultdict(float)
    for a, b, w in pairs:
        one[a] += w / total
        two[b] += w / total
    chance = math.fsum(one[label] * two[label] for label in one)
    return seen, None if chance >= 1 else (seen - chance) / (1 - chance)


def alpha(units: list[list[str]]) -> float | None:
    """Krippendorff's alpha, nominal: 1 - observed / expected disagreement over the pairs within units."""
    kept = [(labels, Counter(labels)) for labels in units if len(labels) > 1]
    values = Counter(label for labels, _ in kept for label in labels)
    n, differ = sum(values.values()), 0.0
    for labels, counts in kept:
        differ += sum(c * (len(labels) - c) for c in counts.values()) / (len(labels) - 1)
    expected = sum(c * (n - c) for c in values.values()) / (n - 1) if n > 1 else 0
    return None if not expected else 1 - differ / expected


class Comparison:
    def __init__(self) -> None:
        self.matched = self.differing = 0

    def say(self, what: str, mine: float | None, reported: float | None) -> None:
        if mine is not None and reported is not None:
            same = math.isclose(mine, reported, rel_tol=1e-9, abs_tol=1e-9)
        else:
            same = mine is reported
        self.matched += same
        self.differing += not same
        print(f"{'ok     ' if same else 'DIFFERS'} {what}: {mine} (reported: {reported})")


def matrices(rows: list[Row], refs: list[dict[str, float]], results: dict[str, Any], found: Comparison) -> None:
    for judge, report in results["judges"].items():
        matrix, cells = report["matrix"], Counter[tuple[str, str]]()
        for row, ref in zip(rows, refs, strict=True):
            for label, share in ref.items():
                cells[row[f"judge:{judge}"], label] += share  # type: ignore[assignment]
        for r, said in enumerate(matrix["rows_judge"]):
            for c, label in enumerate(matrix["columns_human"]):
                found.say(f"judge {judge} says {said}, people {label}", cells[said, label], matrix["counts"][r][c])


def people(rows: list[Row], results: dict[str, Any], found: Comparison) -> None:
    names = [name for name in rows[0] if name.startswith("coder:")]
    reported = {check["quantity"]: check["ours"] for check in results["checks"]}
    columns = [[("" if row.get("stale:" + n[6:]) == "1" else row[n]) for n in names] for row in rows]
    if "Krippendorff's alpha, nominal" in reported:
        mine = alpha([[label for label in labels if label] for labels in columns])
        found.say("Krippendorff's alpha, unweighted", mine, reported["Krippendorff's alpha, nominal"])
    for a in range(len(names)):
        for b in range(a + 1, len(names)):
            pairs = [(labels[a], labels[b], 1.0) for labels in columns if labels[a] and labels[b]]
            quantity = f"Cohen's kappa: {names[a][6:]}, {names[b][6:]}"
            if pairs and quantity in reported:
                found.say(quantity + ", unweighted", kappa(pairs)[1], reported[quantity])
    if len(names) == 2 and results["people"]:
        both = zip(rows, columns, strict=True)
        weighted = [(x, y, 1 / (float(r["pi"]) * float(r["pi2"]))) for r, (x, y) in both if x and y and float(r["pi2"])]
        coefficients = results["people"]["coefficients"]
        if weighted and "cohen_kappa" in coefficients:
            seen, value = kappa(weighted)
            found.say("percent agreement, by the design", seen, coefficients["percent_agreement"]["value"])
            found.say("Cohen's kappa, by the design", value, coefficients["cohen_kappa"]["value"])


def headlines(rows: list[Row], refs: list[dict[str, float]], results: dict[str, Any], found: Comparison) -> None:
    labels = results["study"]["labels"]
    for judge, report in ((results["impact"] or {}).get("judges") or {}).items():
        for model, facts in report["models"].items():
            known = [(row, ref) for row, ref in zip(rows, refs, strict=True) if row["model"] == model and ref]
            for part, reported in facts["parts"].items():
                of = SHARES.get(part) or ((part,) if part in labels else ())
                usable = labels if part in SHARES else [*labels, "(not a label)"]
                mine = [(r, ref) for r, ref in known if r[f"judge:{judge}"] in usable]
                weight = math.fsum(float(r["weight"]) for r, _ in mine)
                if not (sample := reported["sample"]) or not of or not set(of) <= set(labels) or not weight:
                    continue
                human = math.fsum(float(r["weight"]) * sum(ref.get(x, 0) for x in of) for r, ref in mine) / weight
                said = math.fsum(float(r["weight"]) for r, _ in mine if r[f"judge:{judge}"] in of) / weight
                found.say(f"{part}, model {model}, sample, people", human, sample["human"]["value"])
                found.say(f"{part}, model {model}, sample, judge {judge}", said, sample["judge"]["value"])


def main(folder: Path) -> int:
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    refs, found = [reference(row) for row in rows], Comparison()
    if rows and any(name.startswith("coder:") for name in rows[0]):
        matrices(rows, refs, results, found)
        people(rows, results, found)
        headlines(rows, refs, results, found)
    print(f"{found.matched} numbers match, {found.differing} differ.")
    return 1 if found.differing or not found.matched else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)))
