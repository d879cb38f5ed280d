"""Prompt files: a system and a user part with named fields, checked before the first call, and known by their SHA-256.

    === system ===
    You grade answers. {{labels}}
    === user ===
    {{question}} {{response}}

A field of the study (``DATA_FIELDS``) is always fenced as data. What is put in is never searched for fields again.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from annotate.judges.fencing import NOTICE, fence, mark_for
from db.errors import AnnotateError
from db.judging import Subject

_FOLDER = Path(__file__).resolve().parent / "prompts"
SHIPPED = {"label": "label-v1.txt", "pair": "pair-v1.txt", "alignment": "alignment-v1.txt", "grade": "grade-v1.txt"}

DATA_FIELDS = (
    *(
        "question",
        "context",
        "gold",
        "rationale",
        "options",
        "answer_key",
        "response",
        "response_b",
        "reason",
        "choice",
    ),
)
FIXED_FIELDS = ("labels", "label_names", "instructions", "threshold", "output", "fencing")
_FIELD = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_SECTION = re.compile(r"^=== *(system|user) *===[ \t]*$", re.MULTILINE)
NONE = "(none)"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A checked prompt file: ``digest`` is the SHA-256 of its bytes, as ``sha256sum`` prints it."""

    name: str
    system: str
    user: str
    digest: str

    @property
    def fields(self) -> frozenset[str]:
        return frozenset(_FIELD.findall(self.system + self.user))


def load_prompt(task: str, path: Path | None, *, pairwise: bool = False) -> Prompt:
    """The shipped prompt of a task, or a user's own. Raises AnnotateError with line and remedy."""
    own = path is not None
    file = path if path is not None else _FOLDER / SHIPPED["pair" if pairwise and task == "label" else task]
    try:
        content = file.read_bytes()
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AnnotateError(f"{file}: not UTF-8 (byte {error.start}).", "Save the prompt as UTF-8.") from None
    except OSError as error:
        raise AnnotateError(f"{file}: cannot be read ({error.strerror}).", "Check the path.") from None
    check_prompt(text, str(file), needed_fields(task, pairwise))
    system, user = _sections(text.replace("\r\n", "\n"))
    return Prompt(file.name if own else file.stem, system, user, hashlib.sha256(content).hexdigest())


def needed_fields(task: str, pairwise: bool) -> tuple[str, ...]:
    """The fields without which a prompt cannot ask what its task is about."""
    if task == "alignment":
        return ("reason", "rationale")
    return ("response", "response_b") if pairwise else ("response",)


def check_prompt(text: str, source: str, needed: tuple[str, ...]) -> None:
    """Refuse unknown fields (with line and the nearest known one) and a prompt that lacks a field it needs."""
    known = (*DATA_FIELDS, *FIXED_FIELDS)
    for match in _FIELD.finditer(text):
        if match[1] not in known:
            line = text.count("\n", 0, match.start()) + 1
            near = difflib.get_close_matches(match[1], known, n=1)
            hint = f"Did you mean {{{{{near[0]}}}}}?" if near else f"Known fields: {', '.join(known)}."
            raise AnnotateError(f"{source}, line {line}: unknown field {match[0]}.", hint)
    present = set(_FIELD.findall(text))
    if missing := [name for name in needed if name not in present]:
        raise AnnotateError(
            f"{source}: the field {{{{{missing[0]}}}}} is missing.", "The judge would not see what it judges."
        )


def _sections(text: str) -> tuple[str, str]:
    """The system and user part; a file without section lines is all user part."""
    parts = _SECTION.split(text)
    if len(parts) == 1:
        return "", text.strip()
    found = {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}
    return found.get("system", ""), found.get("user", "")


def render(
    prompt: Prompt, subject: Subject, fixed: Mapping[str, str], *, swapped: bool = False
) -> list[dict[str, str]]:
    """The messages for one subject. ``swapped``: the two texts of a pair change places."""
    data = data_fields(subject, swapped=swapped)
    used = {name: data[name] for name in DATA_FIELDS if name in prompt.fields and data[name] is not None}
    mark = mark_for(text for text in used.values() if text is not None)
    values = dict(fixed)
    for name in DATA_FIELDS:
        text = used.get(name)
        values[name] = NONE if text is None else fence(name, text, mark)
    system, user = (_FIELD.sub(lambda match: values[match[1]], part) for part in (prompt.system, prompt.user))
    if "fencing" not in prompt.fields:
        system = f"{system}\n\n{NOTICE}".strip()
    messages = [{"role": "system", "content": system}] if system else []
    return [*messages, {"role": "user", "content": user}]


def data_fields(subject: Subject, *, swapped: bool = False) -> dict[str, str | None]:
    """What each data field holds for a subject; None where the study has nothing."""
    first, second = subject.text, subject.text_b
    if swapped and second is not None:
        first, second = second, first
    return {
        "question": subject.question,
        "context": subject.context or None,
        "gold": "\n".join(subject.gold) or None,
        "rationale": subject.rationale or None,
        "options": "\n".join(f"{number}. {text}" for number, text in enumerate(subject.options, start=1)) or None,
        "answer_key": subject.answer_key or None,
        "response": first,
        "response_b": second,
        "reason": subject.reason or None,
        "choice": subject.choice or None,
    }
