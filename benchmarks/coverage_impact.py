"""Do the intervals of score impact cover, and is the ranking right? Simulated corpora with known human labels.

    python benchmarks/coverage_impact.py                 all scenarios, table to docs/coverage-impact.md
    python benchmarks/coverage_impact.py --only 3        that scenario alone; its section names the engine's commit
    python benchmarks/coverage_impact.py --only 3 --replications 50 --print

Scenarios and seed are in benchmarks/scenarios/impact.toml, committed before the run. A replication draws a corpus, the
judge's labels and a sample, asks the engine for its intervals as a user would, and looks whether they hold the truth of
that corpus (for the estimators by name that are for the population: of the source).
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from agreement.impact.case import Case, build_cases  # noqa: E402
from agreement.impact.engine import Options  # noqa: E402
from agreement.impact.estimate import Estimate  # noqa: E402
from agreement.impact.named import named_estimates  # noqa: E402
from agreement.impact.oncorpus import corpus_parts  # noqa: E402
from agreement.impact.onsample import sample_parts  # noqa: E402
from agreement.impact.pooling import pooling_test  # noqa: E402
from agreement.impact.profile_impact import profile_impact  # noqa: E402
from agreement.impact.profile_imputation import imputed_profiles  # noqa: E402
from agreement.impact.ranking import rank_models  # noqa: E402
from agreement.impact.records import Records, Sample  # noqa: E402
from agreement.impact.smallsample import steadied  # noqa: E402
from agreement.impact.streams import stream  # noqa: E402
from agreement.impact.threads import one_thread  # noqa: E402
from agreement.scores.ehq import Ehq  # noqa: E402
from agreement.scores.nas import Reasoned  # noqa: E402
from agreement.scores.profiles import fact_table, profiles_of  # noqa: E402
from agreement.scores.rates import Rate  # noqa: E402
from agreement.scores.wikiprofile import GRADES, profile_shares  # noqa: E402
from agreement.scores.wikiprofile import LABELS as GRADED  # noqa: E402
from benchmarks.coverage_common import Tally, last_commit  # noqa: E402

SCENARIOS = ROOT / "benchmarks" / "scenarios" / "impact.toml"
TABLE = ROOT / "docs" / "coverage-impact.md"
LABELS = ("ABSTAIN", "HEDGE", "CORRECT", "WRONG")
CATEGORIES = np.array(["FEQ", "PCQ", "HNQ", "CCQ"])
YES = Rate("yes", ("YES",))
NAMED = ("ppi++", "difference", "pseudo-outcomes")
PROFILE_PARTS = ("encodes", "knows", "direct recall", "recall failure")

Scenario = dict[str, Any]
Array = np.ndarray[Any, Any]


def noted(tally: Tally, estimate: Estimate, truth: float) -> None:
    """Count an estimate: as undefined where it has no value or no interval."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        tally.undefined += 1
        return
    tally.add(estimate.low, estimate.high, truth)
    tally.errors.append(estimate.value - truth)


@dataclass
class Findings:
    """What a scenario found: intervals by (statistic, method), and counts of events by name."""

    intervals: dict[tuple[str, str], Tally] = field(default_factory=lambda: defaultdict(Tally))
    events: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


def ehq(scenario: Scenario, rng: np.random.Generator, found: Findings, seed: int, draws: int) -> None:
    for m, error in enumerate(scenario["errors"]):
        corpus, truth = ehq_model(scenario, error, rng)
        sample = ehq_sample(scenario, corpus, truth, rng)
        case = build_cases(Ehq(), "judge", corpus, sample)["m"]
        people = build_cases(Ehq(), "people", corpus, None)["m"]
        compare(case, Ehq().values(people.judge_totals()), found, seed * 10 + m, draws)


