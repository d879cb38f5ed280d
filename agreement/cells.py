"""The corpus as counts: one cell per (model, design stratum, judge label), with the human labels seen in it.

Everything that a confusion matrix determines can be computed from these counts, so a resample or a posterior draw
costs the same for three thousand records as for four million.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement.errors import AgreementError
from agreement.ratings_codes import sorted_codes

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

NOT_A_LABEL = "(not a label)"
MISSING = "(missing)"


@dataclass(frozen=True, slots=True)
class Cells:
    """Parallel arrays over G cells, sorted by (model, stratum, judge label, possible labels, inclusion probability).

    Inside a cell every record has the same inclusion probability and the same possible human labels; records that
    differ in either are separate cells under the same three names.

    labels: the q declared human labels, in the declared order.
    model, stratum, judge: G names each. A judge name may lie outside `labels`: "(not a label)", "(missing)".
    size: (G,) number of records of the cell in the corpus, N_g >= 1.
    labelled: (G, q) human labels seen. A unit with a split label adds 1/m to m labels; a row adds to the integer n_g.
    possible: (G, q) which human labels can occur in the cell.
    probability: (G,) inclusion probability of its records, in (0, 1]; 0 marks a cell that was never open to the draw.
    """

    labels: tuple[str, ...]
    model: tuple[str, ...]
    stratum: tuple[str, ...]
    judge: tuple[str, ...]
    size: IntArray
    labelled: FloatArray
    possible: BoolArray
    probability: FloatArray

    def __post_init__(self) -> None:
        _check_shapes(self)
        _check_counts(self)

    def __len__(self) -> int:
        return len(self.judge)

    @property
    def n_labelled(self) -> IntArray:
        """(G,) number of labelled records of each cell, n_g."""
        seen: FloatArray = self.labelled.sum(axis=1)
        return np.rint(seen).astype(np.int64)

    def where(self, model: str | None = None, stratum: str | None = None, judge: str | None = None) -> BoolArray:
        """(G,) mask of the cells that bear the given names; None matches every name."""
        mask = np.ones(len(self), dtype=np.bool_)
        for names, wanted in ((self.model, model), (self.stratum, stratum), (self.judge, judge)):
            if wanted is not None:
                mask &= np.fromiter((name == wanted for name in names), np.bool_, len(self))
        return mask

    def take(self, mask: BoolArray) -> Cells:
        """The cells where `mask` (G,) holds, in the same order."""
        keep = np.flatnonzero(mask)
        return Cells(
            self.labels,
            tuple(self.model[i] for i in keep),
            tuple(self.stratum[i] for i in keep),
            tuple(self.judge[i] for i in keep),
            self.size[keep],
            self.labelled[keep],
            self.possible[keep],
            self.probability[keep],
        )

    def name(self, index: int) -> str:
        """The cell's names for a message: "model / stratum / judge label"."""
        return " / ".join(part for part in (self.model[index], self.stratum[index], self.judge[index]) if part)


def tabulate(
    *,
    labels: Sequence[str],
    model: Sequence[str],
    stratum: Sequence[str],
    judge: Sequence[str],
    human: npt.ArrayLike | Sequence[Any],
    probability: npt.ArrayLike = 1.0,
    possible: npt.ArrayLike | None = None,
) -> Cells:
    """Count the cells of a corpus of N records.

    model, stratum, judge: N names each. human: N entries that are a declared label, a mapping of labels to shares that
    add to 1, or None where no usable human label exists; or an (N, q) array of shares whose unlabelled rows are zero.
    probability: inclusion probability of each record (scalar or N). possible: (N, q) mask of the labels that can occur
    for each record, or None when all can. Raises AgreementError on lengths that differ and labels not declared.
    """
    declared = tuple(labels)
    shares = human if isinstance(human, np.ndarray) and human.ndim == 2 else label_shares(declared, human)  # type: ignore[arg-type]
    shares = np.asarray(shares, dtype=np.float64)
    count = len(shares)
    mask = np.ones(shares.shape, np.bool_) if possible is None else np.asarray(possible, np.bool_)
    pi = np.broadcast_to(np.asarray(probability, np.float64), (count,))
    columns = {"model": model, "stratum": stratum, "judge": judge}
    for name, column in columns.items():
        if len(column) != count:
            raise AgreementError(f"{name} has {len(column)} entries for {count} records: give one per record")
    if mask.shape != shares.shape or shares.shape[1:] != (len(declared),):
        raise AgreementError(f"human and possible must be {count} x {len(declared)} (records x declared labels)")
    return _count(declared, columns, shares, mask, pi)


