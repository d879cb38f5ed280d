"""The draw in the engine against that of imported rows: the same units, strata and probabilities; the same scores."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ibis")
pytest.importorskip("duckdb")

from annotate.__main__ import run
from annotate.analysis.counted import CountedStudy
from annotate.analysis.whole import Wanted, impact_results
from annotate.counting import CountRequest, count_source, open_engine
from annotate.counting.watching import Watching
from annotate.importing import Wanted as ToImport
from annotate.importing import make_ready, run_import
from annotate.notebook import open_study as notebook
from annotate.protocols import load_protocol
from benchmarks.counting_corpus import write_wikiprofile
from db.corpus import corpus_cells
from db.labels import unit_rows
from db.samples import current_sample
from db.study import Study, open_study
from db.verify_design import broken_draws
from tests.counting.corpora import MAP, graded, layout, write_csv, write_jsonl

ROWS = graded(600)


def call(*words: object, code: int = 0) -> None:
    assert run([str(word) for word in words]) == code


def new_study(path: Path) -> Path:
    call("init", path, "--protocol", "correctness")
    return path


@pytest.fixture
def rows_study(tmp_path: Path) -> Path:
    """A study with every row in it."""
    path = new_study(tmp_path / "rows.db")
    call("import", path, "--format", "table", "--map", MAP, write_jsonl(tmp_path / "all.jsonl", ROWS))
    return path


def drawn(path: Path) -> list[tuple[Any, ...]]:
    with open_study(path) as study:
        return [(u.item, u.model, u.condition, u.repeat, u.stratum, u.pi) for u in unit_rows(study)]


def design(path: Path) -> list[tuple[Any, ...]]:
    with open_study(path) as study:
        sample = current_sample(study)
        assert sample is not None
        return [(s.values, s.population, s.drawn) for s in sample.strata]


@pytest.mark.parametrize(
    ("kind", "files", "how"),
    [
        ("parquet", 3, ["--n", 60]),
        ("jsonl", 2, ["--n", 60]),
        ("csv", 1, ["--n", 61, "--seed", "it's", "--by", "topic,judge_label", "--allocation", "proportional"]),
        ("parquet", 2, ["--n", 12, "--unit", "item", "--by", "topic"]),
    ],
)
def test_the_engine_draws_what_is_drawn_of_rows(
    rows_study: Path, tmp_path: Path, kind: str, files: int, how: list[Any]
) -> None:
    call("sample", rows_study, "--anyway", *how)
    other = new_study(tmp_path / "other.db")
    source = layout(tmp_path / "runs", ROWS, kind, files, seed=3)
    call("sample", other, "--anyway", *how, "--source", source, "--map", MAP)
    assert drawn(other) == drawn(rows_study)
    assert design(other) == design(rows_study)
    with open_study(other) as study:
        assert not any(broken_draws(study.connection))
        count = study.connection.execute("SELECT count(*) FROM responses").fetchone()[0]
        assert count == len(drawn(other))
        text = study.connection.execute("SELECT text FROM responses LIMIT 1").fetchone()[0]
        assert text in {row["response"] for row in ROWS}
    call("verify", other)


def test_a_larger_draw_keeps_the_smaller(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, source = new_study(tmp_path / "s.db"), layout(tmp_path / "runs", ROWS, "parquet", 2)
    more = ["--anyway", "--source", source, "--map", MAP]
    call("sample", path, "--n", 40, *more)
    before = {row[:4] for row in drawn(path)}
    call("sample", path, "--n", 90, *more)
    after = {row[:4] for row in drawn(path)}
    assert before < after and len(after) == 90
    call("verify", path)
    capsys.readouterr()
    for words, said in (
        (["--n", 90, "--seed", "2", *more], "drawn from a source otherwise"),
        (["--n", 60, *more], "already holds"),
        (["--n", 90, "--anyway"], "Enlarge it with --source"),
    ):
        assert run([str(word) for word in ("sample", path, *words)]) in (1, 2)
        assert said in capsys.readouterr().err
    assert {row[:4] for row in drawn(path)} == after


def test_a_study_with_rows_is_not_drawn_from_outside(rows_study: Path, tmp_path: Path) -> None:
    call("sample", rows_study, "--n", 60, "--anyway")
    before = drawn(rows_study)
    source = layout(tmp_path / "runs", ROWS, "jsonl")
    call("sample", rows_study, "--n", 80, "--anyway", "--source", source, "--map", MAP, code=1)
    assert drawn(rows_study) == before


def test_contradicting_records_are_not_drawn(tmp_path: Path) -> None:
    path = new_study(tmp_path / "s.db")
    odd = [row | {"gpt": "WRONG" if row["gpt"] == "CORRECT" else "CORRECT"} for row in ROWS[:40]]
    source = layout(tmp_path / "runs", [*ROWS[:120], *odd, *ROWS[40:50]], "parquet", 2)
    call("sample", path, "--n", 80, "--by", "model", "--anyway", "--source", source, "--map", MAP)
    left = {(row["item"], row["model"], "", row["repeat"]) for row in ROWS[40:120]}
    assert {row[:4] for row in drawn(path)} == left


def test_whole_items_come_without_their_contradicting_records(tmp_path: Path) -> None:
    path = new_study(tmp_path / "s.db")
    odd = [row | {"gpt": "WRONG" if row["gpt"] == "CORRECT" else "CORRECT"} for row in ROWS[::6]]
    source = layout(tmp_path / "runs", [*ROWS, *odd], "jsonl", 2)
    call("sample", path, "--n", 20, "--unit", "item", "--by", "topic", "--anyway", "--source", source, "--map", MAP)
    units = drawn(path)
    assert len({row[0] for row in units}) == 20
    assert len(units) == 20 * 5
    left = {(row["item"], row["model"], "", row["repeat"]) for at, row in enumerate(ROWS) if at % 6}
    assert {row[:4] for row in units} <= left


@pytest.fixture
def coded(rows_study: Path, tmp_path: Path) -> Iterator[tuple[Path, Path, Path]]:
    """Two studies with the same sample and labels, one with all rows and one with the drawn alone; and the source."""
    source = layout(tmp_path / "runs", ROWS, "parquet", 3)
    call("sample", rows_study, "--n", 90, "--anyway")
    other = new_study(tmp_path / "other.db")
    call("sample", other, "--n", 90, "--anyway", "--source", source, "--map", MAP)
    said = [
        {"item": item, "model": model, "repeat": repeat, "a": "CORRECT" if at % 3 else "WRONG"}
        for at, (item, model, _, repeat, *_) in enumerate(drawn(other))
    ]
    people = write_csv(tmp_path / "people.csv", said)
    for path in (rows_study, other):
        call("import", path, "--format", "table", "--map", "item=item,model=model,repeat=repeat,a=coder.a", people)
    yield rows_study, other, source


def scores(study: Study, **wanted: Any) -> str:
    return json.dumps(impact_results(study, Wanted(draws=1000, **wanted)).to_dict())


def test_labels_of_the_drawn_and_cells_of_the_rest_give_the_scores_of_all_rows(
    coded: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, other, source = coded
    cells = tmp_path / "c.parquet"
    call("count", source, "--protocol", "correctness", "--map", MAP, "--out", cells, "--with-items")
    capsys.readouterr()
    found = {}
    for name, words in (("rows", [rows]), ("cells", [other, "--cells", cells])):
        for target in ("corpus", "population"):
            call("impact", *words, "--json", "--draws", 1000, "--target", target, "--by", "topic")
            found[name, target] = capsys.readouterr().out
    assert found["rows", "corpus"] == found["cells", "corpus"]
    assert found["rows", "population"] == found["cells", "population"]
    with notebook(rows) as one, notebook(other, cells) as two:
        assert one.impact(draws=1000).to_dict() == two.impact(draws=1000).to_dict()
        assert one.cells.equals(two.cells)
    call("report", other, "--cells", cells, "--out", tmp_path / "report", "--form", "html", "--draws", 1000)
    call("reproduce", tmp_path / "report")


def test_without_its_cells_the_corpus_is_known_by_weights_and_this_is_said(coded: tuple[Path, Path, Path]) -> None:
    _, other, _ = coded
    with open_study(other) as study:
        notes = impact_results(study, Wanted(draws=1000)).notes
    assert any("known through its weights only: 90 responses stand for 6" in note for note in notes)


def test_drawn_in_a_study_that_has_no_rows_at_all(tmp_path: Path) -> None:
    """The judge's scores need no sample: a study, a protocol and cells."""
    path = new_study(tmp_path / "s.db")
    engine = open_engine("duckdb")
    request = CountRequest(str(layout(tmp_path / "r", ROWS, "csv")), load_protocol("correctness"), options={"map": MAP})
    table = count_source(engine, request)
    engine.close()
    whole = new_study(tmp_path / "w.db")
    with open_study(whole) as study:
        run_import(study, make_ready(ToImport((write_jsonl(tmp_path / "a.jsonl", ROWS),), "", "table", {"map": MAP})))
        expected = json.dumps(impact_results(study, judge_only=True).to_dict())
    with open_study(path) as study:
        assert json.dumps(impact_results(CountedStudy.of(study, table), judge_only=True).to_dict()) == expected


