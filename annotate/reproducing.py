"""Recomputing a report from the labels and the counted corpus that lie beside it, number by number."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotate.bundle import read_bundle
from db.errors import AnnotateError

RECOMPUTED = ("reference", "people", "judges", "impact", "checks", "scores")
GIVEN = (
    *("study", "counts", "design", "coding", "conduct", "flow", "oneself", "judges_oneself", "errors", "attempts"),
    "provenance",
)
DIGITS = 12


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that is not what the report says: JSON pointer, as reported, as recomputed."""

    path: str
    reported: Any
    recomputed: Any


@dataclass(frozen=True, slots=True)
class Reproduced:
    """numbers: how many were recomputed and compared; by section too. differences: none where all match."""

    numbers: int
    sections: Mapping[str, int]
    differences: tuple[Difference, ...]
    given: tuple[str, ...]

    @property
    def matches(self) -> bool:
        return not self.differences


def reproduce(folder: Path) -> Reproduced:
    """Recompute every number of a report's results.json from labels.csv and corpus.json. Raises AnnotateError."""
    reported = read_results(folder)
    found = _recomputed(folder, reported)
    differences: list[Difference] = []
    sections: dict[str, int] = {}
    for section in RECOMPUTED:
        if section in reported:
            sections[section] = sum(1 for _ in _numbers(reported[section]))
            differences += _differences(reported[section], found.get(section), f"/{section}")
    given = tuple(name for name in GIVEN if name in reported)
    return Reproduced(sum(sections.values()), sections, tuple(differences), given)


def read_results(folder: Path) -> dict[str, Any]:
    """results.json of a report. Raises AnnotateError where it is not one."""
    path = folder / "results.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise AnnotateError(f"{path}: there is no such file.", "Name the folder of a report.") from None
    except ValueError as error:
        raise AnnotateError(f"{path}: is no JSON ({error}).", "Write the report again.") from None
    if not isinstance(found, dict) or not str(found.get("schema", "")).startswith("annotate-results/"):
        raise AnnotateError(f"{path}: is not the results of a report.", "Name the folder of a report.")
    return found


def _recomputed(folder: Path, reported: Mapping[str, Any]) -> dict[str, Any]:
    from annotate.analysis.judge_scores import score_facts
    from annotate.analysis.reference import study_reference
    from annotate.analysis.whole import Wanted, table_results
    from annotate.plain import plain
    from annotate.protocols import parse_protocol

    if "provenance" not in reported:
        raise AnnotateError(f"{folder}: results.json says nothing of how it was made.", "Write the report again.")
    made = reported["provenance"]
    protocol = parse_protocol(made["protocol"], reported["study"]["protocol"])
    unit = (reported["design"] or {}).get("unit", "response")
    tables = read_bundle(folder, reported["study"]["labels"], unit)
    by = None if made["by"] is None else tuple(made["by"])
    wanted = Wanted(by=by, seed=made["seeds"]["intervals"], draws=made["draws"], level=made["level"], names=False)
    found = table_results(tables, protocol, reported["counts"], wanted).to_dict()
    reference = study_reference(tables.labels)
    scores = {
        judge: score_facts(tables.labels, reference, judge, seed=wanted.seed, level=wanted.level)
        for judge in found["judges"]
    }
    return found | {"scores": plain(scores)}


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _numbers(each)
    elif isinstance(value, list):
        for each in value:
            yield from _numbers(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def _differences(reported: Any, found: Any, path: str) -> Iterator[Difference]:
    if isinstance(reported, dict) and isinstance(found, dict):
        for key in dict.fromkeys((*reported, *found)):
            yield from _differences(
                reported.get(key), found.get(key), f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            )
    elif isinstance(reported, list) and isinstance(found, list) and len(reported) == len(found):
        for at, (one, other) in enumerate(zip(reported, found, strict=True)):
            yield from _differences(one, other, f"{path}/{at}")
    elif not same(reported, found):
        yield Difference(path, reported, found)


def same(one: Any, other: Any) -> bool:
    """Equal; numbers that are no integers to twelve significant digits."""
    if isinstance(one, float) and isinstance(other, int | float) and not isinstance(other, bool):
        return one == other or f"{one:.{DIGITS}g}" == f"{other:.{DIGITS}g}" or abs(one - other) < 1e-15
    return bool(one == other)
