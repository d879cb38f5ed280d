"""How a request is written for one endpoint. Compatible servers differ in three things; the first call finds out which.

An endpoint that refuses JSON schemas, a temperature or a token field says so with status 400; the setting that it names
is then changed, once each, and what was found is stored with the judge, so that a resumed run asks in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from annotate.judges.tasks import Task

Output = Literal["schema", "json", "text"]
OUTPUTS: tuple[Output, ...] = ("schema", "json", "text")
TokenField = Literal["max_tokens", "max_completion_tokens"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """``output``: a JSON schema, any JSON object, or plain text. ``temperature`` None: the endpoint's own."""

    output: Output = "schema"
    temperature: float | None = 0.0
    token_field: TokenField = "max_tokens"

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def dialect_from(stored: Mapping[str, Any]) -> Dialect:
    return Dialect(stored["output"], stored["temperature"], stored["token_field"])


def request_body(
    dialect: Dialect, task: Task, model: str, messages: Sequence[Mapping[str, str]], max_tokens: int
) -> dict[str, object]:
    """The body of one chat completion."""
    body: dict[str, object] = {"model": model, "messages": list(messages), dialect.token_field: max_tokens}
    if dialect.temperature is not None:
        body["temperature"] = dialect.temperature
    if dialect.output == "schema":
        schema = {"name": f"annotate_{task.name}", "strict": True, "schema": task.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif dialect.output == "json":
        body["response_format"] = {"type": "json_object"}
    return body


def adapted(dialect: Dialect, complaint: str, *, output_fixed: bool, temperature_fixed: bool) -> Dialect | None:
    """The dialect to try next after a refusal that says ``complaint``, or None where it names none of the three."""
    said = complaint.lower()
    if "max_tokens" in said and dialect.token_field == "max_tokens":
        return replace(dialect, token_field="max_completion_tokens")
    if "max_completion_tokens" in said and dialect.token_field == "max_completion_tokens":
        return replace(dialect, token_field="max_tokens")
    if "temperature" in said and dialect.temperature is not None and not temperature_fixed:
        return replace(dialect, temperature=None)
    if not output_fixed and dialect.output != "text" and _about_format(said):
        return replace(dialect, output="json" if dialect.output == "schema" else "text")
    return None


def _about_format(said: str) -> bool:
    return any(
        word in said for word in ("response_format", "json_schema", "json schema", "json_object", "structured output")
    )
