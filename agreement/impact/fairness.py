"""Where the judge is unfair: error rates and Youden's J by model and stratum, and a test that errors are alike.

Rates are those of the whole corpus under the finite-population posterior, so that few or no errors seen still give an
honest interval. What stands out is named without being looked for: the level that deviates most is set aside, and the
rest is tested again, until the rest is alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agreement.impact.broken import Finding, constant_judge, reversed_judge
from agreement.impact.case import Case
from agreement.impact.columns import Factor
from agreement.impact.confusion_draws import ConfusionDraws, confusion_draws, error_rate, mean_youden, youden
from agreement.impact.estimate import Estimate, from_draws, undefined
from agreement.impact.permutation import PermutationTest, benjamini_hochberg, permutation_test
from agreement.impact.records import BoolArray, FloatArray, IntArray, Records, Sample
from agreement.impact.streams import stream

ALPHA = 0.05
MODEL = "model"
METHOD = "finite-population posterior"


@dataclass(frozen=True, slots=True)
class LevelFairness:
    """The judge on one level: error rate, Youden's J (mean over outcomes, and of each), and the test against the rest.

    p: Benjamini-Hochberg over all levels of all variables, None where the level cannot be compared. deviation:
    standardised test statistic.
    """

    variable: str
    level: str
    records: float
    labelled: int
    error_rate: Estimate
    youden: Estimate
    youden_by_outcome: Mapping[str, Estimate]
    p: float | None
    deviation: float | None


@dataclass(frozen=True, slots=True)
class CellTest:
    """One level under one judge outcome: labelled units, and the adjusted p-value of its difference from the rest."""

    variable: str
    level: str
    judge: str
    labelled: int
    p: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Fairness:
    """variables: overall p-value of each variable. levels, cells: the tests. findings: what a reader must be told."""

    outcomes: tuple[str, ...]
    variables: Mapping[str, float | None]
    levels: tuple[LevelFairness, ...]
    cells: tuple[CellTest, ...]
    findings: tuple[Finding, ...]
    permutations: int


@dataclass(frozen=True, slots=True)
class Units:
    """Labelled units of all models: verdict pattern, judge outcome, permutation stratum, position in the sample."""

    shares: FloatArray
    verdict: IntArray
    judged: IntArray
    stratum: IntArray
    position: IntArray


def fairness(
    cases: Mapping[str, Case],
    corpus: Records,
    sample: Sample,
    by: Sequence[str],
    *,
    draws: int,
    seed: int,
    level: float = 0.95,
    permutations: int = 1999,
) -> Fairness:
    """Fairness of a judge over models and the variables `by`; cases: one per model, of the score's `Verdicts`."""
    first = next(iter(cases.values()))
    units = _units(cases)
    crossed = _crossed(cases, corpus, sample, by, draws, seed)
    confusions = {MODEL: {m: confusion_draws(c, draws=draws, seed=seed) for m, c in cases.items() if len(c.sample)}}
    confusions |= {name: {v: _pooled(d) for v, d in levels.items() if d} for name, levels in crossed.items()}
    tests: dict[str, PermutationTest | None] = {}
    factors = {MODEL: sample.records.model} | {name: sample.records.factor(name) for name in by}
    for name, factor in factors.items():
        codes = factor.codes[units.position]
        rng = stream(seed, "fairness", name)
        tests[name] = _test(codes, units, len(factor.names), len(first.outcomes) + 2, rng, permutations)
    adjusted = _adjust(tests)
    levels = tuple(
        _level(name, value, draw, tests[name], adjusted.get(name), factors[name].names, first.outcomes, level)
        for name, found in confusions.items()
        for value, draw in found.items()
    )
    cells = _cells(tests, factors, units, first)
    findings = [
        *(f for name, found in confusions.items() for f in reversed_judge(name, found, first.outcomes)),
        *constant_judge(cases, corpus, confusions, crossed),
    ]
    for name, factor in factors.items():
        rng = stream(seed, "stands out", name)
        findings += _standouts(name, factor.codes[units.position], factor.names, units, first, rng, permutations)
    return Fairness(
        first.outcomes,
        {name: None if test is None else test.p for name, test in tests.items()},
        levels,
        cells,
        tuple(findings),
        permutations,
    )


