"""Does the finite-population posterior cover? Simulated corpora with known human labels.

    python benchmarks/coverage_posterior.py            all scenarios, table to docs/coverage-posterior.md
    python benchmarks/coverage_posterior.py --only 3 --replications 100 --print

Scenarios and seed are in benchmarks/scenarios/posterior.toml, committed before the run. Every replication draws a
corpus and a sample, asks the engine for its intervals as a user would, and looks whether they hold the truth.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from agreement.against_people import judge_agreement, point_measures  # noqa: E402
from agreement.allocation import allocate  # noqa: E402
from agreement.cells import Cells  # noqa: E402
from agreement.confusion_matrix import Confusion  # noqa: E402
from agreement.intervals import posterior_interval  # noqa: E402
from agreement.posterior import complete, expected_counts  # noqa: E402

SCENARIOS = ROOT / "benchmarks" / "scenarios" / "posterior.toml"
TABLE = ROOT / "docs" / "coverage-posterior.md"
OVERALL = ("agreement", "kappa", "MCC", "macro F1", "balanced accuracy")
PER_LABEL = ("human share", "recall", "precision", "F1")


@dataclass
class Tally:
    """Hits and widths of one interval over the replications in which it and its truth exist."""

    hits: int = 0
    runs: int = 0
    width: float = 0.0
    undefined: int = 0
    errors: list[float] = field(default_factory=list)

    def add(self, low, high, truth):
        self.runs += 1
        self.hits += low - 1e-12 <= truth <= high + 1e-12
        self.width += high - low


def draw_corpus(scenario, rng):
    """(H, q, q) records by item stratum, human label, judge label."""
    people, judge = np.array(scenario["people"]), np.array(scenario["judge"])
    joint = people[:, :, None] * judge[None] / len(people)
    return rng.multinomial(scenario["N"], joint.ravel()).reshape(joint.shape), joint


def draw_sample(scenario, corpus, rng):
    """(H, q, q) labelled records, and the (H, q) inclusion probability of each item stratum x judge label."""
    sizes = corpus.sum(axis=1)
    flat, n = sizes.ravel(), scenario["n"]
    if scenario["design"] == "srs":
        taken, chance = rng.multivariate_hypergeometric(flat, n), np.full(len(flat), n / flat.sum())
    elif scenario["design"] == "strata":
        per = allocate(sizes.sum(axis=1).tolist(), n, "proportional")
        taken = np.concatenate([rng.multivariate_hypergeometric(s, m) for s, m in zip(sizes, per, strict=True)])
        chance = np.repeat(per / sizes.sum(axis=1), sizes.shape[1])
    else:
        taken = allocate(flat.tolist(), n, scenario["design"])
        chance = taken / np.maximum(flat, 1)
    taken, sample = taken.reshape(sizes.shape), np.zeros_like(corpus)
    for h, j in np.ndindex(sizes.shape):
        sample[h, :, j] = rng.multivariate_hypergeometric(corpus[h, :, j], taken[h, j])
    return sample, chance.reshape(sizes.shape)


def cells_of(corpus, sample, chance):
    strata, q, _ = corpus.shape
    labels = tuple("ABCD"[:q])
    rows = [(h, j) for h in range(strata) for j in range(q) if corpus[h, :, j].sum()]
    return Cells(
        labels,
        ("m",) * len(rows),
        tuple(f"s{h}" for h, _ in rows),
        tuple(labels[j] for _, j in rows),
        np.array([corpus[h, :, j].sum() for h, j in rows]),
        np.array([sample[h, :, j] for h, j in rows], dtype=float),
        np.ones((len(rows), q), bool),
        np.array([chance[h, j] for h, j in rows]),
    )


def matrix_of(table):
    q = table.shape[-1]
    labels = tuple("ABCD"[:q])
    totals = table.sum(axis=0).T.astype(float)
    return Confusion(labels, labels, totals, totals, "truth")


def wanted(labels):
    return [(name, None) for name in OVERALL] + [(name, label) for name in PER_LABEL for label in labels]


def run(scenario, seed, replications, draws):
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(sum(scenario["name"].encode()),)))
    tallies = defaultdict(Tally)
    labels = "ABCD"[: len(scenario["judge"])]
    target = scenario.get("truth", "corpus")
    bare = defaultdict(list)
    for replication in range(replications):
        corpus, joint = draw_corpus(scenario, rng)
        sample, chance = draw_sample(scenario, corpus, rng)
        truth = point_measures(matrix_of(corpus if target == "corpus" else joint))
        cells = cells_of(corpus, sample, chance)
        unweighted = point_measures(matrix_of(sample))
        for method in ("posterior", "linearised"):
            found = judge_agreement(cells, seed=replication, method=method, target=target, draws=draws)
            for key in wanted(labels):
                interval, tally = found.get(*key), tallies[method, *key]
                if truth[key] is None or interval.value is None:
                    tally.undefined += 1
                    continue
                tally.add(interval.low, interval.high, truth[key])
                if method == "posterior":
                    tally.errors.append(interval.value - truth[key])
                    if unweighted[key] is not None:
                        bare[key].append(unweighted[key] - truth[key])
        if scenario.get("compare_borrowing"):
            compare_borrowing(tallies, cells, corpus, replication, draws)
    return tallies, bare


def compare_borrowing(tallies, cells, corpus, seed, draws):
    """Shares inside each item stratum, under both ways to treat cells without a label."""
    estimate = expected_counts(cells)
    for borrowing in ("family", "pool"):
        counts = complete(cells, seed=seed, draws=draws, sharing=borrowing).counts
        everything = [(None, np.ones(len(cells), bool), corpus.sum(axis=0))]
        parts = [(f"s{h}", cells.where(stratum=f"s{h}"), corpus[h]) for h in range(len(corpus))]
        for name, mask, records in everything + parts:
            size = records.sum()
            for k, label in enumerate(cells.labels):
                drawn = counts[:, mask, k].sum(axis=1) / size
                interval = posterior_interval(float(estimate[mask, k].sum() / size), drawn)
                where = "whole" if name is None else "stratum"
                tallies[borrowing, f"{where} {name or ''}", label].add(
                    interval.low, interval.high, records[k].sum() / size
                )


def summary(scenario, tallies, bare):
    labels = "ABCD"[: len(scenario["judge"])]
    keys = wanted(labels)

    def part(method, chosen):
        tally = {key: tallies[method, *key] for key in chosen if tallies[method, *key].runs}
        cover = {key: t.hits / t.runs for key, t in tally.items()}
        width = {key: t.width / t.runs for key, t in tally.items()}
        return cover, width

    cover, width = part("posterior", keys)
    wald, wald_width = part("linearised", keys)
    low, high = min(cover, key=cover.get), max(cover, key=cover.get)
    worst = max(bare, key=lambda key: abs(np.mean(bare[key])))
    result = {
        "name": scenario["name"],
        "band": scenario.get("band"),
        "coverage": {" ".join(filter(None, key)): round(value, 4) for key, value in cover.items()},
        "width": {" ".join(filter(None, key)): round(value, 5) for key, value in width.items()},
        "linearised": {" ".join(filter(None, key)): round(value, 4) for key, value in wald.items()},
        "linearised width": {" ".join(filter(None, key)): round(value, 5) for key, value in wald_width.items()},
        "bias": {
            " ".join(filter(None, key)): round(float(np.mean(tallies["posterior", *key].errors)), 5)
            for key in keys
            if tallies["posterior", *key].errors
        },
        "unweighted bias": {" ".join(filter(None, key)): round(float(np.mean(v)), 5) for key, v in bare.items()},
        "undefined": {
            " ".join(filter(None, key)): tallies["posterior", *key].undefined
            for key in keys
            if tallies["posterior", *key].undefined
        },
        "lowest": " ".join(filter(None, low)),
        "highest": " ".join(filter(None, high)),
        "worst unweighted": " ".join(filter(None, worst)),
    }
    if scenario.get("compare_borrowing"):
        result["borrowing"] = borrowing_summary(tallies)
    return result


def borrowing_summary(tallies):
    found = {}
    for borrowing in ("family", "pool"):
        for where in ("whole", "stratum"):
            chosen = [t for key, t in tallies.items() if key[0] == borrowing and key[1].startswith(where)]
            covers = [t.hits / t.runs for t in chosen]
            found[f"{borrowing}, {where}"] = {
                "lowest": round(min(covers), 4),
                "mean": round(float(np.mean(covers)), 4),
                "highest": round(max(covers), 4),
                "width": round(float(np.mean([t.width / t.runs for t in chosen])), 5),
            }
    return found


def verdict(result):
    if not result["band"]:
        return "-"
    low, high = result["band"]
    covers = result["coverage"].values()
    if min(covers) < low:
        return f"**below** {low:g}-{high:g}"
    return f"within {low:g}-{high:g}" if max(covers) <= high else f"above {high:g}, not below {low:g}"


def last_commit(path):
    command = ["git", "log", "-1", "--format=%h", "--", str(path)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout.strip()


def table(results, seed, replications, draws):
    commit = subprocess.run(
        ["git", "log", "-1", "--format=%h", "--", str(SCENARIOS)], capture_output=True, text=True, cwd=ROOT
    )
    code = subprocess.run(["git", "log", "-1", "--format=%h"], capture_output=True, text=True, cwd=ROOT)
    lines = [
        "# Coverage of the finite-population posterior",
        "",
        "Written by `benchmarks/coverage_posterior.py` from `benchmarks/scenarios/posterior.toml` "
        f"(scenarios of commit {commit}, engine of commit {code}, "
        f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}). Seed {seed}, {replications} replications, "
        f"{draws} draws, nominal 95 %.",
        "",
        "A replication draws a corpus and a sample and asks for agreement, kappa, MCC, macro F1, balanced accuracy and,",
        "per label, human share, recall, precision and F1. *Lowest* and *highest* are the statistics that cover least and",
        f"most; the Monte Carlo standard error of a coverage of .95 is {np.sqrt(0.95 * 0.05 / replications):.4f}.",
        "*Linearised* is the interval of that name with its small-sample rule. *Unweighted* is the largest bias of bare",
        "sample counts.",
        "",
        "| scenario | share of A: coverage, width | lowest | highest | band "
        "| linearised: lowest, share of A width | unweighted: worst bias |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in results:
        cover, linear = r["coverage"], r["linearised"]
        worst = min(linear, key=linear.get)
        share = "human share A"
        lines.append(
            f"| {r['name']} | {cover[share]:.3f}, {r['width'][share]:.4f} "
            f"| {r['lowest']} {cover[r['lowest']]:.3f} | {r['highest']} {cover[r['highest']]:.3f} | {verdict(r)} "
            f"| {worst} {linear[worst]:.3f}, {r['linearised width'][share]:.4f} "
            f"| {r['worst unweighted']} {r['unweighted bias'][r['worst unweighted']]:+.3f} |"
        )
    lines += ["", *borrowing_table(results), *details(results)]
    return "\n".join(lines) + "\n"


def borrowing_table(results):
    lines = [
        "## Cells without a label",
        "",
        "Two rules: *pool* gives all cells of the same model and judge label one label distribution as soon as one of",
        "them has no label; *lend* leaves labelled cells their own and gives the empty ones their mean. Coverage of label",
        "shares over the whole corpus and inside item strata: lowest, mean, highest; mean width.",
        "",
        "| scenario | rule | whole corpus | inside item strata |",
        "|---|---|---|---|",
    ]
    for r in results:
        for rule in ("family", "pool") if "borrowing" in r else ():
            cells = []
            for where in ("whole", "stratum"):
                b = r["borrowing"][f"{rule}, {where}"]
                cells.append(f"{b['lowest']:.3f}, {b['mean']:.3f}, {b['highest']:.3f}; {b['width']:.4f}")
            lines.append(f"| {r['name']} | {rule} | {' | '.join(cells)} |")
    return [*lines, ""]


def details(results):
    lines = ["## All statistics", ""]
    for r in results:
        lines += [f"{r['name']}:", ""]
        entries = [f"{key} {value:.3f}" for key, value in r["coverage"].items()]
        lines += [", ".join(entries) + "."]
        if r["undefined"]:
            lines += ["Not defined: " + ", ".join(f"{key} in {n} runs" for key, n in r["undefined"].items()) + "."]
        lines += [""]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", type=int, nargs="*", help="scenario numbers, from 0")
    parser.add_argument("--replications", type=int)
    parser.add_argument("--print", action="store_true", help="print the table instead of writing it")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    options = parser.parse_args()
    setup = tomllib.loads(SCENARIOS.read_text(encoding="utf-8"))
    replications = options.replications or setup["replications"]
    chosen = range(len(setup["scenario"])) if options.only is None else options.only
    results = []
    for index in chosen:
        scenario = setup["scenario"][index]
        results.append(summary(scenario, *run(scenario, setup["seed"], replications, setup["draws"])))
        print(f"{index}: {scenario['name']}: {verdict(results[-1])}", file=sys.stderr, flush=True)
        if options.json:
            options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    text = table(results, setup["seed"], replications, setup["draws"])
    if options.print:
        print(text)
    else:
        TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
