"""What a recipe says, parsed: which files, how they are joined, and which field comes out of which column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from annotate.importers.records import ReadOptions
from annotate.recipes.transforms import Step

FIELDS: Mapping[str, str] = {
    "item": "the item's key; without it, items are told apart by question and context",
    "question": "the question or prompt",
    "context": "a document or passage that belongs to the question",
    "gold": "the gold answer, or several",
    "rationale": "the ground-truth rationale",
    "options": "the options of a multiple-choice question",
    "key": "the right option",
    "response": "the response that is judged",
    "response_b": "the second response of a pair",
    "model": "the model that responded",
    "model_b": "the model of the second response",
    "condition": "prompt, setting or run",
    "repeat": "the number of the response, where a model answers several times",
    "reason": "the reason that the response states",
    "choice": "the option that the response chose",
    "confidence": "stated confidence; confidence_scale must say what its top is",
    "searched": "whether the model searched",
    "failure": "a technical failure, where there was one",
    "final": "the adjudicated label",
    "final.rating": "the adjudicated rating",
    "final.note": "the adjudicator's note",
    "coder": "the coder's name, in tables with one label a row",
    "label": "the label that this coder gave",
    "rating": "the rating that this coder gave",
    "note": "this coder's note",
    "time": "when this coder labelled, ISO 8601",
    "judge": "the judge's name, in tables with one verdict a row",
    "judge_label": "the label that this judge gave",
    "judge_score": "the number that this judge gave",
    "judge_rationale": "this judge's reason",
    "pi": "the inclusion probability of the row",
    "weight": "the design weight of the row, one over its inclusion probability",
}
"""Every field that a column can be mapped to, with what it is."""
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "stratum": ("",),
    "coder": ("", "rating", "note", "time"),
    "tiebreak": ("", "rating", "note", "time"),
    "judge": ("", "score", "rationale", "reply"),
}
"""Fields that carry a name, as ``judge.gpt-4`` and ``judge.gpt-4.score``, with their parts."""


@dataclass(frozen=True, slots=True)
class Expression:
    """Where a value comes from: a column (of the main file, or of a join), a constant, or a part of the file's name."""

    column: str | None = None
    join: str | None = None
    const: str | None = None
    capture: str | None = None
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class FieldRule:
    """``target`` is a name of FIELDS or FAMILIES."""

    target: str
    value: Expression


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What the columns alone do not say. ``confidence_scale``: the value that means certainty (1 or 100).

    A table with neither question nor response adds labels to responses that the study has; with ``labels_only`` it is
    all there is, and each key becomes an item with an empty response.
    """

    gold_separator: str = ""
    options_separator: str = ""
    confidence_scale: int | None = None
    confidence_grid: int | None = None
    labels_only: bool = False


@dataclass(frozen=True, slots=True)
class Join:
    """A file beside the main one. ``by`` empty: row by row; else column of the main file to column of this one.

    ``check``: a column of this file to those of the main file that it should repeat (several: run together); up to
    ``mismatches`` differences are counted and reported, one more refuses the import.
    """

    name: str
    pattern: str
    by: Mapping[str, str]
    check: Mapping[str, tuple[str, ...]]
    mismatches: int
    read: ReadOptions


@dataclass(frozen=True, slots=True)
class Recipe:
    """A checked recipe. ``pattern`` is a file name with ``{name}`` captures; ``digest`` is of the TOML text."""

    name: str
    title: str
    pattern: str
    fields: tuple[FieldRule, ...]
    options: TableOptions
    read: ReadOptions
    joins: tuple[Join, ...] = ()
    protocol: str = ""
    source: str = ""
    licence: str = ""
    digest: str = ""
    ignore: tuple[str, ...] = field(default=())
