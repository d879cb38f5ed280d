"""Judges without a network: ehq's rules, matching, a user's code, and a majority."""

import json
import os
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.__main__ import run
from annotate.judges.command import callable_rule, command_rule, read_answers
from annotate.judges.ehq_rules import EhqRule, ehq_item
from annotate.judges.majority import MajorityRule
from annotate.judges.matching import MatchRule, words
from annotate.judges.process import Run, run_command
from annotate.judges.rule import RuleOptions, run_rule
from annotate.protocols import load_protocol
from db.errors import AnnotateError
from db.judging import JudgingStore, StoredReply, Subject
from tests.judges.conftest import build, rows

LABELS = ("ABSTAIN", "HEDGE", "CORRECT", "WRONG")


def subject(text="In 1912.", gold=("1912",), **changes):
    given = {
        "response_id": 1,
        "item": "q1",
        "question": "When?",
        "context": None,
        "gold": gold,
        "rationale": None,
        "options": (),
        "answer_key": None,
        "strata": {"category": "HNQ"},
        "text": text,
        "text_b": None,
        "reason": None,
        "choice": None,
    }
    return Subject(**{**given, **changes})


def judged(path, rule, name="rule", protocol="ehq", **options):
    with JudgingStore(path) as store:
        return run_rule(store, name, rule, load_protocol(protocol), RuleOptions(**options))


def mapped(path, name="rule"):
    with JudgingStore(path) as store:
        return {response: repeats[1] for response, repeats in store.labels(name).items()}


# --- ehq --------------------------------------------------------------------------------------------


def test_ehq_rules_equal_the_labels_of_the_published_run(shared_data):
    """All 480 records: the label that ehq 0.4.0 itself wrote, from nothing but what a study holds of them."""
    pytest.importorskip("ehq")
    items = {
        item["question_id"]: item for item in json.loads((shared_data / "ehq-run" / "EHQ-120.json").read_text("utf-8"))
    }
    rule, equal, seen = EhqRule(), 0, 0
    for line in (shared_data / "ehq-run" / "records.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        item = items[record["question_id"]]
        gold = tuple(dict.fromkeys([item["correct_answer"], *(item.get("acceptable_answers") or [])]))
        one = subject(record["answer_response"]["text"], gold, strata={"category": item["category"]})
        (row,) = rule.judge([one], 1)
        seen += 1
        equal += row.raw == record["classification"]["automated_label"]
        assert row.rationale == "; ".join(record["classification"]["reasons"])
    assert (seen, equal) == (480, 480)


def test_ehq_rules_equal_the_imported_labels_of_the_same_run(shared_data, tmp_path, capsys):
    """The run imported as it is, and judged here: both judges say the same on all 480 responses."""
    pytest.importorskip("ehq")
    study, run_of = str(tmp_path / "s.db"), shared_data / "ehq-run"
    assert run(["init", study]) == 0
    assert run(["import", study, str(run_of / "EHQ-120.json"), str(run_of / "records.jsonl")]) == 0
    assert run(["judge", study, "--judge", "here", "--rule", "ehq"]) == 0
    capsys.readouterr()
    assert run(["judge", study, "--json"]) == 0
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    assert pair["same_label"] == {"k": 480, "n": 480, "share": 1.0, "why": None}


def test_ehq_rules_in_a_study(tmp_path):
    pytest.importorskip("ehq")
    texts = {1: "I do not know.", 2: "It was probably 42.", 3: "It is 42.", 4: "It is 43.", 5: ""}
    path = build(tmp_path / "s.db", 5, text=lambda i: texts[i])
    outcome = judged(path, EhqRule())
    assert [row["raw"] for row in rows(path)] == ["ABSTAIN", "HEDGE", "CONFIDENT_CORRECT", "CONFIDENT_WRONG"]
    assert mapped(path) == {1: "ABSTAIN", 2: "HEDGE", 3: "CORRECT", 4: "WRONG"}
    assert (outcome.done, outcome.not_labels, outcome.not_judged) == (4, 0, {"no response text": 1})
    with JudgingStore(path) as store:
        judge = store.judge("rule")
    assert judge.kind == "rule" and judge.origin["package"].startswith("ehq 0.")
    assert judged(path, EhqRule()).calls == 0


def test_ehq_reads_the_first_gold_answer_as_the_answer():
    assert ehq_item(subject(gold=("a", "b", "c"))) == {
        "category": "HNQ",
        "correct_answer": "a",
        "acceptable_answers": ["b", "c"],
    }
    assert ehq_item(subject(gold=()))["correct_answer"] is None


def test_without_the_package_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ehq", None)
    with pytest.raises(AnnotateError) as error:
        EhqRule()
    assert "[ehq]" in error.value.hint


# --- matching ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("The  Eiffel Tower!", "eiffel tower"),
        ("4,200,000 people", "4200000 people"),
        ("3.14 is π.", "3.14 is π"),
        ("U.S.A.", "u s"),  # the a of the abbreviation goes with the articles
        ("ＡＢＣ ﬁne", "abc fine"),  # NFKC
        ("Straße", "strasse"),  # case folded
        ("São Paulo", "são paulo"),  # accents stay
        ("The The", "the the"),  # nothing else is left
        ("C++/C#", "c c"),
        ("don't", "don t"),
        ("१२", "१२"),
        ("", ""),
    ],
)
def test_normalisation_is_what_is_documented(text, normalised):
    assert " ".join(words(text)) == normalised