def label_shares(labels: Sequence[str], human: Sequence[str | Mapping[str, float] | None]) -> FloatArray:
    """(N, q) shares of each record's human label: one-hot, split, or a zero row where it is None.

    Raises AgreementError on a label that is not declared and on shares that do not add to 1.
    """
    column = {label: k for k, label in enumerate(labels)}
    shares = np.zeros((len(human), len(column)))
    for i, entry in enumerate(human):
        if entry is None:
            continue
        parts = entry if isinstance(entry, Mapping) else {entry: 1.0}
        for label, share in parts.items():
            if label not in column:
                raise AgreementError(f"record {i}: human label {label!r} is not one of {', '.join(labels)}")
            shares[i, column[label]] += share
        if abs(shares[i].sum() - 1) > 1e-9:
            raise AgreementError(f"record {i}: shares of the human label add to {shares[i].sum():g}, expected 1")
    return shares


def _count(
    labels: tuple[str, ...], names: Mapping[str, Sequence[str]], shares: FloatArray, mask: BoolArray, pi: FloatArray
) -> Cells:
    bits = mask @ (1 << np.arange(len(labels), dtype=np.int64))
    (model, models), (stratum, strata), (judge, judges) = (sorted_codes(column) for column in names.values())
    (patterns, pattern), (chances, chance) = (np.unique(values, return_inverse=True) for values in (bits, pi))
    levels = tuple(max(len(found), 1) for found in (models, strata, judges, patterns, chances))
    key = np.ravel_multi_index((model, stratum, judge, pattern, chance), levels)
    used, cell = np.unique(key, return_inverse=True)
    m, h, j, p, c = np.unravel_index(used, levels)
    labelled: FloatArray = np.stack([np.bincount(cell, shares[:, k], len(used)) for k in range(len(labels))], axis=1)
    return Cells(
        labels,
        tuple(models[i] for i in m),
        tuple(strata[i] for i in h),
        tuple(judges[i] for i in j),
        np.bincount(cell, minlength=len(used)).astype(np.int64),
        labelled,
        patterns[p][:, None] >> np.arange(len(labels)) & 1 == 1,
        np.asarray(chances[c], np.float64),
    )


def _check_shapes(cells: Cells) -> None:
    count, q = len(cells.judge), len(cells.labels)
    if len(set(cells.labels)) != q or q == 0:
        raise AgreementError("labels: declare at least one label, each of them once")
    lengths = {len(cells.model), len(cells.stratum), *(len(a) for a in (cells.size, cells.labelled, cells.possible))}
    if lengths != {count} or len(cells.probability) != count:
        raise AgreementError("cells: every column needs one entry per cell")
    if cells.labelled.shape != (count, q) or cells.possible.shape != (count, q):
        raise AgreementError(f"cells: labelled and possible must be {count} x {q} (cells x declared labels)")


def _check_counts(cells: Cells) -> None:
    seen: FloatArray = cells.labelled.sum(axis=1)
    for bad, problem in (
        ((cells.labelled < 0).any(axis=1), "a negative count of human labels"),
        (np.abs(seen - np.rint(seen)) > 1e-6, "human labels that do not add to a whole number of records"),
        (np.rint(seen) > cells.size, "more labelled records than records"),
        (~cells.possible.any(axis=1), "no possible label"),
        ((cells.probability < 0) | (cells.probability > 1), "an inclusion probability outside [0, 1]"),
    ):
        if np.any(bad):
            raise AgreementError(f"cell {cells.name(int(np.flatnonzero(bad)[0]))}: {problem}")