def test_profiles_from_cells_are_those_from_rows(tmp_path: Path) -> None:
    """Grades and profiles of WikiProfile, with intervals of resampled facts, from imported rows and from cells."""
    source = tmp_path / "wp.parquet"
    made = write_wikiprofile(source, models=2, modes=1, facts=12)
    whole, empty = tmp_path / "whole.db", tmp_path / "empty.db"
    for path in (whole, empty):
        call("init", path, "--protocol", "wikiprofile")
    call("import", whole, "--format", "wikiprofile", source)
    engine = open_engine("duckdb")
    table = count_source(engine, CountRequest(str(source), load_protocol("wikiprofile")))
    engine.close()
    assert table.account["counted"] == made == 2 * 12 * 10 * 8
    for wanted in (Wanted(draws=1000), Wanted(draws=1000, target="population")):
        with open_study(whole) as rows, open_study(empty) as study:
            expected = json.dumps(impact_results(rows, wanted, judge_only=True).to_dict())
            counted = CountedStudy.of(study, table)
            assert json.dumps(impact_results(counted, wanted, judge_only=True).to_dict()) == expected
            columns = ["model", "condition", "fact", "question_type", "judge:grader_1", "item"]
            assert counted.count_cells(columns) == corpus_cells(rows, columns)


def test_progress_is_told_in_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with Watching("Counting", lambda: (3, 8)):
        time.sleep(1.2)
    assert "Counting: 1 s, 3 of 8 tasks\n" in capsys.readouterr().err


