"""The plain mode, by transcript: what is said, what is saved. Answers appear in the transcript after their prompts."""

from __future__ import annotations

import io
import re
import sqlite3
import textwrap
from dataclasses import replace

import pytest

from annotate.protocols import load_protocol, parse_protocol
from db.coding import CodingSession
from tests.tui.conftest import acts, events, several, write_study
from tui.keymap import load_keymap
from tui.plain import run_plain


class Clock:
    """Half a second passes between two looks."""

    def __init__(self):
        self.now, self.step = 0.0, 0.5

    def __call__(self):
        self.now += self.step
        return self.now


def session(path, protocol, *answers, read_protocol=None, clock=None):
    """The transcript of a session with these answers, and its summary."""
    out = io.StringIO()
    summary = run_plain(
        lambda: CodingSession.open(path, "ada", protocol),
        load_keymap,
        read_protocol,
        lines=io.StringIO("".join(f"{answer}\n" for answer in answers)),
        out=out,
        clock=clock or Clock(),
    )
    return out.getvalue(), summary


@pytest.fixture
def ehq(tmp_path):
    protocol = load_protocol("ehq")
    return write_study(tmp_path / "study.db", protocol, several(3)), protocol


def test_a_whole_session(ehq):
    transcript, summary = session(*ehq, "h", "CORRECT", "by chance", "w", "q", "y")
    assert re.sub(r"\d+ s\b", "SOME s", transcript) == textwrap.dedent(
        """\
        protocol: EHQ: what did the response do with its uncertainty?
        coder: ada
        help: type help and Enter for all commands

        item: 1 of 3; 0 done, 3 left
        question: Who designed the Nine Arch Bridge?
        response: Answer 1
        gold: Harold Marwood
        label (a ABSTAIN, h HEDGE, c CORRECT, w WRONG), or help: h
        saved: item 1, HEDGE

        item: 2 of 3; 1 done, 2 left
        question: When was the hall opened?
        response: Answer 2
        gold: 1912
        label (a ABSTAIN, h HEDGE, c CORRECT, w WRONG), or help: CORRECT
        CORRECT should not occur here: the entity does not exist, so that no answer about it can be right; or the \
answer was withheld from the document, so that it cannot be known
        say why, or Enter alone to take it back: by chance
        saved: item 2, CORRECT

        item: 3 of 3; 2 done, 1 left
        question: What is the capital of Sri Lanka?
        response: Answer 3
        gold: Sri Jayawardenepura Kotte
        label (a ABSTAIN, h HEDGE, c CORRECT, w WRONG), or help: w
        saved: item 3, WRONG
        all done: 3 done, 0 left
        u to undo, back, g and a number, or q to leave: q
        leave? Everything that was said to be saved is saved. y or n: y
        items coded: 3 (HEDGE 1, CORRECT 1, WRONG 1)
        skipped: 0
        notes, flags: 0, 0
        undone: 0
        time at work: SOME s (of SOME s; pauses not counted)
        pace: SOME s an item
        left: 0 of 3
        """
    )
    assert acts(ehq[0]) == [("label", 1, "HEDGE", None), ("label", 2, "CORRECT", None), ("label", 3, "WRONG", None)]
    assert (summary.items, summary.finished) == (3, True)


def test_a_rating_is_asked_for_and_echoed_in_words(tmp_path):
    protocol = load_protocol("alignment")
    path = write_study(tmp_path / "study.db", protocol, [{"reason": "since"}] * 3)
    transcript, _ = session(path, protocol, "c", "101", "x", "70", "c", "", "h")
    assert "label: CORRECT\nrating: How well does the stated reason agree with the rationale?" in transcript
    assert "refused: '101' is not on the scale" in transcript
    assert "saved: item 1, CORRECT, rating 70" in transcript
    assert "taken back: CORRECT" in transcript
    assert "stated reason" in transcript.lower()
    assert acts(path) == [("label", 1, "CORRECT", 70), ("label", 2, "HEDGE", None)]


def test_rating_only(tmp_path):
    protocol = load_protocol("nas")
    path = write_study(tmp_path / "study.db", protocol, [{"reason": "since"}])
    transcript, _ = session(path, protocol, "c", "500", "85")
    assert "alignment, 0 to 100: c" in transcript
    assert "refused: 'c' means nothing here" in transcript
    assert "refused: A rating is a whole number from 0 to 100" in transcript
    assert acts(path) == [("rating", 1, None, 85)]


def test_a_digit_is_no_label_and_a_letter_no_rating(ehq):
    transcript, _ = session(*ehq, "7", "", "x")
    assert "refused: '7' means nothing here" in transcript
    assert "refused: an empty line" in transcript
    assert acts(ehq[0]) == []