def ehq_model(scenario: Scenario, error: float, rng: np.random.Generator) -> tuple[Records, Array]:
    size = int(scenario["N"])
    category = CATEGORIES[np.arange(size) % 4]
    impossible = np.isin(category, ["FEQ", "CCQ"])
    truth = rng.choice(4, size, p=[0.3, 0.1, 0.3, 0.3])
    confidence = np.where(truth == 2, rng.integers(60, 101, size), rng.integers(30, 101, size))
    if scenario["confidence"] == "calibrated":
        confidence = np.where(impossible, rng.integers(0, 8, size), rng.integers(0, 101, size))
        right = rng.random(size) < confidence / 100
        truth = np.where(truth >= 2, np.where(right, 2, 3), truth)
    truth[impossible & (truth == 2)] = 3
    judge = np.where(rng.random(size) < error, (truth + rng.integers(1, 4, size)) % 4, truth)
    judge[impossible & (judge == 2)] = 3
    names = [LABELS[j] for j in judge]
    corpus = Records.from_columns(
        LABELS, ["m"] * size, judges={"judge": names, "people": [LABELS[t] for t in truth]},
        by={"category": category.tolist()}, stratum=names if scenario["design"] == "sqrt" else category.tolist(),
        confidence=confidence.tolist(), item=[str(i) for i in range(size)],
        impossible={"CORRECT": {"category": ["FEQ", "CCQ"]}},
    )  # fmt: skip
    return corpus, truth


def ehq_sample(scenario: Scenario, corpus: Records, truth: Array, rng: np.random.Generator) -> Sample:
    power = 0.5 if scenario["design"] == "sqrt" else 1.0
    units, inclusion = stratified(corpus.stratum.codes, scenario["n"], power, rng)
    return Sample.of(corpus.take(units), np.eye(4)[truth[units]], inclusion=inclusion)


