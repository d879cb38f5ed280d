"""Results of simple-evals, *_allresults.json: conversations, the overall score, and (HealthBench) graded examples.

The file's name gives eval and model: ``simpleqa_gpt-4o_allresults.json``. Single scores are in it only where the eval
keeps metadata of its examples; elsewhere the conversations come in without a judge, which is noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from annotate.importers.base import Request, Rows
from annotate.importers.conversation import exchange, turns
from annotate.importers.each import each_record
from annotate.importers.judged import judge_rows
from annotate.importers.records import Record
from annotate.importers.shape import maybe, missing, need, read_document
from annotate.importers.sources import SourceError
from annotate.importers.tally import Tally
from annotate.recipes.transforms import as_text
from annotate.recipes.values import derived_key
from db.records import ImportRow, ItemRow, ResponseRow

_NAME = re.compile(r"(?P<eval>[^_]+)_(?P<model>.+?)(?:_\d{8}_\d{6})?(?:_DEBUG)?_allresults(?:_DEBUG)?\.json")


class SimpleEvalsImporter:
    name = "simple_evals"
    title = "results of simple-evals (*_allresults.json)"
    protocol = ""
    options: Mapping[str, str] = {
        "model": "the model, where the file's name does not say it",
        "task": "the eval's name",
    }

    def recognises(self, path: Path, start: bytes) -> bool:
        marks = (b'"score"', b'"metrics"', b'"htmls"')
        return not path.is_dir() and ("_allresults" in path.name or all(mark in start for mark in marks))

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Rows:
        for source, path in enumerate(tally.paths):
            document = read_document(path)
            if not isinstance(document, Mapping) or not isinstance(document.get("convos"), list):
                missing(path, "convos", document, "results of simple-evals with their conversations")
            named = _NAME.fullmatch(path.name)
            model = request.option("model") or (named["model"] if named else "")
            run = {"task": request.option("task") or (named["eval"] if named else path.stem), "model": model}
            examples = _examples(path, document)
            if not examples:
                tally.notes.append(
                    f"{path.name}: the file holds no scores of single examples, so that there is no judge"
                )
            build = partial(_conversation, run, examples, source)
            numbered = (Record(i, {"convo": convo}) for i, convo in enumerate(document["convos"], 1))
            yield from each_record(numbered, tally, source, build)


def _examples(path: Path, document: Mapping[str, Any]) -> list[Any]:
    metadata = document.get("metadata")
    examples = metadata.get("example_level_metadata") if isinstance(metadata, Mapping) else None
    if isinstance(examples, list) and examples and len(examples) != len(document["convos"]):
        counts = f"{len(document['convos'])} conversations, but metadata of {len(examples)} examples"
        raise SourceError(f"{path}: {counts}.", "The file may be damaged: run the eval again.")
    return examples if isinstance(examples, list) else []


def _conversation(run: Mapping[str, str], examples: Sequence[Any], source: int, record: Record) -> Iterator[ImportRow]:
    found = exchange(turns(record.data["convo"]))
    key = f"{run['task']}/{derived_key(found.question, found.context)}"
    place: dict[str, Any] = {"item": key, "row": record.row, "model": run["model"], "source": source}
    strata = {"task": run["task"]}
    yield ItemRow(key, record.row, found.question, context=found.context, strata=strata, source=source)
    yield ResponseRow(text=found.response or "", reason=found.thought, **place)
    if examples:
        example = examples[record.row - 1]
        if isinstance(example, Mapping) and example:
            yield from judge_rows(run["task"], need(example, "score", int, float), place)
            for rubric in maybe(example, "rubric_items", list) or []:
                name = f"{run['task']}/{as_text(need(rubric, 'criterion', str))[:120]}"  # type: ignore[index]
                met = need(rubric, "criteria_met", bool)
                yield from judge_rows(name, met, place, rationale=rubric.get("explanation"))


IMPORTER = SimpleEvalsImporter()
