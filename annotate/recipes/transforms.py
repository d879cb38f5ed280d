"""The closed set of what a recipe may do to a value. There are no expressions: a recipe cannot run anything.

``None`` is a missing value and passes through every step. A step that cannot be applied raises ``Unfit`` with the
reason, which becomes the reason why the row was not imported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from annotate.importers.fit import Unfit
from annotate.strict_toml import Table

Step = Callable[[Any], Any]


def as_text(value: object) -> str | None:
    """A value as text: whole numbers without decimals, true and false in small letters, lists and tables as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, int | float):
        return str(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def strip(value: object) -> str | None:
    """Blanks at both ends go; nothing left is missing."""
    text = as_text(value)
    return (text.strip() or None) if text is not None else None


def first_word(value: object) -> str | None:
    """The first run of letters, digits, ``_`` and ``-``: 'Yes, the …' gives 'Yes'."""
    text = as_text(value)
    found = re.search(r"[\w-]+", text) if text is not None else None
    return found[0] if found else None


def largest(value: object) -> object:
    """The largest number of a list; a single number is itself."""
    if value is None:
        return None
    numbers = value if isinstance(value, list) else [value]
    if not numbers or not all(isinstance(n, int | float) and not isinstance(n, bool) for n in numbers):
        raise Unfit("max needs a list of numbers")
    return max(numbers)


def mapped(mapping: Mapping[str, str], other: str) -> Step:
    """Look the stripped text up; ``other`` says what happens to the rest: stop (refuse the row), keep or blank."""

    def step(value: object) -> object:
        text = strip(value)
        if text is None or text in mapping:
            return None if text is None else mapping[text]
        if other == "stop":
            raise Unfit(f"{_short(text)} is not in the map")
        return value if other == "keep" else None

    return step


def captured(pattern: re.Pattern[str], group: int | str) -> Step:
    """One group of the first place where the pattern matches; no match is missing."""

    def step(value: object) -> str | None:
        text = as_text(value)
        found = pattern.search(text) if text is not None else None
        return found[group] if found else None

    return step


def by_path(path: Sequence[str | int]) -> Step:
    """Follow keys and indexes into JSON (text is parsed first); ``*`` takes every element of a list."""

    def step(value: object) -> object:
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                raise Unfit("the text is not JSON") from None
        return None if value is None else _follow(value, path)

    return step


def _follow(value: object, path: Sequence[str | int]) -> object:
    for i, part in enumerate(path):
        if part == "*":
            if not isinstance(value, list):
                raise Unfit("json-path: [*] needs a list")
            return [_follow(entry, path[i + 1 :]) for entry in value]
        value = _member(value, part)
    return value


def _member(value: object, part: str | int) -> object:
    if isinstance(value, dict):
        return value.get(str(part))
    if isinstance(value, list) and isinstance(part, int):
        return value[part] if -len(value) <= part < len(value) else None
    raise Unfit(f"json-path: there is no {part!r} in {type(value).__name__}")


def above(threshold: float, yes: str, no: str) -> Step:
    """``yes`` where the number exceeds the threshold, ``no`` where it does not."""

    def step(value: object) -> str | None:
        if value is None or value == "":
            return None
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise Unfit(f"threshold needs a number, not {_short(as_text(value) or '')}") from None
        return yes if number > threshold else no

    return step


def parse_path(text: str) -> tuple[str | int, ...]:
    """``answers[0].text`` and ``[*][1]`` as keys and indexes; raises ValueError."""
    parts: list[str | int] = []
    rest = text.removeprefix("$").removeprefix(".")
    pattern = re.compile(r"\.?([^.\[\]]+)|\[(-?\d+|\*|\"[^\"]*\")\]")
    while rest:
        found = pattern.match(rest)
        if not found:
            raise ValueError(rest)
        name, index = found.groups()
        parts.append(name if name is not None else _index(index))
        rest = rest[found.end() :]
    return tuple(parts)


def _index(index: str) -> str | int:
    return index if index == "*" else index[1:-1] if index.startswith('"') else int(index)


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")


# --- from TOML --------------------------------------------------------------------------------------

_PLAIN: Mapping[str, Step] = {"strip": strip, "first-word": first_word, "max": largest}
NAMES = ("strip", "map", "regex-capture", "first-word", "json-path", "max", "threshold")


def parse_step(entry: object, table: Table) -> Step:
    """One entry of ``steps``: "strip", or a table such as { map = { Yes = "CORRECT" } }; raises TomlError."""
    if isinstance(entry, str) and entry in _PLAIN:
        return _PLAIN[entry]
    if isinstance(entry, dict):
        step = Table(table.document, table.path, entry)
        for name, read in _BUILDERS.items():
            if name in entry:
                return read(step)
    return table.fail(f"there is no step {entry!r}.", f"Steps: {', '.join(NAMES)}.", "steps")


def _map(step: Table) -> Step:
    step.allow(("map", "other"))
    other = step.text("other", "stop")
    if other not in ("stop", "keep", "blank"):
        step.fail(f"'other' is {other!r}.", "Choose stop, keep or blank.", "other")
    return mapped({key.strip(): value for key, value in step.string_map("map").items()}, other)


def _regex(step: Table) -> Step:
    step.allow(("regex-capture", "group"))
    try:
        pattern = re.compile(step.text("regex-capture"))
    except re.error as error:
        step.fail(f"the pattern is no regular expression ({error}).", "Correct it.", "regex-capture")
    group: int | str = step.data.get("group", 1 if pattern.groups else 0)  # type: ignore[assignment]
    if group not in pattern.groupindex and not (isinstance(group, int) and 0 <= group <= pattern.groups):
        step.fail(f"the pattern has no group {group!r}.", "Put brackets around what to take.", "group")
    return captured(pattern, group)


def _path(step: Table) -> Step:
    step.allow(("json-path",))
    try:
        return by_path(parse_path(step.text("json-path")))
    except ValueError:
        step.fail("the path is not readable.", 'Write it as "answers[0].text" or "[*][1]".', "json-path")


def _threshold(step: Table) -> Step:
    step.allow(("threshold", "above", "else"))
    value = step.data["threshold"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        step.fail("'threshold' must be a number.", "Write threshold = 0.5.", "threshold")
    return above(float(value), step.text("above"), step.text("else"))


_BUILDERS: Mapping[str, Callable[[Table], Step]] = {
    "map": _map,
    "regex-capture": _regex,
    "json-path": _path,
    "threshold": _threshold,
}
