"""Held keys, as lists of events: each row is (time in seconds, key, painted at, expected verdict)."""

import pytest

from tui.fragments import Fragments
from tui.guard import Guard, Verdict

PASS, EARLY, HELD, WAIT = Verdict.PASS, Verdict.EARLY, Verdict.HELD, Verdict.WAIT


@pytest.mark.parametrize(
    "rows",
    [
        # One key an item, read for a second or more: never in the way.
        [(1.0, "a", 0.0, PASS), (2.2, "a", 1.0, PASS), (3.5, "h", 2.2, PASS)],
        # Too soon after the paint, or before it.
        [(1.0, "a", 0.0, PASS), (1.2, "h", 1.0, EARLY), (1.31, "h", 1.0, PASS)],
        [(1.0, "a", None, EARLY)],
        # Held with a delay of .5 s and 30 ms: the first repeat waits, the second shows what it is.
        [(1.0, "a", 0.0, PASS), (1.5, "a", 1.01, WAIT), (1.53, "a", 1.01, HELD), (1.56, "a", 1.01, HELD)],
        # Held with a delay of .25 s: refused as early, and the run that follows too, however long it lasts.
        [(1.0, "a", 0.0, PASS), (1.25, "a", 1.01, EARLY), *[(1.28 + i * 0.03, "a", 1.01, HELD) for i in range(40)]],
        # The same label twice in a second, pressed twice: it waits, and nothing follows.
        [(1.0, "a", 0.0, PASS), (1.6, "a", 1.01, WAIT), (3.0, "a", 1.8, PASS)],
        # After a held key was let go it works again.
        [(1.0, "a", 0.0, PASS), (1.5, "a", 1.01, WAIT), (1.53, "a", 1.01, HELD), (3.0, "a", 1.01, PASS)],
        # Two equal digits in quick succession are a rating of 77, not a held key.
        [(1.0, "7", 0.0, PASS), (1.12, "7", 0.0, PASS)],
        # The same three times within 300 ms is not.
        [(1.0, "7", 0.0, PASS), (1.25, "7", 0.0, WAIT), (1.3, "7", 0.0, HELD)],
    ],
)
def test_verdicts(rows):
    guard = Guard(dwell=0.3)
    for at, key, painted, expected in rows:
        guard, verdict = guard.judge(key, at, painted)
        assert verdict is expected, (at, key)


@pytest.mark.parametrize("delay", [0.2, 0.25, 0.4, 0.5, 0.66, 1.0])
@pytest.mark.parametrize("gap", [0.02, 0.033, 0.05, 0.09, 0.12])
def test_a_key_held_for_ten_seconds_labels_one_item(delay, gap):
    guard, painted, labels, waiting = Guard(dwell=0.3), 0.0, 0, False
    at = 1.0
    while at < 11:
        guard, verdict = guard.judge("a", at, painted)
        waiting = verdict is WAIT  # what waited is dropped by the next event of the same key within 150 ms
        if verdict is PASS:
            labels += 1
            painted = at + 0.01
        at += delay if at == 1.0 else gap
    assert (labels, waiting) == (1, False)


def test_without_dwell_everything_passes():
    guard = Guard(dwell=0)
    for number in range(10):
        guard, verdict = guard.judge("a", number * 0.001, None)
        assert verdict is PASS


@pytest.mark.parametrize(
    ("keys", "swallowed"),
    [
        ([("[", 0), ("9", 0.0001), ("h", 0.0002)], "9h"),
        ([("[", 0), ("9", 0.0001), ("h", 0.3)], "9"),  # a key after a pause is typed
        ([("[", 0), ("h", 0.2)], ""),
        ([("h", 0), ("w", 0.0001), ("a", 0.0002)], ""),
        ([("o", 0), ("7", 0.0001)], ""),
    ],
)
def test_parts_of_an_unknown_escape_sequence_are_no_keys(keys, swallowed):
    fragments = Fragments()
    assert "".join(key for key, at in keys if fragments.swallows(key, at)) == swallowed
