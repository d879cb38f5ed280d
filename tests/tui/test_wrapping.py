"""Wrapping: expected lines written by hand; properties that hold for any text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.cells import width
from tui.safetext import safe
from tui.wrapping import wrap


def lines(text, cells):
    return [text[start:end] for start, end, _ in wrap(text, cells)]


@pytest.mark.parametrize(
    ("text", "cells", "expected"),
    [
        ("", 10, [""]),
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 8, ["one two", "three"]),
        ("one  two", 4, ["one", "two"]),
        ("a\n\nb", 5, ["a", "", "b"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("  indented text", 10, ["  indented", "text"]),
        ("trailing   ", 8, ["trailing"]),
        ("日本語テキスト", 6, ["日本語", "テキス", "ト"]),
        ("日本語。テキスト", 6, ["日本", "語。テ", "キスト"]),
        ("abc日本", 4, ["abc", "日本"]),
        ("cafe\u0301 au lait", 7, ["cafe\u0301 au", "lait"]),
        ("🙂🙂🙂", 4, ["🙂🙂", "🙂"]),
    ],
)
def test_lines(text, cells, expected):
    assert lines(text, cells) == expected


def test_paragraphs_hang_where_they_are_told_to():
    text = "- one two three\nfour"
    got = [(text[start:end], indent) for start, end, indent in wrap(text, 8, {0: (0, 2)})]
    assert got == [("- one", 0), ("two", 2), ("three", 2), ("four", 0)]


# Any text, with the characters that make wrapping hard drawn often.
TEXTS = st.text(st.one_of(st.sampled_from(list("ab \n日🙂\u0301。")), st.characters()), max_size=200)


@given(TEXTS, st.integers(2, 30))
def test_every_line_fits_and_nothing_but_blanks_is_lost(raw, cells):
    text = safe(raw).text.replace("\t", " ")
    got = lines(text, cells)
    assert all(width(line) <= cells for line in got)
    assert "".join("".join(got).split()) == "".join(text.split())


@given(TEXTS, st.integers(2, 30))
def test_a_mark_stays_with_its_letter(raw, cells):
    text = safe(raw).text.replace("\t", " ")
    for start, _, _ in wrap(text, cells):
        if 0 < start < len(text) and text[start - 1] not in " \n":
            assert text[start] not in "\u0301\u0300"


@pytest.mark.parametrize("text", ["x" * 1_000_000, "日" * 333_000, "word " * 200_000, " " * 1_000_000])
def test_the_first_page_of_a_megabyte_is_lazy(text):
    begun = time.process_time()
    first = [line for line, _ in zip(wrap(text, 80), range(40), strict=False)]
    assert first[0][0] == 0
    assert time.process_time() - begun < 0.1
