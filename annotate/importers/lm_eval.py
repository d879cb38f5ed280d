"""Samples of lm-evaluation-harness (``--log_samples``): samples_TASK_TIME.jsonl, the model from its results file.

A document gives one item; its generations are responses; each metric is a judge, named with its filter where the file
has several. Where the task compares likelihoods, the response is the continuation that the model found most likely.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from annotate.importers.base import Request, Rows
from annotate.importers.each import each_record
from annotate.importers.fit import Unfit
from annotate.importers.judged import judge_rows
from annotate.importers.records import ReadOptions, Record, read_records
from annotate.importers.shape import need, read_document
from annotate.importers.tally import Tally
from annotate.recipes.transforms import as_text
from db.records import ImportRow, ItemRow, ResponseRow

_NAME = re.compile(r"samples_(?P<task>.+?)(?P<time>_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl(?:\.gz)?")


class LmEvalImporter:
    name = "lm_eval"
    title = "samples of lm-evaluation-harness (--log_samples)"
    protocol = ""
    options: Mapping[str, str] = {
        "model": "the model, where no results file beside the samples says it",
        "task": "the task's name",
    }

    def recognises(self, path: Path, start: bytes) -> bool:
        return not path.is_dir() and all(mark in start for mark in (b'"doc_id"', b'"resps"', b'"filtered_resps"'))

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Rows:
        for source, path in enumerate(tally.paths):
            named = _NAME.fullmatch(path.name)
            task = request.option("task") or (named["task"] if named else path.stem)
            model = request.option("model") or _model(path, tally)
            build = partial(_sample, {"task": task, "model": model, "source": source}, set())
            yield from each_record(read_records(path, ReadOptions(kind="jsonl")), tally, source, build)


def _model(path: Path, tally: Tally) -> str:
    """The model's name from the results file of the same run; else the folder, which the harness names after it."""
    named = _NAME.fullmatch(path.name)
    beside = path.with_name(f"results{named['time']}.json") if named and named["time"] else None
    if beside is not None and beside.is_file():
        results = read_document(beside)
        model = results.get("model_name") if isinstance(results, Mapping) else None
        if isinstance(model, str) and model:
            return model
    tally.notes.append(f"{path.name}: no results file beside it names the model; it is called after the folder")
    return path.resolve().parent.name


def _sample(run: Mapping[str, Any], seen: set[str], record: Record) -> Iterator[ImportRow]:
    data: Mapping[str, Any] = record.data
    document = need(data, "doc", dict)
    key = f"{run['task']}/{need(data, 'doc_id', int, str)}"
    place: dict[str, Any] = {"item": key, "model": run["model"], "row": record.row, "source": run["source"]}
    contexts, continuations = _arguments(need(data, "arguments", dict, list))
    texts = _responses(need(data, "resps", list), continuations)
    if key not in seen:
        yield ItemRow(
            key=key,
            row=record.row,
            question=contexts[0],
            gold=_gold(data.get("target"), continuations),
            options=tuple(text.strip() for text in continuations),
            strata={"task": str(run["task"])},
            extra={"doc": document},
            source=run["source"],
        )
        for repeat, text in enumerate(texts, start=1):
            yield ResponseRow(text=text, repeat=repeat, extra=_extra(data), **place)
    yield from _metrics(data, {**place, "repeat": 1})
    seen.add(key)  # only now: a record that is refused brings nothing, and the next one of the document must


def _metrics(data: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[ImportRow]:
    """A judge for each metric that the sample lists, or (older files) for each number beside the known fields."""
    used = str(data.get("filter") or "none")
    for name in need(data, "metrics", list):
        value = need(data, str(name))
        yield from judge_rows(str(name) if used == "none" else f"{name},{used}", value, place, reply=_filtered(data))


def _filtered(data: Mapping[str, Any]) -> object:
    found = need(data, "filtered_resps", list)
    return found[0] if len(found) == 1 and isinstance(found[0], str) else found


def _arguments(arguments: Any) -> tuple[list[str], list[str]]:
    """(contexts, continuations) of the requests; only tasks that compare likelihoods have continuations."""
    listed = list(arguments.values()) if isinstance(arguments, Mapping) else arguments
    pairs = [list(entry.values()) if isinstance(entry, Mapping) else entry for entry in listed]
    if not pairs or not all(isinstance(pair, list) and pair for pair in pairs):
        raise Unfit("'arguments' holds no request")
    continuations = [pair[1] for pair in pairs if len(pair) > 1 and isinstance(pair[1], str)]
    return [as_text(pair[0]) or "" for pair in pairs], continuations


def _responses(resps: list[Any], continuations: Sequence[str]) -> list[str]:
    if continuations:
        scores = [_likelihood(resp) for resp in resps]
        if len(scores) != len(continuations):
            raise Unfit(f"{len(scores)} likelihoods for {len(continuations)} continuations")
        return [continuations[scores.index(max(scores))].strip()]
    first = resps[0] if resps else []
    texts = first if isinstance(first, list) else [first]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise Unfit("'resps' holds no text")
    return texts


def _likelihood(resp: Any) -> float:
    """resps hold [log-likelihood, greedy] as numbers or as text, one list deeper or not."""
    while isinstance(resp, list) and resp:
        resp = resp[0]
    try:
        return float(resp)
    except (TypeError, ValueError):
        raise Unfit("'resps' holds no likelihood") from None


def _gold(target: Any, continuations: Sequence[str]) -> tuple[str, ...]:
    if isinstance(target, list):
        return tuple(as_text(entry) or "" for entry in target)
    number = int(target) if isinstance(target, int) or (isinstance(target, str) and target.isdigit()) else None
    if continuations and number is not None and number < len(continuations):
        return (continuations[number].strip(),)
    return () if target in (None, "") else (as_text(target) or "",)


def _extra(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: data[name] for name in ("doc_hash", "prompt_hash", "target_hash") if data.get(name)}


IMPORTER = LmEvalImporter()
