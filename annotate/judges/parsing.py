"""Strict reading of a judge's reply. What is not plainly a label is kept as it came and becomes '(not a label)'.

Two forms are read: a reply that *is* one JSON object (alone, or alone in one code fence), and a reply with exactly one
line ``LABEL: …`` or ``SCORE: …``. A leading ``<think>`` block is set aside. Nothing is searched for a label's name.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_THINKING = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_CODE_FENCE = re.compile(r"\A```(?:json)?[ \t]*\n(.*)\n```\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reply says. ``raw``: its label as it stands there, or the whole reply where it has none.

    ``score``: 0-100, None where the reply has no usable one. ``detail``: the lists of an alignment judge.
    """

    raw: str
    score: float | None = None
    rationale: str | None = None
    detail: Mapping[str, object] = field(default_factory=dict)


def parse_label(content: str) -> Verdict:
    """The label of a reply as its text, which the judge's mapping then takes to a label or not."""
    text = _visible(content)
    found = _json_object(text)
    if found is not None:
        label = found.get("label")
        reason = found.get("reason")
        rationale = reason if isinstance(reason, str) else None
        return (
            Verdict(label.strip(), rationale=rationale)
            if isinstance(label, str)
            else Verdict(text, rationale=rationale)
        )
    value, rest = _line("LABEL", text)
    return Verdict(text) if value is None else Verdict(value, rationale=rest or None)


def parse_alignment(content: str) -> Verdict:
    """The score of a reply (None outside 0-100, with ``raw`` what stood there), and its lists."""
    text = _visible(content)
    found = _json_object(text)
    if found is None:
        value, rest = _line("SCORE", text)
        return Verdict(text) if value is None else Verdict(value, _score_text(value), rest or None)
    if "score" not in found:
        return Verdict(text)
    score = found["score"]
    lists = {name: found[name] for name in ("missing", "additions", "distortions") if isinstance(found.get(name), list)}
    reason = found.get("reason")
    raw = score.strip() if isinstance(score, str) else json.dumps(score)
    return Verdict(raw, _score(score), reason if isinstance(reason, str) else None, lists)


def _visible(content: str) -> str:
    return _THINKING.sub("", content).strip()


def _json_object(text: str) -> dict[str, object] | None:
    """The object, where the text is one and nothing else; None too for a repeated key or a number that is none."""
    fenced = _CODE_FENCE.match(text)
    try:
        value = json.loads(
            fenced[1] if fenced else text, object_pairs_hook=_once, parse_constant=_refuse, parse_float=_finite
        )
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("out of range")
    return number


def _line(word: str, text: str) -> tuple[str | None, str]:
    """The value behind the only line ``WORD: value``, and the rest of the text; None where there is none or several."""
    pattern = re.compile(rf"^[ \t]*{word}[ \t]*:[ \t]*(\S.*)$", re.MULTILINE)
    matches = pattern.findall(text)
    if len(matches) != 1:
        return None, ""
    return matches[0].strip(), pattern.sub("", text).strip()


def _score(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 100 else None


def _score_text(value: str) -> float | None:
    return float(value) if re.fullmatch(r"\d{1,3}(?:\.\d{1,6})?", value) and float(value) <= 100 else None
