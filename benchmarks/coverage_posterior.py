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
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from agreement.allocation import allocate  # noqa: E402
from agreement.cells import Cells  # noqa: E402
from agreement.confusion_matrix import Confusion  # noqa: E402
from agreement.intervals import posterior_interval  # noqa: E402
from agreement.measure_intervals import completed, measure_intervals, point_measures  # noqa: E402
from agreement.posterior import complete, expected_counts  # noqa: E402
from benchmarks.coverage_common import Tally, last_commit  # noqa: E402

SCENARIOS = ROOT / "benchmarks" / "scenarios" / "posterior.toml"
TABLE = ROOT / "docs" / "coverage-posterior.md"
OVERALL = ("agreement", "kappa", "MCC", "macro F1", "balanced accuracy")
PER_LABEL = ("human share", "recall", "precision", "F1")
RULES = ("family", "pool")

Scenario = dict[str, Any]
Key = tuple[str, ...]
Array = np.ndarray[Any, Any]


Tallies = dict[Key, Tally]


def draw_corpus(scenario: Scenario, rng: np.random.Generator) -> tuple[Array, Array]:
    """(H, q, q) records by item stratum, human label and judge label; and their probabilities."""
    people, judge = np.array(scenario["people"]), np.array(scenario["judge"])
    joint = people[:, :, None] * judge[None] / len(people)
    return rng.multinomial(scenario["N"], joint.ravel()).reshape(joint.shape), joint


def draw_sample(scenario: Scenario, corpus: Array, rng: np.random.Generator) -> tuple[Array, Array]:
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
    for h, j in np.ndindex(*sizes.shape):
        sample[h, :, j] = rng.multivariate_hypergeometric(corpus[h, :, j], taken[h, j])
    return sample, chance.reshape(sizes.shape)


def cells_of(corpus: Array, sample: Array, chance: Array) -> Cells:
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


def matrix_of(table: Array) -> Confusion:
    labels = tuple("ABCD"[: table.shape[-1]])
    totals = table.sum(axis=0).T.astype(float)
    return Confusion(labels, labels, totals, totals, "truth")


def wanted(labels: Iterable[str]) -> list[tuple[str, str | None]]:
    return [(name, None) for name in OVERALL] + [(name, label) for name in PER_LABEL for label in labels]


def text(key: tuple[str, str | None]) -> str:
    return " ".join(part for part in key if part)


def run(scenario: Scenario, seed: int, replications: int, draws: int) -> tuple[Tallies, dict[str, list[float]]]:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(sum(scenario["name"].encode()),)))
    tallies: Tallies = defaultdict(Tally)
    bare: dict[str, list[float]] = defaultdict(list)
    target = scenario.get("truth", "corpus")
    for replication in range(replications):
        corpus, joint = draw_corpus(scenario, rng)
        sample, chance = draw_sample(scenario, corpus, rng)
        truth = point_measures(matrix_of(corpus if target == "corpus" else joint))
        unweighted = point_measures(matrix_of(sample))
        cells = cells_of(corpus, sample, chance)
        whole = completed(cells, seed=replication, draws=draws, target=target, level=0.95)
        posterior = measure_intervals(whole, "posterior", seed=replication)
        linear = measure_intervals(whole, "linearised", seed=replication, posterior=posterior)
        for method, intervals in (("posterior", posterior), ("linearised", linear)):
            found = dict(zip(whole.names, intervals, strict=True))
            for key in wanted(cells.labels):
                interval, tally, true = found[key], tallies[method, text(key)], truth[key]
                if true is None or interval.value is None or interval.low is None or interval.high is None:
                    tally.undefined += 1
                    continue
                tally.add(interval.low, interval.high, true)
                tally.errors.append(interval.value - true)
        for key in wanted(cells.labels):
            seen, true = unweighted[key], truth[key]
            if seen is not None and true is not None:
                bare[text(key)].append(seen - true)
        if scenario.get("compare_borrowing"):
            pooled = complete(cells, seed=replication, draws=draws, sharing="pool").counts
            compare_rules(tallies, cells, corpus, {"family": whole.completion.counts, "pool": pooled})
    return tallies, bare


