"""Results of DeepEval: a saved test run (testCases, camelCase) or dumped results (test_results, snake_case).

A test case is an item, told apart by its input; each metric is a judge with its score and reason, its label PASS or
FAIL by the metric's own threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from annotate.importers.base import Request, Rows
from annotate.importers.each import each_record
from annotate.importers.fit import Unfit
from annotate.importers.records import Record
from annotate.importers.shape import maybe, missing, need, read_document
from annotate.importers.tally import Tally
from annotate.recipes.transforms import as_text
from annotate.recipes.values import derived_key, texts
from db.records import ImportRow, ItemRow, JudgeLabelRow, ResponseRow

_LISTS = ("testCases", "test_cases", "test_results", "testResults")


class DeepEvalImporter:
    name = "deepeval"
    title = "results of DeepEval (JSON)"
    protocol = ""
    options: Mapping[str, str] = {"model": "the model that responded"}

    def recognises(self, path: Path, start: bytes) -> bool:
        metrics = b'"metricsData"' in start or b'"metrics_data"' in start
        return not path.is_dir() and metrics and any(f'"{name}"'.encode() in start for name in _LISTS)

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Rows:
        for source, path in enumerate(tally.paths):
            document = read_document(path)
            cases = next(
                (document[name] for name in _LISTS if isinstance(document, Mapping) and name in document), None
            )
            if not isinstance(cases, list):
                missing(path, "testCases", document, "a test run of DeepEval with its list of test cases")
            numbered = (Record(i, c if isinstance(c, dict) else {"no object": c}) for i, c in enumerate(cases, 1))
            build = partial(_case, request.option("model"), source)
            yield from each_record(numbered, tally, source, build)


def _case(model: str, source: int, record: Record) -> Iterator[ImportRow]:
    data = {_snake(name): value for name, value in record.data.items()}
    if data.get("conversational") or data.get("turns"):
        raise Unfit("a conversational test case has no single response")
    question = need(data, "input", str)
    context = as_text(data.get("retrieval_context") or data.get("context")) or None
    key = derived_key(question, context)
    text = as_text(need(data, "actual_output")) or ""
    gold = texts("")(data.get("expected_output"))
    place: dict[str, Any] = {"item": key, "row": record.row, "model": model, "source": source}
    yield ItemRow(key, record.row, question, context=context, gold=gold, source=source)
    yield ResponseRow(text=text, **place)
    for metric in need(data, "metrics_data", list):
        yield _metric({_snake(name): value for name, value in metric.items()}, place)


def _metric(metric: Mapping[str, Any], place: Mapping[str, Any]) -> JudgeLabelRow:
    score = maybe(metric, "score", int, float)
    failed = metric.get("error")
    raw = None if failed else "PASS" if need(metric, "success", bool) else "FAIL"
    reason = as_text(failed or metric.get("reason"))
    return JudgeLabelRow(
        judge=need(metric, "name", str),
        raw=raw,
        score=None if score is None else float(score),
        rationale=reason,
        **place,
    )


def _snake(name: str) -> str:
    """actualOutput as actual_output; the two ways in which DeepEval writes its fields."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


IMPORTER = DeepEvalImporter()
