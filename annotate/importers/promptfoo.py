"""Results of promptfoo (``-o results.json``): tests with their variables, outputs of providers, and assertions.

A test is an item, a provider the model, a prompt the condition. The overall verdict is the judge ``promptfoo``, each
assertion one of its own (``llm-rubric``, ``equals``, …; numbered where a test has several of a kind).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from annotate.importers.base import Request, Rows
from annotate.importers.each import each_record
from annotate.importers.judged import judge_rows
from annotate.importers.records import Record
from annotate.importers.shape import maybe, missing, need, read_document
from annotate.importers.tally import Tally
from annotate.recipes.transforms import as_text
from db.records import ImportRow, ItemRow, ResponseRow

JUDGE = "promptfoo"


class PromptfooImporter:
    name = "promptfoo"
    title = "results of promptfoo (JSON)"
    protocol = ""
    options: Mapping[str, str] = {"question": "the variable that is the question; otherwise the whole prompt"}

    def recognises(self, path: Path, start: bytes) -> bool:
        if path.is_dir() or not start.lstrip(b"\xef\xbb\xbf \r\n").startswith(b"{"):
            return False
        return b'"evalId"' in start and b'"results"' in start

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Rows:
        for source, path in enumerate(tally.paths):
            document = read_document(path)
            for _ in range(2):
                if not isinstance(document, Mapping) or "results" not in document:
                    missing(path, "results", document, "results of promptfoo")
                document = document["results"]
                if isinstance(document, list):
                    break
            if not isinstance(document, list):
                missing(path, "results.results", document, "a list of results")
            numbered = (Record(i, r if isinstance(r, dict) else {"no object": r}) for i, r in enumerate(document, 1))
            yield from each_record(
                numbered, tally, source, partial(_result, request.option("question"), Counter(), source)
            )


def _result(asked: str, repeats: Counter[tuple[str, str, str]], source: int, record: Record) -> Iterator[ImportRow]:
    data: Mapping[str, Any] = record.data
    variables = need(data, "vars", dict)
    prompt = need(data, "prompt", dict)
    key = f"test-{need(data, 'testIdx', int)}"
    question = as_text(need(variables, asked)) if asked else _question(variables, prompt)
    yield ItemRow(key, record.row, question or key, gold=_gold(data), extra={"vars": dict(variables)}, source=source)
    provider = need(data, "provider", dict, str)
    model = provider if isinstance(provider, str) else str(provider.get("label") or need(provider, "id", str))
    condition = str(prompt.get("label") or "")[:200] if asked else f"prompt {data.get('promptIdx', 0)}"
    repeats[key, model, condition] += 1
    place: dict[str, Any] = {"item": key, "model": model, "condition": condition, "row": record.row, "source": source}
    place["repeat"] = repeats[key, model, condition]
    response = maybe(data, "response", dict) or {}
    problem = response.get("error") or (None if "output" in response else data.get("error") or "no output")
    extra = {
        name: data[name] for name in ("id", "latencyMs", "cost", "namedScores") if data.get(name) not in (None, {})
    }
    yield ResponseRow(text=as_text(response.get("output")) or "", failure=as_text(problem), extra=extra, **place)
    yield from _verdicts(data, place)


def _question(variables: Mapping[str, Any], prompt: Mapping[str, Any]) -> str | None:
    """The variable that is called question, or the whole prompt; but one item must ask one thing for all prompts."""
    for name in ("question", "query", "input", "prompt"):
        if isinstance(variables.get(name), str):
            return str(variables[name])
    if len(variables) == 1:
        return as_text(next(iter(variables.values())))
    if variables:
        return "\n".join(f"{name}: {as_text(value)}" for name, value in variables.items())
    return as_text(need(prompt, "raw"))


def _gold(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The values that assertions of equality and containment expect."""
    case = maybe(data, "testCase", dict) or {}
    found = [
        a
        for a in case.get("assert") or []
        if isinstance(a, Mapping) and a.get("type") in ("equals", "contains", "icontains")
    ]
    return tuple(dict.fromkeys(as_text(a["value"]) or "" for a in found if a.get("value") not in (None, "")))


def _verdicts(data: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[ImportRow]:
    yield from judge_rows(JUDGE, "PASS" if need(data, "success", bool) else "FAIL", place, rationale=_reason(data))
    grading = maybe(data, "gradingResult", dict) or {}
    parts = maybe(grading, "componentResults", list) or []
    kinds = [_kind(part) for part in parts]
    number: Counter[str] = Counter()
    for kind, part in zip(kinds, parts, strict=True):
        number[kind] += 1
        name = kind if kinds.count(kind) == 1 else f"{kind} {number[kind]}"
        (row,) = judge_rows(name, "PASS" if need(part, "pass", bool) else "FAIL", place, rationale=part.get("reason"))
        yield row


def _kind(part: Any) -> str:
    assertion = part.get("assertion") if isinstance(part, Mapping) else None
    return str(assertion.get("metric") or assertion.get("type")) if isinstance(assertion, Mapping) else "assertion"


def _reason(data: Mapping[str, Any]) -> str | None:
    grading = maybe(data, "gradingResult", dict) or {}
    return as_text(grading.get("reason")) or None


IMPORTER = PromptfooImporter()
