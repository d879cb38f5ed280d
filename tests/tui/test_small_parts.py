"""Active time, line editing, heights of panels, differences, places found: expected values by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.activity import Activity
from tui.differences import differences
from tui.document import Span, Writer, cut, places, plain
from tui.layout import Need, share
from tui.lineedit import LIMIT, Line, edit
from tui.safetext import safe
from tui.summary import Tally


def test_active_time_caps_each_gap_at_a_minute():
    clock = Activity()
    clock.begin(words=20, now=100.0)
    for at in (102.0, 105.5, 605.5, 606.0):  # 2 + 3.5 + 60 (of 500) + .5
        clock.touch(at)
    assert clock.take(606.0) == 66_000
    assert clock.take(607.0) == 1_000  # what was given out is not given out again


def test_a_long_text_may_be_read_for_longer():
    clock = Activity()
    clock.begin(words=900, now=0.0)  # six minutes at 150 words a minute
    assert clock.take(1000.0) == 360_000


@pytest.mark.parametrize(
    ("keys", "text", "cursor"),
    [
        ([("h", "h"), ("i", "i")], "hi", 2),
        ([("a", "A"), ("backspace", None)], "", 0),
        ([("a", "a"), ("b", "b"), ("left", None), ("x", "x")], "axb", 2),
        ([("a", "a"), ("b", "b"), ("home", None), ("delete", None)], "b", 0),
        ([("a", "a"), ("space", " "), ("b", "b"), ("ctrl+w", None)], "a ", 2),
        ([("a", "a"), ("b", "b"), ("left", None), ("ctrl+k", None)], "a", 1),
        ([("a", "a"), ("b", "b"), ("left", None), ("ctrl+u", None)], "b", 0),
        ([("日", "日"), ("backspace", None), ("left", None), ("end", None)], "", 0),
    ],
)
def test_line_editing(keys, text, cursor):
    line = Line()
    for key, character in keys:
        line = edit(line, key, character) or line
    assert (line.text, line.cursor) == (text, cursor)


def test_a_line_has_a_limit_and_control_keys_are_no_text():
    assert len(Line("x" * LIMIT, LIMIT).insert("more").text) == LIMIT
    assert edit(Line(), "f3", None) is None
    assert edit(Line(), "ctrl+g", "\x07") is None


NEEDS = st.lists(st.builds(Need, st.integers(0, 60), st.booleans(), st.booleans()), min_size=1, max_size=6)


@given(NEEDS, st.integers(0, 80))
def test_heights_fit_and_waste_nothing(needs, height):
    given_lines = share(needs, height)
    assert all(lines >= 1 for lines in given_lines)
    assert sum(given_lines) <= max(height, len(needs))
    assert all(lines <= max(need.lines, 1) for lines, need in zip(given_lines, needs, strict=True))
    if sum(given_lines) < height:
        assert all(lines >= need.lines for lines, need in zip(given_lines, needs, strict=True))


def test_the_response_comes_first():
    context, response, gold = Need(100), Need(30, judged=True), Need(1)
    assert share([context, response, gold], 21) == [7, 13, 1]  # one each; 12 of the other 18 to the response
    assert share([Need(100, used=True), Need(30, judged=True), Need(1)], 21) == [10, 10, 1]


def test_differences():
    response, gold = plain(safe("The answer is harold Marwood.")), plain(safe("Harold Cuthbert Marwood"))
    shared, wanted = differences(response, gold)
    assert [response.text[span.start : span.end] for span in shared] == ["harold", "Marwood"]
    assert [(gold.text[span.start : span.end], span.style) for span in wanted] == [
        ("Harold", "shared"),
        ("Cuthbert", "own"),
        ("Marwood", "shared"),
    ]


def test_places_ignore_case_and_mean_the_text_literally():
    document = plain(safe("A.b a.B axb"))
    assert places(document, "a.b") == [(0, 3), (4, 7)]
    assert places(document, "") == []
    assert places(plain(safe("esc \x1b here")), "\x1b") == [(4, 5)]


def test_a_later_span_covers_an_earlier_one():
    spans = [Span(0, 6, "strong"), Span(2, 4, "match")]
    assert list(cut(spans, 1, 8)) == [(1, 2, "strong"), (2, 4, "match"), (4, 6, "strong"), (6, 8, None)]


def test_a_document_keeps_count_of_what_is_hidden():
    document = Writer().add("Title ", "strong").line(safe("a\0b\tc"), indent=(2, 2)).document()
    assert (document.text, document.hidden, document.indents) == ("Title \na␀b c", 1, {7: (2, 2)})


def test_a_break_is_due_after_fifty_minutes_without_one():
    tally = Tally(started=0.0)
    assert [now for now in range(0, 7_000, 60) if tally.break_due(now)] == [3_000, 6_000]


def test_a_pause_of_five_minutes_is_a_break():
    tally = Tally(started=0.0)
    due = [now for now in (*range(0, 2_900, 60), *range(3_200, 6_300, 60)) if tally.break_due(now)]
    assert due == [6_200]  # fifty minutes after 3,200


def test_what_was_undone_is_no_label_of_the_summary():
    tally = Tally(started=0.0)
    tally.add("label", 1, "A")
    tally.add("label", 2, "B")
    tally.add("undo", 2, None)
    tally.add("undo", 5, None)  # given in an earlier session
    assert (tally.summary("ada", 1.0, 0, 0).items, tally.summary("ada", 1.0, 0, 0).by_label) == (1, (("A", 1),))
    tally.add("redo", 2, "B")
    tally.add("undo", 2, None)
    tally.add("label", 2, "C")
    tally.add("rating", 3, None)
    found = tally.summary("ada", 1.0, 0, 0)
    assert (found.coded, found.items, found.by_label, found.undone) == (4, 3, (("A", 1), ("C", 1)), 3)


def test_the_summary_in_words():
    tally = Tally(started=0.0, active=90.0)
    for position, label in ((7, "A"), (100_000, "B"), (7, "B")):
        tally.add("label", position, label)
    tally.add("skip", 8, None)
    told = dict(tally.summary("ada", 600.0, left=10, total=13).lines())
    assert told["Items coded"] == "2 (B 2)"  # each item under the label that it has now
    assert told["Time at work"] == "2 min (of 10 min; pauses not counted)"
    assert told["Pace"] == "45 s an item"
    assert told["At this pace"] == "8 min to go"  # 10 x 45 s
    assert dict(Tally(0.0).summary("ada", 1.0, 0, 0).lines())["Pace"] == "no item was coded yet"
