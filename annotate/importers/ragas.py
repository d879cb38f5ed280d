"""Ragas: metrics with samples as its annotation app writes them, ``{METRIC: [{metric_input, metric_output, …}]}``.

Each metric is a judge, with the reason that its prompt gave. What people decided on it is a label: the metric's own
output where it was accepted; the edited verdict where one was written; else, for a binary metric, the other value.
(Results as a table, one column a metric, come in as tables.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from annotate.importers.base import Request, Rows
from annotate.importers.each import each_record
from annotate.importers.fit import Unfit
from annotate.importers.judged import judge_rows
from annotate.importers.people import CODER_HELP, LABELS_HELP, Responses, label_names
from annotate.importers.records import Record
from annotate.importers.shape import maybe, missing, need, read_document
from annotate.importers.tally import Tally
from annotate.recipes.transforms import as_text
from annotate.recipes.values import derived_key, texts
from db.records import HumanLabelRow, ImportRow, ItemRow, ResponseRow


class RagasImporter:
    name = "ragas"
    title = "Ragas (annotated metrics)"
    protocol = ""
    options: Mapping[str, str] = {"labels": LABELS_HELP, "coder": CODER_HELP, "model": "the model that responded"}

    def recognises(self, path: Path, start: bytes) -> bool:
        return not path.is_dir() and b'"metric_input"' in start and b'"metric_output"' in start

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Rows:
        responses = Responses()
        for source, path in enumerate(tally.paths):
            document = read_document(path)
            if not isinstance(document, dict) or not all(isinstance(value, list) for value in document.values()):
                missing(path, "METRIC", document, "an object with a list of samples under each metric's name")
            row = 0
            for metric, samples in document.items():
                numbered = (Record(row + i, s if isinstance(s, dict) else {"no": s}) for i, s in enumerate(samples, 1))
                build = partial(_sample, request, label_names(request), metric, responses, source)
                yield from each_record(numbered, tally, source, build)
                row += len(samples)


def _sample(
    request: Request, labels: Mapping[str, str], metric: str, responses: Responses, source: int, record: Record
) -> Iterator[ImportRow]:
    given = need(record.data, "metric_input", dict)
    question = _said(need(given, "user_input", str, list))
    context = as_text(given.get("retrieved_contexts")) or None
    key = derived_key(question, context)
    model = request.option("model")
    text = need(given, "response", str)
    output = need(record.data, "metric_output", int, float, str)
    prompts = maybe(record.data, "prompts", dict) or {}
    accepted = maybe(record.data, "is_accepted", bool)
    place, new = responses.place(ResponseRow(key, record.row, text, model=model, source=source), metric)
    if new is not None:
        gold = texts("")(given.get("reference"))
        yield ItemRow(key, record.row, question, context=context, gold=gold, source=source)
        yield new
    yield from judge_rows(metric, output, place, rationale=_reason(prompts))
    if accepted is not None:
        label = as_text(output) if accepted else _corrected(output, prompts)
        coder = request.option("coder", "annotator")
        yield HumanLabelRow(coder=coder, label=None if label is None else labels.get(label, label), **place)


def _said(value: Any) -> str:
    """A question, or the last of several turns."""
    if isinstance(value, str):
        return value
    texts_said = [str(turn.get("content", "")) for turn in value if isinstance(turn, Mapping)]
    if not texts_said:
        raise Unfit("'user_input' holds no text")
    return texts_said[-1]


def _reason(prompts: Mapping[str, Any]) -> str | None:
    outputs = [
        p["prompt_output"]
        for p in prompts.values()
        if isinstance(p, Mapping) and isinstance(p.get("prompt_output"), Mapping)
    ]
    return next((as_text(output["reason"]) for output in outputs if output.get("reason")), None)


def _corrected(output: Any, prompts: Mapping[str, Any]) -> str | None:
    """What people put in the place of an output that they did not accept; None where that is not known."""
    edited = [p.get("edited_output") for p in prompts.values() if isinstance(p, Mapping)]
    verdicts = [e["verdict"] for e in edited if isinstance(e, Mapping) and "verdict" in e]
    changed = [verdict for verdict in verdicts if verdict != output]
    if changed:
        return as_text(changed[0])
    return as_text(1 - output) if output in (0, 1) and not isinstance(output, str) else None


IMPORTER = RagasImporter()