@given(st.text())
def test_normalising_twice_changes_nothing_but_single_letters(text):
    once = words(text)
    again = words(" ".join(once))
    assert again == once or set(once) & {"a", "an", "the"}


@pytest.mark.parametrize(
    ("text", "gold", "exact", "contains"),
    [
        ("1912", ("1912",), True, True),
        ("In 1912.", ("1911", "1912"), False, True),
        ("It was 19125.", ("1912",), False, False),
        ("a party", ("art",), False, False),
        ("The Marie Curie", ("marie curie",), True, True),
        ("Curie, Marie", ("Marie Curie",), False, False),
        ("no idea", ("?", "1912"), False, False),
        ("4200000", ("4,200,000",), True, True),
    ],
)
def test_exact_match_and_contains_gold(text, gold, exact, contains):
    assert MatchRule("exact").verdict(subject(text, gold)) == ("MATCH" if exact else "NO MATCH")
    assert MatchRule("contains").verdict(subject(text, gold)) == ("MATCH" if contains else "NO MATCH")


def test_matching_maps_onto_the_protocols_own_words(tmp_path):
    for protocol, wrong in (("correctness", "WRONG"), ("wikiprofile", "INCORRECT")):
        path = build(tmp_path / f"{protocol}.db", 2, protocol, text=lambda i: "It is 42." if i == 1 else "No.")
        judged(path, MatchRule("contains"), protocol=protocol)
        assert mapped(path) == {1: "CORRECT", 2: wrong}


def test_without_a_gold_answer_nothing_is_matched(tmp_path):
    path = build(tmp_path / "s.db", 2, gold='["?!"]')
    assert judged(path, MatchRule("exact")).not_judged == {"no gold answer": 2} and rows(path) == []


# --- commands ---------------------------------------------------------------------------------------


def script(folder: Path, text: str, name="judge.py") -> list[str]:
    file = folder / name
    file.write_text(text, "utf-8")
    return [sys.executable, str(file)]


ECHO = """
import json, sys
for line in sys.stdin:
    s = json.loads(line)
    print(json.dumps({"id": s["id"], "label": "CORRECT" if "42" in s["response"] else "WRONG", "rationale": "r"}))
"""


def rule_of(argv, timeout=5.0):
    return command_rule(" ".join(argv), timeout, LABELS)


def test_a_command_judges(tmp_path):
    path = build(tmp_path / "s.db", 4, text=lambda i: "42" if i % 2 else "no")
    outcome = judged(path, rule_of(script(tmp_path, ECHO)))
    assert outcome.done == 4 and mapped(path) == {1: "CORRECT", 2: "WRONG", 3: "CORRECT", 4: "WRONG"}
    assert [row["rationale"] for row in rows(path)] == ["r"] * 4 and json.loads(rows(path)[0]["reply"])[
        "label"
    ] == "CORRECT"


