"""A run of HELM: scenario_state.json (requests and completions) with per_instance_stats.json (what the metrics said).

Give the run's folder or its scenario_state.json. An instance gives one item (a perturbed one its own), its completions
are responses, and each metric that the run names is a judge.
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
from annotate.importers.records import Record
from annotate.importers.shape import maybe, missing, need, read_document
from annotate.importers.sources import SourceError
from annotate.importers.tally import Tally
from db.records import ImportRow, ItemRow, ResponseRow

STATE, STATS = "scenario_state.json", "per_instance_stats.json"
_BOOKKEEPING = (
    "num_",
    "max_prob",
    "logprob",
    "training_",
    "inference_",
    "finish_reason_",
    "prompt_truncated",
    "batch_size",
)
Place = dict[str, Any]
Places = dict[tuple[str, int, str], Place]


class HelmImporter:
    name = "helm"
    title = "a run of HELM (its folder)"
    protocol = ""
    options: Mapping[str, str] = {
        "metrics": "the metrics that become judges, name,…; otherwise all but the bookkeeping"
    }

    def recognises(self, path: Path, start: bytes) -> bool:
        if path.is_dir():
            return (path / STATE).is_file()
        return b'"adapter_spec"' in start and b'"scenario_spec"' not in start and path.name.startswith("scenario_state")

    def sources(self, request: Request) -> Sequence[Path]:
        """State and statistics of every run that was given, the statistics where they are there."""
        found: list[Path] = []
        for path in request.files:
            folder = path if path.is_dir() else path.parent
            if not (folder / STATE).is_file():
                raise SourceError(f"{folder}: there is no {STATE} in it.", "Give the folder of one run.")
            found += [folder / STATE, *([folder / STATS] if (folder / STATS).is_file() else [])]
        return tuple(dict.fromkeys(found))

    def rows(self, request: Request, tally: Tally) -> Rows:
        wanted = tuple(filter(None, request.option("metrics").split(",")))
        places: Places = {}
        for source, path in enumerate(tally.paths):
            if path.name == STATE:
                places = {}
                yield from _states(path, tally, source, places)
            else:
                yield from _statistics(path, tally, source, places, wanted)


def _states(path: Path, tally: Tally, source: int, places: Places) -> Rows:
    state = read_document(path)
    for key in ("adapter_spec", "request_states"):
        if not isinstance(state, Mapping) or key not in state:
            missing(path, key, state, "the state of a HELM scenario")
    model = state["adapter_spec"].get("model")
    if not isinstance(model, str):
        missing(path, "model", state["adapter_spec"], "a HELM scenario with adapter_spec.model")
    scenario = path.parent.name.partition(":")[0].partition(",")[0].partition("-model=")[0]
    run = {"model": model, "scenario": scenario, "source": source}
    yield from each_record(_numbered(path, state["request_states"]), tally, source, partial(_state, run, places))


def _numbered(path: Path, listed: Any) -> Iterator[Record]:
    if not isinstance(listed, list):
        raise SourceError(f"{path}: expected a list.", "Is it the right file?")
    for number, entry in enumerate(listed, start=1):
        yield Record(number, entry if isinstance(entry, dict) else {"not an object": entry})


def _state(run: Mapping[str, Any], places: Places, record: Record) -> Iterator[ImportRow]:
    instance, result = need(record.data, "instance", dict), need(record.data, "result", dict)
    trial = need(record.data, "train_trial_index", int)
    identifier = need(instance, "id", str)
    changed = maybe(instance, "perturbation", dict)
    key = f"{run['scenario']}/{identifier}" + (f"/{_change(changed)}" if changed else "")
    options = maybe(record.data, "output_mapping", dict) or {}
    gold, letter = _references(need(instance, "references", list), options)
    yield ItemRow(
        key=key,
        row=record.row,
        question=need(need(instance, "input", dict), "text", str),
        gold=gold,
        options=tuple(str(text) for text in options.values()),
        answer_key=letter,
        strata={"scenario": str(run["scenario"]), "split": str(instance.get("split") or "")},
        source=run["source"],
    )
    place: Place = {"item": key, "model": run["model"], "condition": f"trial {trial}" if trial else ""}
    texts = [need(entry if isinstance(entry, dict) else {}, "text", str) for entry in need(result, "completions", list)]
    failure = None if need(result, "success", bool) else str(result.get("error") or "request failed")
    for repeat, text in enumerate(texts or [""], start=1):
        where = {"row": record.row, "source": run["source"], "repeat": repeat}
        yield ResponseRow(text=text, failure=failure, extra=_extra(record.data), **where, **place)
    places[identifier, trial, _change(changed)] = {**place, "repeat": 1}


def _extra(state: Mapping[str, Any]) -> dict[str, Any]:
    request = maybe(state, "request", dict) or {}
    return {"prompt": request["prompt"]} if request.get("prompt") else {}


def _change(perturbation: Mapping[str, Any] | None) -> str:
    return str(perturbation.get("name", "perturbed")) if perturbation else ""


def _references(references: list[Any], options: Mapping[str, Any]) -> tuple[tuple[str, ...], str | None]:
    """(gold answers, the letter of the right option)."""
    right = [r["output"]["text"] for r in references if isinstance(r, Mapping) and "correct" in (r.get("tags") or ())]
    letter = next((letter for letter, text in options.items() if text in right), None)
    return tuple(str(text) for text in right), letter


def _statistics(path: Path, tally: Tally, source: int, places: Places, wanted: Sequence[str]) -> Rows:
    build = partial(_instance, places, wanted, source)
    yield from each_record(_numbered(path, read_document(path)), tally, source, build)


def _instance(places: Places, wanted: Sequence[str], source: int, record: Record) -> Iterator[ImportRow]:
    identifier, trial = need(record.data, "instance_id", str), need(record.data, "train_trial_index", int)
    change = _change(maybe(record.data, "perturbation", dict))
    place = places.get((identifier, trial, change))
    if place is None:
        raise Unfit(f"instance {identifier!r} (trial {trial}) is not in {STATE}")
    for stat in need(record.data, "stats", list):
        name = need(need(stat if isinstance(stat, dict) else {}, "name", dict), "name", str)
        if name in wanted or (not wanted and not name.startswith(_BOOKKEEPING)):
            yield from judge_rows(name, need(stat, "mean", int, float), {**place, "row": record.row, "source": source})


IMPORTER = HelmImporter()
