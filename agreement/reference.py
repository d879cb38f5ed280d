"""The human reference: one label per unit out of what its coders said.

In this order: the final adjudication; else what all coders agree on; else a strict majority, in which the label of a
tie-breaker counts only where the main coders differ; else the unit is *unresolved* and its label is split, 1/m to each
of the m labels given. Stale labels (given under a rule that has changed since) are left out and counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement.cells import BoolArray, FloatArray, IntArray
from agreement.errors import AgreementError
from agreement.ratings_codes import label_table

ADJUDICATED, AGREED, SINGLE, MAJORITY = "adjudicated", "agreed", "single coder", "majority"
CONSENSUS, UNRESOLVED, UNLABELLED = "consensus", "unresolved", "unlabelled"
STATUSES = (ADJUDICATED, AGREED, SINGLE, MAJORITY, CONSENSUS, UNRESOLVED, UNLABELLED)


@dataclass(frozen=True, slots=True)
class HumanReference:
    """The human label of each of N units.

    shares: (N, q) one-hot, 1/m on m labels where unresolved, a zero row where there is no usable label.
    label: N entries, the label or None where unresolved or unlabelled.
    status: N entries out of `STATUSES`: where the label comes from.
    counts: number of units per status, all statuses named; they add to N.
    stale: labels left out because their rule has changed. variant: the name of the treatment. caution: why the labels
    may not be what they seem, or None.
    """

    labels: tuple[str, ...]
    shares: FloatArray
    label: tuple[str | None, ...]
    status: tuple[str, ...]
    counts: Mapping[str, int]
    stale: int
    variant: str
    caution: str | None = None

    @property
    def usable(self) -> BoolArray:
        """(N,) units that have a label, whole or split."""
        usable: BoolArray = self.shares.sum(axis=1) > 0
        return usable

    def without_unresolved(self) -> HumanReference:
        """The same with the unresolved units dropped: their shares become zero, their status and count stay."""
        shares = self.shares.copy()
        shares[np.fromiter((status == UNRESOLVED for status in self.status), np.bool_, len(self.status))] = 0
        return replace(self, shares=shares, variant=f"{self.variant}, unresolved dropped")


def human_reference(
    ratings: Any,
    labels: Sequence[str],
    *,
    adjudicated: Sequence[str | None] | None = None,
    tiebreak: Any | None = None,
    stale: npt.ArrayLike | None = None,
    variant: str = "reference",
) -> HumanReference:
    """The reference of N units rated by R main coders.

    ratings: N x R labels (rows of lists, 2-D array or DataFrame), None or NaN where missing. adjudicated: N final
    decisions or None. tiebreak: N labels, or N x T, of tie-breakers. stale: N x R mask of labels to leave out.
    Raises AgreementError on a label that is not declared or shapes that differ.
    """
    main = label_table(ratings, labels)
    left_out = _stale_mask(stale, main.shape)
    gone = int((left_out & (main >= 0)).sum())
    main = np.where(left_out, -1, main)
    given = _tally(main, len(labels))
    differ = (given > 0).sum(axis=1) > 1
    total = given.copy()
    if tiebreak is not None:
        extra = label_table(tiebreak, labels)
        _same_units("tiebreak", len(extra), len(main))
        total += _tally(extra, len(labels)) * differ[:, None]
    final = _final(adjudicated, labels, len(main))
    return _resolve(given, total, differ, final, tuple(labels), gone, variant)


def coder_reference(ratings: Any, labels: Sequence[str], coder: int, *, name: str | None = None) -> HumanReference:
    """One coder's labels alone as the reference; `coder` is the column of `ratings`."""
    column = label_table(ratings, labels)[:, [coder]]
    tally = _tally(column, len(labels))
    nobody = np.full(len(column), -1)
    return _resolve(tally, tally, np.zeros(len(column), np.bool_), nobody, tuple(labels), 0, f"coder {name or coder}")


def shares_reference(
    shares: npt.ArrayLike, labels: Sequence[str], variant: str, *, status: str = CONSENSUS
) -> HumanReference:
    """A reference from (N, q) label probabilities of a consensus model: its most probable label, ties split."""
    probability = np.asarray(shares, np.float64)
    best = np.isclose(probability, probability.max(axis=1, keepdims=True), atol=1e-9) & (probability > 0)
    split = best / np.maximum(best.sum(axis=1, keepdims=True), 1)
    size = best.sum(axis=1)
    found = np.where(size == 0, UNLABELLED, np.where(size == 1, status, UNRESOLVED))
    return _finish(split, found.tolist(), tuple(labels), 0, variant)