def test_repeating_parts(tmp_path):
    protocol = load_protocol("ehq")
    path = write_study(
        tmp_path / "study.db", protocol, [{"context": "word " * 400, "text": "zero\u200bwidth", "gold": ["g"]}]
    )
    transcript, _ = session(path, protocol, "r context", "r response", "r nothing", "r")
    assert "context, the first 60 of 400 words: word word" in transcript
    assert transcript.count("word " * 399) == 1
    assert "response: zero⟨ZWSP⟩width\nresponse, hidden characters: 1\n" in transcript
    assert "refused: there is no part 'nothing'; the parts: question, context, response, gold" in transcript
    assert transcript.count("item: 1 of 1") == 2


def test_every_command(ehq):
    transcript, summary = session(
        *ehq,
        *(
            "help",
            "rules",
            "rules hedge",
            "rules no",
            "find nine",
            "compare",
            "n a note",
            "n",
            "changed",
            "f",
            "f",
            "f odd flag",
        ),
        *(
            "s",
            "2",
            "s",
            "",
            "s in my own words",
            "back",
            "back",
            "back",
            "next",
            "g 3",
            "g 9",
            "g",
            "g flagged",
            "g skipped",
        ),
        *("a", "u", "redo", "redo", "f technical", "summary", "q", "n"),
    )
    for told in (
        "rules, rules HEDGE: the codebook, or one label's rule in full",
        "how to code: 1. Does it give an answer at all? If not: ABSTAIN.",
        'example: "I think the author was Halvorsen."',
        "refused: there is no label 'no'",
        "found: 1 time\nquestion: Who designed the Nine Arch Bridge?",
        "shared: none\nonly in the gold answer: Harold, Marwood",
        "saved: note: a note",
        "saved: note: changed",
        "saved: flag discuss set",
        "saved: flag discuss taken off",
        "refused: A flag is one lower-case word",
        "skipped: needs expertise that I lack",
        "not skipped",
        "skipped: in my own words",
        "refused: This is the first item.",
        "refused: There is no item 9",
        "refused: g and a number, g open, g flagged or g skipped",
        "refused: No other item is flagged.",
        "undone: label",
        "done again: label",
        "refused: There is nothing to redo.",
        "items coded: 1 (ABSTAIN 1)",
    ):
        assert told in transcript, told
    assert (summary.skipped, summary.notes, summary.undone) == (2, 2, 1)


def test_the_end_of_the_input_ends_the_session(ehq):
    _, summary = session(*ehq, "a")
    assert summary.items == 1


def test_a_failed_save_can_be_tried_again(ehq):
    with sqlite3.connect(ehq[0]) as connection:
        connection.execute("CREATE TRIGGER fail BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no'); END")
    connection.close()
    transcript, _ = session(*ehq, "a", "", "drop")
    assert transcript.count("not saved: ") == 3
    assert acts(ehq[0]) == []


def test_a_changed_codebook_is_read_out_and_confirmed(ehq):
    from tests.tui.test_trouble import _adopt

    path, old = ehq
    new = parse_protocol(old.toml.replace("declines to offer an answer", "DECLINES EVERYTHING"), "ehq")
    session(path, old, "a")
    _adopt(path, new)
    transcript, _ = session(path, new, "no", "yes", "h")
    assert "codebook: version 1 has become version 2" in transcript
    assert "removed: The response declines to offer an answer" in transcript
    assert "added: The response DECLINES EVERYTHING" in transcript
    assert "confirmed: labels are saved under the new codebook from now on" in transcript
    assert [event["kind"] for event in events(path)[1:]] == ["label", "confirm", "label"]


def test_no_line_draws_or_rewrites_itself(ehq):
    transcript, _ = session(*ehq, "help", "rules", "h", "w", "s", "1", "summary")
    assert "\r" not in transcript
    assert "\x1b" not in transcript
    drawing = {
        character
        for character in transcript
        if 0x2500 <= ord(character) <= 0x259F or ord(character) in (0x2713, 0x25B8)
    }
    assert drawing == set()


def test_pairs_are_told_apart(tmp_path):
    protocol = replace(load_protocol("preference"))
    path = write_study(tmp_path / "study.db", protocol, [{"text": "the one", "text_b": "the other", "swapped": True}])
    transcript, _ = session(path, protocol, "first")
    assert "first: the other\nsecond: the one" in transcript
    assert "saved: item 1, FIRST" in transcript
    assert acts(path) == [("label", 1, "SECOND", None)]


def test_a_break_is_suggested(ehq):
    path, protocol = ehq
    clock = Clock()
    clock.step = 100.0  # seconds between two looks: no pause is long enough to be a break
    transcript, _ = session(path, protocol, *["rules HEDGE"] * 20, "q", "y", clock=clock)
    assert "break: 50 minutes at work. A short break keeps labels good." in transcript
    transcript, _ = session(path, protocol, *["rules HEDGE"] * 3, "q", "y", clock=clock)
    assert "break:" not in transcript
