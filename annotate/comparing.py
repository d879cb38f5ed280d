"""Telling two reports apart: what they are of, and which numbers moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotate.reproducing import read_results


@dataclass(frozen=True, slots=True)
class Moved:
    """One number in both reports: ``overlap`` says whether its intervals overlap (None where one has none)."""

    what: str
    first: float | None
    second: float | None
    overlap: bool | None

    @property
    def change(self) -> float | None:
        return None if self.first is None or self.second is None else self.second - self.first


@dataclass(frozen=True, slots=True)
class Compared:
    """differs: facts of the studies that are not the same, (what, first, second). only: numbers in one report alone,
    (what, "first" or "second"). moved: numbers in both that differ. same: how many are equal."""

    differs: tuple[tuple[str, str, str], ...]
    only: tuple[tuple[str, str], ...]
    moved: tuple[Moved, ...]
    same: int


def compare_reports(first: Path, second: Path) -> Compared:
    """Compare the results.json of two report folders. Raises AnnotateError where one is not a report."""
    one, other = read_results(first), read_results(second)
    a, b = dict(_numbers(one)), dict(_numbers(other))
    moved = [
        Moved(what, a[what][0], b[what][0], _overlap(a[what], b[what]))
        for what in a
        if what in b and a[what] != b[what]
    ]
    only = [(what, "first") for what in a if what not in b] + [(what, "second") for what in b if what not in a]
    same = sum(1 for what in a if what in b and a[what] == b[what])
    return Compared(tuple(_facts(one, other)), tuple(only), tuple(moved), same)


Number = tuple[float | None, float | None, float | None]


def _overlap(one: Number, other: Number) -> bool | None:
    (_, low, high), (_, bottom, top) = one, other
    if low is None or high is None or bottom is None or top is None:
        return None
    return low <= top and bottom <= high


def _facts(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for what, facts in _FACTS.items():
        a, b = (_shown(_get(results, facts)) for results in (one, other))
        if a != b:
            yield what, a, b
    files = [{each["sha256"]: each["name"] for each in _get(r, "provenance/inputs") or ()} for r in (one, other)]
    for sha, name in files[0].items():
        if sha not in files[1]:
            yield "file read", name, "not read, or with other content"
    for sha, name in files[1].items():
        if sha not in files[0]:
            yield "file read", "not read, or with other content", name


_FACTS = {
    "study": "study/title",
    "codebook": "study/protocol",
    "codebook version": "study/protocol_version",
    "codebook digest": "study/protocol_digest",
    "labels": "study/labels",
    "items": "counts/items",
    "responses": "counts/responses",
    "models": "counts/models",
    "units in the sample": "reference/units",
    "units with a label": "reference/status/labelled",
    "units unresolved": "reference/status/unresolved",
    "seed of the sample": "provenance/seeds/draw",
    "seed of the intervals": "provenance/seeds/intervals",
    "draws": "provenance/draws",
    "annotate": "provenance/annotate",
}


def _get(value: Any, path: str) -> Any:
    for key in path.split("/"):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else "–" if value is None else str(value)


def _numbers(results: Mapping[str, Any]) -> Iterator[tuple[str, Number]]:
    """The numbers that a reader compares: scores and ranks by model, judges against people, people with each other."""
    for judge, facts in (_get(results, "impact/judges") or {}).items():
        for model, found in facts["models"].items():
            for part, value in found["judge"].items():
                yield f"{part}, model {model}, judge {judge}", (value, None, None)
            for part, each in found.get("parts", {}).items():
                yield f"{part}, model {model}, people (judge {judge} corrected)", _estimate(each["human"])
        for part, ranking in facts.get("rankings", {}).items():
            for at, model in enumerate(ranking["models"]):
                yield f"rank by {part}, model {model}, judge {judge}", (ranking["judge_rank"][at], None, None)
                yield f"rank by {part}, model {model}, people", (ranking["human_rank"][at], None, None)
    for judge, facts in (results.get("judges") or {}).items():
        for name, each in facts["measures"].items():
            yield f"{name}, judge {judge} against people", _estimate(each)
    for name, each in (_get(results, "people/coefficients") or {}).items():
        yield f"{name}, people", _estimate(each)


def _estimate(found: Mapping[str, Any] | None) -> Number:
    return (None, None, None) if found is None else (found["value"], found["low"], found["high"])