def reference_treatments(
    ratings: Any,
    labels: Sequence[str],
    *,
    coders: Sequence[str] | None = None,
    adjudicated: Sequence[str | None] | None = None,
    tiebreak: Any | None = None,
    stale: npt.ArrayLike | None = None,
) -> dict[str, HumanReference]:
    """Every treatment of disagreement by name: the reference, each coder alone, majority, adjudicated, Dawid-Skene.

    "majority" ignores adjudication. "adjudicated" keeps units that were adjudicated or on which all coders agree; the
    rest stays without a label. "dawid-skene" is the most probable label under the model, from the main coders only.
    """
    from agreement.consensus import dawid_skene

    main = label_table(ratings, labels)
    fresh = np.where(_stale_mask(stale, main.shape), -1, main)
    names = list(coders) if coders is not None else [str(r) for r in range(main.shape[1])]
    declared = tuple(labels)
    whole = human_reference(ratings, labels, adjudicated=adjudicated, tiebreak=tiebreak, stale=stale)
    found = {"reference": whole}
    table = [[declared[code] if code >= 0 else None for code in row] for row in fresh]
    for column, name in enumerate(names):
        found[f"coder {name}"] = coder_reference(table, labels, column, name=name)
    found["majority"] = human_reference(ratings, labels, tiebreak=tiebreak, stale=stale, variant="majority")
    if adjudicated is not None:
        found["adjudicated"] = _decided(whole)
    if (fresh >= 0).any() and main.shape[1] > 1:
        model = dawid_skene(table, labels)
        likely = shares_reference(model.posterior, labels, "dawid-skene")
        found["dawid-skene"] = replace(likely, caution=None if model.identified else model.warnings[0])
    return found


def _decided(whole: HumanReference) -> HumanReference:
    keep = np.fromiter((status in (ADJUDICATED, AGREED) for status in whole.status), np.bool_, len(whole.status))
    status = [old if kept else UNLABELLED for old, kept in zip(whole.status, keep, strict=True)]
    return _finish(whole.shares * keep[:, None], status, whole.labels, whole.stale, "adjudicated")


def _resolve(
    given: IntArray,
    total: IntArray,
    differ: BoolArray,
    final: IntArray,
    labels: tuple[str, ...],
    stale: int,
    variant: str,
) -> HumanReference:
    count, votes = given.sum(axis=1), total.sum(axis=1)
    strict = 2 * total.max(axis=1, initial=0) > votes
    status = np.select(
        [final >= 0, count == 0, ~differ & (count == 1), ~differ, strict],
        [ADJUDICATED, UNLABELLED, SINGLE, AGREED, MAJORITY],
        UNRESOLVED,
    )
    shares = total / np.maximum(votes, 1)[:, None]
    shares[strict] = np.eye(len(labels))[total[strict].argmax(axis=1)]
    shares[final >= 0] = np.eye(len(labels))[final[final >= 0]]
    return _finish(shares, status.tolist(), labels, stale, variant)


def _finish(
    shares: FloatArray, status: Sequence[str], labels: tuple[str, ...], stale: int, variant: str
) -> HumanReference:
    whole = shares.max(axis=1, initial=0) == 1
    best = shares.argmax(axis=1)
    label = tuple(labels[k] if sure else None for k, sure in zip(best, whole, strict=True))
    counts = {name: status.count(name) for name in STATUSES}
    return HumanReference(labels, shares, label, tuple(status), counts, stale, variant)


def _tally(codes: IntArray, q: int) -> IntArray:
    return np.stack([(codes == k).sum(axis=1) for k in range(q)], axis=1)


def _final(adjudicated: Sequence[str | None] | None, labels: Sequence[str], count: int) -> IntArray:
    if adjudicated is None:
        return np.full(count, -1, dtype=np.int64)
    _same_units("adjudicated", len(adjudicated), count)
    return label_table([[label] for label in adjudicated], labels)[:, 0]


def _stale_mask(stale: npt.ArrayLike | None, shape: tuple[int, ...]) -> BoolArray:
    mask = np.zeros(shape, np.bool_) if stale is None else np.asarray(stale, np.bool_)
    if mask.shape != shape:
        raise AgreementError(f"stale is {mask.shape}, the ratings are {shape}: give one flag per rating")
    return mask


def _same_units(name: str, found: int, expected: int) -> None:
    if found != expected:
        raise AgreementError(f"{name} has {found} entries for {expected} units: give one per unit")
