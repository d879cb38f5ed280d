"""A pane of text: what is in view, what was seen, and how little of a long text is looked at."""

import time

from tui.document import plain
from tui.pane import WIDEST, Pane
from tui.safetext import safe


def pane(text, width=40, height=10, **options):
    made = Pane("Title", **options)
    made.set_width(width)
    made.show(plain(safe(text)))
    made.height = height
    made.note_seen()
    return made


def rows(made):
    return ["".join(text for text, _ in made.row(y)) for y in range(made.height)]


def test_rows_and_gutter():
    made = pane("one two\nthree", width=30, height=3, gutter=10, bar=True)
    assert rows(made) == [" Title  ┃ one two", "        ┃ three", "        ┃ "]
    made.used = True
    assert rows(made)[0].startswith("▸Title")


def test_what_is_hidden_and_what_is_below_is_said_in_the_gutter():
    made = pane("a\0\n" + "line\n" * 30, height=4, gutter=10)
    assert rows(made)[1].startswith(" 1 hidd")
    assert rows(made)[3].startswith(" ↓ 28")  # 32 lines, the last one blank, of which 4 are in view


def test_the_end_counts_as_seen_only_once_it_was_in_view():
    made = pane("line\n" * 50, height=10)
    assert made.unseen == 40
    made.go_to(15)
    assert made.unseen == 25
    made.go_to(0)
    assert made.unseen == 25
    made.go_to(10**6)
    assert made.unseen == 0
    assert pane("short").unseen == 0
    assert pane("").unseen == 0


def test_blank_lines_at_the_end_need_not_be_seen():
    assert pane("line\n" * 10 + "\n" * 50, height=10).unseen == 0


def test_scrolling_stays_inside_the_text():
    made = pane("line\n" * 49 + "line", height=10)
    made.go_to(-5)
    assert made.top == 0
    made.go_to(1000)
    assert made.top == 40


def test_another_width_keeps_the_place():
    made = pane("\n".join(f"word{number} and some more words to wrap" for number in range(100)), width=20)
    made.go_to(made.line_of(made.document.text.index("word50")))
    made.set_width(60)
    assert rows(made)[0].startswith("word50")


def test_reveal():
    made = pane("\n".join(f"line {number}" for number in range(200)), height=12)
    made.reveal(made.document.text.index("line 150"))
    assert any(row.startswith("line 150") for row in rows(made))


def test_the_thumb_runs_from_the_top_to_the_bottom():
    made = pane("line\n" * 99 + "line", height=10)
    assert [made.thumb(y) for y in range(10)] == [True] + [False] * 9
    made.go_to(10**6)
    assert [made.thumb(y) for y in range(10)] == [False] * 9 + [True]
    assert pane("short").thumb(0) is None


def test_lines_are_never_wider_than_can_be_read():
    made = pane("word " * 200, width=300)
    assert made.cells == WIDEST
    assert max(map(len, rows(made))) <= WIDEST


def test_a_megabyte_is_wrapped_bit_by_bit_and_to_its_end_on_demand():
    text = "word " * 200_000
    begun = time.process_time()
    made = pane(text, width=82)
    rows(made)
    assert not made.complete
    assert time.process_time() - begun < 0.25
    while made.more():
        pass
    assert (made.complete, made.known) == (True, 12_500)  # 80 characters a line, 16 words and their blanks
    made.go_to(10**9)
    assert rows(made)[-1].rstrip().endswith("word")
