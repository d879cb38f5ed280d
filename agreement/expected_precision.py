"""What a planned or a present sample can show: interval widths per model and pair before and after coding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from agreement._quantiles import normal_quantile
from agreement._types import FloatArray
from agreement.cells import Cells
from agreement.errors import AgreementError
from agreement.matrix_measures import human_share
from agreement.posterior import complete, expected_counts

MIN_LABELS = 10
SETTLE = 1.959964 + 0.841621
"""Standard errors that a difference must measure to be settled at 95 % with a chance of 80 %."""


@dataclass(frozen=True, slots=True)
class ModelWidth:
    """Full width of the 95 % interval of a label's share in one model; labels: n it rests on, of `size` records."""

    model: str
    label: str
    width: float
    labels: float
    size: int


@dataclass(frozen=True, slots=True)
class PairWidth:
    """Full width for the difference of two models, and the smallest difference that would be settled 4 times in 5."""

    first: str
    second: str
    label: str
    width: float
    detectable: float


@dataclass(frozen=True, slots=True)
class ThinCell:
    """A judge label of a model with fewer than 10 labels though more records exist."""

    model: str
    judge: str
    labels: float
    size: int


@dataclass(frozen=True, slots=True)
class Precision:
    """models and pairs: per declared label. thin: what has too few labels. sentences: what can and cannot be shown."""

    models: tuple[ModelWidth, ...]
    pairs: tuple[PairWidth, ...]
    thin: tuple[ThinCell, ...]
    sentences: tuple[str, ...]


def expected_precision(
    *,
    labels: Sequence[str],
    model: Sequence[str],
    judge: Sequence[str],
    size: npt.ArrayLike,
    planned: npt.ArrayLike,
    accuracy: float | Mapping[str, float] = 0.85,
    matters: Sequence[str] | None = None,
) -> Precision:
    """Widths to expect from a plan, per model and per pair of models, before anything is coded.

    model, judge, size: G cells of the corpus with their number of records; strata may be split over several entries.
    planned: G labels to be drawn from each (n_h N_g / N_h where the design does not stratify on the judge's label).
    accuracy: planned chance that people agree with the judge's label, one number or one per judge label; the rest is
    spread evenly; output that is no label says nothing. matters: judge labels that need 10 labels (declared ones).
    Variance: post-stratified, finite corpus. Raises AgreementError when more is planned than there is.
    """
    sizes, plan = np.asarray(size, np.float64), np.asarray(planned, np.float64)
    if not len(model) == len(judge) == len(sizes) == len(plan):
        raise AgreementError("model, judge, size and planned need one entry per cell")
    if np.any(plan > sizes + 1e-9) or np.any(plan < 0):
        bad = int(np.flatnonzero((plan > sizes + 1e-9) | (plan < 0))[0])
        raise AgreementError(f"{model[bad]} / {judge[bad]}: {plan[bad]:g} labels planned out of {sizes[bad]:g} records")
    guess = _planning_shares(labels, judge, accuracy)
    # without a label only the prior speaks: variance p (1 - p) / 2 of a Dirichlet of mass 1
    free = np.where(plan > 0, (1 - plan / np.maximum(sizes, 1)) / np.maximum(plan, 1), 0.5)
    spread = (sizes**2 * free)[:, None] * guess * (1 - guess)
    names, where = _index(model)
    totals, variance = _sums(sizes, where, len(names)), _sums(spread, where, len(names))
    errors = np.sqrt(variance) / totals[:, None]
    thin = _thin(model, judge, sizes, plan, labels if matters is None else matters)
    return _precision(names, labels, errors, _sums(plan, where, len(names)), totals, thin, "planned")


def spread_plan(stratum: Sequence[str], size: npt.ArrayLike, drawn: Mapping[str, int]) -> FloatArray:
    """(G,) labels to expect in each cell when `drawn` units are taken at random from each stratum of cells.

    stratum, size: G cells with the stratum they lie in and their number of records. A stratum that is not in `drawn`
    gets none.
    """
    sizes = np.asarray(size, np.float64)
    names, where = _index(stratum)
    taken = np.array([drawn.get(name, 0) for name in names], np.float64)
    spread: FloatArray = sizes * (taken / np.maximum(_sums(sizes, where, len(names)), 1))[where]
    return spread


