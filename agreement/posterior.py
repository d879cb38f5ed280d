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

from agreement.cells import Cells, FloatArray, IntArray
from agreement.errors import AgreementError

Target = Literal["corpus", "population"]
Lending = Literal["pool", "lend"]
MIN_DRAWS = 1000
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
    """Which cells share one label distribution, and what is known about it.

    group: (G,) index of the cell's group; a cell with labels of its own is usually alone in it.
    counts: (G, q) effective label counts of the group, the same for all its cells.
    mean: (G, q) label shares for the estimate: the cell's own, the group's, or the prior's where nothing was labelled.
    """

    group: IntArray
    counts: FloatArray
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
    """Let cells without a label share the distribution of the same model and judge label, over strata.

    Only cells with the same possible labels are joined. Labels are weighted by N_h / n_h and count as their effective
    sample size (Kish 1965), (sum w)^2 / sum w^2. Never across models.
    """
    n = cells.n_labelled
    group = np.arange(len(cells), dtype=np.int64)
    counts, mean = cells.labelled.copy(), prior(cells)
    own = n > 0
    mean[own] = cells.labelled[own] / cells.labelled[own].sum(axis=1, keepdims=True)
    merged: list[int] = []
    prior_only: list[int] = []
    for members in families(cells):
        empty = members[~own[members]]
        if not len(empty):
            continue
        group[members] = members[0]
        donors = members[own[members]]
        (merged if len(donors) else prior_only).extend(int(i) for i in empty)
        if len(donors):
            shares = (cells.size[donors, None] * mean[donors]).sum(axis=0) / cells.size[donors].sum()
            effective = cells.size[donors].sum() ** 2 / (cells.size[donors] ** 2 / n[donors]).sum()
            counts[members], mean[empty] = effective * shares, shares
    return Borrowing(group, counts, mean, tuple(sorted(merged)), tuple(sorted(prior_only)))


def complete(
    cells: Cells, *, draws: int = 4000, seed: int, target: Target = "corpus", borrowing: Lending = "pool"
) -> Completion:
    """Draw completed corpora given the labels seen.

    draws: B, at least 1000. target: "corpus" completes the records at hand; "population" then resamples each model's
    completed records with replacement (Bayesian bootstrap of the questions), for the source they came from.
    borrowing: what happens to the family of a cell without a label (`families`). "pool": all its cells share one label
    distribution. "lend": labelled cells keep their own, and the empty ones get the mean of those by cell size.

    Every cell draws from a PCG64 stream of its own, derived from the seed and the cell's names, so that adding a model
    or a stratum changes no other cell's draws. A unit whose label is split (1/m to each of m labels) is completed by
    systematic rounding: in each draw the cell's fractional counts are rounded to whole records that add to n_g, each
    within one record of its fraction and equal to it on average.
    """
    if draws < MIN_DRAWS:
        raise AgreementError(f"draws={draws}: a posterior interval needs at least {MIN_DRAWS}")
    sharing, masses = borrow(cells), prior(cells)
    counts = np.zeros((draws, len(cells), len(cells.labels)), dtype=np.int64)
    for members in families(cells):
        streams = [_stream(seed, cells, int(g)) for g in members]
        weights = _label_weights(cells, members, sharing, masses, streams, draws, borrowing)
        for g, stream, weight in zip(members, streams, weights, strict=True):
            counts[:, g] = _seen(cells.labelled[g], draws, stream)
            counts[:, g] += _unseen(int(cells.size[g] - cells.n_labelled[g]), weight, stream)
    if target == "population":
        _resample(cells, counts, seed)
    return Completion(counts, target, *_names(cells, sharing))


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
    sharing: Borrowing,
    masses: FloatArray,
    streams: list[np.random.Generator],
    draws: int,
    borrowing: Lending,
) -> list[FloatArray]:
    """Per cell of a family (B, q) unnormalised Dirichlet draws of its label distribution."""
    shared = bool((sharing.group[members] != members).any() or (cells.n_labelled[members] == 0).any())
    counts = sharing.counts if borrowing == "pool" else cells.labelled
    own = [
        stream.standard_gamma(masses[g] + counts[g], size=(draws, len(cells.labels)))
        for g, stream in zip(members, streams, strict=True)
    ]
    if not shared:
        return own
    donors = [k for k, g in enumerate(members) if cells.n_labelled[g] > 0]
    if borrowing == "pool" or not donors:
        return [own[0]] * len(own)
    shares = [own[k] / own[k].sum(axis=1, keepdims=True) * float(cells.size[members[k]]) for k in donors]
    lent = np.asarray(sum(shares))
    return [own[k] if k in donors else lent for k in range(len(own))]


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


def _resample(cells: Cells, counts: IntArray, seed: int) -> None:
    for model in sorted(set(cells.model)):
        mask = cells.where(model=model)
        block = counts[:, mask]
        total = int(cells.size[mask].sum())
        stream = _named_stream(seed, "population", model)
        flat = stream.multinomial(total, block.reshape(len(block), -1) / total)
        counts[:, mask] = flat.reshape(block.shape)


def _names(cells: Cells, sharing: Borrowing) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    notes = [
        f"{cells.name(g)}: no human label; labels of the same model and judge label in other strata stand in"
        for g in sharing.merged
    ]
    missing: dict[tuple[str, str], int] = {}
    for g in sharing.prior_only:
        key = (cells.model[g], cells.judge[g])
        missing[key] = missing.get(key, 0) + int(cells.size[g])
    notes += [
        f"{count} records of model {model} with judge label {judge} have no human label"
        for (model, judge), count in missing.items()
    ]
    surprising = float((cells.labelled * ~cells.possible).sum())
    if surprising:
        notes.append(f"{surprising:g} human labels are ones that were declared impossible for their record")
    merged, prior_only = (tuple(cells.name(g) for g in found) for found in (sharing.merged, sharing.prior_only))
    return merged, prior_only, tuple(notes)
