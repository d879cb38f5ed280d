"""The three tasks of an LLM judge: what it is asked for, in which JSON schema, and how its reply is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from annotate.judges.parsing import Verdict, parse_alignment, parse_label
from db.errors import AnnotateError
from db.judging import Subject
from db.records import LabelRule, Protocol

TASKS = ("label", "alignment", "grade")
GRADES = ("CORRECT", "INCORRECT", "PARTIALLY", "OTHER")
DEFAULT_THRESHOLD = 70


@dataclass(frozen=True, slots=True)
class Task:
    """What a judge is asked. ``labels`` in the order in which they are listed, empty for alignment.

    ``fixed`` fills the fields of a prompt that are the same for every response, but for ``output`` and ``fencing``.
    """

    name: str
    labels: tuple[str, ...]
    fixed: Mapping[str, str]
    pairwise: bool
    threshold: int
    schema: Mapping[str, object]
    reply_tokens: int

    @property
    def parse(self) -> Callable[[str], Verdict]:
        return parse_alignment if self.name == "alignment" else parse_label

    def output_instruction(self, *, json_wanted: bool) -> str:
        """How the reply must look, in the words of the prompt."""
        if self.name == "alignment":
            return _ALIGNMENT_JSON if json_wanted else _ALIGNMENT_TEXT
        names = ", ".join(self.labels)
        return (_LABEL_JSON if json_wanted else _LABEL_TEXT).format(names=names)

    def cannot_judge(self, subject: Subject) -> str:
        """Why this subject cannot be put to the judge, or ''."""
        if subject.redacted:
            return "redacted"
        if subject.technical:
            return "technical failure"
        if self.name == "alignment":
            return _lacks("rationale", subject.rationale) or _lacks("stated reason", subject.reason)
        if self.pairwise and not (subject.text_b or "").strip():
            return "no second text"
        if self.name == "grade" and not any(gold.strip() for gold in subject.gold):
            return "no gold answer"
        return _lacks("response text", subject.text)


def make_task(name: str, protocol: Protocol, *, threshold: int | None = None, swapped: bool = False) -> Task:
    """The task ``name`` under a protocol; raises AnnotateError where they do not fit.

    ``swapped``: the labels are listed in the opposite order (the two texts of a pair are swapped by the caller).
    """
    if threshold is not None and not 0 <= threshold <= 100:
        raise AnnotateError(f"The threshold is {threshold}, expected 0 to 100.", "Write --threshold 70.")
    at = _threshold(protocol) if threshold is None else threshold
    if name == "alignment":
        return _alignment(protocol, at, swapped)
    rules = _rules(name, protocol)
    if swapped and not protocol.pairwise:
        rules = tuple(reversed(rules))
    labels = tuple(rule.name for rule in rules)
    fixed = {
        "labels": "\n\n".join(_codebook(rule) for rule in rules),
        "label_names": ", ".join(labels),
        "instructions": protocol.instructions.strip(),
        "threshold": str(at),
    }
    return Task(name, labels, fixed, protocol.pairwise, at, _label_schema(labels), 120)


def _rules(name: str, protocol: Protocol) -> tuple[LabelRule, ...]:
    if name == "grade":
        if protocol.pairwise:
            raise AnnotateError(
                "The task 'grade' grades one response, but this protocol compares two.", "Use --task label."
            )
        return tuple(LabelRule(grade, "", grade.capitalize(), "") for grade in GRADES)
    if not protocol.labels:
        raise AnnotateError(f"The protocol {protocol.name!r} has no labels, only a rating.", "Use --task alignment.")
    return protocol.labels


def _alignment(protocol: Protocol, threshold: int, swapped: bool) -> Task:
    if swapped:
        raise AnnotateError("--swap checks an order, and the alignment prompt has none.", "Leave --swap out.")
    fixed = {
        "labels": "",
        "label_names": "",
        "instructions": protocol.instructions.strip(),
        "threshold": str(threshold),
    }
    return Task("alignment", (), fixed, False, threshold, _ALIGNMENT_SCHEMA, 400)


def _threshold(protocol: Protocol) -> int:
    return protocol.rating.threshold if protocol.rating is not None else DEFAULT_THRESHOLD


def _lacks(what: str, text: str | None) -> str:
    return "" if text and text.strip() else f"no {what}"


def _codebook(rule: LabelRule) -> str:
    lines = [f"{rule.name}: {rule.title}", rule.definition.strip()]
    lines += [f"Example: {example}" for example in rule.examples]
    lines += [f"Note: {case}" for case in rule.edge_cases]
    return "\n".join(line for line in lines if line)


def _label_schema(labels: Sequence[str]) -> dict[str, object]:
    properties = {"reason": {"type": "string"}, "label": {"type": "string", "enum": list(labels)}}
    return _object(properties)


def _object(properties: Mapping[str, object]) -> dict[str, object]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_TEXTS = {"type": "array", "items": {"type": "string"}}
_ALIGNMENT_SCHEMA = _object(
    {
        "missing": _TEXTS,
        "additions": _TEXTS,
        "distortions": _TEXTS,
        "reason": {"type": "string"},
        "score": {"type": "integer"},
    }
)
_LABEL_JSON = (
    'Reply with one JSON object and nothing else: {{"reason": "one or two sentences", "label": "…"}}. '
    "The label is exactly one of: {names}."
)
_LABEL_TEXT = (
    "Reply with one or two sentences of reasoning and then one last line of the form\nLABEL: …\n"
    "with exactly one of: {names}. Write that line once."
)
_ALIGNMENT_JSON = (
    'Reply with one JSON object and nothing else: {"missing": ["ideas of the rationale that the reason lacks"], '
    '"additions": ["wrong ideas that the reason adds"], "distortions": ["ideas that it distorts"], '
    '"reason": "one or two sentences", "score": a whole number from 0 to 100}.'
)
_ALIGNMENT_TEXT = (
    "List in short lines the missing ideas, the wrong additions and the distortions, and then write one last line of "
    "the form\nSCORE: …\nwith a whole number from 0 to 100. Write that line once."
)
