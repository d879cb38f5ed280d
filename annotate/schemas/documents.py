"""JSON Schemas of what commands print with ``--json``, made from the texts in commands.toml."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"
WHOLE = ("impact", "results")
"""What has a schema file of its own: a command, and a report's results.json."""

AGREEMENT = ("schema", "study", "counts", "design", "coding", "reference", "conduct", "people", "judges")
"""The sections of results.json that ``annotate agreement --json`` always prints."""

_STEP = re.compile(r"\[\]|\{\}|[^.\[\]{}]+")


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a document: its path, type and meaning."""

    path: str
    type: str
    nullable: bool
    optional: bool
    meaning: str


@dataclass(frozen=True, slots=True)
class Document:
    """One shape that a command prints, and when."""

    command: str
    when: str
    values: tuple[Value, ...]


@cache
def _texts() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("commands.toml").read_text("utf-8"))


def _value(path: str, text: str) -> Value:
    kind, _, meaning = text.partition("; ")
    optional = kind.startswith("optional ")
    kind = kind.removeprefix("optional ")
    return Value(path, kind.removesuffix("?"), kind.endswith("?"), optional, meaning)


def documents(command: str | None = None) -> tuple[Document, ...]:
    """The shapes that ``command`` prints (of every command where it is None), in the order of the file."""
    found = _texts()["document"]
    return tuple(
        Document(each["command"], each["when"], tuple(_value(path, text) for path, text in each["holds"].items()))
        for each in found
        if command in (None, each["command"])
    )


def shapes() -> dict[str, tuple[Value, ...]]:
    """The shapes that several documents share, by name."""
    return {name: tuple(_value(*each) for each in holds.items()) for name, holds in _texts()["shape"].items()}


def names() -> tuple[str, ...]:
    """Every command that has a schema, and ``results`` for a report's results.json."""
    return tuple(sorted({each.command for each in documents()} | {"agreement", *WHOLE}))


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of what ``annotate NAME --json`` prints. Raises KeyError for a name that has none."""
    if name == "agreement":
        title = "annotate agreement --json: the sections of a report's results.json that rest on agreement"
        return _file("results") | {"$id": "annotate/agreement-1", "title": title, "required": list(AGREEMENT)}
    if name in WHOLE:
        return _file(name)
    found = documents(name)
    if not found:
        raise KeyError(name)
    trees = [_tree(each.values) | {"description": each.when} for each in found]
    body = trees[0] if len(trees) == 1 else {"anyOf": trees}
    head = {"$schema": DIALECT, "$id": f"annotate/{name.replace(' ', '-')}-1", "title": f"annotate {name} --json"}
    return head | body


def _file(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files(__package__).joinpath(f"{name}.schema.json").read_text("utf-8"))
    return found


def _tree(values: tuple[Value, ...]) -> dict[str, Any]:
    """The schema of one shape: every value put where its path leads."""
    root: dict[str, Any] = {}
    for value in values:
        place, above, step = root, root, ""
        for step in _STEP.findall(value.path):
            above, place = place, _below(place, step)
        _describe(place, value)
        if value.optional:
            above["required"].remove(step)
    return root


def _below(place: dict[str, Any], step: str) -> dict[str, Any]:
    """The schema that ``step`` leads to from ``place``, made where it is not there yet."""
    found: dict[str, Any]
    if step == "[]":
        place.setdefault("type", "array")
        found = place.setdefault("items", {})
        return found
    place.setdefault("type", "object")
    if step in ("{}", "*"):
        if not isinstance(place.get("additionalProperties"), dict):
            place["additionalProperties"] = {}
        found = place["additionalProperties"]
        return found
    place.setdefault("additionalProperties", False)
    if step not in place.setdefault("properties", {}):
        place["properties"][step] = {}
        place.setdefault("required", []).append(step)
    found = place["properties"][step]
    return found


def _describe(place: dict[str, Any], value: Value) -> None:
    if value.type in shapes():
        place.update(_tree(shapes()[value.type]))
    elif value.type != "any":
        place.setdefault("type", value.type)
    if value.nullable and "type" in place:
        place["type"] = [place["type"], "null"]
    if value.meaning:
        place["description"] = value.meaning
