"""A run of the ``ehq`` package: the benchmark's items, and the records that it wrote, joined on ``question_id``.

Follows ehq 0.4.0 (Şenol, Bernard and Liu 2026): the automatic label is the judge ``ehq-rules``; a label that was
adjudicated in ehq is a person's and comes in as an adjudication, never as the judge. Records with k other than 0
belong to a second protocol of ehq that is not scored here, and are refused one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from annotate.importers.base import Request, Rows
from annotate.importers.each import each_record
from annotate.importers.fit import Unfit
from annotate.importers.json_records import loads, read_array
from annotate.importers.records import ReadOptions, Record, read_records
from annotate.importers.sources import SourceError, head, open_text
from annotate.importers.tally import Tally
from db.records import HumanLabelRow, ImportRow, ItemRow, JudgeLabelRow, Reject, ResponseRow

JUDGE = "ehq-rules"
ADJUDICATOR = "ehq-adjudication"
LABELS: Mapping[str, str] = {
    "ABSTAIN": "ABSTAIN",
    "HEDGE": "HEDGE",
    "CONFIDENT_CORRECT": "CORRECT",
    "CONFIDENT_WRONG": "WRONG",
}
"""What ehq calls the labels, and what the protocol does."""
_HEADER = "_ehq_checkpoint"
_ENVELOPES = ("questions", "data", "items")
_GRIDS = (100, 1000, 10_000, 1_000_000)
NO_NUMBERS = ("NaN", "Infinity", "-Infinity")
"""What Python writes for a number that is undefined."""
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_ITEM_FIELDS = ("question_id", "question", "document", "category", "subcategory", "source_fact")
_RECORD_FIELDS = ("question_id", "model", "category", "subcategory", "k", "parsed_confidence", "classification")


class EhqImporter:
    name = "ehq"
    title = "a run of ehq: items and records.jsonl"
    protocol = "ehq"
    options: Mapping[str, str] = {}

    def recognises(self, path: Path, start: bytes) -> bool:
        if path.is_dir():
            return False
        marks = (b'"question_id"', b'"subcategory"')
        return _HEADER.encode() in start or (all(mark in start for mark in marks) and not start.startswith(b"PAR1"))

    def sources(self, request: Request) -> Sequence[Path]:
        """The items first, then every file of records."""
        items = [path for path in request.files if _holds_items(path)]
        records = [path for path in request.files if path not in items]
        if len(items) != 1 or not records:
            found = f"{len(items)} with items and {len(records)} with records"
            hint = "Give both: --items ITEMS.json --records records.jsonl."
            raise SourceError(
                f"An ehq run needs one file of items and one of records or more; there are {found}.", hint
            )
        return (*items, *records)

    def rows(self, request: Request, tally: Tally) -> Rows:
        strata: dict[str, tuple[str, str]] = {}
        yield from _items(tally, strata)
        for source in range(1, len(tally.paths)):
            yield from _records(tally, source, strata)


def _holds_items(path: Path) -> bool:
    start = head(path)
    return (
        b'"answer_response"' not in start
        and b'"prompt_sha256"' not in start.split(b"\n", 1)[0]
        and (b'"correct_answer"' in start or b'"acceptable_answers"' in start)
    )


# --- items ------------------------------------------------------------------------------------------


def _items(tally: Tally, strata: dict[str, tuple[str, str]]) -> Rows:
    yield from each_record(_elements(tally.paths[0]), tally, 0, partial(_new_item, strata))


def _new_item(strata: dict[str, tuple[str, str]], record: Record) -> Iterator[ImportRow]:
    item = _item(record.row, record.data)
    if item.key in strata:
        raise Unfit(f"question_id {item.key!r} is there twice")
    strata[item.key] = (item.strata["category"], item.strata["subcategory"])
    yield item


def _elements(path: Path) -> Iterator[Record | Reject]:
    """The items of a plain array, or of an object that holds one."""
    if head(path, 4096).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"[":
        yield from read_array(path, ReadOptions())
        return
    with open_text(path) as text:
        try:
            value = loads(text.read())
        except ValueError as error:
            raise SourceError(f"{path}: not readable as JSON ({error}).", "Copy or download it again.") from None
    found = next(
        (value[key] for key in _ENVELOPES if isinstance(value, dict) and isinstance(value.get(key), list)), None
    )
    if found is None:
        raise SourceError(f"{path}: no list of items in it.", "Expected the items of EHQ-3000 as a JSON array.")
    for number, item in enumerate(found, start=1):
        yield Record(number, item) if isinstance(item, dict) else Reject(path.name, number, "no JSON object")


def _item(row: int, value: Mapping[str, Any]) -> ItemRow:
    gold = [_text(value, "correct_answer"), *(value.get("acceptable_answers") or [])]
    return ItemRow(
        key=_text(value, "question_id"),
        row=row,
        question=_text(value, "question"),
        context=value.get("document"),
        gold=tuple(dict.fromkeys(str(answer) for answer in gold)),
        rationale=_rationale(value),
        strata={"category": _text(value, "category").upper(), "subcategory": value.get("subcategory") or "UNSPECIFIED"},
        extra={key: entry for key, entry in value.items() if key not in _ITEM_FIELDS},
    )


def _rationale(item: Mapping[str, Any]) -> str | None:
    """What the item knows of the truth, said so that a coder who does not see the category understands it."""
    if item.get("source_fact"):
        return str(item["source_fact"])
    if item.get("redacted_value"):
        return f"Withheld from the document: {item['redacted_value']}"
    if item.get("background"):
        return f"Made up for this question, no such thing exists: {item['background']}"
    return None


def _text(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    if not isinstance(found, str) or not found:
        raise Unfit(f"{key!r} is missing" if found in (None, "") else f"{key!r} is no text")
    return found


# --- records ----------------------------------------------------------------------------------------


def _records(tally: Tally, source: int, strata: Mapping[str, tuple[str, str]]) -> Rows:
    yield from each_record(_without_header(tally, source), tally, source, partial(_record, source, strata))


def _without_header(tally: Tally, source: int) -> Iterator[Record | Reject]:
    for found in read_records(tally.paths[source], ReadOptions(kind="jsonl")):
        if isinstance(found, Record) and _HEADER in found.data:
            tally.notes.append(f"{tally.names[source]}: line {found.row} is the header of a checkpoint, not a record")
        else:
            yield found


def _record(source: int, strata: Mapping[str, tuple[str, str]], record: Record) -> Iterator[ImportRow]:
    data: Mapping[str, Any] = record.data
    item, model = _text(data, "question_id"), _text(data, "model")
    _check_scope(data, item, strata)
    place: dict[str, Any] = {"item": item, "model": model, "row": record.row, "repeat": 1, "source": source}
    answer = _mapping(data, "answer_response")
    confidence, grid = _confidence(data.get("parsed_confidence"))
    scored = bool(_flag(data, "valid_for_ehq12"))
    yield ResponseRow(
        text=answer.get("text") or "",
        confidence=confidence,
        confidence_grid=grid,
        confidence_usable=bool(_flag(data, "valid_for_ehq3")),
        failure=None if scored else str(data.get("exclusion_reason") or "answer failure"),
        extra=_extra(data, answer),
        **place,
    )
    if scored:
        yield from _labels(_mapping(data, "classification"), place)


def _check_scope(data: Mapping[str, Any], item: str, strata: Mapping[str, tuple[str, str]]) -> None:
    if item not in strata:
        raise Unfit(f"question_id {item!r} is not among the items")
    if data.get("k", 0) != 0:
        raise Unfit(f"k is {data['k']}: a second protocol of ehq, which is not scored here")
    category, subcategory = strata[item]
    if (str(data.get("category", category)).upper(), data.get("subcategory") or "UNSPECIFIED") != (
        category,
        subcategory,
    ):
        raise Unfit(f"category or subcategory differs from the item's ({category}, {subcategory})")


def _labels(classification: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[ImportRow]:
    """The automatic label as the judge's, and what people decided in ehq as an adjudication."""
    adjudicated = classification.get("adjudicated_label")
    automatic = classification.get("automated_label") or (None if adjudicated else classification.get("label"))
    reasons = [reason for reason in classification.get("reasons") or [] if reason != "human_adjudication_override"]
    yield JudgeLabelRow(judge=JUDGE, raw=automatic, rationale="; ".join(reasons) or None, **place)
    if adjudicated:
        label = LABELS.get(adjudicated)
        if label is None:
            raise Unfit(f"adjudicated_label {adjudicated!r} is not one of {', '.join(LABELS)}")
        yield HumanLabelRow(coder=ADJUDICATOR, label=label, role="adjudicator", **place)


