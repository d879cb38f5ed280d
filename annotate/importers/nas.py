"""Parsed outputs for NAS and KIS (arXiv 2610.41124): five-option questions, option 5 abstains, reasons rated 0-100.

One record a response, in any table format: item, question, options (a list, or option_1 to option_5), key, item_type
(OK or IK), model, condition ("with search" or "without search"), choice, reason, rationale, searched, and the rating
of the judge (alignment). Whether an answer is right follows from choice and key; no judge and no coder says it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from annotate.importers.aliases import Columns
from annotate.importers.base import Request, Rows
from annotate.importers.each import each_record
from annotate.importers.fit import Unfit
from annotate.importers.records import Record, read_records
from annotate.importers.tally import Tally
from annotate.recipes import values
from annotate.recipes.transforms import as_text, strip
from db.records import ImportRow, ItemRow, JudgeLabelRow, ResponseRow

ABSTAIN = "5"
CONDITIONS: Mapping[str, str] = {
    **dict.fromkeys(("with search", "with_search", "search", "true", "1", "yes"), "with search"),
    **dict.fromkeys(
        ("without search", "without_search", "no search", "no_search", "false", "0", "no"), "without search"
    ),
}
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "item": ("item", "item_id", "question_id", "id"),
    "question": ("question",),
    "options": ("options",),
    "key": ("key", "answer_key", "correct_option"),
    "item_type": ("item_type",),
    "model": ("model",),
    "condition": ("condition", "search"),
    "repeat": ("repeat",),
    "choice": ("choice", "parsed_choice"),
    "response": ("response", "output"),
    "reason": ("reason", "stated_reason"),
    "rationale": ("rationale",),
    "searched": ("searched",),
    "rating": ("alignment", "rating", "judge_rating"),
    "judge": ("judge",),
    "failure": ("failure", "error"),
    **{f"option_{i}": (f"option_{i}",) for i in range(1, 6)},
}
_NEEDED = ("item", "question", "key", "item_type", "model", "choice", "reason", "rationale")
_CUE = re.compile(r"(?i)\b(202[4-9]|november|recent|latest|current|today|this\s+week)\b")


class NasImporter:
    name = "nas"
    title = "parsed outputs for NAS and KIS"
    protocol = "nas"
    options: Mapping[str, str] = {"judge": "the name of the judge that rated, where no column says it"}

    def recognises(self, path: Path, start: bytes) -> bool:
        marks = (b"item_type", b"searched", b"rationale", b"choice")
        return not path.is_dir() and all(mark in start.split(b"\n", 1)[0] for mark in marks)

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Rows:
        judge = request.option("judge", "alignment-judge")
        for source, path in enumerate(tally.paths):
            columns = Columns(tally.names[source], _FIELDS, _NEEDED)
            ignored = 0
            for row in each_record(read_records(path), tally, source, partial(_record, columns, source, judge)):
                ignored += isinstance(row, ResponseRow) and _needless_flag(row)
                yield row
            if ignored:
                tally.notes.append(
                    f"{tally.names[source]}: {ignored} records without search have the searched flag set"
                )


def _needless_flag(row: ResponseRow) -> bool:
    return row.condition == "without search" and bool(row.searched)


def _record(columns: Columns, source: int, judge: str, record: Record) -> Iterator[ImportRow]:
    data = record.data
    columns.check(data)
    item, key = columns.text(data, "item"), _option(columns.text(data, "key"), "key")
    if key == ABSTAIN:
        raise Unfit("the key is option 5, which abstains: an answer cannot be right and an abstention at once")
    yield ItemRow(
        key=item,
        row=record.row,
        question=columns.text(data, "question"),
        rationale=as_text(columns.get(data, "rationale")),
        options=_options(columns, data),
        answer_key=key,
        strata=_strata(columns, data),
        source=source,
    )
    place: dict[str, Any] = {"item": item, "model": columns.text(data, "model"), "row": record.row, "source": source}
    place |= {
        "condition": _condition(columns, data),
        "repeat": values.whole("repeat")(columns.get(data, "repeat")) or 1,
    }
    chosen = strip(columns.get(data, "choice"))
    reason = as_text(columns.get(data, "reason"))
    yield ResponseRow(
        text=as_text(columns.get(data, "response")) or reason or "",
        reason=reason,
        choice=_option(chosen, "choice") if chosen is not None else None,
        searched=values.yes_no("searched")(columns.get(data, "searched")),
        failure=strip(columns.get(data, "failure")),
        extra=columns.rest(data),
        **place,
    )
    score = _rating(columns.get(data, "rating"))
    if score is not None:
        yield JudgeLabelRow(judge=strip(columns.get(data, "judge")) or judge, score=score, raw=f"{score:g}", **place)


def _strata(columns: Columns, data: Mapping[str, Any]) -> dict[str, str]:
    kind = columns.text(data, "item_type").upper()
    if kind not in ("OK", "IK"):
        raise Unfit(f"item_type is {kind!r}, expected OK or IK")
    return {"item_type": kind, "cue": "cue" if _CUE.search(columns.text(data, "question")) else "no cue"}


def _condition(columns: Columns, data: Mapping[str, Any]) -> str:
    text = (strip(columns.get(data, "condition")) or "with search").lower()
    if text not in CONDITIONS:
        raise Unfit(f"condition is {text!r}, expected 'with search' or 'without search'")
    return CONDITIONS[text]


def _options(columns: Columns, data: Mapping[str, Any]) -> tuple[str, ...]:
    listed = values.texts("")(columns.get(data, "options"))
    options = listed or tuple(as_text(columns.get(data, f"option_{i}")) or "" for i in range(1, 6))
    if len(options) != 5 or not all(options):
        raise Unfit(f"{sum(map(bool, options))} options, expected five")
    return options


def _option(text: str, field: str) -> str:
    """1 to 5; A to E are the same five."""
    number = str("ABCDE".find(text.upper()) + 1) if len(text) == 1 and text.upper() in "ABCDE" else text
    number = number.removesuffix(".0")
    if number not in ("1", "2", "3", "4", "5"):
        raise Unfit(f"{field} is {text!r}, expected 1 to 5 or A to E")
    return number


def _rating(value: object) -> float | None:
    rating = values.number("alignment")(value)
    if rating is not None and not 0 <= rating <= 100:
        raise Unfit(f"alignment is {rating:g}, expected 0 to 100")
    return rating


IMPORTER = NasImporter()
