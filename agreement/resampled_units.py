"""Multiplicities of resampled units, shared by the numbers of a paired comparison."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement._types import FloatArray, IntArray
from agreement.errors import AgreementError
from agreement.ratings_codes import group_codes

CHUNK = 20_000_000


@dataclass(frozen=True, slots=True)
class Blocks:
    """What is resampled: K blocks (an item with its units, or units alike in everything) of known multiplicity.

    unit: (N,) block of each unit. count: (K,) how many times the block is there. stratum: (K,) that it is resampled in.
    by: "units" or "items".
    """

    unit: IntArray
    count: IntArray
    stratum: IntArray
    by: str


def blocks_of(units: npt.NDArray[Any], items: Sequence[Hashable] | None, stratum: Sequence[Hashable] | None) -> Blocks:
    """Blocks of N units described by the rows of `units` (N x anything): alike rows of a stratum are one block.

    With `items`, blocks are items, and several units of an item stay together; an item lies in one stratum.
    """
    total = len(units)
    group = np.zeros(total, np.int64) if stratum is None else _codes(stratum, total, "stratum")
    if items is not None:
        unit = _codes(items, total, "items")
        if len(set(zip(unit.tolist(), group.tolist(), strict=True))) > unit.max(initial=-1) + 1:
            group = np.zeros(total, np.int64)  # items cross the strata: they are resampled as a whole
        count = np.ones(unit.max(initial=-1) + 1, np.int64)
    else:
        keyed = np.column_stack([units, group])
        _, unit = np.unique(keyed, axis=0, return_inverse=True)
        unit = unit.reshape(-1).astype(np.int64)
        count = np.bincount(unit).astype(np.int64)
    where = np.zeros(len(count), np.int64)
    where[unit] = group
    return Blocks(unit, count, where, "units" if items is None else "items")


def multiplicities(blocks: Blocks, draws: int, seed: int) -> Iterator[FloatArray]:
    """Chunks (b, K) of bootstrap multiplicities, the observed ones first; every stratum keeps its number of blocks."""
    stream = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(3,))))
    yield blocks.count[None].astype(np.float64)
    step = max(1, CHUNK // max(1, len(blocks.count)))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        drawn = np.zeros((size, len(blocks.count)))
        for h in range(blocks.stratum.max(initial=-1) + 1):
            members = np.flatnonzero(blocks.stratum == h)
            total = int(blocks.count[members].sum())
            drawn[:, members] = stream.multinomial(total, blocks.count[members] / total, size=size)
        yield drawn


def _codes(values: Sequence[Hashable], total: int, name: str) -> IntArray:
    if len(values) != total:
        raise AgreementError(f"{name} has {len(values)} entries for {total} units: give one per unit")
    return group_codes(values)[0]
