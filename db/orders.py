"""The order in which a coder meets the units: random, reproducible, and the same whatever the models are called.

A unit's place comes from a hash of the seed, the coder, the item and what is shown of the response. No model's name is
in it, so that the order tells nothing of one, not even to somebody who knows the seed. Responses that look the same
are told apart by their random ids.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from db.random_numbers import random_for

OrderKind = Literal["spread", "item", "file"]
APART = 10


@dataclass(frozen=True, slots=True)
class Ordered:
    """A unit with what its place depends on: ``content`` is the digest of what is shown of the response."""

    unit_id: int
    item: str
    content: str
    public_id: str


def in_order(units: Sequence[Ordered], kind: OrderKind, seed: str, coder: str) -> list[Ordered]:
    """The units in the coder's order. spread: two of one item are more than ten places apart where that is possible.

    item: all of an item together, items in random order. file: as they were given.
    """
    if kind == "file":
        return list(units)
    if kind == "item":
        return sorted(units, key=lambda each: (random_for(seed, "item", coder, each.item), _place(each, seed, coder)))
    shuffled = sorted(units, key=lambda each: _place(each, seed, coder))
    return spread(shuffled)


def _place(unit: Ordered, seed: str, coder: str) -> tuple[str, str]:
    return random_for(seed, "order", coder, unit.item, unit.content), unit.public_id


def spread(units: Sequence[Ordered]) -> list[Ordered]:
    """Move units of one item apart, else keeping their order. Where that gets stuck, the largest items go first."""
    found, stuck = _greedy(units, by_size=False)
    if not stuck:
        return found
    better, still = _greedy(units, by_size=True)
    return better if still < stuck else found


def _greedy(units: Sequence[Ordered], *, by_size: bool) -> tuple[list[Ordered], int]:
    """Take the first unit whose item has rested; return the order, and how often an item had not rested enough."""
    waiting: dict[str, deque[tuple[int, Ordered]]] = {}
    for number, unit in enumerate(units):
        waiting.setdefault(unit.item, deque()).append((number, unit))

    def entry(item: str) -> tuple[int, int, str]:
        queue = waiting[item]
        return -len(queue) if by_size else 0, queue[0][0], item

    ready = [entry(item) for item in waiting]
    heapq.heapify(ready)
    resting: deque[tuple[int, str]] = deque()  # (place from which on it has rested, item), in that order
    found: list[Ordered] = []
    stuck = 0
    while len(found) < len(units):
        while resting and resting[0][0] <= len(found):
            heapq.heappush(ready, entry(resting.popleft()[1]))
        if ready:
            item = heapq.heappop(ready)[2]
        else:
            stuck += 1
            item = resting.popleft()[1]
        found.append(waiting[item].popleft()[1])
        if waiting[item]:
            resting.append((len(found) + APART, item))
    return found, stuck