def rated_rows(n: int = 400) -> list[dict[str, Any]]:
    """Multiple choice with a parsed choice, its key, searching, a judge that only rates, failures, exact copies."""
    rng = random.Random(4)
    rows = []
    for at in range(n):
        item, searched = at // 4, bool(at // 2 % 2)
        row = {"item": f"q{item}", "model": f"m{at % 2}", "condition": "search" if searched else "none"}
        row |= {
            "item_type": "OK" if item % 3 else "IK",
            "choice": str(rng.randint(1, 3)),
            "key": "2" if item % 2 else "3",
        }
        row |= {"searched": searched, "reason": "because", "response": f"r{at}", "question": f"Q{item}"}
        rows.append(row | {"j": rng.choice([None, 10, 70, 71.5]), "failure": "boom" if at % 37 == 0 else None})
    return rows


RATED = (
    "item=item,model=model,condition=condition,item_type=stratum.item_type,choice=choice,key=key,searched=searched,"
    "reason=reason,response=response,question=question,failure=failure,j=judge.j.score"
)


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "csv"])
def test_filters_ratings_and_failures_are_those_of_rows(tmp_path: Path, kind: str) -> None:
    rows = rated_rows()
    whole, other = tmp_path / "rows.db", tmp_path / "other.db"
    source = layout(tmp_path / "runs", [*rows, rows[5], rows[9]], kind, 2)
    how = ["--n", 50, "--by", "model,condition", "--anyway"]
    for path in (whole, other):
        call("init", path, "--protocol", "nas")
    call("import", whole, "--format", "table", "--map", RATED, write_jsonl(tmp_path / "all.jsonl", rows))
    call("sample", whole, *how)
    call("sample", other, *how, "--source", source, "--map", RATED)
    assert drawn(other) == drawn(whole)
    assert design(other) == design(whole)
    engine = open_engine("duckdb")
    table = count_source(engine, CountRequest(str(source), load_protocol("nas"), options={"map": RATED}))
    engine.close()
    assert table.account["left_out"] == {"identical copies": 2}
    with open_study(whole) as one, open_study(other) as two:
        counted = CountedStudy.of(two, table)
        columns = [
            "model",
            "condition",
            "stratum",
            "technical",
            "item_type",
            "score:j",
            "choice",
            "choice_is_key",
            "searched",
        ]
        assert counted.count_cells(columns) == corpus_cells(one, columns)
        expected = json.dumps(impact_results(one, judge_only=True).to_dict())
        assert json.dumps(impact_results(counted, judge_only=True).to_dict()) == expected