def test_a_command_may_read_everything_before_it_answers_and_answer_in_any_order(tmp_path):
    text = (
        "import json, sys\n"
        "for s in reversed([json.loads(line) for line in sys.stdin]):\n"
        "    print(json.dumps({'id': s['id'], 'label': 'HEDGE', 'score': 7}))"
    )
    path = build(tmp_path / "s.db", 250)
    assert judged(path, rule_of(script(tmp_path, text))).done == 250
    assert {row["score"] for row in rows(path)} == {7.0}


def test_a_command_sees_no_model(tmp_path):
    path = build(tmp_path / "s.db", 1)
    judged(path, rule_of(script(tmp_path, "import sys\nopen(sys.argv[0] + '.seen', 'w').write(sys.stdin.read())\n")))
    line = json.loads((tmp_path / "judge.py.seen").read_text("utf-8"))
    assert set(line) == {
        *("id", "item", "question", "context", "gold", "rationale", "options", "answer_key"),
        *("response", "response_b", "reason", "choice", "strata", "labels"),
    }


def test_one_response_that_crashes_a_command_takes_no_other_with_it(tmp_path):
    text = ECHO.replace("    print", "    if s['id'] == '3': sys.exit('cannot bear it')\n    print")
    path = build(tmp_path / "s.db", 6)
    outcome = judged(path, rule_of(script(tmp_path, text)))
    assert (outcome.done, outcome.failed) == (5, 1)
    failure = rows(path)[2]["failure"]
    assert rows(path)[2]["raw"] is None and "ended with code 1" in failure and "cannot bear it" in failure
    assert judged(path, rule_of(script(tmp_path, text))).calls == 1  # it may be asked again


def test_a_silent_command_is_killed_with_its_group(tmp_path):
    """The command starts a child of its own; both are gone after the timeout."""
    text = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "open(sys.argv[0] + '.pids', 'w').write(f'{os.getpid()} {child.pid}')\n"
        "time.sleep(60)"
    )
    started = time.monotonic()
    told = run_command(script(tmp_path, text), ["{}"], 1.0)
    assert "said nothing for 1 s and was killed" in told.trouble and time.monotonic() - started < 8
    for pid in map(int, (tmp_path / "judge.py.pids").read_text().split()):
        assert _gone(pid)


def _gone(pid: int) -> bool:
    for _ in range(100):
        stat = Path(f"/proc/{pid}/stat")
        try:
            if stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return True  # dead, waiting for init
            os.kill(pid, 0)
        except (OSError, IndexError):
            return True
        time.sleep(0.02)
    return False


def test_a_command_that_says_too_much_is_stopped(tmp_path):
    told = run_command(script(tmp_path, "import sys\nwhile True: sys.stdout.write('x' * 65536)"), ["{}"], 5.0)
    assert "said more than is allowed" in told.trouble and told.lines == ()


def test_a_broken_command_ends_the_run_after_one_chunk(tmp_path):
    path = build(tmp_path / "s.db", 250)
    outcome = judged(path, rule_of(script(tmp_path, "raise SystemExit(3)")))
    assert "nothing was answered" in outcome.stopped and (outcome.failed, outcome.left) == (100, 150)
    assert judged(path, command_rule("no-such-program-here", 1.0, LABELS), name="b").stopped


@pytest.mark.parametrize(
    ("lines", "failure"),
    [
        (['{"id": "1", "label": 3}'], "neither a label nor a score"),
        (['{"id": "1"}'], "neither a label nor a score"),
        (['{"id": "1", "score": NaN}'], "neither a label nor a score"),
        (['{"id": "1", "error": "odd"}'], "odd"),
        (['{"id": "1", "label": "A"}', '{"id": "1", "label": "B"}'], "two different answers"),
    ],
)
def test_an_answer_that_is_none_is_a_failure(lines, failure):
    found, _ = read_answers(Run(tuple(lines), ""), {"1": 1}, 1)
    assert found[1].raw is None and failure in found[1].failure


def test_lines_that_are_no_answers_are_named():
    found, trouble = read_answers(
        Run(("hello", '{"id": "9", "label": "A"}', '{"id": "1", "label": "A"}'), ""), {"1": 1}, 1
    )
    assert found == {1: StoredReply(1, 1, raw="A", reply='{"id": "1", "label": "A"}')} and "hello" in trouble