def _extra(data: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """Everything else that the record says; the response's text is not kept twice."""
    kept = {key: value for key, value in data.items() if key not in _RECORD_FIELDS}
    kept["answer_response"] = {key: value for key, value in answer.items() if key != "text"}
    classification = data.get("classification")
    if isinstance(classification, dict):
        kept["is_correct"] = classification.get("is_correct")
    return kept


def _mapping(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    if not isinstance(value, dict):
        raise Unfit(f"{key!r} is missing" if value is None else f"{key!r} is no object")
    return value


def _flag(data: Mapping[str, Any], key: str) -> bool:
    value = data.get(key)
    if not isinstance(value, bool):
        raise Unfit(f"{key!r} is missing" if value is None else f"{key!r} is neither true nor false")
    return value


def _confidence(value: object) -> tuple[int | None, int | None]:
    """A confidence of 0 to 1 as an exact whole number on the coarsest grid that holds it; ehq's lie on hundredths.

    A number that another program wrote as text is that number; NaN and infinity are missing.
    """
    said = value.strip() if isinstance(value, str) else value
    if said is None or said in ("", *NO_NUMBERS):
        return None, None
    if isinstance(said, str) and _NUMBER.fullmatch(said):
        said = float(said)
    if isinstance(said, bool) or not isinstance(said, int | float) or not 0 <= said <= 1:
        raise Unfit(f"parsed_confidence {value!r} does not lie in 0 to 1")
    exact = Decimal(repr(said))
    for grid in _GRIDS:
        if exact * grid == (points := (exact * grid).to_integral_value()):
            return int(points), grid
    raise Unfit(f"parsed_confidence {value!r} is finer than millionths")


IMPORTER = EhqImporter()
