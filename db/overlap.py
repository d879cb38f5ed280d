"""Who codes what: an overlap that is exact within every stratum, and the rest dealt out evenly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from db.random_numbers import random_for


@dataclass(frozen=True, slots=True)
class Group:
    """What is dealt out as one: a response, or all responses of an item where whole items were drawn."""

    key: str
    stratum: str
    units: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """A group with its coders (positions in the list of coders). ``pi2``: the chance of its stratum to be overlap."""

    group: Group
    coders: tuple[int, ...]
    overlap: bool
    pi2: float


def overlap_sizes(sizes: Mapping[str, int], overlap: float) -> dict[str, int]:
    """How many of each stratum every coder codes: ``overlap`` of all (rounded half up), at least one of each stratum.

    The whole number is shared out in proportion by largest remainders, so that the overlap is exact and no stratum is
    without any. 0 gives none.
    """
    if overlap <= 0:
        return dict.fromkeys(sizes, 0)
    part = Fraction(str(overlap))  # the decimal that was asked for: .70 of 45 is 31.5, which as a float falls short
    total = math.floor(part * sum(sizes.values()) + Fraction(1, 2))
    exact = {name: part * size for name, size in sizes.items()}
    found = {name: min(size, max(1, math.floor(exact[name]))) for name, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda name: (math.floor(exact[name]) - exact[name], name))
    for name in by_remainder:
        if sum(found.values()) >= total:
            break
        if found[name] < sizes[name] and exact[name] >= found[name]:
            found[name] += 1
    return found


def shares(groups: Sequence[Group], coders: int, overlap: float, seed: str) -> list[Share]:
    """Deal the groups out to ``coders`` coders. Which are overlap, and who codes the others, is random by ``seed``.

    With one coder, all of it is "coded by every coder" (pi2 = 1). Loads differ by at most one group.
    """
    strata: dict[str, list[Group]] = {}
    for group in sorted(groups, key=lambda each: (random_for(seed, "overlap", each.key), each.key)):
        strata.setdefault(group.stratum, []).append(group)
    everyone = tuple(range(coders))
    if coders == 1:
        return [Share(group, everyone, overlap=True, pi2=1.0) for each in strata.values() for group in each]
    sizes = overlap_sizes({name: len(each) for name, each in strata.items()}, overlap)
    found: list[Share] = []
    turn = 0
    for name in sorted(strata):
        each, size = strata[name], sizes[name]
        pi2 = size / len(each)
        found += [Share(group, everyone, overlap=True, pi2=pi2) for group in each[:size]]
        for group in each[size:]:
            found.append(Share(group, (turn % coders,), overlap=False, pi2=pi2))
            turn += 1
    return found