def _units(cases: Mapping[str, Case]) -> Units:
    sides = [case.sample for case in cases.values()]
    shares = np.concatenate([side.shares for side in sides])
    judged = np.concatenate([side.judged for side in sides])
    possible = np.concatenate([side.possible for side in sides])
    _, verdict = np.unique(np.round(shares, 9), axis=0, return_inverse=True)
    _, allowed = np.unique(possible, axis=0, return_inverse=True)
    design = np.concatenate([side.stratum for side in sides])
    width = shares.shape[1] + 2
    stratum = (design * (int(allowed.max(initial=0)) + 1) + allowed.reshape(-1)) * width + judged
    return Units(shares, verdict.reshape(-1), judged, stratum, np.concatenate([side.units for side in sides]))


def _crossed(
    cases: Mapping[str, Case], corpus: Records, sample: Sample, by: Sequence[str], draws: int, seed: int
) -> dict[str, dict[str, dict[str, ConfusionDraws]]]:
    """Confusion draws per variable, level and model, where the model has labelled units on the level."""
    found: dict[str, dict[str, dict[str, ConfusionDraws]]] = {}
    for name in by:
        rows, units = corpus.factor(name), sample.records.factor(name)
        found[name] = {}
        for value in rows.names:
            parts = {m: case.restrict(rows.mask(value), units.mask(value)) for m, case in cases.items()}
            found[name][value] = {
                m: confusion_draws(part, draws=draws, seed=seed) for m, part in parts.items() if len(part.sample)
            }
    return found


def _pooled(draws: Mapping[str, ConfusionDraws]) -> ConfusionDraws:
    """The models' confusions added up."""
    parts = list(draws.values())
    return ConfusionDraws(
        np.sum([d.expected for d in parts], axis=0),
        np.sum([d.draws for d in parts], axis=0),
        np.sum([d.seen for d in parts], axis=0),
    )


def _test(
    codes: IntArray, units: Units, levels: int, outcomes: int, rng: np.random.Generator, permutations: int
) -> PermutationTest | None:
    held = codes >= 0
    if levels < 2 or not held.any():
        return None
    return permutation_test(
        codes[held],
        units.stratum[held],
        units.verdict[held],
        units.judged[held],
        levels=levels,
        outcomes=outcomes,
        rng=rng,
        permutations=permutations,
    )


def _adjust(tests: Mapping[str, PermutationTest | None]) -> dict[str, FloatArray]:
    """Benjamini-Hochberg over the levels of all variables."""
    held = {name: np.where(t.tested, t.level_p, np.nan) for name, t in tests.items() if t is not None}
    if not held:
        return {}
    flat = benjamini_hochberg(np.concatenate(list(held.values())))
    ends = np.cumsum([len(p) for p in held.values()])[:-1]
    return dict(zip(held, np.split(flat, ends), strict=True))


def _level(
    variable: str,
    value: str,
    draws: ConfusionDraws,
    test: PermutationTest | None,
    adjusted: FloatArray | None,
    names: tuple[str, ...],
    outcomes: tuple[str, ...],
    level: float,
) -> LevelFairness:
    at = names.index(value) if value in names else None
    p = None if adjusted is None or at is None or not np.isfinite(adjusted[at]) else float(adjusted[at])
    each, drawn = youden(draws.expected), youden(draws.draws)
    return LevelFairness(
        variable,
        value,
        draws.records,
        draws.labelled,
        from_draws(float(error_rate(draws.expected)), error_rate(draws.draws), level=level, method=METHOD, why="empty"),
        _youden(draws, level),
        {
            name: from_draws(float(each[k]), drawn[:, k], level=level, method=METHOD, why=f"no {name}, or nothing else")
            for k, name in enumerate(outcomes)
        },
        p,
        None if test is None or at is None or p is None else float(test.deviation[at]),
    )


