"""What the columns of a table probably are, from their names. A guess is shown to a person, never used unasked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotate.importers.records import ReadOptions, Record, read_records
from annotate.importers.sources import SourceError

_ALIASES: Mapping[str, tuple[str, ...]] = {
    "item": (
        "item",
        "item_id",
        "question_id",
        "qid",
        "task",
        "task_id",
        "id",
        "idx",
        "example_id",
        "doc_id",
        "unit",
        "units",
    ),
    "question": ("question", "prompt", "instruction", "query", "user_input", "input"),
    "context": ("context", "document", "passage", "retrieved_contexts"),
    "gold": (
        *("gold", "gold_answer", "gold_answers", "correct_answer", "reference", "reference_answer"),
        *("target", "expected", "ground_truth", "ideal"),
    ),
    "rationale": ("rationale", "gold_rationale", "source_fact"),
    "options": ("options", "choices"),
    "key": ("key", "answer_key", "correct_option"),
    "response": (
        *("response", "response1", "response_1", "response_a", "model_answer", "model_response"),
        *("completion", "output", "prediction", "generation", "answer", "text"),
    ),
    "response_b": ("response2", "response_2", "response_b", "output_2", "output_b"),
    "model": ("model", "model_name", "model_a", "model_1", "system"),
    "model_b": ("model_b", "model_2"),
    "condition": ("condition", "setting", "prompt_type"),
    "repeat": ("repeat", "repetition", "sample_index", "trial"),
    "reason": ("reason", "stated_reason", "model_reason", "reasoning"),
    "choice": ("choice", "parsed_choice"),
    "confidence": ("confidence", "stated_confidence"),
    "searched": ("searched", "used_search"),
    "failure": ("failure", "error"),
    "final": ("final", "final_label", "adjudicated", "adjudicated_label", "adjudication", "consensus"),
    "pi": ("pi", "inclusion_probability"),
    "weight": ("weight", "design_weight"),
}
"""Field to the column names that mean it, the surest first."""
_LONG = ("worker", "annotator", "coder", "rater", "performer")
_STRATA = ("category", "subcategory", "type", "topic", "subject", "domain", "language", "split", "difficulty")
_CODER = re.compile(r"(?:annotator|annotation|coder|rater|labeler|human)_?(\w+)")
_JUDGE = re.compile(
    r"(?:judge_?(\w+?)|((?:gpt|claude|gemini|llama|mistral|llm|auto|strmatch|bem)\w*?))(?:_(?:label|verdict|judg\w+))?"
)
_SCORE = re.compile(r"_(?:score|rating|prob)$")


@dataclass(frozen=True, slots=True)
class Guess:
    """``fields`` maps columns to fields; ``left`` are columns that nothing was guessed for (they are kept as extra)."""

    fields: Mapping[str, str]
    left: tuple[str, ...]

    @property
    def map_text(self) -> str:
        """The guess as it can be given to ``--map``."""
        quoted = {column: f'"{column}"' if "," in column else column for column in self.fields}
        return ",".join(f"{quoted[column]}={target}" for column, target in self.fields.items())


def guess_table(path: Path, options: ReadOptions | None = None) -> Guess:
    """A guess at the columns of ``path``; raises SourceError where it is no table or has no row."""
    for found in read_records(path, options):
        if isinstance(found, Record):
            return guess_columns(tuple(found.data))
    raise SourceError(f"{path}: there is no row that could be read.", "Check its format and its header.")


def guess_columns(columns: Sequence[str]) -> Guess:
    """The first column, by the surest name, for each field; then strata, coders and judges by their pattern."""
    plain = {column: re.sub(r"\W+", "_", column.strip().lower()).strip("_") for column in columns}
    found = dict(_fields(plain))
    for column, name in plain.items():
        if column not in found and (target := _named(column, name, long_form="label" in found.values())):
            found[column] = target
    ordered = {column: found[column] for column in columns if column in found}
    return Guess(ordered, tuple(column for column in columns if column not in found))


def _fields(plain: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    names = {name: column for column, name in reversed(list(plain.items()))}
    for target, aliases in _ALIASES.items():
        alias = next((alias for alias in aliases if alias in names), None)
        if alias is not None:
            yield names[alias], target
    coder = next((name for name in _LONG if name in names), None)
    if coder is not None and "label" in names:
        yield names[coder], "coder"
        yield names["label"], "label"


def _named(column: str, name: str, *, long_form: bool) -> str | None:
    """stratum.NAME, coder.NAME or judge.NAME for a column whose name looks like one."""
    if name in _STRATA:
        return f"stratum.{name}"
    if name == "label" and not long_form:
        return "coder.label"
    if _CODER.fullmatch(name) and not name.endswith("_id"):
        return f"coder.{column}"
    score = _SCORE.search(name)
    if judge := _JUDGE.fullmatch(_SCORE.sub("", name)):
        whole = judge[0] == (judge[1] or judge[2]) and not score
        return f"judge.{column if whole else judge[1] or judge[2]}{'.score' if score else ''}"
    return None