def present_precision(cells: Cells, *, seed: int, draws: int = 4000, matters: Sequence[str] | None = None) -> Precision:
    """The same for the labels there are now, from the posterior of the corpus."""
    names, where = _index(cells.model)
    counts = complete(cells, seed=seed, draws=draws).counts
    errors = np.zeros((len(names), len(cells.labels)))
    for m, name in enumerate(names):
        errors[m] = human_share(counts[:, cells.where(model=name)].astype(np.float64)).std(axis=0)
    sizes = cells.size.astype(np.float64)
    thin = _thin(
        cells.model,
        cells.judge,
        sizes,
        cells.n_labelled.astype(np.float64),
        cells.labels if matters is None else matters,
    )
    seen = _sums(cells.n_labelled.astype(np.float64), where, len(names))
    found = _precision(names, cells.labels, errors, seen, _sums(sizes, where, len(names)), thin, "present")
    return Precision(found.models, found.pairs, found.thin, (*found.sentences, *_differences(cells, found)))


def _differences(cells: Cells, found: Precision) -> tuple[str, ...]:
    """Per pair and label with a difference to speak of: shown, or how large it would have to be."""
    expected = expected_counts(cells)
    shares = {name: human_share(expected[cells.where(model=name)]) for name in set(cells.model)}
    sentences = []
    for pair in found.pairs:
        k = cells.labels.index(pair.label)
        gap = float(shares[pair.first][k] - shares[pair.second][k])
        settled = abs(gap) > pair.width / 2
        sentences.append(
            f"{pair.label}, {pair.first} against {pair.second}: difference {gap:+.3f} is "
            + ("shown" if settled else f"not shown; with these labels {pair.detectable:.3f} would be, 4 times in 5")
        )
    return tuple(sentences)


def _precision(
    names: Sequence[str],
    labels: Sequence[str],
    errors: FloatArray,
    seen: FloatArray,
    totals: FloatArray,
    thin: tuple[ThinCell, ...],
    tense: str,
) -> Precision:
    z = 2 * normal_quantile(0.975)
    models = tuple(
        ModelWidth(name, label, z * float(errors[m, k]), float(seen[m]), int(totals[m]))
        for m, name in enumerate(names)
        for k, label in enumerate(labels)
    )
    pairs = []
    for (a, first), (b, second) in combinations(enumerate(names), 2):
        for k, label in enumerate(labels):
            error = float(np.hypot(errors[a, k], errors[b, k]))
            pairs.append(PairWidth(first, second, label, z * error, SETTLE * error))
    sentences = [
        f"model {cell.model}: {cell.labels:.3g} {tense} labels where the judge says {cell.judge} "
        f"({cell.size} records): fewer than {MIN_LABELS}, its errors there cannot be seen"
        for cell in thin
    ]
    return Precision(models, tuple(pairs), thin, tuple(sentences))


def _thin(
    model: Sequence[str], judge: Sequence[str], sizes: FloatArray, labels: FloatArray, matters: Sequence[str]
) -> tuple[ThinCell, ...]:
    total: dict[tuple[str, str], list[float]] = {}
    for name, said, size, n in zip(model, judge, sizes, labels, strict=True):
        entry = total.setdefault((name, said), [0.0, 0.0])
        entry[0] += float(n)
        entry[1] += float(size)
    return tuple(
        ThinCell(name, said, n, int(size))
        for (name, said), (n, size) in sorted(total.items())
        if said in matters and n < min(MIN_LABELS, size) - 1e-9
    )


def _planning_shares(labels: Sequence[str], judge: Sequence[str], accuracy: float | Mapping[str, float]) -> FloatArray:
    q = len(labels)
    guess = np.full((len(judge), q), 1 / q)
    for g, said in enumerate(judge):
        if said in labels:
            right = accuracy.get(said, 0.85) if isinstance(accuracy, Mapping) else accuracy
            if not 0 <= right <= 1:
                raise AgreementError(f"accuracy is {right:g}, expected a number between 0 and 1")
            guess[g] = (1 - right) / max(q - 1, 1)
            guess[g, list(labels).index(said)] = right
    return guess


def _index(model: Sequence[str]) -> tuple[list[str], npt.NDArray[np.int64]]:
    names = sorted(set(model))
    position = {name: m for m, name in enumerate(names)}
    return names, np.array([position[name] for name in model], dtype=np.int64)


def _sums(values: FloatArray, where: npt.NDArray[np.int64], groups: int) -> FloatArray:
    total = np.zeros((groups, *values.shape[1:]))
    np.add.at(total, where, values)
    return total
