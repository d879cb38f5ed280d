"""Entering a rating, key by key: each row is (rule, keys, value, digits left, something was refused)."""

import pytest

from db.records import Anchor, RatingRule
from tui.rating import anchor, press, prompt

PERCENT = RatingRule("alignment", "How well?")
FIVES = RatingRule("alignment", "How well?", step=5)
TEN = RatingRule("grade", "How good?", high=10)
STARS = RatingRule("stars", "How many?", low=1, high=5)


@pytest.mark.parametrize(
    ("rule", "keys", "value", "digits", "refused"),
    [
        (PERCENT, "70", 70, "", False),
        (PERCENT, "00", 0, "", False),
        (PERCENT, "99", 99, "", False),
        (PERCENT, "07", 7, "", False),
        (PERCENT, ["7", "enter"], 70, "", False),
        (PERCENT, ["0", "enter"], 0, "", False),
        (PERCENT, "=", 100, "", False),
        (PERCENT, "7", None, "7", False),
        (PERCENT, ["7", "backspace"], None, "", False),
        (PERCENT, ["7", "backspace", "8", "5"], 85, "", False),
        (PERCENT, "7=", None, "7", True),
        (PERCENT, "7c", None, "7", True),
        (PERCENT, ["enter"], None, "", True),
        (PERCENT, "c", None, "", True),
        (PERCENT, ["left"], None, "", True),
        (PERCENT, "٣", None, "", True),  # an Arabic digit is not one of ours
        (FIVES, "85", 85, "", False),
        (FIVES, "83", None, "8", True),
        (FIVES, "8385", 85, "", True),
        (TEN, "7", 7, "", False),
        (TEN, "=", 10, "", False),
        (STARS, "3", 3, "", False),
        (STARS, "=", 5, "", False),
        (STARS, "0", None, "", True),
        (STARS, "6", None, "", True),
    ],
)
def test_keys(rule, keys, value, digits, refused):
    entry, was_refused = press(rule, "", keys[0]), False
    was_refused |= bool(entry.refusal)
    for key in keys[1:]:
        assert entry.value is None, "a value was committed before all keys were pressed"
        entry = press(rule, entry.digits, key)
        was_refused |= bool(entry.refusal)
    assert (entry.value, entry.digits if entry.value is None else "", was_refused) == (value, digits, refused)


def test_every_value_of_the_scale_can_be_entered_in_two_keys_or_less():
    reached = {press(PERCENT, str(a), str(b)).value for a in range(10) for b in range(10)} | {
        press(PERCENT, "", "=").value
    }
    assert reached == set(range(101))


def test_the_line_shows_what_enter_would_do():
    assert prompt(PERCENT, "7") == "7_ (Enter = 70)"
    assert prompt(PERCENT, "") == "__"


def test_anchor():
    rule = RatingRule("r", "?", anchors=(Anchor(70, 99, "mostly"), Anchor(100, 100, "same")))
    assert [anchor(rule, value) for value in (69, 70, 99, 100)] == ["", "mostly", "mostly", "same"]
