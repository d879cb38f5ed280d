"""Chat messages as a question, what came before it, and the response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotate.importers.fit import Unfit
from annotate.importers.shape import kind_name

_ROLES = {"human": "user", "gpt": "assistant", "bot": "assistant", "model": "assistant", "ai": "assistant"}


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: who spoke, the text, and text that was thought and not said."""

    role: str
    text: str
    thought: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """``context`` is everything before the question, one paragraph a message, or None."""

    question: str
    context: str | None
    response: str | None = None
    thought: str | None = None


def turns(messages: object) -> list[Turn]:
    """Messages of the usual kinds ({role, content} or {from, value}); Unfit where they are no such thing."""
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise Unfit(f"the messages are {kind_name(messages)}, expected a list")
    return [_turn(message) for message in messages]


def _turn(message: object) -> Turn:
    if not isinstance(message, Mapping):
        raise Unfit(f"a message is {kind_name(message)}, expected an object")
    role = message.get("role", message.get("from"))
    if not isinstance(role, str):
        raise Unfit("a message has no role")
    text, thought = content_text(message.get("content", message.get("value")))
    return Turn(_ROLES.get(role, role), text, thought)


def content_text(content: object) -> tuple[str, str]:
    """(what was said, what was thought): content is text, or a list of parts of which the textual ones are taken."""
    if content is None or isinstance(content, str):
        return content or "", ""
    if not isinstance(content, Sequence):
        raise Unfit(f"a message's content is {kind_name(content)}, expected text or a list of parts")
    said, thought = [], []
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if isinstance(part, str):
            said.append(part)
        elif kind in ("text", "input_text", "output_text"):
            said.append(str(part.get("text", "")))
        elif kind == "reasoning":
            thought.append(str(part.get("reasoning") or part.get("text") or ""))
        else:
            said.append(f"[{kind or 'part'}]")
    return "\n".join(said), "\n".join(thought)


def asked(listed: Sequence[Turn]) -> Exchange:
    """The last message of the user as the question; the ones before it as the context."""
    last = next((i for i in range(len(listed) - 1, -1, -1) if listed[i].role == "user"), None)
    if last is None:
        raise Unfit("no message is the user's")
    return Exchange(listed[last].text, _context(listed[:last]))


def exchange(listed: Sequence[Turn]) -> Exchange:
    """A conversation that ends with the assistant: what was asked last, and the assistant's last message."""
    if not listed or listed[-1].role != "assistant":
        raise Unfit("the last message is not the assistant's: there is no response")
    before = asked(listed[:-1])
    return Exchange(before.question, before.context, listed[-1].text, listed[-1].thought or None)


def _context(listed: Sequence[Turn]) -> str | None:
    return "\n\n".join(f"{turn.role}: {turn.text}" for turn in listed) or None
