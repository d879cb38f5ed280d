"""Formats of which no real file is at hand: small ones of the documented shape, and what is refused in them.

The shapes are those of openai/evals' recorder, simple-evals, promptfoo 0.1xx, DeepEval's test run, Argilla 2 and 1,
Potato's annotated_instances.jsonl, and datasets' save_to_disk.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.importers import prepare, recognise
from db.errors import AnnotateError
from db.records import HumanLabelRow, ItemRow, JudgeLabelRow, Reject, ResponseRow

Write = Callable[[str, str | bytes], Path]


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def read(path: Path, form: str, **options: str) -> list[Any]:
    assert recognise(path).name == form
    return list(prepare([path], options=options).rows)


def of(rows: list[Any], kind: type) -> list[Any]:
    return [row for row in rows if isinstance(row, kind)]


# --- OpenAI evals ----------------------------------------------------------------------------------------

SPEC = {"spec": {"completion_fns": ["gpt-4"], "eval_name": "facts.dev.v0", "base_eval": "facts", "run_id": "r"}}


def event(number: int, sample: str, kind: str, data: Any) -> dict[str, Any]:
    return {
        "run_id": "r",
        "event_id": number,
        "sample_id": sample,
        "type": kind,
        "data": data,
        "created_by": "",
        "created_at": "t",
    }


def test_openai_evals(write: Write) -> None:
    prompt = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Capital of Chad?"}]
    path = write(
        "log.jsonl",
        lines(
            SPEC,
            event(0, "s.1", "sampling", {"prompt": prompt, "sampled": ["N'Djamena"]}),
            event(1, "s.1", "match", {"correct": True, "expected": "N'Djamena", "picked": "N'Djamena"}),
            event(2, "s.2", "match", {"correct": False, "expected": "Oslo", "picked": None, "sampled": "Bergen"}),
            event(3, "s.2", "sampling", {"prompt": "Capital of Norway?", "sampled": "Bergen"}),
            event(4, "s.3", "metrics", {"choice": "B"}),
            {"final_report": {"accuracy": 0.5}},
        ),
    )
    job = prepare([path])
    rows = list(job.rows)
    assert (job.format, job.tally.read) == ("openai_evals", [5])
    assert "final report" in job.tally.notes[0]
    items = of(rows, ItemRow)
    assert [(item.key, item.question, item.context) for item in items] == [
        ("facts/s.1", "Capital of Chad?", "system: Be brief."),
        ("facts/s.2", "Capital of Norway?", None),
    ]
    assert items[1].gold == ("Oslo",)
    assert [(r.text, r.model) for r in of(rows, ResponseRow)] == [("N'Djamena", "gpt-4"), ("Bergen", "gpt-4")]
    assert [(j.item, j.raw, j.reply, j.row) for j in of(rows, JudgeLabelRow)] == [
        ("facts/s.1", "true", "N'Djamena", 3),
        ("facts/s.2", "false", "Bergen", 4),
    ]
    (reject,) = of(rows, Reject)
    assert (reject.row, reject.reason) == (6, "sample 's.3' has events, but no response was sampled")


def test_openai_evals_with_a_renamed_field(write: Write) -> None:
    path = write("log.jsonl", lines(SPEC, event(0, "s", "sampling", {"promt": "Q", "sampled": "A"})))
    (reject,) = read(path, "openai_evals")
    assert reject.reason == "'prompt' is missing (there is 'promt')"


# --- simple-evals ----------------------------------------------------------------------------------------


def convo(question: str, answer: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]


def test_simple_evals(write: Write) -> None:
    graded = {
        "score": 0.5,
        "rubric_items": [{"criterion": "Names a dose", "criteria_met": True, "explanation": "It does."}],
    }
    document = {
        "score": 0.5,
        "metrics": {},
        "htmls": ["<p>"],
        "convos": [convo("How much?", "10 mg"), convo("How much?", "20 mg")],
        "metadata": {"example_level_metadata": [graded, {"score": 0.0, "rubric_items": []}]},
    }
    rows = read(write("healthbench_gpt-4.1_20250513_101010_allresults.json", json.dumps(document)), "simple_evals")
    assert {item.key for item in of(rows, ItemRow)} == {of(rows, ItemRow)[0].key}  # one question, asked twice
    assert [(r.text, r.model) for r in of(rows, ResponseRow)] == [("10 mg", "gpt-4.1"), ("20 mg", "gpt-4.1")]
    assert [(j.judge, j.raw, j.rationale) for j in of(rows, JudgeLabelRow)] == [
        ("healthbench", "0.5", None),
        ("healthbench/Names a dose", "true", "It does."),
        ("healthbench", "0", None),
    ]
    del document["metadata"]
    job = prepare([write("simpleqa_o1_allresults.json", json.dumps(document))])
    assert not of(list(job.rows), JudgeLabelRow)
    assert "there is no judge" in job.tally.notes[0]
    document["convo"] = document.pop("convos")
    with pytest.raises(AnnotateError, match="'convos' is missing") as caught:
        list(prepare([write("simpleqa_o1_allresults.json", json.dumps(document))]).rows)
    assert "'convo'" in caught.value.hint


# --- promptfoo -------------------------------------------------------------------------------------------


def result(test: int, prompt: int, output: str, **more: Any) -> dict[str, Any]:
    graded = {"pass": True, "score": 1, "reason": "All assertions passed"}
    parts = [
        {"pass": True, "score": 1, "reason": "Same", "assertion": {"type": "equals", "value": "Paris"}},
        {"pass": False, "score": 0, "reason": "Too curt", "assertion": {"type": "llm-rubric", "value": "is polite"}},
        {"pass": True, "score": 1, "reason": "Fine", "assertion": {"type": "llm-rubric", "value": "is short"}},
    ]
    return {
        "promptIdx": prompt,
        "testIdx": test,
        "testCase": {"vars": {"question": "Capital of France?"}, "assert": [{"type": "equals", "value": "Paris"}]},
        "prompt": {"raw": "Answer: Capital of France?", "label": "Answer: {{question}}"},
        "provider": {"id": "openai:gpt-4", "label": ""},
        "vars": {"question": "Capital of France?"},
        "response": {"output": output, "cost": 0.1},
        "success": True,
        "score": 1,
        "gradingResult": {**graded, "componentResults": parts},
        **more,
    }


def test_promptfoo(write: Write) -> None:
    failed = result(1, 0, "", response={"error": "429 rate limit"}, success=False, gradingResult=None)
    document = {
        "evalId": "eval-1",
        "results": {"version": 3, "results": [result(0, 0, "Paris"), result(0, 1, "paris"), failed], "stats": {}},
    }
    rows = read(write("results.json", json.dumps(document)), "promptfoo")
    item = of(rows, ItemRow)[0]
    assert (item.key, item.question, item.gold) == ("test-0", "Capital of France?", ("Paris",))
    responses = of(rows, ResponseRow)
    assert [(r.item, r.model, r.condition, r.text, r.failure) for r in responses] == [
        ("test-0", "openai:gpt-4", "prompt 0", "Paris", None),
        ("test-0", "openai:gpt-4", "prompt 1", "paris", None),
        ("test-1", "openai:gpt-4", "prompt 0", "", "429 rate limit"),
    ]
    first = [(j.judge, j.raw, j.rationale) for j in of(rows, JudgeLabelRow)[:4]]
    assert first == [
        ("promptfoo", "PASS", "All assertions passed"),
        ("equals", "PASS", "Same"),
        ("llm-rubric 1", "FAIL", "Too curt"),
        ("llm-rubric 2", "PASS", "Fine"),
    ]


def test_promptfoo_with_a_renamed_field(write: Write) -> None:
    one = result(0, 0, "Paris")
    one["sucess"] = one.pop("success")
    document = {"evalId": "e", "results": {"results": [one]}}
    (reject,) = read(write("results.json", json.dumps(document)), "promptfoo")
    assert reject.reason == "'success' is missing (there is 'sucess')"
    with pytest.raises(AnnotateError, match="'results' is missing"):
        list(prepare([write("r.json", json.dumps({"evalId": "e", "result": {}}))], format="promptfoo").rows)


# --- DeepEval --------------------------------------------------------------------------------------------

CASE = {
    "name": "test_case_0",
    "input": "Capital of Peru?",
    "actualOutput": "Lima",
    "expectedOutput": "Lima",
    "retrievalContext": ["Lima is the capital."],
    "success": True,
    "metricsData": [
        {
            "name": "Correctness [GEval]",
            "threshold": 0.5,
            "success": True,
            "score": 0.9,
            "reason": "Same city.",
            "evaluationModel": "gpt-4.1",
        },
        {"name": "Faithfulness", "threshold": 0.5, "success": False, "score": None, "error": "timeout"},
    ],
}


@pytest.mark.parametrize("snake", [False, True])
def test_deepeval_in_both_spellings(write: Write, snake: bool) -> None:
    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {"".join(f"_{c.lower()}" if c.isupper() else c for c in k): renamed(v) for k, v in value.items()}
        return [renamed(v) for v in value] if isinstance(value, list) else value

    document = {"test_results": [renamed(CASE)]} if snake else {"testCases": [CASE], "conversationalTestCases": []}
    rows = read(write("run.json", json.dumps(document)), "deepeval", model="llama")
    item, response, first, second = rows
    assert (item.question, item.gold, item.context) == ("Capital of Peru?", ("Lima",), '["Lima is the capital."]')
    assert (response.text, response.model) == ("Lima", "llama")
    assert (first.judge, first.raw, first.score, first.rationale) == ("Correctness [GEval]", "PASS", 0.9, "Same city.")
    assert (second.raw, second.score, second.rationale) == (None, None, "timeout")  # an error is no verdict


def test_deepeval_with_a_renamed_field(write: Write) -> None:
    case = {**CASE, "actual_outputs": "Lima"}
    del case["actualOutput"]
    (reject,) = read(write("run.json", json.dumps({"testCases": [case]})), "deepeval")
    assert reject.reason == "'actual_output' is missing (there is 'actual_outputs')"


# --- Argilla ---------------------------------------------------------------------------------------------


def test_argilla_two_and_one(write: Write) -> None:
    two = {
        "id": "r1",
        "fields": {"prompt": "Q?", "response": "A."},
        "metadata": {"model": "m"},
        "suggestions": {"label": {"value": "good", "score": 0.7, "agent": "gpt"}},
        "responses": {"label": [{"value": "bad", "user_id": "u1"}, {"value": "good", "user_id": "u2"}]},
        "status": "completed",
    }
    one = {
        "id": "r1",
        "fields": {"prompt": "Q?", "response": "A."},
        "metadata": {"model": "m"},
        "suggestions": [{"question_name": "label", "value": "good", "score": 0.7, "agent": "gpt"}],
        "responses": [
            {"user_id": "u1", "status": "submitted", "values": {"label": {"value": "bad"}}},
            {"user_id": "u2", "status": "submitted", "values": {"label": {"value": "good"}}},
        ],
    }
    first = read(write("two.json", json.dumps([two])), "argilla", labels="good=CORRECT,bad=WRONG")
    assert first == read(write("one.jsonl", lines(one)), "argilla", labels="good=CORRECT,bad=WRONG")
    item, response, judge, *people = first
    assert (item.key, item.question, response.text, response.model) == ("r1", "Q?", "A.", "m")
    assert (judge.judge, judge.raw, judge.score) == ("gpt", "good", 0.7)
    assert [(row.coder, row.label) for row in people] == [("u1", "WRONG"), ("u2", "CORRECT")]


def test_argilla_discarded_drafts_and_several_questions(write: Write) -> None:
    record = {
        "id": 1,
        "fields": {"text": "T"},
        "suggestions": {},
        "responses": {
            "label": [{"value": "x", "user_id": "u1", "status": "discarded"}],
            "rating": [{"value": 80, "user_id": "u1", "status": "submitted"}],
        },
    }
    path = write("r.jsonl", lines(record))
    (reject,) = read(path, "argilla")
    assert "name the one that is the label with the option question_name" in reject.reason
    assert read(path, "argilla", question_name="label")[-1].label is None
    rated = read(path, "argilla", question_name="rating")[-1]
    assert (rated.label, rated.rating) == (None, 80)


# --- Prodigy choices, doccano, Potato --------------------------------------------------------------------


def test_prodigy_choices_of_two_annotators_meet_at_one_response(write: Write) -> None:
    task = {"text": "T", "options": [{"id": "GOOD", "text": "good"}], "_input_hash": 7, "_task_hash": 8}
    path = write(
        "p.jsonl",
        lines(
            {**task, "accept": ["GOOD"], "answer": "accept", "_annotator_id": "set-ann", "_timestamp": 1700000000},
            {**task, "accept": [], "answer": "reject", "_annotator_id": "set-bo"},
            {**task, "accept": ["A", "B"], "answer": "accept", "_annotator_id": "set-cy"},
        ),
    )
    rows = read(path, "prodigy")
    assert len(of(rows, ResponseRow)) == 1
    assert [(r.coder, r.label, r.utc) for r in of(rows, HumanLabelRow)] == [
        ("set-ann", "GOOD", "2023-11-14T22:13:20.000Z"),
        ("set-bo", None, None),
    ]
    assert of(rows, Reject)[0].reason == "2 options were accepted, expected one label"


def test_doccano_files_of_two_annotators(write: Write) -> None:
    ann = write("ann.jsonl", lines({"id": 1, "text": "T", "label": ["x"]}, {"id": 2, "text": "U", "label": []}))
    bo = write("bo.jsonl", lines({"id": 1, "text": "T", "label": ["y"]}, {"id": 2, "text": "U", "label": ["x", "y"]}))
    rows = list(prepare([ann, bo], format="doccano").rows)
    assert [(r.item, r.text) for r in of(rows, ResponseRow)] == [("1", "T"), ("2", "U")]
    assert [(r.coder, r.item, r.label) for r in of(rows, HumanLabelRow)] == [
        ("ann", "1", "x"),
        ("ann", "2", None),
        ("bo", "1", "y"),
    ]
    assert of(rows, Reject)[0].reason == "2 labels on one text, expected one"


def test_doccano_without_ids_never_merges_by_text_alone(write: Write) -> None:
    path = write("d.jsonl", lines({"text": "same", "label": ["x"]}, {"text": "same", "label": ["y"]}))
    rows = read(path, "doccano")
    assert [(r.text, r.repeat) for r in of(rows, ResponseRow)] == [("same", 1), ("same", 2)]
    assert [(r.repeat, r.label) for r in of(rows, HumanLabelRow)] == [(1, "x"), (2, "y")]


def test_doccano_sequences_are_responses_where_that_is_said(shared_data: Path) -> None:
    rows = read(shared_data / "formats/doccano/export_seq2seq.jsonl", "doccano", seq2seq="yes")
    assert [(r.question) for r in of(rows, ItemRow)] == ["Hello!", "Good morning.", "See you."]
    assert of(rows, ResponseRow)[0].text == "こんにちは！"


def test_potato(write: Write, tmp_path: Path) -> None:
    def instance(number: int, annotations: dict[str, Any]) -> dict[str, Any]:
        spent = {"time_string": "Time spent: 0d 0h 1m 5s "}
        return {
            "id": f"i{number}",
            "displayed_text": f"T{number}",
            "label_annotations": annotations,
            "span_annotations": {},
            "behavioral_data": spent,
        }

    write(
        "out/ann@x.org/annotated_instances.jsonl",
        lines(instance(1, {"sentiment": {"neutral": "true"}}), instance(2, {})),
    )
    write(
        "out/bo/annotated_instances.jsonl",
        lines(instance(1, {"sentiment": {"scale_4": "4"}}), instance(2, {"a": {"x": "true"}, "b": {"y": "true"}})),
    )
    rows = read(tmp_path / "out", "potato")
    assert [(r.item, r.text) for r in of(rows, ResponseRow)] == [("i1", "T1"), ("i2", "T2")]
    assert [(r.coder, r.item, r.label, r.active_ms) for r in of(rows, HumanLabelRow)] == [
        ("ann@x.org", "i1", "neutral", 65_000),
        ("ann@x.org", "i2", None, 65_000),
        ("bo", "i1", "4", 65_000),
    ]
    assert "name the one that is the label with the option schema" in of(rows, Reject)[0].reason


# --- datasets and chats ----------------------------------------------------------------------------------

TABLE = [{"question": "Q1", "answer": "A1", "gpt": "good"}, {"question": "Q2", "answer": "A2", "gpt": None}]


def test_hugging_face_folders_in_arrow_and_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.Table.from_pylist(TABLE)
    saved = tmp_path / "saved"
    for split in ("train", "test"):
        (saved / split).mkdir(parents=True)
        with (
            pa.OSFile(str(saved / split / "data-00000-of-00001.arrow"), "wb") as file,
            pa.ipc.new_stream(file, table.schema) as stream,
        ):
            stream.write_table(table)
        (saved / split / "state.json").write_text(
            json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]})
        )
    (saved / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    rows = read(saved, "hf_datasets", map="question=question,answer=response,gpt=judge.gpt")
    assert [(r.text, r.source) for r in of(rows, ResponseRow)] == [("A1", 0), ("A2", 0), ("A1", 1), ("A2", 1)]
    assert {item.strata["split"] for item in of(rows, ItemRow)} == {"test", "train"}
    hub = tmp_path / "hub" / "data"
    hub.mkdir(parents=True)
    pq.write_table(table, hub / "train-00000-of-00001.parquet")
    rows = read(tmp_path / "hub", "hf_datasets", map="question=question,answer=response,gpt=judge.gpt")
    assert [j.raw for j in of(rows, JudgeLabelRow)] == ["good", None]
    with pytest.raises(AnnotateError, match="no column 'anwser'"):
        read(tmp_path / "hub", "hf_datasets", map="question=question,anwser=response")
    with pytest.raises(AnnotateError, match="which column is which"):
        read(tmp_path / "hub", "hf_datasets")
    cut = saved / "test" / "data-00000-of-00001.arrow"
    cut.write_bytes(cut.read_bytes()[:150])
    with pytest.raises(AnnotateError, match="not readable as Arrow"):
        read(saved, "hf_datasets", map="question=question,answer=response")


def test_a_state_file_cannot_point_outside_its_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.arrow").write_bytes(b"x")
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": "../secret.arrow"}]}))
    with pytest.raises(AnnotateError):
        prepare([folder], format="hf_datasets")


def test_chat_messages(write: Write) -> None:
    chat = {
        "id": "c1",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello!"},
            {"role": "user", "content": [{"type": "text", "text": "Why?"}, {"type": "image_url", "image_url": {}}]},
            {
                "role": "assistant",
                "content": [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "Because."}],
            },
        ],
        "model": "m",
        "Ann": "CORRECT",
    }
    shared_gpt = {
        "id": "c2",
        "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Yo"}],
        "model": "m",
        "Ann": "",
    }
    broken = {"id": "c3", "messages": [{"role": "user", "content": "Hi"}]}
    rows = read(write("chat.jsonl", lines(chat, shared_gpt, broken)), "chat", map="Ann=coder.Ann")
    item = of(rows, ItemRow)[0]
    assert (item.key, item.question) == ("c1", "Why?\n[image_url]")
    assert item.context == "system: Be kind.\n\nuser: Hi\n\nassistant: Hello!"
    assert [(r.text, r.reason, r.model) for r in of(rows, ResponseRow)] == [("Because.", "Hm.", "m"), ("Yo", None, "m")]
    assert [(r.item, r.label) for r in of(rows, HumanLabelRow)] == [("c1", "CORRECT"), ("c2", None)]
    assert of(rows, Reject)[0].reason == "the last message is not the assistant's: there is no response"
