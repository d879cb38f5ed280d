"""Design weights: how many records of the corpus a labelled unit stands for.

A unit was drawn with probability p1 and is among the units that several coders label with probability p2 (the overlap).
Numbers about the human reference weigh every labelled unit by 1/p1; numbers about coder against coder weigh the units
of the overlap by 1/(p1 p2) (Horvitz and Thompson 1952). While coding is unfinished the coders' orders are random, so
the labelled units of a stratum are a random part of its drawn ones and stand for all of them: their weights are scaled
by drawn/labelled, and the strata are named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement.cells import BoolArray, FloatArray
from agreement.errors import AgreementError


@dataclass(frozen=True, slots=True)
class ScaledStratum:
    """A stratum in which `labelled` of `drawn` units have labels so far; factor = drawn / labelled (None if 0)."""

    stratum: str
    drawn: int
    labelled: int

    @property
    def factor(self) -> float | None:
        return self.drawn / self.labelled if self.labelled else None


@dataclass(frozen=True, slots=True)
class DesignWeights:
    """weights: (n,) per drawn unit, 0 where it has no label. scaled: the strata whose weights were scaled.

    notes: a sentence for each of them.
    """

    weights: FloatArray
    scaled: tuple[ScaledStratum, ...]
    notes: tuple[str, ...]


def design_weights(
    probability: npt.ArrayLike,
    labelled: npt.ArrayLike,
    stratum: Sequence[str],
    *,
    overlap: npt.ArrayLike | None = None,
) -> DesignWeights:
    """Weights of n drawn units.

    probability: (n,) chance p1 of the draw, in (0, 1]. labelled: (n,) whether the unit has the labels the number needs:
    a reference, or all the overlap's coders. stratum: n names. overlap: (n,) chance p2 to be in the overlap, 0 for
    units outside it; leave it out for numbers about the reference. Raises AgreementError on a bad probability.
    """
    first = _chances(probability, "inclusion probability")
    has = np.asarray(labelled, np.bool_)
    if not len(first) == len(has) == len(stratum):
        raise AgreementError(f"{len(first)} probabilities, {len(has)} flags, {len(stratum)} strata: one per drawn unit")
    wanted = np.ones(len(first), np.bool_)
    inverse = 1 / first
    if overlap is not None:
        second = np.asarray(overlap, np.float64)
        wanted = second > 0
        inverse[wanted] /= _chances(second[wanted], "overlap probability")
    return _scale(inverse, has & wanted, wanted, np.asarray(stratum, dtype=object))


def _scale(inverse: FloatArray, has: BoolArray, wanted: BoolArray, stratum: npt.NDArray[np.object_]) -> DesignWeights:
    weights = np.where(has, inverse, 0.0)
    scaled = []
    for name in sorted(set(stratum[wanted].tolist())):
        members = (stratum == name) & wanted
        found = ScaledStratum(str(name), int(members.sum()), int((members & has).sum()))
        if found.labelled < found.drawn:
            scaled.append(found)
            weights[members] *= found.factor or 0.0
    return DesignWeights(weights, tuple(scaled), tuple(_sentence(each) for each in scaled))


def _sentence(found: ScaledStratum) -> str:
    if found.factor is None:
        return f"stratum {found.stratum}: none of {found.drawn} drawn units is labelled; nothing stands for it"
    return (
        f"stratum {found.stratum}: {found.labelled} of {found.drawn} drawn units are labelled; "
        f"their weights are scaled by {found.factor:.3g}"
    )


def _chances(values: npt.ArrayLike, name: str) -> FloatArray:
    chances = np.atleast_1d(np.asarray(values, np.float64))
    bad = ~((chances > 0) & (chances <= 1))
    if bad.any():
        where = int(np.flatnonzero(bad)[0])
        raise AgreementError(f"unit {where}: {name} is {chances[where]:g}, expected a number in (0, 1]")
    return chances
