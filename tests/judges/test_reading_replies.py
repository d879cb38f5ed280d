"""Strict reading: what is plainly a label is read, everything else stays as it came. Cases are spelled out by hand."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.judges.failures import CallFailure
from annotate.judges.parsing import parse_alignment, parse_label
from annotate.judges.replies import read_completion


@pytest.mark.parametrize(
    ("reply", "raw"),
    [
        ('{"reason": "r", "label": "HEDGE"}', "HEDGE"),
        ('  {"label": " HEDGE "}\n', "HEDGE"),
        ('```json\n{"label": "HEDGE"}\n```', "HEDGE"),
        ('<think>Could be {"label": "WRONG"}</think>\n{"label": "HEDGE"}', "HEDGE"),
        ("It is unsure.\nLABEL: HEDGE", "HEDGE"),
        ("HEDGE", "HEDGE"),
        # A label that the protocol does not have is kept as it stands; the mapping then says that it is none.
        ('{"label": "hedge"}', "hedge"),
        ('{"label": "MAYBE"}', "MAYBE"),
        ("LABEL: HEDGE or WRONG", "HEDGE or WRONG"),
    ],
)
def test_a_plain_label_is_read(reply, raw):
    assert parse_label(reply).raw == raw


@pytest.mark.parametrize(
    "reply",
    [
        'The answer is {"label": "HEDGE"}',  # prose around it
        '{"label": "HEDGE"} {"label": "WRONG"}',
        '{"label": "HEDGE", "label": "WRONG"}',  # json.loads alone would take the last
        '{"label": 3}',
        '{"label": null}',
        '["HEDGE"]',
        '{"label": "HEDGE"',  # cut off
        "LABEL: HEDGE\nLABEL: WRONG",
        "The response says LABEL: HEDGE",  # inside a line
        "I would say HEDGE, not WRONG.",
        "<think>never closed LABEL HEDGE",
    ],
)
def test_what_is_not_plainly_a_label_stays_the_whole_reply(reply):
    assert parse_label(reply).raw == reply


@given(st.text())
def test_any_reply_is_read_without_error_and_nothing_is_invented(reply):
    raw = parse_label(reply).raw
    decoded = json.dumps(reply) + reply
    assert raw in reply or raw in decoded or json.dumps(raw)[1:-1] in reply


def test_the_reason_is_kept_beside_the_label():
    assert parse_label('{"reason": "says maybe", "label": "HEDGE"}').rationale == "says maybe"
    assert parse_label("says maybe\nLABEL: HEDGE").rationale == "says maybe"


@pytest.mark.parametrize(
    ("reply", "score", "raw"),
    [
        ('{"missing": [], "score": 85}', 85.0, "85"),
        ('{"score": 0}', 0.0, "0"),
        ('{"score": 100}', 100.0, "100"),
        ('{"score": 72.5}', 72.5, "72.5"),
        ("SCORE: 85", 85.0, "85"),
        ('{"score": 101}', None, "101"),
        ('{"score": -1}', None, "-1"),
        ('{"score": true}', None, "true"),
        ('{"score": "85"}', None, "85"),
        ("SCORE: 85/100", None, "85/100"),
        ("SCORE: 101", None, "101"),
        ('{"score": NaN}', None, '{"score": NaN}'),
        ('{"score": 1e999}', None, '{"score": 1e999}'),
        ("about 85", None, "about 85"),
        ("{}", None, "{}"),
    ],
)
def test_a_score_is_a_number_from_0_to_100_or_none(reply, score, raw):
    verdict = parse_alignment(reply)
    assert (verdict.score, verdict.raw) == (score, raw)


def test_the_lists_of_an_alignment_judge_are_kept():
    reply = '{"missing": ["a"], "additions": ["b"], "distortions": [], "reason": "r", "score": 40}'
    verdict = parse_alignment(reply)
    assert verdict.detail == {"missing": ["a"], "additions": ["b"], "distortions": []}


def body(**choice):
    message = {"role": "assistant", "content": None, "refusal": None, **choice.pop("message", {})}
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop", **choice}]}).encode()


@pytest.mark.parametrize(
    ("data", "kind", "consequence"),
    [
        (b'{"choices": [{"mess', "broken body", "again"),
        (b"<html>Bad gateway</html>", "broken body", "again"),
        (b"[]", "wrong shape", "again"),
        (b'{"choices": []}', "wrong shape", "again"),
        (b'{"choices": ["x"]}', "wrong shape", "again"),
        (b'{"choices": {"0": {}}}', "wrong shape", "again"),
        (b'{"error": "x"}', "wrong shape", "again"),
        (body(), "wrong shape", "again"),
        (body(message={"content": "  "}), "empty reply", "again"),
        (body(message={"content": ""}, finish_reason="length"), "empty reply", "settled"),
        (body(message={"refusal": "I will not."}), "refused", "settled"),
        (body(message={"content": "CORR"}, finish_reason="content_filter"), "refused", "settled"),
    ],
)
def test_every_broken_body_has_a_name(data, kind, consequence):
    with pytest.raises(CallFailure) as failure:
        read_completion(data)
    assert (failure.value.kind, failure.value.consequence) == (kind, consequence)


def test_a_refusal_keeps_what_the_model_said():
    with pytest.raises(CallFailure) as failure:
        read_completion(body(message={"refusal": "I will not."}))
    assert failure.value.reply == "I will not."


@given(st.binary(max_size=200))
def test_no_body_breaks_the_reader(data):
    with contextlib.suppress(CallFailure):
        read_completion(data)