def stratified(stratum: Array, n: int, power: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Units and their inclusion probabilities, with n_h proportional to a power of N_h, at least two a stratum."""
    sizes = np.bincount(stratum)
    wanted = np.minimum(np.maximum(np.rint(n * sizes**power / (sizes**power).sum()), 2), sizes).astype(int)
    units = np.concatenate([rng.choice(np.flatnonzero(stratum == h), k, replace=False) for h, k in enumerate(wanted)])
    units.sort()
    return units, (wanted / np.maximum(sizes, 1))[stratum[units]]


def compare(case: Case, truth: Array, found: Findings, seed: int, draws: int) -> dict[str, Estimate]:
    """Tally every part's corpus interval, and the sample's paired difference against that of the corpus."""
    whole = corpus_parts(case, draws=draws, seed=seed).parts
    held = sample_parts(case, draws=draws, rng=stream(seed, "sample"))
    judge = case.score.values(case.judge_totals())
    for i, part in enumerate(case.score.parts):
        noted(found.intervals[part, "corpus"], whole[part].human, float(truth[i]))
        sample = steadied(case, part, held[part], whole[part])
        delta = float(truth[i] - judge[i])
        noted(found.intervals[part, "sample difference"], sample.delta, delta)
        if sample.delta_bootstrap is not None:
            noted(found.intervals[part, "sample difference, bootstrap"], sample.delta_bootstrap, delta)
        note = whole[part].human.note is not None
        found.events[f"{part}: called noise"].append(float(note))
    return {part: p.human for part, p in whole.items()}


def binary(scenario: Scenario, rng: np.random.Generator, found: Findings, seed: int, draws: int) -> None:
    size, models = scenario["N"], scenario["models"]
    truth, says = [], []
    for rate, sensitivity, specificity in models:
        yes = rng.random(size) < rate
        truth.append(yes)
        says.append(np.where(yes, rng.random(size) < sensitivity, rng.random(size) >= specificity))
    names = [f"m{m}" for m in range(len(models)) for _ in range(size)]
    judge = np.where(np.concatenate(says), "YES", "NO").tolist()
    corpus = Records.from_columns(
        ("YES", "NO"), names, judges={"judge": judge}, stratum=judge if scenario["design"] == "sqrt" else None,
        item=[str(i) for _ in models for i in range(size)],
    )  # fmt: skip
    units, inclusion = [], []
    for m in range(len(models)):
        own = np.arange(m * size, (m + 1) * size)
        chosen, chance = stratified(corpus.stratum.codes[own], scenario["n"], 0.5, rng)
        units.append(own[chosen])
        inclusion.append(chance)
    chosen = np.concatenate(units)
    flat = np.concatenate(truth)
    shares = np.stack([flat[chosen], ~flat[chosen]], axis=1).astype(float)
    sample = Sample.of(corpus.take(chosen), shares, inclusion=np.concatenate(inclusion))
    cases = build_cases(YES, "judge", corpus, sample)
    binary_intervals(
        scenario, cases, truth, found, seed, draws, shares, np.concatenate([[m] * len(u) for m, u in enumerate(units)])
    )
    if len(models) > 1:
        binary_ranking(cases, [float(t.mean()) for t in truth], found, seed, draws)


def binary_intervals(
    scenario: Scenario, cases: dict[str, Case], truth: list[Array], found: Findings, seed: int, draws: int,
    shares: Array, model: Array,
) -> None:  # fmt: skip
    for m, case in enumerate(cases.values()):
        rate = float(truth[m].mean())
        compare(case, np.array([rate]), found, seed * 10 + m, draws)
        for method, estimate in named_estimates(case, "yes", NAMED, 0.95).items():
            target = rate if method == "difference" else scenario["models"][m][0]
            if estimate.value is not None:
                noted(found.intervals["yes", method], estimate, target)
        found.events["unweighted sample share, bias"].append(float(shares[model == m, 0].mean()) - rate)
        judged = float(case.score.values(case.judge_totals())[0])
        found.events["judge alone, bias"].append(judged - rate)


def binary_ranking(cases: dict[str, Case], rates: list[float], found: Findings, seed: int, draws: int) -> None:
    parts = {m: corpus_parts(case, draws=draws, seed=seed).parts["yes"] for m, case in cases.items()}
    judge = {m: p.judge.value or 0.0 for m, p in parts.items()}
    human = {m: p.human.value or 0.0 for m, p in parts.items()}
    true = dict(zip(cases, rates, strict=True))
    ranking = rank_models("yes", judge, human, {m: p.draws for m, p in parts.items()})
    order = sorted(true, key=lambda m: -true[m])
    low, high = order[-1], order[-2]
    found.events["judge alone reverses the last two"].append(float(judge[low] > judge[high]))
    found.events["corrected reverses the last two"].append(float(human[low] > human[high]))
    for pair in ranking.pairs:
        right = float(true[pair.first] > true[pair.second])
        if pair.settled:
            found.events["settled pairs in the wrong order"].append(1 - right)
        else:
            found.events["close pairs: mean P(above)"].append(pair.probability)
            found.events["close pairs: share in that order"].append(right)
    test = pooling_test(cases, "yes", seed=seed, draws=1000)
    if test is not None:
        found.events["pooling offered (margin .02)"].append(float(test.offered))
    forced = forced_pooling(cases)
    found.events["pooled by force: bias of the last model"].append(forced[low] - true[low])
    found.events["pooled by force reverses the last two"].append(float(forced[low] > forced[high]))


def forced_pooling(cases: dict[str, Case]) -> dict[str, float]:
    """One confusion for all models: what the engine does not offer here."""
    table = np.zeros((2, 2))
    for case in cases.values():
        np.add.at(table, case.sample.judged, case.sample.shares)
    chance = table[:, 0] / table.sum(axis=1)
    return {m: float(case.corpus.count @ chance[case.corpus.judged] / case.n_records) for m, case in cases.items()}


def nas(scenario: Scenario, rng: np.random.Generator, found: Findings, seed: int, draws: int) -> None:
    size = int(scenario["N"])
    searched: Array = rng.random(size) < 0.25
    correct: Array = rng.random(size) < np.where(searched, 0.9, 0.5)
    abstained: Array = ~correct & (rng.random(size) < 0.5)
    aligned: Array = rng.random(size) < 0.4
    says = np.where(aligned, rng.random(size) < scenario["sensitivity"], rng.random(size) >= scenario["specificity"])
    corpus = Records.from_columns(
        (), ["m"] * size, searched=searched.tolist(), correct=correct.tolist(), abstained=abstained.tolist(),
        item_type=["OK"] * size, ratings={"judge": np.where(says, 90, 10).tolist()}, item=[str(i) for i in range(size)],
    )  # fmt: skip
    matters = np.flatnonzero(correct)
    units = np.sort(rng.choice(matters, scenario["n"], replace=False))
    ratings = np.where(aligned[units], 90, 10)[:, None]
    sample = Sample.of(
        corpus.take(units), np.zeros((len(units), 0)), ratings=ratings, inclusion=scenario["n"] / len(matters)
    )
    score = Reasoned()
    value = np.where(searched & correct, 1, np.where(~searched & ~(correct & aligned), -1, 0))
    compare(build_cases(score, "judge", corpus, sample)["m"], np.array([value.mean()]), found, seed, draws)


def profiles(scenario: Scenario, rng: np.random.Generator, found: Findings, seed: int, draws: int) -> None:
    facts = scenario["facts"]
    corpus, truth = graded(facts, scenario["error"], rng)
    table = fact_table(corpus, corpus.count[:, None] * np.eye(4)[truth])
    true = profile_shares(np.bincount(profiles_of(table), minlength=7).astype(float)).paper
    assert corpus.fact is not None
    assert corpus.item is not None
    if scenario["unit"] == "fact":
        chosen = np.isin(corpus.fact.codes, rng.choice(facts, scenario["labelled"], replace=False))
        inclusion = scenario["labelled"] / facts
    else:
        chosen = np.isin(corpus.item.codes, rng.choice(facts * 10, scenario["labelled"], replace=False))
        inclusion = scenario["labelled"] / (facts * 10)
    units = np.repeat(np.flatnonzero(chosen), corpus.count[chosen])
    drawn = corpus.take(units)
    drawn.count[:] = 1
    sample = Sample.of(drawn, np.eye(4)[truth[units]], inclusion=inclusion, unit="item")
    if scenario["unit"] == "fact":
        options = Options(draws=draws, by_draws=1000, seed=seed, fair=False)
        parts = profile_impact(corpus, sample, ["judge"], options=options).main.models["m"].parts
        estimates = {part: parts[part].human for part in PROFILE_PARTS}
    else:
        estimates = imputed_profiles(corpus, sample, "judge", seed=seed).human["m"]
    for part in PROFILE_PARTS:
        noted(found.intervals[part, "corpus"], estimates[part], (true[part] or 0) / 100)


def graded(facts: int, error: float, rng: np.random.Generator) -> tuple[Records, Array]:
    """Responses counted as (question, true label, judge label); two rows a question: truly correct, truly incorrect.

    Facts differ in how well they are known; eight responses a question; the judge errs on a share of the responses.
    """
    ability = rng.beta(1.2, 0.9, facts)[:, None] + rng.normal(0, 0.15, (facts, 10))
    right = rng.binomial(8, np.clip(ability, 0.01, 0.99)).ravel()
    lost, gained = rng.binomial(right, error), rng.binomial(8 - right, error)
    rows = [(right - lost, 0, 0), (lost, 0, 1), (8 - right - gained, 1, 1), (gained, 1, 0)]
    count = np.stack([r[0] for r in rows], axis=1).ravel()
    truth, judge = (np.tile([r[k] for r in rows], facts * 10) for k in (1, 2))
    place = np.repeat(np.arange(facts * 10), 4)
    keep = count > 0
    corpus = Records.from_columns(
        GRADED, ["m"] * int(keep.sum()), judges={"judge": [GRADED[j] for j in judge[keep]]}, count=count[keep],
        by={
            "question_type": [GRADES[p % 10][0] for p in place[keep]],
            "thinking": ["on" if GRADES[p % 10][1] else "off" for p in place[keep]],
        },
        fact=[f"{p // 10:05}" for p in place[keep]], item=[f"{p:06}" for p in place[keep]],
    )  # fmt: skip
    return corpus, truth[keep]


KINDS: dict[str, Callable[..., None]] = {
    "ehq": ehq, "binary": binary, "nas": nas, "profiles": profiles,
}  # fmt: skip


def run(scenario: Scenario, seed: int, replications: int, draws: int) -> Findings:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(scenario["name"].encode()[:40])))
    found = Findings()
    with one_thread():
        for replication in range(replications):
            KINDS[scenario["kind"]](scenario, rng, found, replication, draws)
    return found


HEAD = """# Coverage of score impact

Written by `benchmarks/coverage_impact.py` from `benchmarks/scenarios/impact.toml` (scenarios of commit {scenarios},
engine of commit {engine}, {date}). Seed {seed}, {replications} replications (of each model, where a scenario has
several), {draws} draws, nominal 95 %. The Monte Carlo standard error of a coverage of .95 is {error:.4f} for one model.

*corpus*: the interval of a score of the whole corpus under people's labels, against the truth of that corpus: posterior
for means, difference estimator on totals for EHQ3 and EHQ, multiple imputation where whole questions of profiles were
labelled. *sample difference*: the paired difference on the sample against that of the corpus. *ppi++*, *difference*,
*pseudo-outcomes*: the estimators by name, against the population's value or (difference) the corpus's. Width and bias
are in units of the score. The band is asked of *corpus*, which is the default; profiles have no band of their own.

Defaults outside of their band: none.
"""
OUTSIDE = "Defaults outside of their band: "


def report(results: list[tuple[Scenario, Findings]], setup: Scenario, replications: int, engine: str) -> str:
    head = HEAD.format(
        scenarios=last_commit(SCENARIOS),
        engine=engine,
        date=f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        seed=setup["seed"],
        replications=replications,
        draws=setup["draws"],
        error=(0.95 * 0.05 / replications) ** 0.5,
    )
    return head + "".join(section(scenario, found) for scenario, found in results)


def section(scenario: Scenario, found: Findings) -> str:
    lines = [
        f"\n## {scenario['name']}\n",
        "| statistic | interval | coverage | width | bias | band |",
        "|---|---|---|---|---|---|",
    ]
    for (statistic, method), tally in found.intervals.items():
        if not tally.runs:
            lines.append(f"| {statistic} | {method} | does not apply | | | |")
            continue
        coverage = tally.hits / tally.runs
        band = verdict(coverage, scenario.get("band")) if method == "corpus" else ""
        width, bias = tally.width / tally.runs, float(np.mean(tally.errors))
        lines.append(f"| {statistic} | {method} | {coverage:.3f} | {width:.4f} | {bias:+.4f} | {band} |")
    events = {name: values for name, values in found.events.items() if any(values) or "called noise" not in name}
    if events:
        lines += ["", "| beside it | mean | of |", "|---|---|---|"]
        lines += [f"| {name} | {np.mean(values):.3f} | {len(values)} |" for name, values in events.items()]
    return "\n".join(lines) + "\n"


def verdict(coverage: float, band: list[float] | None) -> str:
    if band is None:
        return "-"
    low, high = band
    if coverage < low:
        return f"**below {low:g}**"
    return f"within {low:g}-{high:g}" if coverage <= high else f"above {high:g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=int, action="append", help="scenario number, from 1")
    parser.add_argument("--replications", type=int)
    parser.add_argument("--print", action="store_true", help="print the table instead of writing it")
    options = parser.parse_args()
    setup = tomllib.loads(SCENARIOS.read_text(encoding="utf-8"))
    replications = options.replications or setup["replications"]
    engine = last_commit(ROOT / "agreement")  # of the code that runs, whatever is committed meanwhile
    results = []
    for number, scenario in enumerate(setup["scenario"], start=1):
        if options.only and number not in options.only:
            continue
        results.append((scenario, run(scenario, setup["seed"], replications, setup["draws"])))
        print(section(*results[-1]), file=sys.stderr, flush=True)
    if options.print or not options.only:
        text = report(results, setup, replications, engine)
    else:
        text = renewed(TABLE.read_text(encoding="utf-8"), results, engine)
    text = summed_up(text)
    if options.print:
        print(text)
    else:
        TABLE.write_text(text, encoding="utf-8", newline="")


def renewed(text: str, results: list[tuple[Scenario, Findings]], engine: str) -> str:
    """The table with the sections of these scenarios replaced, each saying which engine it was run with."""
    today = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    head, *old = text.split("\n## ")
    sections = {part.split("\n", 1)[0]: part for part in old}
    for scenario, found in results:
        title, body = section(scenario, found).lstrip("\n").removeprefix("## ").split("\n", 1)
        sections[title] = f"{title}\n\nEngine of commit {engine}, {today}.\n{body.rstrip()}\n"
    return "\n## ".join([head.rstrip("\n") + "\n", *(part.rstrip("\n") + "\n" for part in sections.values())])


def summed_up(text: str) -> str:
    """The table with the defaults that lie outside of their band named before it."""
    lines, title, outside = text.split("\n"), "", []
    for line in lines:
        title = line.removeprefix("## ") if line.startswith("## ") else title
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 6 and cells[-1].startswith(("**below", "above")):
            outside.append(f"{cells[0]} at {cells[2]} ({title})")
    said = "; ".join(outside) or "none"
    return "\n".join(f"{OUTSIDE}{said}." if line.startswith(OUTSIDE) else line for line in lines)


if __name__ == "__main__":
    main()