def compare_rules(tallies: Tallies, cells: Cells, corpus: Array, draws: dict[str, Array]) -> None:
    """Agreement and label shares of the corpus and of each item stratum, under both rules for thin cells."""
    estimate = expected_counts(cells)
    parts = [("whole", np.arange(len(cells)), corpus.sum(axis=0))]
    parts += [("stratum", np.flatnonzero(cells.where(stratum=f"s{h}")), corpus[h]) for h in range(len(corpus))]
    own = np.array([cells.labels.index(judge) for judge in cells.judge])
    for rule, counts in draws.items():
        for where, rows, records in parts:
            size = records.sum()
            columns = {label: np.full(len(rows), k) for k, label in enumerate(cells.labels)} | {"agreement": own[rows]}
            truths = dict(zip(cells.labels, records.sum(axis=1), strict=True)) | {"agreement": np.trace(records)}
            for name, column in columns.items():
                value = float(estimate[rows, column].sum() / size)
                interval = posterior_interval(value, counts[:, rows, column].sum(axis=1) / size)
                if interval.low is not None and interval.high is not None:
                    tallies[rule, where, name].add(interval.low, interval.high, truths[name] / size)


def summary(scenario: Scenario, tallies: Tallies, bare: dict[str, list[float]]) -> dict[str, Any]:
    result: dict[str, Any] = {"name": scenario["name"], "band": scenario.get("band")}
    result["shares only"] = len(scenario["judge"]) == 2
    for method in ("posterior", "linearised"):
        chosen = {key[1]: tally for key, tally in tallies.items() if key[0] == method}
        result[method] = {
            name: {
                "coverage": round(tally.coverage, 4),
                "width": round(tally.width / tally.runs, 5),
                "bias": round(float(np.mean(tally.errors)), 5),
                "undefined": tally.undefined,
            }
            for name, tally in chosen.items()
            if tally.runs
        }
    result["unweighted bias"] = {name: round(float(np.mean(errors)), 5) for name, errors in bare.items()}
    result["rules"] = {
        rule: {
            where: spread([t for key, t in tallies.items() if key[:2] == (rule, where)])
            for where in ("whole", "stratum")
        }
        for rule in RULES
        if scenario.get("compare_borrowing")
    }
    return result


def spread(tallies: list[Tally]) -> dict[str, float]:
    covers = [tally.coverage for tally in tallies]
    width = float(np.mean([tally.width / tally.runs for tally in tallies]))
    figures = {"lowest": min(covers), "mean": float(np.mean(covers)), "highest": max(covers)}
    return {name: round(value, 4) for name, value in figures.items()} | {"width": round(width, 5)}


def extremes(figures: dict[str, dict[str, float]]) -> tuple[str, str]:
    covers = {name: each["coverage"] for name, each in figures.items()}
    return min(covers, key=lambda name: covers[name]), max(covers, key=lambda name: covers[name])


def verdict(result: dict[str, Any]) -> str:
    if not result["band"]:
        return "-"
    low, high = result["band"]
    names = [name for name in result["posterior"] if name.startswith("human share") or not result["shares only"]]
    covers = [result["posterior"][name]["coverage"] for name in names]
    if min(covers) < low:
        return f"**below** {low:g}-{high:g}"
    return f"within {low:g}-{high:g}" if max(covers) <= high else f"not below {low:g}, above {high:g}"


HEAD = """# Coverage of the finite-population posterior

Written by `benchmarks/coverage_posterior.py` from `benchmarks/scenarios/posterior.toml` (scenarios of commit
{scenarios}, engine of commit {engine}, {date}). Seed {seed}, {replications} replications, {draws} draws, nominal 95 %.

A replication draws a corpus and a sample and asks for agreement, kappa, MCC, macro F1, balanced accuracy and, per
label, human share, recall, precision and F1. *Lowest* and *highest* are the statistics that cover least and most; the
Monte Carlo standard error of a coverage of .95 is {error:.4f}. The band is asked of every statistic, with
two labels of the shares; coverage above it bars a default only if the interval is wider than 1.15 times the best that
covers. *Linearised* is the interval of that name with its small-sample rule. *Unweighted* is the largest bias of bare
sample counts, which is why they are never printed as estimates.

| scenario | share of A: coverage, width | lowest | highest | band | linearised: lowest; share of A | unweighted |
|---|---|---|---|---|---|---|
"""

