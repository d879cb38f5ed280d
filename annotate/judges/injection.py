"""Responses that try to set their own grade: finding them, and whether labels differ more often on them.

What is found is text that *looks* like an attempt. It is no verdict on the response and is never used to judge it, and
a harmless text can look so (a response about prompt injection): hence the comparison with all other responses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from annotate.judges.compare import Share, first_labels
from db.judging import JudgingStore

_GRADE = r"(?:label|grade|graded|verdict|rating|score|judge?ment|classification|evaluation|assessment)"
_VALUE = (
    r"(?:correct|incorrect|right|wrong|true|aligned|pass(?:ed)?|hedge|abstain|first|second|tie|partially"
    r"|full marks|highest|maximum|\d{2,3}\b)"
)
_JUDGE = (
    r"(?:judges?|graders?|evaluators?|raters?|annotators?|reviewers?|coders?|assessors?|language model|llm|assistant)"
)
_ORDERS = r"(?:instructions?|prompts?|rules|guidelines|codebook|directions|criteria|rubric|system message)"
_VERB = r"(?:grade|label|mark|rate|score|judge|classify|evaluate|count|accept|treat|consider|award|assign|give)"
_OBJECT = r"(?:this|it|me|my|the (?:above )?(?:answer|response|reply)|full marks)"
_NEAR = r"[^.\n]{0,40}"

PATTERNS: Mapping[str, str] = {
    "sets aside the instructions": rf"\b(?:ignore|disregard|forget|override|bypass|skip)\b{_NEAR}\b{_ORDERS}\b",
    "gives itself a grade": (
        rf"\b{_GRADE}\b(?: (?:of|for) (?:this|my|the) \w+)?[\"'`*]*"
        rf"\s*(?::|=|is|->|should be|must be|shall be|of)\s*[\"'`*]*{_VALUE}"
    ),
    "asks for a grade": rf"\b{_VERB}\b{_NEAR}\b{_OBJECT}\b{_NEAR}\b(?:as\b|{_VALUE})",
    "speaks to the judge": (
        rf"\b(?:dear|note (?:to|for)|attention|message (?:to|for)|hey|as) (?:the |all |an? |any |every )?{_JUDGE}\b"
    ),
    "tells the judge what to do": (
        rf"\b{_JUDGE}\b[^.\n]{{0,20}}\b(?:must|should|shall|ha(?:s|ve) to|(?:is|are) (?:required|instructed) to)\b"
    ),
    "plays another role": (
        r"<\|(?:im_start|im_end|system|assistant|user|endoftext)\|?>?|\[/?INST\]|<</?SYS>>"
        r"|^\s*#{0,3}\s*(?:system|assistant|developer)\s*(?:message|prompt)?\s*:"
    ),
    "closes the fence": (
        r"<<\s*/?\s*(?:END|DATA)\b|===\s*(?:system|user)\s*===|</(?:response|answer|data|document|question)>"
    ),
    "holds hidden characters": r"[\U000E0000-\U000E007F\u202A-\u202E\u2066-\u2069]",
}
_COMPILED = {name: re.compile(pattern, re.IGNORECASE | re.MULTILINE) for name, pattern in PATTERNS.items()}


def sets_own_grade(text: str) -> tuple[str, ...]:
    """The kinds of attempt that a text looks like, in the order of ``PATTERNS``; empty where none is found."""
    return tuple(name for name, pattern in _COMPILED.items() if pattern.search(text))


@dataclass(frozen=True, slots=True)
class InjectionReport:
    """How often two sets of labels differ, on responses that look like attempts and on all others.

    ``excess`` is the difference of the two shares; None where one is undefined. ``towards`` counts, on attempts, which
    label ``first`` gave where the two differ. ``kinds`` counts the attempts by kind (a text can be of several).
    """

    first: str
    second: str
    attempts: Share
    others: Share
    towards: Mapping[str, int]
    kinds: Mapping[str, int]

    @property
    def excess(self) -> float | None:
        if self.attempts.share is None or self.others.share is None:
            return None
        return self.attempts.share - self.others.share


def injection_report(
    texts: Iterable[tuple[int, str]], first: Mapping[int, str], second: Mapping[int, str], names: tuple[str, str]
) -> InjectionReport:
    """Compare ``first`` (a judge) with ``second`` (another judge, or people) over the responses that both label.

    ``texts``: (response, text), read once; ``first`` and ``second``: label by response.
    """
    counts = {True: [0, 0], False: [0, 0]}
    towards: dict[str, int] = {}
    kinds: dict[str, int] = {}
    for response, text in texts:
        if response not in first or response not in second:
            continue
        found = sets_own_grade(text)
        differs = first[response] != second[response]
        counts[bool(found)][0] += differs
        counts[bool(found)][1] += 1
        for kind in found:
            kinds[kind] = kinds.get(kind, 0) + 1
        if found and differs:
            towards[first[response]] = towards.get(first[response], 0) + 1
    attempts, others = Share(*counts[True]), Share(*counts[False])
    return InjectionReport(*names, attempts, others, dict(sorted(towards.items())), dict(sorted(kinds.items())))


def injection_reports(store: JudgingStore, people: Mapping[int, str] | None = None) -> tuple[InjectionReport, ...]:
    """Every judge of a study against ``people`` (label by response), where given, and every pair of judges.

    Labels are those of repeat 1 as the study maps them; '(not a label)' is one, '(missing)' is left out.
    """
    labels = {name: first_labels(store, name) for name in store.judge_names()}
    pairs = [(name, "people") for name in labels] if people is not None else []
    pairs += list(combinations(labels, 2))
    known = {**labels, "people": people or {}}
    return tuple(injection_report(store.texts(), known[a], known[b], (a, b)) for a, b in pairs)
