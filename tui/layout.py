"""How many lines each panel gets: nobody more than needed, what is judged first, the panel in use unfolded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Need(NamedTuple):
    """``lines``: what the panel would fill; ``judged``: it holds what is to be labelled; ``used``: the panel in use."""

    lines: int
    judged: bool = False
    used: bool = False


def share(needs: Sequence[Need], height: int) -> list[int]:
    """Lines for each panel, at least one each (even where ``height`` has no room for that), in all at most ``height``.

    Each first gets one line. Then what is judged and what is in use get what they need up to two thirds of the rest;
    then all others are filled evenly; what remains goes to the judged and used panels.
    """
    given = [1] * len(needs)
    first = [number for number, need in enumerate(needs) if need.judged or need.used]
    others = [number for number in range(len(needs)) if number not in first]
    spare = max(height - len(needs), 0)
    spare = (spare - spare * 2 // 3) + _fill(given, needs, first, spare * 2 // 3)
    spare = _fill(given, needs, others, spare)
    _fill(given, needs, first, spare)
    return given


def _fill(given: list[int], needs: Sequence[Need], which: Sequence[int], spare: int) -> int:
    """Hand out ``spare`` lines evenly among the panels ``which`` that still need some; what is left over."""
    while spare and (hungry := [number for number in which if given[number] < needs[number].lines]):
        each = max(spare // len(hungry), 1)
        for number in hungry:
            more = min(each, needs[number].lines - given[number], spare)
            given[number] += more
            spare -= more
    return spare
