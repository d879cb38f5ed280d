"""People's labels written back into a log of inspect_ai as scores, through inspect_ai's own API, with their provenance.

A label of coder Ann becomes the score ``annotate/Ann`` of its sample and epoch, the final one ``annotate/final``; value
the label (or the rating), explanation the note, provenance the coder. The log that was imported is not changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from annotate.exporters.base import Unit, Written
from db.errors import AnnotateError
from db.records import HumanLabelRow

PREFIX = "annotate/"
REASON = "labelled in annotate"
_NAMES = ("read_eval_log", "write_eval_log", "edit_score", "ScoreEdit", "ProvenanceData")


def write_scores(log: Path, out: Path, units: Iterable[Unit]) -> Written:
    """Copy ``log`` to ``out`` (.eval or .json) with a score for each label; returns what was written.

    Raises AnnotateError where inspect_ai is not installed, ``out`` exists, or a unit is not a sample of the log.
    """
    api = _api()
    if out.exists():
        raise AnnotateError(f"{out}: there is already a file of that name.", "Name another one.")
    found = api.read_eval_log(str(log))
    samples = {(f"{found.eval.task}/{s.id}", s.epoch): s for s in found.samples or []}
    counted = [0, 0]
    for unit in units:
        counted[0] += 1
        sample = samples.get((unit.item.key, unit.response.repeat or 1))
        if sample is None:
            raise AnnotateError(
                f"{log}: it has no sample {unit.item.key!r}, epoch {unit.response.repeat or 1}.",
                "Give the log that these units were imported from.",
            )
        for row in unit.people:
            if (value := row.rating if row.label is None else row.label) is not None:
                counted[1] += 1
                _score(api, found, sample, row, value)
    api.write_eval_log(found, str(out))
    return Written(counted[0], counted[1], 0)


def _score(api: Any, log: Any, sample: Any, row: HumanLabelRow, value: str | int) -> None:
    edit = api.ScoreEdit(
        value=value,
        explanation=row.note or "",
        metadata={} if row.rating is None or row.label is None else {"rating": row.rating},
        provenance=api.ProvenanceData(author=row.coder, reason=REASON),
    )
    api.edit_score(log, sample.id, PREFIX + row.coder, edit, recompute_metrics=False, epoch=sample.epoch)


def _api() -> Any:
    """The names of inspect_ai that are needed, else one line that says what to install."""
    try:
        log, scorer = import_module("inspect_ai.log"), import_module("inspect_ai.scorer")
    except ModuleNotFoundError:
        message = "Writing into a log of inspect_ai needs inspect_ai, which is not installed."
        raise AnnotateError(message, "Install it with: pip install inspect_ai") from None
    found = {name: getattr(log, name, None) or getattr(scorer, name, None) for name in _NAMES}
    if None in found.values():
        hint = "Install a newer one: pip install -U inspect_ai"
        raise AnnotateError("This inspect_ai is too old to edit scores.", hint)
    return SimpleNamespace(**found)
