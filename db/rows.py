"""What comes in: rows as an importer delivers them, their text exactly as it stood in the source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from db.records import Role


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One question of the benchmark as an importer delivers it. ``row`` is the line or record number in its source.

    ``source`` is the position of that source in the list that goes with the rows (the same in the other rows below).
    """

    key: str
    row: int
    question: str
    context: str | None = None
    gold: tuple[str, ...] = ()
    rationale: str | None = None
    options: tuple[str, ...] = ()
    answer_key: str | None = None
    strata: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, object] = field(default_factory=dict)
    source: int = 0


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """One response (two texts for a pair), keyed (item, model, condition, repeat).

    ``repeat`` None: responses with the same item, model and condition are numbered from 1 in file order.
    ``confidence`` is an exact integer on ``confidence_grid`` (85 on 100 is .85).
    """

    item: str
    row: int
    text: str
    model: str = ""
    condition: str = ""
    repeat: int | None = None
    text_b: str | None = None
    model_b: str | None = None
    reason: str | None = None
    choice: str | None = None
    confidence: int | None = None
    confidence_grid: int | None = None
    confidence_usable: bool = True
    searched: bool | None = None
    failure: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict)
    source: int = 0


@dataclass(frozen=True, slots=True)
class JudgeLabelRow:
    """What one judge said of one response. ``raw`` None: the judge said nothing. ``reply`` is its whole reply.

    ``repeat`` None, here and for a human label: the response of the same source and row; else the only response with
    that item, model and condition; else the one at the same place in file order, where their numbers are equal.
    """

    judge: str
    item: str
    row: int
    model: str = ""
    condition: str = ""
    repeat: int | None = None
    raw: str | None = None
    score: float | None = None
    rationale: str | None = None
    reply: str | None = None
    judge_repeat: int = 1
    source: int = 0


@dataclass(frozen=True, slots=True)
class HumanLabelRow:
    """A label that a person gave elsewhere; ``label`` and ``rating`` None: a blank, counted and left out.

    ``role`` adjudicator: a final label; tiebreak: counts only where coders differ. ``pi`` in (0, 1]: the chance with
    which the response was drawn. ``utc`` and ``active_ms`` where they are known.
    """

    coder: str
    item: str
    row: int
    label: str | None
    model: str = ""
    condition: str = ""
    repeat: int | None = None
    rating: int | None = None
    role: Role = "coder"
    note: str | None = None
    utc: str | None = None
    active_ms: int | None = None
    pi: float | None = None
    source: int = 0


ImportRow = ItemRow | ResponseRow | JudgeLabelRow | HumanLabelRow


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that was not imported: where, and why."""

    source: str
    row: int
    reason: str
