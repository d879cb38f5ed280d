"""The one interface of every exporter, and the unit that they all write: a response with what was said of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from db.records import HumanLabelRow, ImportRow, ItemRow, JudgeLabelRow, ResponseRow
from db.records import Protocol as Codebook


@dataclass(frozen=True, slots=True)
class Unit:
    """A response, its item, and the labels of people and judges on it."""

    item: ItemRow
    response: ResponseRow
    people: tuple[HumanLabelRow, ...] = ()
    judges: tuple[JudgeLabelRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """What went into a file: as many units, labels of people and labels of judges as were handed in."""

    units: int
    people: int
    judges: int


@runtime_checkable
class Exporter(Protocol):
    """Writes units in the form of one tool. ``blind``: no model and no judge, for sending them to be coded."""

    name: str
    title: str
    suffix: str

    def write(self, units: Iterable[Unit], path: Path, *, protocol: Codebook, blind: bool = False) -> Written:
        """Write all units to ``path``, a file that is readable by its owner only. Raises OSError."""


def group_rows(rows: Iterable[ImportRow]) -> Iterator[Unit]:
    """Units from rows in the order of an import: an item, its response, the labels on it. Others are an error."""
    items: dict[str, ItemRow] = {}
    response: ResponseRow | None = None
    people: list[HumanLabelRow] = []
    judges: list[JudgeLabelRow] = []
    for row in rows:
        if isinstance(row, HumanLabelRow | JudgeLabelRow):
            if response is None or (row.item, row.model) != (response.item, response.model):
                raise ValueError(f"a label on {row.item!r} does not follow its response")
            (people if isinstance(row, HumanLabelRow) else judges).append(row)  # type: ignore[arg-type]
            continue
        if response is not None and isinstance(row, ResponseRow):
            yield Unit(items[response.item], response, tuple(people), tuple(judges))
            people, judges = [], []
        if isinstance(row, ItemRow):
            items[row.key] = row
        else:
            response = row
    if response is not None:
        yield Unit(items[response.item], response, tuple(people), tuple(judges))


def place_of(unit: Unit, *, blind: bool) -> dict[str, Any]:
    """What tells the unit from others, so that it is found again: item, repeat, and (not blind) model and condition."""
    response = unit.response
    names: Mapping[str, Any] = {
        "item": unit.item.key,
        "model": None if blind else response.model,
        "condition": None if blind else response.condition,
        "repeat": response.repeat,
    }
    return {name: value for name, value in names.items() if value not in (None, "")}


def texts_of(unit: Unit) -> dict[str, Any]:
    """What a coder reads."""
    item, response = unit.item, unit.response
    shown: Mapping[str, Any] = {
        "question": item.question,
        "context": item.context,
        "gold": list(item.gold),
        "rationale": item.rationale,
        "response": response.text,
        "response_b": response.text_b,
        "reason": response.reason,
    }
    return {name: value for name, value in shown.items() if value not in (None, "", [])}
