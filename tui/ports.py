"""What the lead's screens need from above: cases to decide, and live numbers. `annotate` implements and passes them in.

The screens import neither `agreement` nor `annotate`; whatever computes with numpy runs behind these, in a thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol as Port

from db.adjudicating import Decision
from db.cases import Case, Mode, Queue
from db.records import Protocol


class Cases(Port):
    """A queue of cases and how they are decided; ``db.adjudicating.AdjudicationSession`` is one."""

    @property
    def mode(self) -> Mode: ...

    @property
    def protocol(self) -> Protocol: ...

    @property
    def choices(self) -> tuple[str, ...]: ...

    @property
    def reasons(self) -> dict[str, str]: ...

    def queue(self) -> Queue: ...

    def case(self, unit: str) -> Case: ...

    def decide(self, unit: str, decision: Decision) -> int: ...

    def undo(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Line:
    """One number of the dashboard: what it is, the number as text, and what goes with it (n, interval, reason)."""

    name: str
    value: str
    more: str = ""
    alert: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A group of lines under a title; ``note`` says what is missing, or how to read it."""

    title: str
    lines: tuple[Line, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Board:
    """One state of the dashboard. ``looks``: how often somebody has looked at interim results, this time included."""

    title: str
    sections: tuple[Section, ...]
    at: str
    facts: Mapping[str, object]
    looks: int = 0


class Dashboard(Port):
    """Counts come at once; live numbers may take seconds and are asked for in a thread. ``close`` ends what runs."""

    def counts(self) -> Board: ...

    def live(self) -> Board: ...

    def close(self) -> None: ...
