"""What the whole corpus would look like under people's labels: a finite-population Dirichlet posterior.

Every record's judge label is known and a sample has human labels. Inside a cell the unseen human labels are drawn from
a Dirichlet-multinomial given the seen ones, so every draw is a complete corpus of whole records, and any number that a
confusion matrix determines follows from it (the Polya posterior of Ghosh and Meeden 1997, with a prior that gives the
judge's label half of its mass).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

import numpy as np

from agreement.cells import BoolArray, Cells, FloatArray, IntArray
from agreement.errors import AgreementError

Target = Literal["corpus", "population"]
Sharing = Literal["family", "pool"]
MIN_DRAWS = 1000
THIN = 10
FAMILY_MASS = 2.0
UNIT_SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True)
class Completion:
    """Posterior draws of the completed corpus.

    counts: (B, G, q) whole records per draw, cell and human label. For the corpus each row adds to the cell's size; for
    the population each model's rows add to its number of records.
    merged: names of cells without a label that borrowed from the same model's judge label in other strata.
    prior_only: names of cells for which there was nothing to borrow, so that the prior alone speaks.
    notes: one sentence for each thing a reader must be told.
    """

    counts: IntArray
    target: Target
    merged: tuple[str, ...]
    prior_only: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Borrowing:
    """What cells know of each other.

    pooled: (G, q) effective label counts of the cell's family, the same for all its members.
    mean: (G, q) label shares for the estimate: the cell's own, the family's, or the prior's where nothing was labelled.
    merged, prior_only: cells without a label that use the family's, and those of families without any.
    """

    pooled: FloatArray
    mean: FloatArray
    merged: tuple[int, ...]
    prior_only: tuple[int, ...]


def prior(cells: Cells) -> FloatArray:
    """(G, q) prior masses of total 1 per cell: 1/2 on the judge's label, the rest spread evenly.

    1/q each where the judge's output is no declared label. Labels that cannot occur have none (the rest is rescaled).
    """
    q = len(cells.labels)
    named = np.array([[label == judge for label in cells.labels] for judge in cells.judge]).reshape(len(cells), q)
    favoured = np.where(named, 0.5, 0.5 / max(q - 1, 1))
    masses: FloatArray = np.where(named.any(axis=1, keepdims=True), favoured, 1 / q) * cells.possible
    masses /= masses.sum(axis=1, keepdims=True)
    return masses


def borrow(cells: Cells) -> Borrowing:
    """Let cells without a label use the labels of their family: same model, judge label and possible labels.

    Labels are weighted by N_h / n_h and count as their effective sample size (Kish 1965), (sum w)^2 / sum w^2. Never
    across models.
    """
    n, size = cells.n_labelled, cells.size
    pooled, mean = np.zeros_like(cells.labelled), prior(cells)
    own = n > 0
    mean[own] = cells.labelled[own] / cells.labelled[own].sum(axis=1, keepdims=True)
    merged: list[int] = []
    prior_only: list[int] = []
    for members in families(cells):
        donors, empty = members[own[members]], members[~own[members]]
        if len(donors):
            shares = (size[donors, None] * mean[donors]).sum(axis=0) / size[donors].sum()
            effective = size[donors].sum() ** 2 / (size[donors] ** 2 / n[donors]).sum()
            pooled[members], mean[empty] = effective * shares, shares
        (merged if len(donors) else prior_only).extend(int(i) for i in empty)
    return Borrowing(pooled, mean, tuple(sorted(merged)), tuple(sorted(prior_only)))


def complete(
    cells: Cells, *, draws: int = 4000, seed: int, target: Target = "corpus", sharing: Sharing = "family"
) -> Completion:
    """Draw completed corpora given the labels seen.

    draws: B, at least 1000. target: "corpus" completes the records at hand; "population" then resamples each model's
    completed records with replacement (Bayesian bootstrap of the questions), for the source they came from.
    sharing: what cells of one family (same model, judge label and possible labels, in other strata) tell each other.
    "family": where one of them has fewer than 10 labels, the prior mass of 1 is the family's, not each cell's, since a
    mass per cell would pull agreement down as cells multiply (measured in docs/coverage-posterior.md). With
    p_F ~ Dirichlet(a + pooled labels) and n_F labels in the family, each cell has p_g ~ Dirichlet(A m), m proportional
    to y_g + a n_g / n_F + 2 p_F and A + 1 = n_g (1 - n_g / (n_g + 2)^2), which gives p_g the variance of the cell's
    sample share; a cell without labels has p_F.
    "pool": each cell has a prior mass of 1, and one distribution serves the whole family as soon as one of its cells
    has no label. The two are the same where every cell has 10 labels.

    Every cell draws from a PCG64 stream of its own, derived from the seed and the cell's names, so that adding a model
    changes no other number. A unit whose label is split (1/m to each of m labels) is completed by
    systematic rounding: in each draw the cell's fractional counts are rounded to whole records that add to n_g, each
    within one record of its fraction and equal to it on average.
    """
    if draws < MIN_DRAWS:
        raise AgreementError(f"draws={draws}: a posterior interval needs at least {MIN_DRAWS}")
    borrowed, masses = borrow(cells), prior(cells)
    counts = np.zeros((draws, len(cells), len(cells.labels)), dtype=np.int64)
    for members in families(cells):
        streams = [_stream(seed, cells, int(g)) for g in members]
        weights = _label_weights(cells, members, borrowed, masses, streams, draws, sharing)
        for g, stream, weight in zip(members, streams, weights, strict=True):
            counts[:, g] = _seen(cells.labelled[g], draws, stream)
            counts[:, g] += _unseen(int(cells.size[g] - cells.n_labelled[g]), weight, stream)
    if target == "population":
        _resample(cells, counts, seed)
    return Completion(counts, target, *_names(cells, borrowed))


def expected_counts(cells: Cells) -> FloatArray:
    """(G, q) post-stratified estimate of the completed cells: N_g times the label shares seen (Tenenbein 1970).

    Cells without a label borrow as in `complete`; rows add to N_g. This, not the mean of the draws, is the estimate.
    """
    return cells.size[:, None] * borrow(cells).mean


def families(cells: Cells) -> list[IntArray]:
    """Indices of the cells that may lend to each other: same model, judge label and possible labels."""
    found: dict[tuple[str, str, bytes], list[int]] = {}
    for g in range(len(cells)):
        found.setdefault((cells.model[g], cells.judge[g], cells.possible[g].tobytes()), []).append(g)
    return [np.array(members, dtype=np.int64) for members in found.values()]


def _stream(seed: int, cells: Cells, g: int) -> np.random.Generator:
    possible = "".join("01"[int(flag)] for flag in cells.possible[g])
    names = (cells.model[g], cells.stratum[g], cells.judge[g], possible, float(cells.probability[g]).hex())
    return _named_stream(seed, *names)


def _named_stream(seed: int, *names: str) -> np.random.Generator:
    digest = hashlib.sha256(UNIT_SEPARATOR.join(names).encode("utf-8", "surrogatepass")).digest()
    key = tuple(int.from_bytes(digest[i : i + 4], "big") for i in range(0, 16, 4))
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def _label_weights(
    cells: Cells,
    members: IntArray,
    borrowed: Borrowing,
    masses: FloatArray,
    streams: list[np.random.Generator],
    draws: int,
    sharing: Sharing,
) -> list[FloatArray]:
    """Per cell of a family (B, q) unnormalised Dirichlet draws of its label distribution."""
    n = cells.n_labelled[members]
    thin = bool(_is_thin(cells, members).any()) and len(members) > 1
    shape = (draws, len(cells.labels))
    if (sharing == "family" and not thin) or (sharing == "pool" and (n > 0).all()):
        return [
            stream.standard_gamma(masses[g] + cells.labelled[g], size=shape)
            for g, stream in zip(members, streams, strict=True)
        ]
    common = streams[0].standard_gamma(masses[members[0]] + borrowed.pooled[members[0]], size=shape)
    if sharing == "pool":
        return [common] * len(members)
    common /= common.sum(axis=1, keepdims=True)
    own = cells.labelled[members] + masses[members] * (n / max(n.sum(), 1))[:, None]
    return [_near(common, y, k, s) for y, k, s in zip(own, n.tolist(), streams, strict=True)]


def _is_thin(cells: Cells, members: IntArray) -> BoolArray:
    """Cells with fewer than 10 labels that are not labelled throughout."""
    return np.asarray(cells.n_labelled[members] < np.minimum(THIN, cells.size[members]))


def _near(common: FloatArray, own: FloatArray, n: int, stream: np.random.Generator) -> FloatArray:
    """(B, q) distribution of a cell with n labels, `own` with its part of the prior, in a family that has `common`."""
    if n == 0:
        return common
    precision = max(n * (1 - n / (n + FAMILY_MASS) ** 2) - 1, 0.5)
    weights: FloatArray = stream.standard_gamma(precision * (own + FAMILY_MASS * common) / (own.sum() + FAMILY_MASS))
    return weights


def _seen(labelled: FloatArray, draws: int, stream: np.random.Generator) -> IntArray:
    """(B, q) labelled records as whole numbers: exact where they are whole, else systematically rounded."""
    if np.array_equal(labelled, np.rint(labelled)):
        return np.broadcast_to(labelled.astype(np.int64), (draws, len(labelled)))
    edges = np.round(np.concatenate(([0.0], np.cumsum(labelled))), 9)
    return np.diff(np.floor(edges + stream.random((draws, 1))), axis=1).astype(np.int64)


def _unseen(count: int, weights: FloatArray, stream: np.random.Generator) -> IntArray:
    """(B, q) labels of the unlabelled records. Only labels that can occur enter, so that none gets a rounding rest."""
    drawn = np.zeros(weights.shape, dtype=np.int64)
    support = weights.any(axis=0)
    if count:
        chances = weights[:, support]
        drawn[:, support] = stream.multinomial(count, chances / chances.sum(axis=1, keepdims=True))
    return drawn


def population_weights(cells: Cells, counts: IntArray) -> FloatArray:
    """(B, G, q) what further records would be drawn from: completed cells, and a prior mass of 1 per family.

    counts: (B, G, q) completed cells. Each cell's weights add to its size. Without that mass a label that no record has
    could never appear, and a census without errors would be certain.
    """
    total = np.zeros(len(cells))
    for members in families(cells):
        total[members] = cells.size[members].sum()
    share = cells.size / np.maximum(total, 1)
    weights: FloatArray = (counts + prior(cells) * share[:, None]) * (total / (total + 1))[:, None]
    return weights


def _resample(cells: Cells, counts: IntArray, seed: int) -> None:
    """Replace each model's completed corpus by a sample of its size from `population_weights`."""
    weights = population_weights(cells, counts)
    for model in sorted(set(cells.model)):
        mask = cells.where(model=model)
        size = int(cells.size[mask].sum())
        chances = weights[:, mask].reshape(len(weights), -1)
        support = chances.any(axis=0)
        drawn = np.zeros(chances.shape, dtype=np.int64)
        stream = _named_stream(seed, "population", model)
        drawn[:, support] = stream.multinomial(size, chances[:, support] / chances.sum(axis=1, keepdims=True))
        counts[:, mask] = drawn.reshape(len(weights), -1, len(cells.labels))


def _names(cells: Cells, borrowed: Borrowing) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    notes = [
        f"{cells.name(g)}: no human label; labels of the same model and judge label in other strata stand in"
        for g in borrowed.merged
    ]
    thin = sum(int(_is_thin(cells, members).sum()) for members in families(cells) if len(members) > 1)
    if thin:
        notes.append(f"{thin} cells with fewer than {THIN} labels lean on the same judge label in other strata")
    missing: dict[tuple[str, str], int] = {}
    for g in borrowed.prior_only:
        key = (cells.model[g], cells.judge[g])
        missing[key] = missing.get(key, 0) + int(cells.size[g])
    notes += [
        f"{count} records of model {model} with judge label {judge} have no human label"
        for (model, judge), count in missing.items()
    ]
    surprising = float((cells.labelled * ~cells.possible).sum())
    if surprising:
        notes.append(f"{surprising:g} human labels are ones that were declared impossible for their record")
    merged, prior_only = (tuple(cells.name(g) for g in found) for found in (borrowed.merged, borrowed.prior_only))
    return merged, prior_only, tuple(notes)
