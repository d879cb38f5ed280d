"""Every real file of another tool goes in with one call and its own counts; renamed or cut off, nothing of it does."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.importers import prepare, recognise
from db.errors import AnnotateError
from db.records import HumanLabelRow, ItemRow, JudgeLabelRow, Reject, ResponseRow

Write = Callable[[str, str | bytes], Path]
Copy = Callable[[str], Path]
INSPECT = "inspect_ai/2025-05-12T20-28-26-04-00_security-guide.json"
EVAL = "inspect_ai/2025-02-11T15-18-04-05-00_popularity_mj7khqpMM4GBCfVQozKgzB.eval"
LM_EVAL = "lm_eval_harness/samples_math_perturbed_full_2026-01-21T03-44-18.458309.jsonl"
MMLU = "helm/mmlu-subject=philosophy,method=multiple_choice_joint,model=openai_gpt2"
NARRATIVE = "helm/narrative_qa-model=openai_gpt2"
PRODIGY = "prodigy/annotated_github-issues-DOCUMENTATION-textcat.jsonl"
LABELLED = "label_studio/csv_test_history.json"

# file: format, records read, items, responses, judge labels, human labels (counted in the files by hand)
REAL: dict[str, tuple[str, list[int], int, int, int, int]] = {
    "inspect_ai/2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval": ("inspect_ai", [10], 10, 10, 0, 0),
    EVAL: ("inspect_ai", [10], 10, 10, 10, 0),
    "inspect_ai/2025-05-12T20-28-13-04-00_no-samples.json": ("inspect_ai", [0], 0, 0, 0, 0),
    "inspect_ai/2025-05-12T20-28-13-04-00_popularity.json": ("inspect_ai", [3], 3, 3, 3, 0),
    INSPECT: ("inspect_ai", [3], 3, 3, 3, 0),
    "inspect_ai/eee_data_arc_qwen.json": ("inspect_ai", [3], 3, 3, 3, 0),
    "inspect_ai/eee_data_pubmedqa_gpt4o_mini.json": ("inspect_ai", [2], 2, 2, 2, 0),
    "inspect_ai/eee_data_with_llm_scoring.json": ("inspect_ai", [0], 0, 0, 0, 0),
    "inspect_ai/log_formats.eval": ("inspect_ai", [1], 1, 1, 1, 0),
    "inspect_ai/log_formats.json": ("inspect_ai", [1], 1, 1, 1, 0),
    "inspect_ai/mmlu-no-summary-choices.eval": ("inspect_ai", [1], 1, 1, 1, 0),
    LM_EVAL: ("lm_eval", [10], 10, 10, 10, 0),
    MMLU: ("helm", [10, 10], 10, 10, 80, 0),
    NARRATIVE: ("helm", [5, 5], 5, 5, 30, 0),
    "label_studio/chat_data.json": ("label_studio", [1], 1, 1, 0, 1),
    "label_studio/csv_test2.json": ("label_studio", [1], 1, 1, 0, 1),
    "label_studio/csv_test_colliding_keys.json": ("label_studio", [1], 1, 1, 0, 1),
    LABELLED: ("label_studio", [1], 1, 1, 0, 1),
    "doccano/export_seq2seq.jsonl": ("doccano", [3], 3, 3, 0, 3),
    "doccano/export_text_classification.jsonl": ("doccano", [3], 3, 3, 0, 3),
    PRODIGY: ("prodigy", [300], 300, 300, 0, 300),
    "ragas/annotated_data.json": ("ragas", [21], 21, 21, 21, 21),
    "ragas/sample_annotated_summary.json": ("ragas", [19], 19, 19, 19, 19),
}


@pytest.fixture
def copy(shared_data: Path, tmp_path: Path) -> Copy:
    """A copy of a real file (or folder), with its neighbours, that a test may spoil."""

    def make(name: str) -> Path:
        source = shared_data / "formats" / name
        target = tmp_path / "copy"
        shutil.copytree(source if source.is_dir() else source.parent, target, dirs_exist_ok=True)
        return target if source.is_dir() else target / source.name

    return make


def count(rows: list[Any]) -> tuple[int, int, int, int]:
    kinds = Counter(type(row) for row in rows)
    return kinds[ItemRow], kinds[ResponseRow], kinds[JudgeLabelRow], kinds[HumanLabelRow]


@pytest.mark.parametrize("name", REAL)
def test_a_real_file_comes_out_with_the_counts_that_it_has(shared_data: Path, name: str) -> None:
    form, read, *expected = REAL[name]
    job = prepare([shared_data / "formats" / name])
    rows = list(job.rows)
    assert job.format == form
    assert job.tally.read == read
    assert not [row for row in rows if isinstance(row, Reject)]
    assert count(rows) == tuple(expected)
    if sum(read) == 0:
        assert "holds no samples" in job.tally.notes[0]


def test_every_real_file_is_in_the_table_above(shared_data: Path) -> None:
    tables = {"doccano/export_text_classification.csv", "label_studio/csv_test2_result.csv"}
    beside = {"lm_eval_harness/results_2026-01-21T03-44-18.458309.json"}  # the model's name is taken from it
    found = {str(p.relative_to(shared_data / "formats")) for p in (shared_data / "formats").rglob("*") if p.is_file()}
    helm = {name for name in found if name.startswith("helm/")}
    assert {name for name in found - helm if not name.endswith("SOURCE.txt")} == REAL.keys() - {
        MMLU,
        NARRATIVE,
    } | tables | beside


@pytest.mark.parametrize(
    ("name", "mapping", "expected"),
    [
        ("doccano/export_text_classification.csv", "guess", (3, 3, 0, 3)),
        ("label_studio/csv_test2_result.csv", "id=item,title=response,annotator=coder,agreement=rating", (1, 1, 0, 1)),
    ],
)
def test_csv_exports_of_annotation_tools_are_tables(shared_data: Path, name: str, mapping: str, expected: Any) -> None:
    job = prepare([shared_data / "formats" / name], options={"map": mapping})
    assert (job.format, count(list(job.rows))) == ("table", expected)


@pytest.mark.parametrize(
    ("name", "mapping", "old", "new", "says"),
    [
        (
            "doccano/export_text_classification.csv",
            "text=response,label=label,coder:=one",
            "text,label",
            "text,labels",
            "'label'",
        ),
        (
            "label_studio/csv_test2_result.csv",
            "id=item,title=response,annotator=coder,agreement=rating",
            '"annotator"',
            '"annotators"',
            "'annotator'",
        ),
    ],
)
def test_a_csv_export_that_is_renamed_or_cut_off_is_refused_too(
    copy: Copy, name: str, mapping: str, old: str, new: str, says: str
) -> None:
    """A column that the mapping names is gone; a quoted field, or a row, ends with the file."""
    path = copy(name)
    whole = path.read_text(encoding="utf-8")
    assert old in whole
    path.write_text(whole.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(AnnotateError, match=says) as caught:
        list(prepare([path], options={"map": mapping}).rows)
    assert "\n" not in str(caught.value)
    path.write_text(whole[: int(len(whole) * 0.6)], encoding="utf-8")
    try:
        rows = list(prepare([path], options={"map": mapping}).rows)
    except AnnotateError as error:
        assert "line" in str(error)
    else:
        (reject,) = [row for row in rows if isinstance(row, Reject)]
        assert reject.row and reject.reason


RENAMED = [
    (INSPECT, '"samples"', '"sampels"', "'samples' is missing"),
    (INSPECT, '"input":', '"inputs":', "'input' is missing (there is 'inputs')"),
    (INSPECT, '"scores": {\n        "model', '"scorez": {\n        "model', "'scores' is missing (there is 'scorez')"),
    (INSPECT, '"value": "C"', '"val": "C"', "'value' is missing"),
    (INSPECT, '"eval":', '"evaluation":', "'eval' is missing"),
    ("inspect_ai/log_formats.json", '"epoch"', '"epoc"', "'epoch' is missing (there is 'epoc')"),
    (LM_EVAL, '"resps"', '"responses"', "'resps' is missing"),
    (LM_EVAL, '"exact_match":', '"exactmatch":', "'exact_match' is missing (there is 'exactmatch')"),
    (LM_EVAL, '"doc_id"', '"docid"', "'doc_id' is missing (there is 'docid')"),
    (f"{MMLU}/scenario_state.json", '"request_states"', '"states"', "'request_states' is missing"),
    (
        f"{MMLU}/scenario_state.json",
        '"completions"',
        '"completion"',
        "'completions' is missing (there is 'completion')",
    ),
    (f"{NARRATIVE}/per_instance_stats.json", '"instance_id"', '"instanceid"', "'instance_id' is missing"),
    (f"{NARRATIVE}/per_instance_stats.json", '"mean"', '"average"', "'mean' is missing"),
    (LABELLED, '"annotations"', '"annotation"', "'annotations' is missing (there is 'annotation')"),
    (LABELLED, '"choices": [', '"choice": [', "'choices' is missing (there is 'choice')"),
    (LABELLED, '"completed_by"', '"completed"', "'completed_by' is missing (there is 'completed')"),
    ("label_studio/csv_test_colliding_keys.json", '"data"', '"datum"', "'data' is missing"),
    ("label_studio/csv_test2.json", '"result"', '"results"', "'result' is missing (there is 'results')"),
    ("label_studio/chat_data.json", '"content"', '"contents"', None),
    ("doccano/export_text_classification.jsonl", '"label"', '"lable"', "'label' is missing (there is 'lable')"),
    ("doccano/export_seq2seq.jsonl", '"text"', '"txt"', "'text' is missing (there is 'txt')"),
    (PRODIGY, '"answer"', '"anser"', "'answer' is missing (there is 'anser')"),
    (PRODIGY, '"_input_hash"', '"_hash"', "'_input_hash' is missing"),
    ("ragas/annotated_data.json", '"metric_output"', '"output"', "'metric_output' is missing"),
    ("ragas/annotated_data.json", '"user_input"', '"userinput"', "'user_input' is missing (there is 'userinput')"),
]


def refused(path: Path, form: str, into_study: Any, says: str | None) -> None:
    """A job that stops at its first reject, or at once, and leaves the study without a row."""
    job = prepare([path], format=form)
    with pytest.raises(AnnotateError) as caught:
        into_study(job, "correctness")
    assert "\n" not in str(caught.value)
    if says is not None:
        assert says in str(caught.value)


@pytest.mark.parametrize(("name", "old", "new", "says"), [case for case in RENAMED if case[3]])
def test_a_renamed_field_gets_a_clear_line_and_nothing_is_imported(
    copy: Copy, into_study: Any, tmp_path: Path, name: str, old: str, new: str, says: str
) -> None:
    form = REAL.get(name, REAL.get(str(Path(name).parent), ("",)))[0]
    path = copy(name)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    refused(path, form, into_study, says)
    import sqlite3

    (study,) = tmp_path.glob("study-*.db")
    connection = sqlite3.connect(study)
    tables = ("items", "responses", "judge_labels", "imports")
    assert [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables] == [0, 0, 0, 0]
    connection.close()


def renamed_in_archive(path: Path, old: bytes, new: bytes) -> None:
    """Rewrite a zip with ``old`` replaced in each of its members."""
    with zipfile.ZipFile(path) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    assert any(old in content for _, content in members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content.replace(old, new))


@pytest.mark.parametrize("name", [name for name in REAL if name.startswith("inspect_ai/")])
def test_every_log_of_inspect_ai_with_a_renamed_field_is_refused(copy: Copy, into_study: Any, name: str) -> None:
    """Samples of a log have an input; a log without samples has its head to tell what it is."""
    path = copy(name)
    old, new = ("eval", "evaluation") if REAL[name][1] == [0] else ("input", "inputz")
    if path.suffix == ".eval":
        renamed_in_archive(path, f'"{old}":'.encode(), f'"{new}":'.encode())
    else:
        text = path.read_text(encoding="utf-8")
        assert f'"{old}":' in text
        path.write_text(text.replace(f'"{old}":', f'"{new}":'), encoding="utf-8")
    refused(path, "inspect_ai", into_study, f"'{old}'")


def test_a_summary_of_ragas_with_a_renamed_field_is_refused(copy: Copy, into_study: Any) -> None:
    path = copy("ragas/sample_annotated_summary.json")
    text = path.read_text(encoding="utf-8")
    assert '"metric_input"' in text
    path.write_text(text.replace('"metric_input"', '"metric_in"'), encoding="utf-8")
    refused(path, "ragas", into_study, "'metric_input'")


@pytest.mark.parametrize("name", [name for name in REAL if REAL[name][1] == [0]])
def test_a_log_without_samples_that_is_cut_off_is_refused_too(copy: Copy, into_study: Any, name: str) -> None:
    path = copy(name)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * 0.6)])
    refused(path, REAL[name][0], into_study, None)


@pytest.mark.parametrize("name", [name for name in REAL if REAL[name][1] != [0]])
def test_a_file_that_is_cut_off_gets_a_clear_line_and_nothing_is_imported(
    copy: Copy, into_study: Any, name: str
) -> None:
    path = copy(name)
    cut = path / "scenario_state.json" if path.is_dir() else path
    content = cut.read_bytes()
    cut.write_bytes(content[: int(len(content) * 0.6)])
    refused(path, REAL[name][0], into_study, None)


def test_statistics_of_helm_that_are_cut_off_are_refused_too(copy: Copy, into_study: Any) -> None:
    path = copy(MMLU)
    stats = path / "per_instance_stats.json"
    stats.write_bytes(stats.read_bytes()[:20_000])
    refused(path, "helm", into_study, "per_instance_stats.json")


@pytest.mark.parametrize(
    "form", ["inspect_ai", "promptfoo", "deepeval", "ragas", "helm", "label_studio", "prodigy", "argilla"]
)
def test_something_else_altogether_is_refused(write: Write, form: str) -> None:
    for content in ("[]", "{}", '"text"', "3", "null", "", "<html>", '{"results": 5}', "[1, 2]"):
        name = "scenario_state.json" if form == "helm" else "a.json"
        job_path = write(name, content)
        try:
            rows = list(prepare([job_path], format=form).rows)
        except AnnotateError as error:
            assert error.hint
        else:
            assert all(isinstance(row, Reject) for row in rows)


# --- what particular files hold ------------------------------------------------------------------------


def rows_of(path: Path, **options: str) -> list[Any]:
    return list(prepare([path], options=options).rows)


def test_inspect_scores_keep_value_explanation_and_answer(shared_data: Path) -> None:
    rows = rows_of(shared_data / "formats" / INSPECT)
    judge = next(row for row in rows if isinstance(row, JudgeLabelRow))
    assert (judge.judge, judge.raw, judge.item, judge.model) == (
        "model_graded_fact",
        "C",
        "security_guide/1",
        "openai/gpt-4o-mini",
    )
    assert (judge.rationale or "").startswith("To evaluate the submission")
    assert (judge.reply or "").startswith("Use parameterized queries")


def test_inspect_multiple_choice_names_the_right_option(shared_data: Path) -> None:
    item = rows_of(shared_data / "formats" / "inspect_ai/eee_data_arc_qwen.json")[0]
    assert item.answer_key == "A"
    assert item.gold == ("Sunlight is the source of energy for nearly all ecosystems.",)
    assert len(item.options) == 4


def test_inspect_the_two_forms_of_one_log_give_the_same_rows(shared_data: Path) -> None:
    folder = shared_data / "formats" / "inspect_ai"
    assert rows_of(folder / "log_formats.eval") == rows_of(folder / "log_formats.json")


def test_inspect_samples_come_in_the_order_of_their_numbers(shared_data: Path) -> None:
    rows = rows_of(shared_data / "formats" / EVAL)
    assert [row.key for row in rows if isinstance(row, ItemRow)] == [f"popularity/{i}" for i in range(1, 11)]


def test_inspect_a_run_that_did_not_end_is_read_from_its_journal(copy: Copy) -> None:
    path = copy(EVAL)
    buffer = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            if name != "header.json":
                new.writestr(name, old.read(name))
    path.write_bytes(buffer.getvalue())
    assert count(rows_of(path)) == (10, 10, 10, 0)


def test_lm_eval_takes_the_model_from_the_results_beside_it(shared_data: Path, copy: Copy) -> None:
    rows = rows_of(shared_data / "formats" / LM_EVAL)
    response = next(row for row in rows if isinstance(row, ResponseRow))
    assert response.model == "RylanSchaeffer/mem_Qwen3-93M_minerva_math_rep_0_sbst_1.0000_epch_1_ot_1"
    assert (response.item, response.text[:13]) == ("math_perturbed_full/0", " 1. The graph")
    path = copy(LM_EVAL)
    next(path.parent.glob("results_*")).unlink()
    job = prepare([path])
    assert {row.model for row in job.rows if isinstance(row, ResponseRow)} == {"copy"}
    assert "no results file beside it" in job.tally.notes[0]
    assert {row.model for row in rows_of(path, model="m") if isinstance(row, ResponseRow)} == {"m"}


def test_lm_eval_likelihoods_and_filters(write: Write) -> None:
    """ARC-like: two continuations, the second likelier; the same document under two filters is one response."""
    sample = {
        "doc_id": 3,
        "doc": {"question": "q"},
        "target": "1",
        "arguments": {"gen_args_0": {"arg_0": "Q:", "arg_1": " no"}, "gen_args_1": {"arg_0": "Q:", "arg_1": " yes"}},
        "resps": [[["-2.5", "False"]], [["-0.5", "True"]]],
        "filtered_resps": [["-2.5", "False"], ["-0.5", "True"]],
        "filter": "none",
        "metrics": ["acc"],
        "acc": 1.0,
    }
    strict = {**sample, "filter": "strict-match", "acc": 0.0}
    path = write("samples_arc.jsonl", json.dumps(sample) + "\n" + json.dumps(strict) + "\n")
    item, response, first, second = rows_of(path, model="m")
    assert (item.gold, item.options, response.text) == (("yes",), ("no", "yes"), "yes")
    assert [(row.judge, row.raw, row.score) for row in (first, second)] == [
        ("acc", "1", 1.0),
        ("acc,strict-match", "0", 0.0),
    ]


def test_helm_metrics_are_judges_and_can_be_chosen(shared_data: Path) -> None:
    path = shared_data / "formats" / MMLU
    chosen = rows_of(path, metrics="exact_match")
    assert Counter(row.judge for row in chosen if isinstance(row, JudgeLabelRow)) == {"exact_match": 10}
    item = next(row for row in chosen if isinstance(row, ItemRow))
    assert (item.answer_key, item.gold) == ("C", ("internalmeaning",))
    # The file says how often the first completion was right; its metric must say the same.
    right = [row for row in chosen if isinstance(row, JudgeLabelRow) and row.score == 1]
    answers = {row.item: row.text.strip() for row in chosen if isinstance(row, ResponseRow)}
    keys = {row.key: row.answer_key for row in chosen if isinstance(row, ItemRow)}
    assert len(right) == sum(answers[key] == keys[key] for key in keys)


def test_prodigy_answers(shared_data: Path) -> None:
    path = shared_data / "formats" / PRODIGY
    labels = Counter(row.label for row in rows_of(path) if isinstance(row, HumanLabelRow))
    assert labels == {"not DOCUMENTATION": 170, "DOCUMENTATION": 103, None: 27}
    mapped = rows_of(path, labels="DOCUMENTATION=CORRECT,not DOCUMENTATION=WRONG", coder="Ines")
    assert {(row.coder, row.label) for row in mapped if isinstance(row, HumanLabelRow)} == {
        ("Ines", "CORRECT"),
        ("Ines", "WRONG"),
        ("Ines", None),
    }


def test_prodigy_goes_into_a_study_with_its_blanks_counted(shared_data: Path, into_study: Any) -> None:
    options = {"labels": "DOCUMENTATION=CORRECT,not DOCUMENTATION=WRONG"}
    study, report = into_study(prepare([shared_data / "formats" / PRODIGY], options=options), "correctness")
    found = report.kinds["human labels"]
    assert (found.read, found.imported, found.blank) == (300, 273, 27)
    study.close()


def test_ragas_people_correct_the_metric(shared_data: Path) -> None:
    """5 of 21 outputs were not accepted: people's label is then the other value (or the edited verdict)."""
    rows = rows_of(shared_data / "formats" / "ragas/annotated_data.json")
    judge = [row.raw for row in rows if isinstance(row, JudgeLabelRow)]
    people = [row.label for row in rows if isinstance(row, HumanLabelRow)]
    assert Counter(judge) == {"0": 12, "1": 9}
    assert sum(a != b for a, b in zip(judge, people, strict=True)) == 5
    options = {"labels": "1=CORRECT,0=WRONG"}
    (labels,) = [
        {
            row.label
            for row in prepare([shared_data / "formats" / "ragas/annotated_data.json"], options=options).rows
            if isinstance(row, HumanLabelRow)
        }
    ]
    assert labels == {"CORRECT", "WRONG"}


def test_label_studio_time_person_and_label(shared_data: Path) -> None:
    human = rows_of(shared_data / "formats" / LABELLED)[-1]
    assert (human.coder, human.label, human.active_ms, human.utc) == (
        "sergei@heartex.test",
        "Positive",
        1849,
        "2024-05-15T12:09:16.789536Z",
    )


def test_the_format_is_told_by_the_content_not_the_name(shared_data: Path, tmp_path: Path) -> None:
    for name, (form, *_) in REAL.items():
        source = shared_data / "formats" / name
        if source.is_dir():
            continue
        path = tmp_path / f"renamed{source.suffix}"
        shutil.copy(source, path)
        assert recognise(path).name == form, name
