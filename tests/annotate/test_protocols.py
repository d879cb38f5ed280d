"""Protocols: the shipped ones are complete, and a user's mistakes are named with file, line and remedy."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from annotate.protocols import load_protocol, parse_protocol, reserved_keys, shipped_protocols
from db.errors import AnnotateError

GOOD = """\
title = "Two labels"

[[label]]
name = "YES"
key = "y"
definition = "It does."

[[label]]
name = "NO"
key = "o"
definition = '''
key = "not a key, only text"
It does not.
'''
"""


def refused(text: str) -> AnnotateError:
    with pytest.raises(AnnotateError) as caught:
        parse_protocol(text, "mine.toml")
    return caught.value


def test_the_seven_protocols_ship_with_the_default_first() -> None:
    assert shipped_protocols()[0] == "ehq"
    expected = {"ehq", "alignment", "nas", "wikiprofile", "correctness", "refusal", "preference"}
    assert set(shipped_protocols()) == expected


@pytest.mark.parametrize("name", shipped_protocols())
def test_a_shipped_codebook_tells_two_strangers_what_to_do(name: str) -> None:
    protocol = load_protocol(name)
    assert protocol.name == name
    assert protocol.instructions
    assert protocol.scores
    assert protocol.skip_reasons
    assert not {label.key for label in protocol.labels} & set(reserved_keys())
    for label in protocol.labels:
        assert len(label.examples) >= 2, label.name
        assert len(label.edge_cases) >= 2, label.name
    assert hashlib.sha256(protocol.toml.encode()).hexdigest() == protocol.digest


def test_the_default_keys_are_the_documented_ones() -> None:
    ehq = load_protocol("ehq")
    assert {label.name: label.key for label in ehq.labels} == {
        "ABSTAIN": "a",
        "HEDGE": "h",
        "CORRECT": "c",
        "WRONG": "w",
    }
    assert {(rule.label, rule.values) for rule in ehq.impossible} == {("CORRECT", ("FEQ",)), ("CORRECT", ("CCQ",))}
    (judge,) = ehq.judges
    assert (judge.name, judge.mapping["CONFIDENT_WRONG"]) == ("ehq-rules", "WRONG")


def test_alignment_rates_only_correct_answers_and_nas_rates_always() -> None:
    alignment, nas = load_protocol("alignment"), load_protocol("nas")
    assert alignment.asks_rating("CORRECT")
    assert not alignment.asks_rating("HEDGE")
    assert alignment.rating is not None
    assert alignment.rating.threshold == 70
    assert nas.rating_only
    assert nas.asks_rating(None)
    assert [rule.field for rule in nas.filters] == ["choice_is_key"]


def test_reserved_keys_are_the_letters_of_the_coding_screen() -> None:
    from tui.actions import ACTIONS

    letters = {key for action in ACTIONS for key in action.keys if len(key) == 1 and key.isalpha()}
    assert letters == set(reserved_keys())


def test_every_rating_value_has_exactly_one_anchor() -> None:
    for name in ("alignment", "nas"):
        rating = load_protocol(name).rating
        assert rating is not None
        for value in range(101):
            assert sum(anchor.low <= value <= anchor.high for anchor in rating.anchors) == 1, (name, value)


def test_a_file_of_the_users_is_read_by_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    protocol = load_protocol(path)
    assert (protocol.name, protocol.label_names, protocol.version) == ("mine", ("YES", "NO"), 1)


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(AnnotateError, match="'refusel'") as caught:
        load_protocol("refusel")
    assert caught.value.hint == "Did you mean 'refusal'?"


@pytest.mark.parametrize(
    ("old", "new", "line", "says", "hint"),
    [
        (
            'definition = "It does."',
            'definitoin = "It does."',
            6,
            "unknown key 'definitoin'",
            "Did you mean 'definition'?",
        ),
        ('key = "o"', 'key = "y"', 10, "it already means YES", "Free letters: o"),
        ('key = "o"', 'key = "u"', 10, "the coding screen uses it for undo", "Free letters: o"),
        ('key = "o"', 'key = "oo"', 10, "expected one letter", ""),
        ('key = "o"', "key = 1", 10, "'key' is a whole number, expected a string", ""),
        ('name = "NO"', 'name = "YES"', 9, "there twice", ""),
        ('name = "NO"', 'name = "(missing)"', 9, "cannot be a label's name", ""),
        ('name = "NO"', 'name = "NO', 9, "not valid TOML", ""),
        ('title = "Two labels"', "", None, "'title' is missing", ""),
        ('title = "Two labels"', 'title = "T"\nversion = 0', 2, "expected at least 1", ""),
        ('title = "Two labels"', 'title = "T"\nrating_only = true', None, "asks for no label", ""),
        ('title = "Two labels"', 'title = "T"\npairwise = true', 2, "FIRST and SECOND", ""),
    ],
)
def test_a_mistake_is_named_with_its_line_and_a_remedy(
    old: str, new: str, line: int | None, says: str, hint: str
) -> None:
    error = refused(GOOD.replace(old, new, 1))
    assert says in error.message
    assert error.message.startswith("mine.toml")
    assert hint in error.hint
    assert error.hint
    if line is not None:
        assert f"line {line}" in error.message


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ('[[impossible]]\nlabel = "MAYBE"\nfield = "c"\nvalues = ["x"]\nreason = "r"', "'MAYBE' is not a label"),
        ('[judge.gpt.map]\n"Yes" = "YEP"', "'YEP' is not a label"),
        ('[judge.gpt.map]\n" Yes" = "YES"', "raw labels are stripped"),
        ("[judge.gpt]\nmapp = 1", "unknown key 'mapp'"),
        ('[rating]\nquestion = "How well?"', "'when' is missing"),
        ('[rating]\nquestion = "q"\nwhen = ["YES"]\nstep = 7', "does not divide"),
        ('[rating]\nquestion = "q"\nwhen = ["YES"]\nthreshold = 170', "outside the scale"),
        (
            '[rating]\nquestion = "q"\nwhen = ["YES"]\nanchors = [{low=0, high=50, text="a"}, {low=50, text="b"}]',
            "overlap at 50",
        ),
        ('[[score]]\nname = "s"\nkind = "rates"\nlabels = ["YES"]', "no score of the kind 'rates'"),
        ('[[score]]\nname = "s"\nkind = "rate"', "needs 'labels'"),
        ('[[score]]\nname = "s"\nkind = "mean"\nvalues = { YES = 1 }', "NO has no value"),
        ('[[score]]\nname = "s"\nkind = "rate"\nlabels = ["YES"]\nthreshold = 0.5', "unknown key 'threshold'"),
        ('[[filter]]\nfeild = "choice_is_key"', "unknown key 'feild'"),
    ],
)
def test_rules_that_point_nowhere_are_refused(more: str, says: str) -> None:
    error = refused(f"{GOOD}\n{more}\n")
    assert says in error.message
    assert "line" in error.message


def test_text_inside_a_multi_line_string_is_no_key() -> None:
    # Line 12 of GOOD lies inside the definition; the second label's real key is on line 10.
    assert "line 10" in refused(GOOD.replace('key = "o"', 'key = "?"')).message
