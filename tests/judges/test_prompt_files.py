"""Prompt files are checked before the first call, known by their hash, and fence what they are filled with."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.judges.fencing import fence, mark_for
from annotate.judges.prompts import SHIPPED, load_prompt, render
from annotate.judges.tasks import make_task
from annotate.protocols import load_protocol
from db.errors import AnnotateError
from db.judging import Subject

SUBJECT = Subject(
    response_id=1,
    item="q1",
    question="When?",
    context=None,
    gold=("1912", "in 1912"),
    rationale="It was built in 1912.",
    options=("1911", "1912"),
    answer_key="2",
    strata={"category": "HNQ"},
    text="In 1912. {{gold}} {{unknown}}",
    text_b="In 1921.",
    reason="I read it.",
    choice="2",
)
FOLDER = Path(__file__).resolve().parents[2] / "annotate" / "judges" / "prompts"


def text_of(messages):
    return "\n".join(message["content"] for message in messages)


def rendered(prompt, subject=SUBJECT, protocol="ehq", task="label", **options):
    made = make_task(task, load_protocol(protocol))
    return render(prompt, subject, {**made.fixed, "output": "OUT", "fencing": "FENCING"}, **options)


@pytest.mark.parametrize(
    ("task", "protocol"), [("label", "ehq"), ("label", "preference"), ("alignment", "nas"), ("grade", "wikiprofile")]
)
def test_shipped_prompts_carry_the_hash_that_sha256sum_prints(task, protocol):
    pairwise = load_protocol(protocol).pairwise
    prompt = load_prompt(task, None, pairwise=pairwise)
    file = FOLDER / SHIPPED["pair" if pairwise else task]
    assert prompt.digest == hashlib.sha256(file.read_bytes()).hexdigest()
    assert prompt.name == file.stem
    assert "{{" not in text_of(rendered(prompt, replace(SUBJECT, text="In 1912."), protocol, task))


def test_every_shipped_file_has_a_version_in_its_name():
    assert all(re.search(r"-v\d+\.txt$", path.name) for path in FOLDER.iterdir())


def test_the_label_prompt_holds_the_whole_codebook():
    text = text_of(rendered(load_prompt("label", None)))
    protocol = load_protocol("ehq")
    for label in protocol.labels:
        assert label.definition.strip() in text
        assert all(example in text for example in label.examples)
        assert all(case in text for case in label.edge_cases)


def test_fields_in_a_response_are_not_filled_in():
    text = text_of(rendered(load_prompt("label", None)))
    assert "In 1912. {{gold}} {{unknown}}" in text


def test_an_own_template_replaces_ours_and_is_still_fenced(tmp_path):
    own = tmp_path / "mine.txt"
    own.write_text(
        "=== system ===\nBe brief.\n=== user ===\nQ {{question}} A {{ response }} of {{label_names}}", "utf-8"
    )
    prompt = load_prompt("label", own)
    messages = rendered(prompt)
    assert prompt.digest == hashlib.sha256(own.read_bytes()).hexdigest()
    assert messages[0]["role"] == "system" and messages[0]["content"].startswith(
        "Be brief.\n\nText between a line <<DATA"
    )
    assert re.search(
        r"A <<DATA response ([0-9a-f]{16})>>\nIn 1912\..*\n<<END response \1>> of ABSTAIN, HEDGE",
        messages[1]["content"],
    )


@pytest.mark.parametrize(
    ("text", "complaint", "hint"),
    [
        ("one\n{{responce}}", "line 2: unknown field {{responce}}", "Did you mean {{response}}?"),
        ("{{question}}", "the field {{response}} is missing", "would not see"),
        ("{{response}} {{}}", "unknown field {{}}", "Known fields"),
    ],
)
def test_a_template_is_refused_before_any_call(tmp_path, text, complaint, hint):
    own = tmp_path / "mine.txt"
    own.write_text(text, "utf-8")
    with pytest.raises(AnnotateError) as error:
        load_prompt("label", own)
    assert complaint in error.value.message and hint in error.value.hint


def test_a_pair_prompt_needs_both_texts_and_an_alignment_prompt_both_sides(tmp_path):
    own = tmp_path / "mine.txt"
    own.write_text("{{response}} {{reason}}", "utf-8")
    with pytest.raises(AnnotateError, match="response_b"):
        load_prompt("label", own, pairwise=True)
    with pytest.raises(AnnotateError, match="rationale"):
        load_prompt("alignment", own)
    with pytest.raises(AnnotateError, match="cannot be read"):
        load_prompt("label", tmp_path / "none.txt")
    own.write_bytes(b"\xff{{response}}")
    with pytest.raises(AnnotateError, match="not UTF-8"):
        load_prompt("label", own)


def test_swapping_exchanges_the_two_texts_and_nothing_else():
    prompt = load_prompt("label", None, pairwise=True)
    plain = text_of(rendered(prompt, protocol="preference"))
    swapped = text_of(rendered(prompt, protocol="preference", swapped=True))
    assert plain.index("In 1912. ") < plain.index("In 1921.")
    assert swapped.index("In 1921.") < swapped.index("In 1912. ")
    assert sorted(plain) == sorted(swapped) or len(plain) == len(swapped)


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_no_text_can_hold_its_own_fence(texts):
    mark = mark_for(texts)
    assert re.fullmatch(r"[0-9a-f]{16}", mark) and mark == mark_for(list(texts))
    for text in texts:
        assert mark not in text
        fenced = fence("response", text, mark)
        assert fenced.count(mark) == 2 and fenced.split("\n", 1)[1].removesuffix(f"\n<<END response {mark}>>") == text


def test_a_text_that_holds_the_mark_of_another_gets_another_mark():
    texts = ["answer"]
    assert mark_for([*texts, mark_for(texts)]) != mark_for(texts)


def test_tasks_say_what_they_cannot_judge():
    label, alignment, grade = (
        make_task(t, load_protocol(p)) for t, p in (("label", "ehq"), ("alignment", "nas"), ("grade", "ehq"))
    )
    assert label.cannot_judge(SUBJECT) == alignment.cannot_judge(SUBJECT) == grade.cannot_judge(SUBJECT) == ""
    assert label.cannot_judge(replace(SUBJECT, text=" ")) == "no response text"
    assert label.cannot_judge(replace(SUBJECT, technical="timeout")) == "technical failure"
    assert label.cannot_judge(replace(SUBJECT, redacted=True)) == "redacted"
    assert alignment.cannot_judge(replace(SUBJECT, rationale=None)) == "no rationale"
    assert alignment.cannot_judge(replace(SUBJECT, reason="")) == "no stated reason"
    assert grade.cannot_judge(replace(SUBJECT, gold=("",))) == "no gold answer"
    assert (
        make_task("label", load_protocol("preference")).cannot_judge(replace(SUBJECT, text_b=None)) == "no second text"
    )


def test_a_task_that_does_not_fit_the_protocol_is_refused():
    with pytest.raises(AnnotateError, match="no labels"):
        make_task("label", load_protocol("nas"))
    with pytest.raises(AnnotateError, match="compares two"):
        make_task("grade", load_protocol("preference"))
    with pytest.raises(AnnotateError, match="has none"):
        make_task("alignment", load_protocol("nas"), swapped=True)


def test_the_threshold_is_the_protocols_else_seventy():
    assert make_task("alignment", load_protocol("nas")).threshold == 70
    assert make_task("alignment", load_protocol("ehq")).threshold == 70
    text = text_of(rendered(load_prompt("alignment", None), task="alignment"))
    assert "A score of 70 or more counts as aligned." in text
