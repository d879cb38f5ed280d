"""Entering a rating: two digits commit, a digit and Enter is that ten, ``=`` is the highest value."""

from __future__ import annotations

from typing import NamedTuple

from db.records import RatingRule


class Entry(NamedTuple):
    """What a key made of the digits so far: more digits, a value, or a refusal with its reason."""

    digits: str = ""
    value: int | None = None
    refusal: str = ""


def places(rule: RatingRule) -> int:
    """How many digits commit: two for 0-100, one for 0-10 or less. The highest value itself is ``=``."""
    return max(1, len(str(max(rule.high - 1, 0))))


def press(rule: RatingRule, digits: str, key: str) -> Entry:
    """One key of a rating after ``digits``. Keys that mean nothing here are refused and change nothing."""
    if key == "=" and not digits:
        return _value(rule, digits, rule.high)
    if key == "enter" and digits:
        return _value(rule, digits, on_enter(rule, digits))
    if key == "backspace" and digits:
        return Entry(digits[:-1])
    if len(key) == 1 and key in "0123456789":
        grown = digits + key
        return _value(rule, digits, int(grown)) if len(grown) >= places(rule) else Entry(grown)
    return Entry(digits, refusal=_expected(rule, digits))


def on_enter(rule: RatingRule, digits: str) -> int:
    """What Enter makes of ``digits``: the ten (7 is 70), or the hundred on a larger scale."""
    return int(digits.ljust(places(rule), "0"))


def prompt(rule: RatingRule, digits: str) -> str:
    """The line of entry: ``__``, or ``7_ (Enter = 70)``."""
    line = digits + "_" * (places(rule) - len(digits))
    return f"{line} (Enter = {on_enter(rule, digits)})" if digits else line


def anchor(rule: RatingRule, value: int) -> str:
    """The words that go with ``value``, or nothing."""
    return next((anchor.text for anchor in rule.anchors if anchor.low <= value <= anchor.high), "")


def _value(rule: RatingRule, digits: str, value: int) -> Entry:
    if not rule.low <= value <= rule.high:
        return Entry(digits, refusal=f"{value} is outside {rule.low}-{rule.high}")
    if (value - rule.low) % rule.step:
        return Entry(digits, refusal=f"{value} is no step of {rule.step} from {rule.low}")
    return Entry(value=value)


def _expected(rule: RatingRule, digits: str) -> str:
    if digits:
        return f"a digit, Enter for {on_enter(rule, digits)}, or Backspace"
    return f"a rating: {places(rule)} digit{'s' if places(rule) > 1 else ''}, or = for {rule.high}"
