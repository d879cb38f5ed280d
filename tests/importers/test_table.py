"""Tables: what a mapping makes of the columns, and what a wrong mapping or cell is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.importers import prepare
from annotate.importers.guess import guess_columns, guess_table
from annotate.recipes import parse_map
from annotate.recipes.parse import split_target
from db.errors import AnnotateError
from db.records import HumanLabelRow, ItemRow, JudgeLabelRow, Reject, ResponseRow

Write = Callable[[str, str | bytes], Path]
Rows = Callable[..., list[Any]]

TABLE = """\
id,Q,Gold,Answer,Model,Topic,Ann,Bo,Third,Adj,GPT,GPT score,Extra
1,What?,a | b,yes,m1,x,RIGHT,WRONG,RIGHT,RIGHT,ok,.9,kept
1,What?,a | b,no,m2,x,WRONG,WRONG,,WRONG,bad,.2,
"""
MAP = (
    "id=item,Q=question,Gold=gold,Answer=response,Model=model,Topic=stratum.topic,Ann=coder.Ann,Bo=coder.Bo,"
    "Third=tiebreak.Third,Adj=final,GPT=judge.gpt-3.5,GPT score=judge.gpt-3.5.score"
)


def test_every_field_of_a_row_lands_where_the_mapping_says(write: Write, rows_of: Rows) -> None:
    rows = rows_of(write("t.csv", TABLE), format="table", map=MAP, gold_separator=" | ")
    item, response, judge, ann, bo, third, final = rows[:7]
    assert item == ItemRow("1", 2, "What?", gold=("a", "b"), strata={"topic": "x"})
    assert response == ResponseRow("1", 2, "yes", model="m1", extra={"Extra": "kept"})
    assert judge == JudgeLabelRow("gpt-3.5", "1", 2, model="m1", raw="ok", score=0.9)
    assert (ann.coder, ann.label, ann.role) == ("Ann", "RIGHT", "coder")
    assert (bo.coder, bo.label, bo.row) == ("Bo", "WRONG", 2)
    assert (third.coder, third.role) == ("Third", "tiebreak")
    assert (final.coder, final.role) == ("final", "adjudicator")
    blank = next(row for row in rows if isinstance(row, HumanLabelRow) and row.row == 3 and row.coder == "Third")
    assert blank.label is None  # a blank is no label, and is handed on to be counted


def test_tiebreak_turns_a_mapped_coder_into_a_tie_breaker(write: Write, rows_of: Rows) -> None:
    mapping = "id=item,Q=question,Answer=response,Ann=coder.Ann,Third=coder.Third"
    rows = rows_of(write("t.csv", TABLE), format="table", map=mapping, tiebreak="Third")
    roles = {row.coder: row.role for row in rows if isinstance(row, HumanLabelRow)}
    assert roles == {"Ann": "coder", "Third": "tiebreak"}


def test_weights_become_inclusion_probabilities(write: Write, rows_of: Rows) -> None:
    path = write("t.csv", "id,q,a,c,w\n1,q,a,X,4\n2,q2,a,X,0.5\n3,q3,a,X,nothing\n")
    rows = rows_of(path, format="table", map="id=item,q=question,a=response,c=coder.c", weight="w")
    assert [row.pi for row in rows if isinstance(row, HumanLabelRow)] == [0.25]  # 1 / 4
    assert [(row.row, row.reason) for row in rows if isinstance(row, Reject)] == [
        (3, "weight 0.5 gives no probability above 0 and up to 1"),
        (4, "weight 'nothing' is no number"),
    ]


def test_one_label_a_row_gives_one_response_however_many_coders(write: Write, rows_of: Rows) -> None:
    path = write("t.csv", "task,text,worker,label\n1,one,A,X\n1,one,B,Y\n2,two,A,X\n")
    rows = rows_of(path, format="table", map="task=item,text=response,worker=coder,label=label")
    assert [(r.item, r.text) for r in rows if isinstance(r, ResponseRow)] == [("1", "one"), ("2", "two")]
    labels = [(r.coder, r.item, r.label) for r in rows if isinstance(r, HumanLabelRow)]
    assert labels == [("A", "1", "X"), ("B", "1", "Y"), ("A", "2", "X")]


def test_one_label_a_row_with_another_text_under_the_same_key_is_refused(write: Write, rows_of: Rows) -> None:
    path = write("t.csv", "task,text,worker,label\n1,one,A,X\n1,another,B,Y\n")
    (reject,) = [
        r
        for r in rows_of(path, format="table", map="task=item,text=response,worker=coder,label=label")
        if isinstance(r, Reject)
    ]
    assert reject.row == 3
    assert "map 'repeat' or 'condition' too" in reject.reason


def test_labels_alone_join_what_the_study_has_or_make_items_where_that_is_asked(write: Write, rows_of: Rows) -> None:
    path = write("t.csv", "task,worker,label\n1,A,X\n1,B,Y\n")
    mapping = "task=item,worker=coder,label=label"
    assert [type(row) for row in rows_of(path, format="table", map=mapping)] == [HumanLabelRow, HumanLabelRow]
    kinds = [type(row) for row in rows_of(path, format="table", map=mapping, labels_only="yes")]
    assert kinds == [ItemRow, ResponseRow, HumanLabelRow, HumanLabelRow]


def test_a_table_without_keys_takes_the_question_or_the_line_for_one(write: Write, rows_of: Rows) -> None:
    asked = rows_of(write("a.csv", "q,a\nsame,1\nsame,2\nother,3\n"), format="table", map="q=question,a=response")
    keys = [row.item for row in asked if isinstance(row, ResponseRow)]
    assert keys[0] == keys[1] != keys[2]
    wide = rows_of(write("b.csv", "r1,r2\nX,Y\nX,X\n"), format="table", map="r1=coder.r1,r2=coder.r2")
    assert [row.item for row in wide if isinstance(row, ResponseRow)] == ["row-2", "row-3"]


@pytest.mark.parametrize(
    ("scale", "cell", "expected"),
    [
        ("100", "85", (85, 100)),
        ("1", "0.85", (85, 100)),
        ("1", "1", (100, 100)),
        ("100", "85%", (85, 100)),
        ("100", "", (None, None)),
        ("1", "85", "does not lie in 0 to 1"),
        ("1", "0.8534", "finer than hundredths"),
        ("1", "high", "is no number"),
    ],
)
def test_confidence_is_exact_on_its_grid(write: Write, rows_of: Rows, scale: str, cell: str, expected: Any) -> None:
    path = write("t.csv", f"q,a,c\nq,a,{cell}\n")
    row = rows_of(path, format="table", map="q=question,a=response,c=confidence", confidence_scale=scale)[-1]
    if isinstance(expected, str):
        assert expected in row.reason
    else:
        assert (row.confidence, row.confidence_grid) == expected


def test_a_confidence_without_a_declared_scale_is_refused(write: Write, rows_of: Rows) -> None:
    with pytest.raises(AnnotateError, match="its scale is not declared"):
        rows_of(write("t.csv", "q,a,c\nq,a,1\n"), format="table", map="q=question,a=response,c=confidence")


def test_json_values_nested_in_a_record_are_reached_by_their_path(write: Write, rows_of: Rows) -> None:
    record = {"q": "Q", "out": {"choices": [{"text": "A"}]}, "meta": {"model": "m"}, "label": 1, "n": 2.0}
    path = write("t.jsonl", json.dumps(record))
    rows = rows_of(
        path, format="table", map="q=question,out.choices[0].text=response,meta.model=model,label=coder.c,n=repeat"
    )
    response = next(row for row in rows if isinstance(row, ResponseRow))
    assert (response.text, response.model, response.repeat) == ("A", "m", 2)
    assert [row.label for row in rows if isinstance(row, HumanLabelRow)] == ["1"]


def test_the_same_value_for_every_row_can_be_given(write: Write, rows_of: Rows) -> None:
    rows = rows_of(write("t.csv", "q,a\nq,a\n"), format="table", map="q=question,a=response,model:=gpt-4")
    assert [row.model for row in rows if isinstance(row, ResponseRow)] == ["gpt-4"]


@pytest.mark.parametrize(
    ("mapping", "says"),
    [
        ("q=question,a=respones", "no field 'respones'"),
        ("q=question,a", "'a' is no mapping"),
        ("q=question,a=response,b=response", "Two columns are mapped to 'response'"),
        ("q=question,a=coder", "'coder' is mapped, but not 'label'"),
        ("q=stratum.topic", "Neither responses nor labels"),
        ("Q=question,a=response", "no column 'Q'"),
    ],
)
def test_a_wrong_mapping_gets_one_line(write: Write, rows_of: Rows, mapping: str, says: str) -> None:
    with pytest.raises(AnnotateError) as caught:
        rows_of(write("t.csv", "q,a,b\nq,a,b\n"), format="table", map=mapping)
    assert says in caught.value.message
    assert caught.value.hint


def test_a_refused_record_does_not_take_its_item_with_it(write: Write, rows_of: Rows) -> None:
    """The first of three records of an item is refused: the next one brings the item. So with repeated responses."""
    path = write("t.csv", "id,q,a,r\n1,Q,a,high\n1,Q,b,3\n1,Q,c,4\n")
    rows = rows_of(path, format="table", map="id=item,q=question,a=response,r=coder.c.rating")
    assert [type(row) for row in rows] == [Reject, ItemRow, ResponseRow, HumanLabelRow, ResponseRow, HumanLabelRow]
    path = write("t.csv", "id,a,who,r\n1,a,A,high\n1,a,B,3\n")
    rows = rows_of(path, format="table", map="id=item,a=response,who=coder,r=rating")
    assert [type(row) for row in rows] == [Reject, ItemRow, ResponseRow, HumanLabelRow]


def test_a_column_that_no_json_record_has_refuses_the_file(write: Write, rows_of: Rows) -> None:
    path = write("t.jsonl", '{"question": "q", "answer": "a"}\n' * 3)
    with pytest.raises(AnnotateError, match="no column 'anwser'") as caught:
        rows_of(path, format="table", map="question=question,anwser=response")
    assert caught.value.hint == "Did you mean 'answer'?"


def test_a_mapping_file_names_its_line_and_its_steps_apply(write: Write, rows_of: Rows) -> None:
    good = write(
        "map.toml",
        '[fields]\nquestion = "q"\nresponse = { column = "a", steps = [{ regex-capture = "(\\\\d+)" }] }\n'
        '"coder.c" = { column = "c", steps = ["first-word", { map = { Yes = "CORRECT" } }] }\n',
    )
    path = write("t.csv", 'q,a,c\nQ,answer 42 it is,"Yes, indeed"\nQ2,7,Perhaps\n')
    rows = rows_of(path, format="table", map=str(good))
    assert [row.text for row in rows if isinstance(row, ResponseRow)] == ["42"]
    assert [row.label for row in rows if isinstance(row, HumanLabelRow)] == ["CORRECT"]
    assert [row.reason for row in rows if isinstance(row, Reject)] == ["'Perhaps' is not in the map"]
    bad = write("bad.toml", '[fields]\nquestion = "q"\nrepsonse = "a"\n')
    with pytest.raises(AnnotateError, match=r"bad\.toml, line 3: there is no field 'repsonse'"):
        rows_of(path, format="table", map=str(bad))


def test_without_a_mapping_the_guess_is_offered_and_not_used(write: Write) -> None:
    path = write("t.csv", "prompt,completion\nq,a\n")
    with pytest.raises(AnnotateError, match="which column is which was not said") as caught:
        list(prepare([path], format="table").rows)
    assert "--map 'prompt=question,completion=response'" in caught.value.hint


def test_guesses() -> None:
    guess = guess_columns(
        ["id", "prompt", "type", "completion", "annotation_1", "Rater2", "final_label", "gpt4_label", "zip"]
    )
    assert guess.fields == {
        "id": "item",
        "prompt": "question",
        "type": "stratum.type",
        "completion": "response",
        "annotation_1": "coder.annotation_1",
        "Rater2": "coder.Rater2",
        "final_label": "final",
        "gpt4_label": "judge.gpt4",
    }
    assert guess.left == ("zip",)
    assert guess_columns(["task", "worker", "label"]).fields == {"task": "item", "worker": "coder", "label": "label"}


def test_a_guess_can_be_given_back_as_a_mapping(shared_data: Path) -> None:
    for file in ("openqa-nq301/NQ301_human.tsv", "pandalm/testset-v1.json", "classics/cac.raw4raters.csv"):
        guess = guess_table(shared_data / file)
        assert {rule.value.column: rule.target for rule in parse_map(guess.map_text)} == guess.fields


def test_a_name_with_dots_keeps_them() -> None:
    assert split_target("judge.gpt-3.5") == ("judge", "gpt-3.5", "")
    assert split_target("judge.gpt-3.5.score") == ("judge", "gpt-3.5", "score")
    assert split_target("final.rating") == ("final.rating", "", "")


def test_a_mapped_table_goes_into_a_study_and_is_recognised_the_second_time(write: Write, into_study: Any) -> None:
    path = write("t.csv", "q,a,c\nq1,a,CORRECT\nq2,b,WRONG\nq3,c,\n")
    options = {"map": "q=question,a=response,c=coder.c"}
    study, report = into_study(prepare([path], format="table", options=options), "correctness")
    counts = {kind: (count.read, count.imported, count.blank) for kind, count in report.kinds.items()}
    assert counts["responses"] == (3, 3, 0)
    assert counts["human labels"] == (3, 2, 1)
    assert study.connection.execute("SELECT rows FROM sources").fetchall() == [(3,)]
    study.close()


def test_a_table_of_unknown_columns_says_what_they_are_and_suggests_no_empty_mapping(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("foo,bar\n1,2\n", encoding="utf-8")
    for options in ({}, {"map": "guess"}):
        with pytest.raises(AnnotateError, match=r"none of its columns could be guessed.*foo, bar") as caught:
            list(prepare([path], format="table", options=options).rows)
        assert "--map ''" not in (caught.value.hint or "")