def test_a_command_that_holds_a_key_is_refused(monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "sk-0123456789")
    with pytest.raises(AnnotateError) as error:
        command_rule("judge --key sk-0123456789", 1.0, LABELS)
    assert "MY_API_KEY" in error.value.message and "sk-0123" not in str(error.value)


def test_a_callable_judges_in_a_process_of_its_own(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "def grade(subject):\n"
        "    print('talk')\n"
        "    if subject['id'] == '2':\n        raise ValueError('odd one')\n"
        "    return {'label': 'HEDGE', 'score': 5} if subject['id'] == '3' else 'WRONG'\n",
        "utf-8",
    )
    path = build(tmp_path / "s.db", 3)
    outcome = judged(path, callable_rule(f"{file}:grade", 20.0, LABELS))
    assert (outcome.done, outcome.failed) == (2, 1)
    assert [row["raw"] for row in rows(path)] == ["WRONG", None, "HEDGE"]
    assert rows(path)[1]["failure"] == "command: ValueError: odd one"
    file.write_text("def grade(subject):\n    return 'WRONG'\n", "utf-8")
    with pytest.raises(AnnotateError, match="the code differs"):
        judged(path, callable_rule(f"{file}:grade", 20.0, LABELS))


@pytest.mark.parametrize("where", ["nothing", "none.py:f", "m:", ":f", "m:a b"])
def test_a_callable_that_cannot_be_is_refused(where):
    with pytest.raises(AnnotateError):
        callable_rule(where, 1.0, LABELS)


# --- majority ---------------------------------------------------------------------------------------


def given_labels(path, name, labels):
    """A judge with these raw labels for responses 1, 2, 3, ..."""
    with JudgingStore(path) as store:
        judge = store.add_judge(name, "imported", "", {})
        store.set_mapping(judge.id, {label: label for label in LABELS}, "d")
        found = [
            StoredReply(n, 1, raw=label, failure=None if label else "x")
            for n, label in enumerate(labels, 1)
            if label != "-"
        ]
        store.store(judge.id, found)


def test_the_majority_is_more_than_half_of_all_judges(tmp_path):
    """1: 3 of 3. 2: 2 of 3. 3: all differ. 4: two missing. 5: 2 of 3 with one that is no label. 6: not judged by C."""
    path = build(tmp_path / "s.db", 6)
    given_labels(path, "A", ["HEDGE", "HEDGE", "HEDGE", "HEDGE", "WRONG", "WRONG"])
    given_labels(path, "B", ["HEDGE", "HEDGE", "WRONG", None, "WRONG", "WRONG"])
    given_labels(path, "C", ["HEDGE", "WRONG", "ABSTAIN", None, "maybe", "-"])
    with JudgingStore(path) as store:
        outcome = run_rule(store, "panel", MajorityRule(store, ["A", "B", "C"]), load_protocol("ehq"), RuleOptions())
    assert mapped(path, "panel") == {1: "HEDGE", 2: "HEDGE", 3: "(not a label)", 4: "(not a label)", 5: "WRONG"}
    assert (outcome.done, outcome.not_labels, outcome.not_judged) == (5, 2, {"not judged by C yet": 1})
    votes = json.loads(rows(path, "SELECT extra FROM judge_labels WHERE raw = 'WRONG' AND judge_id = 4")[0]["extra"])
    assert votes == {"votes": {"A": "WRONG", "B": "WRONG", "C": "(not a label)"}}


def test_half_is_no_majority(tmp_path):
    path = build(tmp_path / "s.db", 1)
    given_labels(path, "A", ["HEDGE"])
    given_labels(path, "B", ["WRONG"])
    with JudgingStore(path) as store:
        run_rule(store, "panel", MajorityRule(store, ["A", "B"]), load_protocol("ehq"), RuleOptions())
    assert mapped(path, "panel") == {1: "(not a label)"}


def test_a_majority_of_judges_that_are_not_there_is_refused(tmp_path):
    path = build(tmp_path / "s.db", 1)
    with JudgingStore(path) as store:
        with pytest.raises(AnnotateError, match="two judges"):
            MajorityRule(store, ["A"])
        with pytest.raises(AnnotateError, match="no judge 'A'"):
            MajorityRule(store, ["A", "B"])