RULES_HEAD = """
## Thin cells

Two rules for cells with fewer than 10 labels. *family* (the default) lets cells of the same model and judge label share
a prior mass of 1 and lean on each other. *pool* gives every cell a prior mass of 1, and all of them one distribution as
soon as one has no label. The rule *family* was found on pilot runs with another seed, after *pool* had failed there;
this is a fresh run. Coverage of agreement and of the label shares, of the whole corpus and inside item strata:
lowest, mean, highest; mean width.

| scenario | rule | whole corpus | inside item strata |
|---|---|---|---|
"""


def table(results: list[dict[str, Any]], setup: dict[str, Any], replications: int, engine: str) -> str:
    head = HEAD.format(
        scenarios=last_commit(SCENARIOS),
        engine=engine,
        date=f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        seed=setup["seed"],
        replications=replications,
        draws=setup["draws"],
        error=(0.95 * 0.05 / replications) ** 0.5,
    )
    rows = "".join(scenario_row(result) for result in results)
    rules = "".join(rule_row(result, rule) for result in results for rule in result["rules"])
    return head + rows + RULES_HEAD + rules + "\n## All statistics\n" + "".join(details(result) for result in results)


def scenario_row(result: dict[str, Any]) -> str:
    ours, linear, bare = result["posterior"], result["linearised"], result["unweighted bias"]
    low, high = extremes(ours)
    least = extremes(linear)[0]
    worst = max(bare, key=lambda name: abs(bare[name]))
    share = "human share A"
    return (
        f"| {result['name']} | {ours[share]['coverage']:.3f}, {ours[share]['width']:.4f} "
        f"| {low} {ours[low]['coverage']:.3f} | {high} {ours[high]['coverage']:.3f} | {verdict(result)} "
        f"| {least} {linear[least]['coverage']:.3f}; {linear[share]['coverage']:.3f}, {linear[share]['width']:.4f} "
        f"| {worst} {bare[worst]:+.3f} |\n"
    )


def rule_row(result: dict[str, Any], rule: str) -> str:
    parts = [
        f"{b['lowest']:.3f}, {b['mean']:.3f}, {b['highest']:.3f}; {b['width']:.4f}"
        for b in result["rules"][rule].values()
    ]
    return f"| {result['name']} | {rule} | {' | '.join(parts)} |\n"


def details(result: dict[str, Any]) -> str:
    figures = result["posterior"]
    body = ", ".join(f"{name} {each['coverage']:.3f}" for name, each in figures.items())
    lost = [f"{name} in {each['undefined']} runs" for name, each in figures.items() if each["undefined"]]
    return f"\n{result['name']}: {body}." + (f" Not defined: {', '.join(lost)}." if lost else "") + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=int, nargs="*", help="scenario numbers, from 0")
    parser.add_argument("--replications", type=int)
    parser.add_argument("--print", action="store_true", help="print the table instead of writing it")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    options = parser.parse_args()
    setup = tomllib.loads(SCENARIOS.read_text(encoding="utf-8"))
    replications = options.replications or setup["replications"]
    chosen = range(len(setup["scenario"])) if options.only is None else options.only
    engine = last_commit(ROOT / "agreement")  # before the run: the working copy may move on while it lasts
    results = []
    for index in chosen:
        scenario = setup["scenario"][index]
        results.append(summary(scenario, *run(scenario, setup["seed"], replications, setup["draws"])))
        print(f"{index}: {scenario['name']}: {verdict(results[-1])}", file=sys.stderr, flush=True)
        if options.json:
            options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    written = table(results, setup, replications, engine)
    if options.print:
        print(written)
    else:
        TABLE.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