def _youden(draws: ConfusionDraws, level: float) -> Estimate:
    value = float(mean_youden(draws.expected))
    if not np.isfinite(value):
        return undefined("people give a single outcome: Youden's J cannot be computed", METHOD)
    return from_draws(value, mean_youden(draws.draws), level=level, method=METHOD, why="undefined")


def _cells(
    tests: Mapping[str, PermutationTest | None], factors: Mapping[str, Factor], units: Units, case: Case
) -> tuple[CellTest, ...]:
    """Every level by judge outcome with labelled units, adjusted over all such cells of a variable."""
    names = (*case.outcomes, "(not a label)", "(missing)")
    found = []
    for variable, test in tests.items():
        factor = factors[variable]
        codes = factor.codes[units.position]
        if test is None:
            continue
        counts = np.zeros(test.cell_p.shape)
        np.add.at(counts, (codes[codes >= 0], units.judged[codes >= 0]), 1)
        adjusted = benjamini_hochberg(np.where((counts > 0) & test.tested[:, None], test.cell_p, np.nan))
        for at, j in zip(*np.nonzero(np.isfinite(adjusted)), strict=True):
            p, deviation = float(adjusted[at, j]), float(test.cell_deviation[at, j])
            found.append(CellTest(variable, factor.names[at], names[j], int(counts[at, j]), p, deviation))
    return tuple(sorted(found, key=lambda cell: (cell.p, -cell.deviation)))


def _standouts(
    variable: str,
    codes: IntArray,
    names: tuple[str, ...],
    units: Units,
    case: Case,
    rng: np.random.Generator,
    permutations: int,
) -> list[Finding]:
    """Set the most deviating level aside and test the rest again, until the rest is alike."""
    held: BoolArray = codes >= 0
    found: list[Finding] = []
    while len(np.unique(codes[held])) > 1:
        present, local = np.unique(codes[held], return_inverse=True)
        test = permutation_test(
            local,
            units.stratum[held],
            units.verdict[held],
            units.judged[held],
            levels=len(present),
            outcomes=len(case.outcomes) + 2,
            rng=rng,
            permutations=permutations,
        )
        if test.p > ALPHA or not test.tested.any():
            break
        worst = int(np.where(test.tested, test.deviation, -np.inf).argmax())
        mine = held & (codes == present[worst])
        found.append(_stands_out(variable, names[present[worst]], mine, held & ~mine, units, case, test, worst))
        held = held & ~mine
    return found


def _stands_out(
    variable: str,
    level: str,
    mine: BoolArray,
    rest: BoolArray,
    units: Units,
    case: Case,
    test: PermutationTest,
    worst: int,
) -> Finding:
    """Name the judge outcome on which the level differs most, and how people's verdicts differ there."""
    names = (*case.outcomes, "(not a label)", "(missing)")
    calls = [units.judged == j for j in range(len(names))]
    shared = np.array([(rest & call).any() and (mine & call).any() for call in calls])
    j = int(np.where(shared, test.cell_deviation[worst], -np.inf).argmax())
    here, there = units.shares[mine & calls[j]], units.shares[rest & calls[j]]
    k = int(np.abs(here.mean(axis=0) - there.mean(axis=0)).argmax())
    text = (
        f"{variable} {level}: the judge errs differently there than elsewhere (permutation p = {test.p:.4g}); "
        f"of {len(here)} labelled records that it calls {names[j]}, people call {here[:, k].mean():.0%} "
        f"{case.outcomes[k]}, against {there[:, k].mean():.0%} of {len(there)} elsewhere"
    )
    return Finding("stands out", variable, level, text, names[j], float(test.deviation[worst]))
