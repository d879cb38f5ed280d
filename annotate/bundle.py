"""What a report carries so that it can be recomputed without the study: the labels and, counted, the corpus.

labels.csv has a row a unit of the sample: its key, strata, design, the reference, each coder's label under
``coder:NAME`` (``rating:NAME``, ``tiebreak:NAME``, ``stale:NAME`` where there are any), each judge's under
``judge:NAME`` and ``score:NAME``. corpus.json holds the corpus as counted cells and further facts of the units. No text
of any item is in either.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agreement.scores.nas import ITEM_TYPES
from agreement.scores.profiles import THINKING_ON
from agreement.scores.wikiprofile import GRADES
from annotate.analysis.corpus import SEARCH_KINDS, columns_of, scores_of
from annotate.analysis.labels import CoderColumn, StudyLabels
from annotate.analysis.reference import Reference
from annotate.analysis.source import Tables, corpus_cells, field_names, judge_names, sample_kind, unit_rows
from db.corpus import Cells
from db.errors import AnnotateError
from db.export_rows import item_keys
from db.labels import UnitRow
from db.records import Protocol, ScoreRule
from db.study import Study

LABELS, CORPUS = "labels.csv", "corpus.json"
LONGEST_ID = 64
_FACTS = ("confidence", "confidence_grid", "confidence_usable")


def item_names(study: Study, *, text: bool) -> Mapping[str, str]:
    """What stands for each item: nothing of its own, unless keys hold text and ``text`` is not wanted.

    The stand-ins are in the order of the keys, so that what is drawn by item stays the same.
    """
    keys = sorted({unit.item for unit in unit_rows(study)} | set(item_keys(study)))
    if text or not any(" " in key.strip() or len(key) > LONGEST_ID for key in keys):
        return {}
    width = len(str(len(keys)))
    return {key: f"item-{at:0{width}}" for at, key in enumerate(keys, 1)}


def labels_text(study: Study, labels: StudyLabels, reference: Reference, items: Mapping[str, str]) -> str:
    """labels.csv. ``items``: see ``item_names``."""
    stream = io.StringIO(newline="")
    rows = list(_rows(study, labels, reference, items))
    if rows:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return stream.getvalue()


def corpus_text(
    study: Study,
    protocol: Protocol,
    by: Sequence[str] | None,
    items: Mapping[str, str],
    *,
    item: bool,
    outside: int = 0,
    silent: Sequence[str] = (),
    technical: Sequence[bool] = (),
) -> str:
    """corpus.json. ``by``: the fields of the report, None as the protocol says; ``item``: with a cell for each item.

    technical: units of the sample that a coder flagged as a technical failure, true where so.
    """
    columns = _columns(study, protocol, by, item=item)
    cells = corpus_cells(study, columns)
    named = [*dict.fromkeys((*columns, "item"))]
    sampled = unit_rows(study, named)
    units = [[unit.unit, *_renamed(named, unit.values, items)] for unit in sampled]
    facts = [dict(zip(named, unit.values, strict=True)) for unit in sampled]
    corpus = _counted(cells if sample_kind(study) == "draw" else None, sampled, facts, technical)
    found = {
        "sample_kind": sample_kind(study),
        "outside_sample": outside,
        "coders_without_labels": list(silent),
        "judges": list(judge_names(study)),
        "fields": list(field_names(study)),
        "columns": columns,
        "cells": [[count, *_renamed(columns, row, items)] for row, count in zip(cells.rows, cells.counts, strict=True)],
        "unit_columns": ["unit", *named],
        "units": units,
        **_searching(protocol, sampled, facts, corpus),
        **_grading(protocol, facts, corpus),
    }
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")).replace("],[", "],\n[") + "\n"


def _counted(
    cells: Cells | None, units: Sequence[UnitRow], facts: Sequence[Mapping[str, Any]], technical: Sequence[bool]
) -> list[tuple[int, Mapping[str, Any]]]:
    """The corpus as counts and facts, which without a draw is the sample; without what a coder flagged."""
    out = [any(technical[at : at + 1]) for at in range(len(units))]
    if cells is None:
        sides = zip(units, facts, out, strict=True)
        return [(max(1, round(1 / (unit.pi or 1.0))), fact) for unit, fact, gone in sides if not gone]
    rows = [(n, dict(zip(cells.columns, row, strict=True))) for n, row in zip(cells.counts, cells.rows, strict=True)]
    return [*rows, *((-1, fact) for fact, gone in zip(facts, out, strict=True) if gone)]


def _searching(
    protocol: Protocol,
    units: Sequence[UnitRow],
    facts: Sequence[Mapping[str, Any]],
    corpus: Sequence[tuple[int, Mapping[str, Any]]],
) -> Mapping[str, Any]:
    """What NAS and KIS make of ratings: for check.py and check.R, which know nothing of conditions and kinds of items.

    cells: by score and model, [number, searched, correct, abstained, judges that rated] of the corpus. units: by score,
    [searched, correct, abstained] of each unit of the sample that it is about.
    """
    rules = [rule for rule in protocol.scores if rule.kind in SEARCH_KINDS]
    if not rules or not protocol.rating_only:
        return {}
    found: defaultdict[str, defaultdict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for count, row in corpus:
        rated = [name[6:] for name in sorted(row) if name.startswith("score:") and row[name] is not None]
        for name, *read in _read(rules, row):
            found[name][row["model"]][json.dumps([*read, rated], ensure_ascii=False)] += count
    counted = {
        name: {model: [[n, *json.loads(cell)] for cell, n in each.items()] for model, each in models.items()}
        for name, models in found.items()
    }
    about: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for unit, row in zip(units, facts, strict=True):
        for name, *read in _read(rules, row):
            about[name][unit.unit] = read
    return {"searching": {"cells": counted, "units": about}}


def _grading(
    protocol: Protocol, facts: Sequence[Mapping[str, Any]], corpus: Sequence[tuple[int, Mapping[str, Any]]]
) -> Mapping[str, Any]:
    """What knowledge profiles need beside labels.csv, for check.py and check.R.

    labels: correct, incorrect, partially and other, as the protocol calls them. thinking: conditions in which models
    were. asked: by model and fact, of which something is in the sample, how many responses of the corpus answer each of
    its ten questions: the six kinds without thinking, and all but the first two with it.
    """
    from annotate.analysis.profiles import setting_of

    rule = next((rule for rule in protocol.scores if rule.kind == "wikiprofile"), None)
    if rule is None:
        return {}
    asked: dict[str, dict[str, list[int]]] = {}
    for fact in facts:
        asked.setdefault(fact["model"], {}).setdefault(fact["fact"], [0] * len(GRADES))
    for count, row in corpus:
        place = (row["question_type"], row["condition"] in THINKING_ON)
        if place in GRADES and row["fact"] in asked.get(row["model"], {}) and not row["technical"]:
            asked[row["model"]][row["fact"]][GRADES.index(place)] += count
    setting = setting_of(rule.options, protocol)
    thinking = sorted({fact["condition"] for fact in facts} & THINKING_ON)
    known = {"labels": list(setting.labels), "treatment": setting.treatment, "threshold": setting.threshold}
    return {"grading": {**known, "thinking": thinking, "asked": asked}}


def _read(rules: Sequence[ScoreRule], row: Mapping[str, Any]) -> Iterator[tuple[str, bool, bool, bool]]:
    """(score, searched, correct, abstained) of a response for each score that it counts in."""
    for rule in rules:
        setting, options = rule.options.get("search", "condition"), rules[0].options
        item = row[str(options.get("items_field", "item_type"))]
        abstained = row["choice"] == str(options.get("abstain_choice", "5"))
        unread = row["technical"] or (row["choice_is_key"] is None and not abstained)
        for name, search in (("with", True), ("without", False)):
            here = row["condition"] == f"{name} search" if setting == "condition" else setting == name
            known = not search or row["searched"] is not None
            if here and known and not unread and str(item) == ITEM_TYPES[rule.kind.upper()]:
                yield f"{rule.kind.upper()} {name} search", row["searched"] == 1, row["choice_is_key"] == 1, abstained


def _renamed(columns: Sequence[str], row: Sequence[Any], items: Mapping[str, str]) -> list[Any]:
    if not items or "item" not in columns:
        return list(row)
    place = columns.index("item")
    return [*row[:place], items[row[place]], *row[place + 1 :]]


def _columns(study: Study, protocol: Protocol, by: Sequence[str] | None, *, item: bool) -> list[str]:
    """Every column that the numbers of the report read."""
    from annotate.analysis.whole import declared_by

    known = field_names(study)
    profiles = any(rule.kind == "wikiprofile" for rule in protocol.scores)
    wanted = by if by is not None else (*declared_by(protocol), "subcategory")
    present = tuple(name for name in wanted if name in known)
    scores = () if profiles else scores_of(protocol)
    several = (
        columns_of(study, protocol, scores, present, item=item),
        columns_of(study, protocol, (), tuple(by or ()), item=False),
    )
    return [*dict.fromkeys(name for each in several for name in each.names)]


def _rows(
    study: Study, labels: StudyLabels, reference: Reference, items: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    stale = any(old for row in labels.stale for old in row)
    rated = any(value is not None for row in labels.ratings for value in row)
    units = unit_rows(study, _FACTS)
    confident = any(unit.values[0] is not None for unit in units)
    names = [coder.name for coder in labels.coders]
    for at, unit in enumerate(units):
        yield {
            "unit": unit.unit,
            "item": items.get(unit.item, unit.item),
            "model": unit.model,
            "condition": unit.condition,
            "repeat": unit.repeat,
            **{f"stratum:{name}": column[at] for name, column in labels.strata.items()},
            "design": labels.design[at],
            "pi": repr(labels.pi[at]),
            "pi2": repr(labels.overlap[at]),
            "weight": repr(float(reference.weights.weights[at])),
            **(dict(zip(_FACTS, map(_cell, unit.values), strict=True)) if confident else {}),
            **{f"coder:{n}": _cell(v) for n, v in zip(names, labels.table[at], strict=True)},
            **({f"rating:{n}": _cell(v) for n, v in zip(names, labels.ratings[at], strict=True)} if rated else {}),
            **({f"stale:{n}": int(v) for n, v in zip(names, labels.stale[at], strict=True)} if stale else {}),
            **{
                f"tiebreak:{c.name}": _cell(v)
                for c, v in zip(labels.tiebreakers, _at(labels.tiebreaks, at), strict=True)
            },
            **({} if labels.final is None else {"adjudicated": _cell(labels.final[at])}),
            "reference": _cell(reference.human.label[at]),
            "status": reference.status[at],
            "fate": labels.fate[at],
            **{f"judge:{name}": said[at] for name, said in labels.judges.items()},
            **{f"score:{name}": _cell(said[at]) for name, said in labels.judge_ratings.items()},
        }


def _at(table: Sequence[Sequence[Any]], at: int) -> Sequence[Any]:
    return table[at] if table else ()


def _cell(value: Any) -> Any:
    return "" if value is None else repr(value) if isinstance(value, float) else value


# --- reading back -----------------------------------------------------------------------------------------


def read_bundle(folder: Path, declared: Sequence[str], sample_unit: str) -> Tables:
    """The tables of a report. ``declared``: the labels. Raises AnnotateError where a file is not as it was written."""
    try:
        corpus = json.loads((folder / CORPUS).read_text(encoding="utf-8"))
        with (folder / LABELS).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        labels = replace(
            _labels(rows, tuple(declared), sample_unit),
            outside=corpus["outside_sample"],
            silent=tuple(corpus.get("coders_without_labels", ())),
        )
        return _tables(corpus, labels, rows)
    except FileNotFoundError as error:
        raise AnnotateError(f"{error.filename}: there is no such file.", "Name the folder of a report.") from None
    except (ValueError, LookupError, TypeError) as error:
        raise AnnotateError(
            f"{folder}: {LABELS} or {CORPUS} is not as a report writes it ({error}).", "Write the report again."
        ) from None


def _tables(corpus: Mapping[str, Any], labels: StudyLabels, rows: Sequence[Mapping[str, str]]) -> Tables:
    facts = {unit: tuple(values) for unit, *values in corpus["units"]}
    units = tuple(
        UnitRow(
            row["unit"], row["item"], row["model"], row["condition"], int(row["repeat"]), row["design"],
            float(row["pi"]), facts[row["unit"]],
        )
        for row in rows
    )  # fmt: skip
    cells = Cells(
        tuple(corpus["columns"]),
        tuple(tuple(row[1:]) for row in corpus["cells"]),
        tuple(row[0] for row in corpus["cells"]),
    )
    columns = tuple(corpus["unit_columns"][1:])
    return Tables(
        labels, tuple(corpus["judges"]), tuple(corpus["fields"]), corpus["sample_kind"], cells, columns, units
    )


def _labels(rows: Sequence[Mapping[str, str]], declared: tuple[str, ...], sample_unit: str) -> StudyLabels:
    names = list(rows[0]) if rows else []

    def column(name: str) -> tuple[str, ...]:
        return tuple(row[name] for row in rows)

    def those(prefix: str) -> list[str]:
        return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]

    def table(prefix: str, which: Sequence[str], read: Any) -> tuple[tuple[Any, ...], ...]:
        return tuple(tuple(read(row.get(f"{prefix}{name}", "")) for name in which) for row in rows)

    coders, tied = those("coder:"), those("tiebreak:")
    return StudyLabels(
        labels=declared,
        units=column("unit"),
        item=column("item"),
        strata={name: column(f"stratum:{name}") for name in those("stratum:")},
        design=column("design"),
        pi=tuple(float(row["pi"]) for row in rows),
        overlap=tuple(float(row["pi2"]) for row in rows),
        coders=tuple(CoderColumn(name, _kind(name)) for name in coders),
        table=table("coder:", coders, lambda cell: cell or None),
        stale=table("stale:", coders, lambda cell: cell == "1"),
        fate=column("fate"),
        tiebreakers=tuple(CoderColumn(name, _kind(name), "tiebreak") for name in tied),
        tiebreaks=table("tiebreak:", tied, lambda cell: cell or None),
        final=tuple(row["adjudicated"] or None for row in rows) if "adjudicated" in names else None,
        ratings=table("rating:", coders, lambda cell: int(cell) if cell else None),
        judges={name: column(f"judge:{name}") for name in those("judge:")},
        judge_ratings={
            name: tuple(float(cell) if cell else None for cell in column(f"score:{name}")) for name in those("score:")
        },
        sample_unit=sample_unit,
    )


def _kind(name: str) -> Any:
    return "simulated" if name.endswith(" (simulated)") else "imported"
