"""A study as score impact takes it: the whole corpus as counted cells, and the labelled sample likewise."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agreement.impact import Records, Sample
from agreement.reference import HumanReference, reference_treatments
from agreement.scores.base import Score
from agreement.scores.declared import declared_scores
from agreement.scores.rates import Shares
from annotate.analysis.labels import ALIGNED, NOT_ALIGNED, StudyLabels, aligned, declared_labels
from annotate.analysis.reference import TECHNICAL, Reference
from annotate.analysis.source import Source, corpus_cells, judge_names, sample_kind, unit_rows
from db.canonical import canonical_json
from db.labels import UnitRow
from db.records import Protocol

OUTSIDE = "(not in the draw)"
SEARCH_KINDS = ("nas", "kis")
DECIDED = {ALIGNED: 100.0, NOT_ALIGNED: 0.0}


@dataclass(frozen=True, slots=True)
class Columns:
    """What is read of every response: ``by`` and the judges by name, and the facts that the scores need."""

    by: tuple[str, ...]
    judges: tuple[str, ...]
    rated: bool
    confidence: bool
    search: bool
    item: bool
    item_field: str | None
    abstain: str
    fact: bool

    @property
    def names(self) -> list[str]:
        found = ["model", "condition", "stratum", "technical", *self.by, *(f"judge:{name}" for name in self.judges)]
        found += [f"score:{name}" for name in self.judges] if self.rated else []
        found += ["confidence", "confidence_grid", "confidence_usable"] if self.confidence else []
        found += ["choice", "choice_is_key", "searched"] if self.search else []
        return found + (["item"] if self.item else [])


def scores_of(protocol: Protocol) -> tuple[Score, ...]:
    """The scores that the protocol declares; beside rates and means, or where it declares none, the label shares."""
    rules = [(rule.name, rule.kind, rule.options) for rule in protocol.scores]
    threshold = protocol.rating.threshold if protocol.rating else 70
    found = declared_scores(rules, protocol.label_names, threshold=threshold)
    parts = {part for score in found for part in score.parts}
    simple = bool(rules) and all(rule.kind in ("rate", "mean") for rule in protocol.scores)
    if simple and not parts & set(protocol.label_names):
        return (*found, Shares(protocol.label_names))
    return found


def columns_of(study: Source, protocol: Protocol, scores: Sequence[Score], by: Sequence[str], *, item: bool) -> Columns:
    """The columns that these scores need, broken down by ``by``."""
    kinds = {rule.kind for rule in protocol.scores}
    options = [rule.options for rule in protocol.scores if rule.kind in SEARCH_KINDS]
    needed = [need.removeprefix("by:") for score in scores for need in score.needs if need.startswith("by:")]
    impossible = [rule.field for rule in protocol.impossible]
    facts = ["fact", "question_type"] if "wikiprofile" in kinds else []
    field = str(options[0].get("items_field", "item_type")) if options else None
    wanted = dict.fromkeys((*by, *needed, *impossible, *facts, *([field] if field else [])))
    return Columns(
        by=tuple(name for name in wanted if name not in ("model", "condition")),
        judges=judge_names(study),
        rated=protocol.rating is not None,
        confidence=any("confidence" in score.needs for score in scores),
        search=bool(options),
        item=item or bool(facts),
        item_field=field,
        abstain=str(options[0].get("abstain_choice", "5")) if options else "",
        fact=bool(facts),
    )


def load_corpus(
    study: Source, protocol: Protocol, columns: Columns, labels: StudyLabels | None = None, *, as_labels: bool = False
) -> tuple[Records, tuple[str, ...]]:
    """The corpus that the numbers speak of, and what a reader must know of it.

    A census speaks of its own responses, a draw of all. Where an import gave probabilities for its own responses only,
    the rest of the corpus is known through its weights: each response stands for 1/pi of them. ``labels``: what coders
    flagged as a technical failure is then no part of the corpus, under judge and people alike. ``as_labels``: where a
    protocol only rates, with the sides of its threshold for labels, and without what is not to be rated.
    """
    kind = sample_kind(study)
    units = unit_rows(study, columns.names) if kind else ()
    gone = [fate == TECHNICAL for fate in labels.fate] if labels else [False] * len(units)
    if kind == "imported":
        return _weighted_corpus(
            protocol, columns, [u for u, out in zip(units, gone, strict=True) if not out], as_labels
        )
    cells = corpus_cells(study, columns.names)
    counted = Counter(dict(zip(cells.rows, cells.counts, strict=True)))
    counted.subtract(u.values for u, out in zip(units, gone, strict=True) if out)
    rows = [row for row, number in counted.items() if number]
    counts = [number for number in counted.values() if number]
    notes: tuple[str, ...] = ()
    if kind == "census":
        place = columns.names.index("stratum")
        inside = [row[place] is not None for row in rows]
        left = sum(n for n, keep in zip(counts, inside, strict=True) if not keep)
        if left:
            notes = (f"{left:,} responses without a human label are no part of the census and are left out",)
        counts = [n for n, keep in zip(counts, inside, strict=True) if keep]
        rows = [row for row, keep in zip(rows, inside, strict=True) if keep]
    if as_labels and protocol.rating_only:
        place = columns.names.index("stratum")
        counts = [n if row[place] is not None else 0 for row, n in zip(rows, counts, strict=True)]
    return _records(protocol, columns, rows, counts, as_labels), notes


def load_sample(
    study: Source,
    protocol: Protocol,
    columns: Columns,
    labels: StudyLabels,
    reference: Reference,
    *,
    as_labels: bool = False,
    treated: bool = True,
) -> Sample:
    """The drawn units with people's labels and ratings, their weights, and every other treatment of disagreement.

    ``treated`` False: without these.
    """
    withitem = replace(columns, item=True)
    units = unit_rows(study, withitem.names)
    records = _records(protocol, withitem, [unit.values for unit in units], [1] * len(units), as_labels)
    labelled = bool(records.labels)
    inclusion = np.array(labels.pi, np.float64)
    weights = reference.weights.weights
    treatments = _treatments(labels) if labelled and treated else {}
    return Sample(
        records=records,
        shares=reference.shares if labelled else np.zeros((len(units), 0)),
        inclusion=inclusion,
        weight=np.where(weights > 0, weights, 1 / inclusion),
        status=reference.status,
        ratings=_ratings(labels),
        treatments={name: found.shares for name, found in treatments.items()},
        rating_treatments=_rating_treatments(labels) if treated else {},
        unit=labels.sample_unit,
        cautions={name: found.caution for name, found in treatments.items() if found.caution},
    )


# --- records ----------------------------------------------------------------------------------------


def _weighted_corpus(
    protocol: Protocol, columns: Columns, units: Sequence[UnitRow], as_labels: bool
) -> tuple[Records, tuple[str, ...]]:
    counts = [max(1, round(1 / (unit.pi or 1.0))) for unit in units]
    tally: Counter[tuple[Any, ...]] = Counter()
    for unit, number in zip(units, counts, strict=True):
        tally[unit.values] += number
    note = f"the corpus is known through its weights only: {len(units):,} responses stand for {sum(counts):,}"
    return _records(protocol, columns, list(tally), list(tally.values()), as_labels), (note,)


def _records(
    protocol: Protocol, columns: Columns, rows: Sequence[Sequence[Any]], counts: Sequence[int], as_labels: bool
) -> Records:
    table = _by_name(columns.names, rows)
    strata = {name: [_text(value) for value in table[name]] for name in columns.by}
    options: dict[str, Any] = {}
    if columns.confidence:
        options["confidence"] = table["confidence"]
        options["grid"] = table["confidence_grid"]
        options["confidence_usable"] = table["confidence_usable"]
    if columns.search:
        options["correct"] = table["choice_is_key"]
        options["abstained"] = [None if choice is None else choice == columns.abstain for choice in table["choice"]]
        options["searched"] = table["searched"]
    if columns.item:
        options["item"] = table["item"]
    if columns.item_field:
        options["item_type"] = strata[columns.item_field]
    if columns.fact:
        options["fact"] = strata["fact"]
    if columns.rated:
        options["ratings"] = {name: table[f"score:{name}"] for name in columns.judges}
    if protocol.impossible:
        options["impossible"] = _impossible(protocol)
    declared = declared_labels(protocol) if as_labels else protocol.label_names
    designed = {value: _stratum(value) for value in set(table["stratum"])}
    return Records.from_columns(
        declared,
        table["model"],
        judges=_judged(protocol, columns, table) if declared else None,
        count=counts,
        condition=table["condition"],
        stratum=[designed[value] for value in table["stratum"]],
        by=strata,
        technical=table["technical"],
        **options,
    )


def _judged(protocol: Protocol, columns: Columns, table: Mapping[str, list[Any]]) -> dict[str, list[str | None]]:
    if not protocol.rating_only:
        return {name: table[f"judge:{name}"] for name in columns.judges}
    return {name: [aligned(protocol, score) for score in table[f"score:{name}"]] for name in columns.judges}


def _by_name(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Rows as columns by name. A name that is asked for twice is there once."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return {name: list(column) for name, column in zip(names, columns, strict=True)}


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _stratum(name: str | None) -> str:
    """The design stratum without the model, which is a column of its own."""
    if name is None:
        return OUTSIDE
    values = json.loads(name)
    return canonical_json({key: value for key, value in values.items() if key != "model"}) if values else ""


def _impossible(protocol: Protocol) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for rule in protocol.impossible:
        found.setdefault(rule.label, {}).setdefault(rule.field, []).extend(rule.values)
    return found


# --- people -----------------------------------------------------------------------------------------


def _ratings(labels: StudyLabels) -> Any:
    """(n, coders) ratings, -1 where there is none. A side that was decided stands alone, at that end of the scale."""
    found = _given_ratings(labels)
    for at, side in enumerate(labels.final or ()):
        if found is not None and side in DECIDED:
            found[at] = -1.0
            found[at, 0] = DECIDED[side]
    return found


def _given_ratings(labels: StudyLabels) -> Any:
    if not any(value is not None for row in labels.ratings for value in row):
        return None
    return np.array([[-1.0 if value is None else value for value in row] for row in labels.ratings], np.float64)


def _rating_treatments(labels: StudyLabels) -> dict[str, Any]:
    """Each coder's ratings alone, where several rated."""
    whole = _given_ratings(labels)
    if whole is None or len(labels.coders) < 2:
        return {}
    return {f"coder {coder.name}": whole[:, [column]] for column, coder in enumerate(labels.coders)}


def _treatments(labels: StudyLabels) -> Mapping[str, HumanReference]:
    """Every way to make one label out of several, where there are several to make it from."""
    technical = [fate == TECHNICAL for fate in labels.fate]
    if len(labels.coders) < 2 or all(technical):
        return {}
    rows = [[None] * len(row) if gone else row for row, gone in zip(labels.fresh, technical, strict=True)]
    final = labels.final and [None if gone else value for value, gone in zip(labels.final, technical, strict=True)]
    found = reference_treatments(
        rows,
        labels.labels,
        coders=[coder.name for coder in labels.coders],
        adjudicated=final,
        tiebreak=labels.tiebreaks if labels.tiebreakers else None,
    )
    return {name: reference for name, reference in found.items() if name != "reference"}
