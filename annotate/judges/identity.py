"""A judge's name stands for one way of asking, which is stored; a run that asks otherwise needs another name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from annotate.judges.asking import Question
from annotate.judges.hosts import Target
from db.errors import AnnotateError
from db.judging import Judge, JudgingStore

SWAPPED = " (swapped)"


def llm_origin(question: Question, where: Target, temperature: float | None, protocol_digest: str) -> dict[str, object]:
    """Where an LLM judge comes from. ``fixed_sha256`` covers what a prompt is filled with for every response alike."""
    return {
        "model": question.model,
        "base_url": where.base_url,
        "task": question.task.name,
        "threshold": question.task.threshold if question.task.name == "alignment" else None,
        "prompt": question.prompt.name,
        "prompt_sha256": question.prompt.digest,
        "fixed_sha256": digest({"fixed": dict(question.task.fixed), "schema": dict(question.task.schema)}),
        "temperature": temperature,
        "swapped": question.swapped,
        "protocol_sha256": protocol_digest,
    }


def digest(value: Mapping[str, object]) -> str:
    """SHA-256 of canonical JSON."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


_SAID = {
    "model": "the model",
    "base_url": "the endpoint",
    "task": "the task",
    "threshold": "the threshold",
    "prompt_sha256": "the prompt",
    "fixed_sha256": "the codebook",
    "temperature": "the temperature",
    "swapped": "the order",
    "source_sha256": "the code",
    "command": "the command",
    "rule": "the rule",
    "of": "the list of judges",
}


def same_judge(store: JudgingStore, name: str, kind: str, version: str, origin: Mapping[str, object]) -> Judge:
    """The judge of that name, made where there is none; raises AnnotateError where the name stands for another one."""
    judge = store.judge(name)
    if judge is None:
        return store.add_judge(name, kind, version, origin)
    hint = f"Give this one another name: --judge '{name}-2'."
    if judge.kind != kind:
        raise AnnotateError(f"The judge {name!r} is in the study already, of another kind ({judge.kind}).", hint)
    for key, said in _SAID.items():
        if key in origin and judge.origin.get(key) != origin[key]:
            raise AnnotateError(f"The judge {name!r} has labels already, and {said} differs now.", hint)
    if judge.version != version:
        raise AnnotateError(f"The judge {name!r} has labels of version {judge.version}; this is {version}.", hint)
    return judge


RUN_HERE = ("llm", "rule", "majority", "command", "callable")


def set_version(store: JudgingStore, name: str, version: str) -> None:
    """Note the version of an imported judge; raises AnnotateError for one that is not there, or that was run here."""
    judge = store.judge(name)
    if judge is None:
        raise AnnotateError(
            f"There is no judge {name!r}.", f"Its judges: {', '.join(store.judge_names()) or 'none yet'}."
        )
    if judge.kind in RUN_HERE:
        raise AnnotateError(f"The judge {name!r} was run here, and its version is {judge.version}.", "Leave it so.")
    store.set_version(judge.id, version.strip())
