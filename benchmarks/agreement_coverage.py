"""Coverage of every agreement interval by simulation with known truth, and the page that reports it.

    python benchmarks/agreement_coverage.py [--only TEXT] [--replications N] [--bootstrap N]

Scenarios and the seed are in scenarios/agreement_coverage.toml, fixed before the run.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import textwrap
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import agreement as ag

HERE = Path(__file__).resolve().parent
SCENARIOS = HERE / "scenarios" / "agreement_coverage.toml"
PAGE = HERE.parent / "docs" / "benchmarks" / "agreement_coverage.md"
GRADED = ("AC2 quadratic", "alpha ordinal", "alpha interval")
FORMULA = ("auto", "analytic", "wilson")
BOOTSTRAP = ("percentile", "bca")
EXPLANATION = (
    "Scenarios and seed: `benchmarks/scenarios/agreement_coverage.toml`. `auto` is the default: from the standard "
    "error, but Wilson's where fewer than five units disagree (ICC: F distribution; Lin: Fisher's z). In "
    "brackets the mean width; `-n` counts replications without an interval (no variation, or too many undefined draws)."
)


@dataclass
class Tally:
    """What became of one interval over the replications."""

    defined: int = 0
    lost: int = 0
    inside: int = 0
    width: float = 0.0

    def add(self, result: Any, truth: float) -> None:
        if result.low is None or result.high is None:
            self.lost += 1
            return
        self.defined += 1
        self.inside += result.low - 1e-12 <= truth <= result.high + 1e-12
        self.width += result.high - result.low


def _tallies() -> dict[str, Tally]:
    return defaultdict(Tally)


@dataclass
class Cell:
    """One coefficient in one scenario and size: its truth and a tally by interval."""

    truth: float
    intervals: dict[str, Tally] = field(default_factory=_tallies)


Coefficient = Callable[..., Any]


def coefficients(scenario: dict[str, Any]) -> dict[str, Coefficient]:
    found: dict[str, Coefficient] = {
        "percent": ag.percent_agreement,
        "Fleiss": ag.fleiss_kappa,
        "AC1": ag.gwet_ac,
        "Brennan-Prediger": ag.brennan_prediger,
        "alpha": ag.krippendorff_alpha,
    }
    if scenario["coders"] == 2:
        found["Cohen"] = ag.cohen_kappa
    else:
        found |= {"Conger": ag.conger_kappa, "Light": ag.light_kappa}
    if scenario["kind"] == "scale":
        found |= {
            "AC2 quadratic": lambda r, **o: ag.gwet_ac(r, weights="quadratic", **o),
            "alpha ordinal": lambda r, **o: ag.krippendorff_alpha(r, level="ordinal", **o),
            "alpha interval": lambda r, **o: ag.krippendorff_alpha(r, level="interval", **o),
        }
    return found


def report(scenario: dict[str, Any], accuracy: float) -> np.ndarray:
    """(true label, reported label) probabilities of a coder."""
    shares = np.array(scenario["shares"])
    q = len(shares)
    if scenario["kind"] != "scale":
        return accuracy * np.eye(q) + (1 - accuracy) * shares
    steps = np.eye(q, k=1) + np.eye(q, k=-1)
    return accuracy * np.eye(q) + (1 - accuracy) * steps / steps.sum(axis=1, keepdims=True)


def patterns(scenario: dict[str, Any], accuracies: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """All rating patterns, NaN where missing, and their exact probabilities."""
    gaps, q = scenario.get("gaps", 0.0), len(scenario["shares"])
    codes = np.array(list(itertools.product(range(-1 if gaps else 0, q), repeat=len(accuracies))))
    chance = np.zeros(len(codes))
    for label, share in enumerate(scenario["shares"]):
        product = np.ones(len(codes))
        for column, accuracy in zip(codes.T, accuracies, strict=True):
            product *= np.where(column < 0, gaps, (1 - gaps) * report(scenario, accuracy)[label][column])
        chance += share * product
    return np.where(codes < 0, np.nan, codes + 1.0), chance


def table(rows: np.ndarray, q: int, **units: Any) -> Any:
    return ag.read_ratings(rows, labels=range(1, q + 1), **units)


def truth_of(coefficient: Coefficient, mixture: list[tuple[float, np.ndarray, np.ndarray]], q: int) -> float:
    """The coefficient of a population, its patterns as units with enormous weights (no small-sample factor left)."""
    rows = np.concatenate([rows for _, rows, _ in mixture])
    weights = np.concatenate([share * chance for share, _, chance in mixture])
    kept = weights > 0
    return float(coefficient(table(rows[kept], q, unit_weights=1e12 * weights[kept]), interval="none").value)


def simulate(scenario: dict[str, Any], n: int, rng: np.random.Generator) -> Iterator[Any]:
    """Endless samples, each as ratings that every coefficient takes."""
    q, coders = len(scenario["shares"]), scenario["coders"]
    if scenario["kind"] == "items":
        yield from _item_samples(scenario, n, rng)
    elif scenario["kind"] == "strata":
        yield from _stratified_samples(scenario, n, rng)
    else:
        rows, chance = patterns(scenario, [scenario["accuracy"]] * coders)
        while True:
            yield table(rows[rng.choice(len(rows), n, p=chance / chance.sum())], q)


def _item_samples(scenario: dict[str, Any], n: int, rng: np.random.Generator) -> Iterator[Any]:
    rows, hard = patterns(scenario, [scenario["accuracy"]] * 2)
    easy = patterns(scenario, [scenario["easy"]] * 2)[1]
    items = np.repeat(np.arange(n // scenario["per_item"]), scenario["per_item"])
    while True:
        is_easy = (rng.random(items[-1] + 1) < 0.5)[items]
        drawn = np.where(is_easy, rng.choice(len(rows), len(items), p=easy), rng.choice(len(rows), len(items), p=hard))
        yield table(rows[drawn], len(scenario["shares"]), items=items)


def _stratified_samples(scenario: dict[str, Any], n: int, rng: np.random.Generator) -> Iterator[Any]:
    rows, good = patterns(scenario, [scenario["accuracy"]] * 2)
    hard = patterns(scenario, [scenario["hard"]] * 2)[1]
    half = n // 2
    strata, weights = np.repeat([0, 1], half), np.repeat([0.9, 0.1], half) * 100_000 / half
    while True:
        drawn = np.concatenate([rng.choice(len(rows), half, p=good), rng.choice(len(rows), half, p=hard)])
        yield table(rows[drawn], len(scenario["shares"]), strata=strata, unit_weights=weights)


def mixture(scenario: dict[str, Any]) -> list[tuple[float, np.ndarray, np.ndarray]]:
    coders = scenario["coders"]
    main = patterns(scenario, [scenario["accuracy"]] * coders)
    if scenario["kind"] == "items":
        return [(0.5, *main), (0.5, *patterns(scenario, [scenario["easy"]] * coders))]
    if scenario["kind"] == "strata":
        return [(0.9, *main), (0.1, *patterns(scenario, [scenario["hard"]] * coders))]
    return [(1.0, *main)]


def run_labels(scenario: dict[str, Any], n: int, plan: dict[str, int], rng: np.random.Generator) -> dict[str, Cell]:
    found = coefficients(scenario)
    q = len(scenario["shares"])
    cells = {name: Cell(truth_of(function, mixture(scenario), q)) for name, function in found.items()}
    samples = simulate(scenario, n, rng)
    for number in range(plan["replications"]):
        sample = next(samples)
        for name, function in found.items():
            _formula(cells[name], function, sample, all_or_nothing=name not in GRADED)
            if number < plan["bootstrap"]:
                for method in BOOTSTRAP:
                    result = function(sample, interval=method, draws=plan["draws"], seed=number)
                    cells[name].intervals[method].add(result, cells[name].truth)
    return cells


def _formula(cell: Cell, function: Coefficient, sample: Any, *, all_or_nothing: bool) -> None:
    """`auto` is one of the other two: only the one that it is not is asked for."""
    auto = function(sample)
    small = (auto.interval or "").startswith("Wilson")
    cell.intervals["auto"].add(auto, cell.truth)
    if not (small or all_or_nothing):
        cell.intervals["analytic"].add(auto, cell.truth)
        return
    other = function(sample, interval="analytic" if small else "wilson")
    cell.intervals["wilson"].add(auto if small else other, cell.truth)
    cell.intervals["analytic"].add(other if small else auto, cell.truth)


def run_difference(scenario: dict[str, Any], n: int, plan: dict[str, int], rng: np.random.Generator) -> dict[str, Cell]:
    people = [1, 2, 3]
    first, q = [(0, coder) for coder in people], len(scenario["shares"])
    rows, chance = patterns(scenario, [scenario["judge"], *[scenario["accuracy"]] * 3])

    def difference(sample: Any, **options: Any) -> Any:
        return ag.compare_agreement(sample, first, people, **options).difference

    cell = Cell(truth_of(difference, [(1.0, rows, chance)], q))
    for number in range(plan["replications"]):
        sample = table(rows[rng.choice(len(rows), n, p=chance)], q)
        for method in ("auto", *(BOOTSTRAP if number < plan["bootstrap"] else ())):
            result = difference(sample, interval=method, draws=plan["draws"], seed=number)
            cell.intervals[method].add(result, cell.truth)
    return {"difference of mean kappas": cell}


def run_numbers(scenario: dict[str, Any], n: int, plan: dict[str, int], rng: np.random.Generator) -> dict[str, Cell]:
    k, error = scenario["coders"], scenario["error_variance"]
    fixed = np.sqrt(scenario["bias_variance"]) * np.array([-1.0, 0.0, 1.0])[:k]
    spread = float(fixed.var(ddof=1))
    pair_gap = float((fixed[0] - fixed[1]) ** 2)
    sd = np.sqrt(2 * error)
    cells = {
        "ICC(A,1), random coders": Cell(1 / (1 + scenario["bias_variance"] + error)),
        "ICC(C,1)": Cell(1 / (1 + error)),
        "ICC(A,1), these coders": Cell(1 / (1 + spread + error)),
        "Lin, 2 coders": Cell(2 / (2 * (1 + error) + pair_gap)),
        "Lin, 3 coders": Cell(
            2 * 3 / (2 * 3 * (1 + error) + sum((a - b) ** 2 for a, b in itertools.combinations(fixed, 2)))
        ),
        "alpha interval": Cell(1 - error_share(fixed, error)),
        "Bland-Altman bias": Cell(float(fixed[0] - fixed[1])),
        "Bland-Altman lower limit": Cell(float(fixed[0] - fixed[1]) - 1.959964 * sd),
    }
    for number in range(plan["replications"]):
        unit = rng.normal(size=(n, 1))
        noise = np.sqrt(error) * rng.normal(size=(n, k))
        random = unit + np.sqrt(scenario["bias_variance"]) * rng.normal(size=k) + noise
        rows = unit + fixed + noise
        options = {"draws": plan["draws"], "seed": number}
        add = lambda name, method, result: cells[name].intervals[method].add(result, cells[name].truth)  # noqa: E731
        add("ICC(A,1), random coders", "auto", ag.icc(random))
        add("ICC(C,1)", "auto", ag.icc(rows, form="C,1"))
        limits = ag.bland_altman(rows[:, 0], rows[:, 1])
        add("Bland-Altman bias", "auto", limits.bias)
        add("Bland-Altman lower limit", "auto", limits.lower)
        for method in ("auto", "analytic", *(BOOTSTRAP if number < plan["bootstrap"] else ())):
            if method != "auto":
                add("ICC(A,1), these coders", method, ag.icc(rows, interval=method, **options))
            add("Lin, 2 coders", method, ag.lin_concordance(rows[:, :2], interval=method, **options))
            add("Lin, 3 coders", method, ag.lin_concordance(rows, interval=method, **options))
            add("alpha interval", method, ag.krippendorff_alpha(rows, level="interval", interval=method, **options))
    return cells


def error_share(bias: np.ndarray, error: float) -> float:
    """Expected squared difference within units over that of any two ratings of the population."""
    k = len(bias)
    within = 2 * error + np.mean([(bias[i] - bias[j]) ** 2 for i in range(k) for j in range(k) if i != j])
    among = 2 * (1 + error) + np.mean([(a - b) ** 2 for a in bias for b in bias])
    return float(within / among)


def run(job: tuple[int, dict[str, Any], int, int, dict[str, int]]) -> tuple[str, int, dict[str, Cell]]:
    """One scenario and size, with a stream of its own."""
    number, scenario, n, seed, plan = job
    rng = np.random.Generator(np.random.PCG64([seed, number, n]))
    return scenario["name"], n, RUNNERS.get(scenario["kind"], run_labels)(scenario, n, plan, rng)


RUNNERS = {"difference": run_difference, "numbers": run_numbers}


def page(results: list[tuple[str, int, dict[str, Cell]]], settings: dict[str, Any]) -> str:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=HERE, check=True
    )
    methods = (*FORMULA, *BOOTSTRAP)
    lines = [
        "# Coverage of agreement intervals",
        "",
        *textwrap.wrap(
            f"Written by `benchmarks/agreement_coverage.py` at commit {commit.stdout.strip()} on "
            f"{datetime.now(UTC):%Y-%m-%d}. Nominal 95 %. {settings['replications']:,} replications (Monte Carlo error "
            f"about .007) for intervals by formula, {settings['bootstrap']:,} (about .014) with {settings['draws']:,} "
            "draws each for bootstraps. " + EXPLANATION,
            118,
        ),
        "",
    ]
    for name, group in itertools.groupby(results, key=lambda result: result[0]):
        lines += [
            f"## {name}",
            "",
            "| coefficient | true | units | " + " | ".join(methods) + " |",
            "|---" * (3 + len(methods)) + "|",
        ]
        for _, n, cells in group:
            for label, cell in cells.items():
                shown = [_shown(cell.intervals[method]) if method in cell.intervals else "" for method in methods]
                lines.append(f"| {label} | {cell.truth:.3f} | {n} | " + " | ".join(shown) + " |")
        lines.append("")
    return "\n".join(lines)


def _shown(tally: Tally) -> str:
    if not tally.defined:
        return f"none -{tally.lost}"
    lost = f" -{tally.lost}" if tally.lost else ""
    return f"{tally.inside / tally.defined:.3f} ({tally.width / tally.defined:.2f}){lost}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--replications", type=int)
    parser.add_argument("--bootstrap", type=int)
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    declared = tomllib.loads(SCENARIOS.read_text(encoding="utf-8"))
    plan = {
        "replications": arguments.replications or declared["replications"],
        "bootstrap": declared["bootstrap_replications"] if arguments.bootstrap is None else arguments.bootstrap,
        "draws": declared["draws"],
    }
    jobs = [
        (number, scenario, n, declared["seed"], plan)
        for number, scenario in enumerate(declared["scenario"])
        for n in declared["units"]
        if arguments.only in scenario["name"]
    ]
    with ProcessPoolExecutor(arguments.workers) as pool:
        results = []
        for result in pool.map(run, jobs):
            results.append(result)
            print(*result[:2], flush=True)
    text = page(results, plan)
    whole = not (arguments.only or arguments.replications or arguments.bootstrap is not None)
    print(text if not whole else f"written to {PAGE}")
    if whole:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
