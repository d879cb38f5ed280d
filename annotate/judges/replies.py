"""Reading the body of a chat completion by hand, so that every way in which it can be wrong has a name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotate.judges.failures import CallFailure, Consequence

EXCERPT = 2_000


@dataclass(frozen=True, slots=True)
class Completion:
    """A reply as it came: its text, token counts (None where the endpoint gives none) and facts for the record."""

    text: str
    prompt_tokens: int | None
    completion_tokens: int | None
    facts: Mapping[str, object]


def read_completion(body: bytes) -> Completion:
    """The completion in a response body; raises CallFailure for one that is broken, empty, refused or filtered."""
    return completion_of(_parsed(body), excerpt(body))


def completion_of(value: object, shown: str) -> Completion:
    """The completion in a parsed body; ``shown`` is the excerpt to keep where it is not one."""
    choice, message = _message(value, shown)
    assert isinstance(value, Mapping)
    usage = _usage(value)
    content, refusal = message.get("content"), message.get("refusal")
    finish = choice.get("finish_reason")
    if isinstance(refusal, str) and refusal:
        raise CallFailure("refused", "the model declined to judge", "settled", reply=refusal, usage=usage)
    if finish == "content_filter":
        said = content if isinstance(content, str) else None
        raise CallFailure("refused", "stopped by the endpoint's content filter", "settled", reply=said, usage=usage)
    if not isinstance(content, str):
        raise CallFailure("wrong shape", "a choice without text", body=shown, usage=usage, maybe_billed=True)
    if not content.strip():
        why = "cut off before any text (--max-tokens)" if finish == "length" else "no text"
        consequence: Consequence = "settled" if finish == "length" else "again"
        raise CallFailure("empty reply", why, consequence, body=shown, usage=usage, maybe_billed=True)
    facts = {name: value[name] for name in ("id", "model", "system_fingerprint") if isinstance(value.get(name), str)}
    return Completion(content, usage[0], usage[1], {**facts, "finish_reason": finish})


def excerpt(body: bytes) -> str:
    return body[:EXCERPT].decode("utf-8", "replace")


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise CallFailure("broken body", "not complete JSON", body=excerpt(body), maybe_billed=True) from None


def _message(value: object, shown: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    choices = value.get("choices") if isinstance(value, Mapping) else None
    if not isinstance(choices, list):
        raise CallFailure("wrong shape", "no list of choices", body=shown, maybe_billed=True)
    if not choices:
        raise CallFailure("wrong shape", "an empty list of choices", body=shown, maybe_billed=True)
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping):
        raise CallFailure("wrong shape", "a choice without a message", body=shown, maybe_billed=True)
    return choice, message


def _usage(value: Mapping[str, Any]) -> tuple[int | None, int | None]:
    usage = value.get("usage")
    if not isinstance(usage, Mapping):
        return None, None
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else None
