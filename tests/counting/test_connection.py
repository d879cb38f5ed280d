"""Tables of connections that are neither DuckDB nor Spark: the cells and the draw of the same rows in files.

Expected numbers are counted in plain Python from the rows that the test makes, or come from files of the same rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ibis")
pytest.importorskip("duckdb")

from annotate.__main__ import run
from annotate.counting import CountRequest, count_source, open_engine, read_cells
from annotate.counting import connection_engine as connections
from annotate.counting.engines import EngineError
from annotate.protocols import load_protocol
from benchmarks.counting_corpus import write_wikiprofile
from db.labels import unit_rows
from db.study import open_study
from tests.counting.corpora import MAP, expected_cells, graded, layout, write_parquet

ROWS = graded(600)
CORRECTNESS = load_protocol("correctness")
COLUMNS = "item TEXT, model TEXT, repeat INTEGER, topic TEXT, question TEXT, response TEXT, gpt TEXT"


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A SQLite file with the rows, and a table with each of them twice."""
    path = tmp_path / "house.db"
    with sqlite3.connect(path) as file:
        for name, copies in (("runs", 1), ("copies", 2)):
            file.execute(f"CREATE TABLE {name} ({COLUMNS})")
            file.executemany(
                f"INSERT INTO {name} VALUES (:item, :model, :repeat, :topic, :question, :response, :gpt)", ROWS * copies
            )
    file.close()
    return path


@pytest.fixture
def engine(house: Path) -> Iterator[Any]:
    found = open_engine(f"sqlite://{house}", {"threads": "2"})
    yield found
    found.close()


def call(*words: object, code: int = 0) -> None:
    assert run([str(word) for word in words]) == code


def drawn(path: Path) -> list[tuple[Any, ...]]:
    with open_study(path) as study:
        units = [(u.item, u.model, u.condition, u.repeat, u.stratum, u.pi) for u in unit_rows(study)]
        texts = study.connection.execute("SELECT text FROM responses ORDER BY text").fetchall()
    return [*units, *map(tuple, texts)]


def test_a_table_of_sqlite_has_the_cells_that_plain_python_counts(
    engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "BATCH", 70)  # several batches, the last one not full
    found = count_source(engine, CountRequest("runs", CORRECTNESS, options={"map": MAP}))
    cells = found.cells.of(["model", "topic", "judge:gpt"])
    assert dict(zip(cells.rows(), cells.counts.tolist(), strict=True)) == dict(expected_cells(ROWS))
    files = open_engine("duckdb")
    source = layout(tmp_path / "runs", ROWS, "jsonl", 2)
    assert found.digest == count_source(files, CountRequest(str(source), CORRECTNESS, options={"map": MAP})).digest
    files.close()
    assert found.run["engine"] == "sqlite"
    assert found.run["versions"].keys() == {"sqlite", "duckdb", "ibis-framework"}


def test_copies_in_a_table_are_found(engine: Any) -> None:
    found = count_source(engine, CountRequest("main.copies", CORRECTNESS, options={"map": MAP}))
    assert found.account["left_out"] == {"identical copies": 600}
    assert found.account["counted"] == 600


@pytest.mark.parametrize("unit", [[], ["--unit", "item", "--by", "topic"]])
def test_the_draw_from_a_table_is_that_of_files(
    house: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: list[str]
) -> None:
    import duckdb

    monkeypatch.setattr(connections, "BATCH", 100)
    write_parquet(tmp_path / "a.parquet", ROWS)
    with duckdb.connect(str(tmp_path / "house.duckdb")) as own:
        own.execute("CREATE SCHEMA lab")
        own.execute("CREATE TABLE lab.runs AS SELECT * FROM read_parquet(?)", [str(tmp_path / "a.parquet")])
    ways = {
        "files": [tmp_path / "a.parquet"],
        "sqlite": ["runs", "--engine", f"sqlite://{house}"],
        "duckdb": ["lab.runs", "--engine", f"duckdb://{tmp_path}/house.duckdb"],
    }
    for name, way in ways.items():
        study = tmp_path / f"{name}.study"
        call("init", study, "--protocol", "correctness")
        call("sample", study, "--n", 60, "--anyway", *unit, "--map", MAP, "--source", *way)
    assert drawn(tmp_path / "files.study") == drawn(tmp_path / "sqlite.study") == drawn(tmp_path / "duckdb.study")


def test_grades_are_recognised_in_a_table_and_truth_may_be_a_number(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    write_wikiprofile(tmp_path / "wp.parquet", models=2, modes=1, facts=5)
    rows = pq.read_table(tmp_path / "wp.parquet").to_pylist()
    write_parquet(tmp_path / "numbers.parquet", [row | {"thinking": int(row["thinking"])} for row in rows])
    with sqlite3.connect(tmp_path / "wp.db") as file:
        types = "fact TEXT, question_type TEXT, question TEXT, gold TEXT, model TEXT, thinking INTEGER, repeat INTEGER"
        file.execute(f"CREATE TABLE graded ({types}, response TEXT, grader_1 TEXT)")
        file.executemany(f"INSERT INTO graded VALUES ({', '.join(':' + name for name in rows[0])})", rows)
    file.close()
    ways = {
        "truth": [tmp_path / "wp.parquet"],
        "numbers": [tmp_path / "numbers.parquet"],
        "sqlite": ["graded", "--engine", f"sqlite://{tmp_path}/wp.db"],
    }
    for name, way in ways.items():
        call("count", *way, "--protocol", "wikiprofile", "--out", tmp_path / f"{name}.cells")
    found = [read_cells(tmp_path / f"{name}.cells") for name in ways]
    assert len({each.digest for each in found}) == 1
    assert found[0].account["counted"] == 2 * 1 * 5 * 10 * 8


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:///no/such.db", "There is no such SQLite file"),
        ("nosuch://me:hush@host/db?token=hush", "nosuch could not be connected to"),
        ("mysql://me:hush@host/db", "pip install 'ibis-framework"),
        ("plenty", "There is no such engine"),
    ],
)
def test_a_connection_that_is_none_is_one_line_without_its_secret(url: str, said: str) -> None:
    with pytest.raises(EngineError) as error:
        open_engine(url)
    assert said in str(error.value)
    assert "hush" not in str(error.value) and "\n" not in str(error.value)


def test_what_a_connection_cannot_do_is_one_line(
    house: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = layout(tmp_path / "runs", ROWS[:6], "jsonl")
    with sqlite3.connect(house) as file:
        file.execute("CREATE TABLE odd (item TEXT, model TEXT, repeat INTEGER, topic INTEGER, gpt TEXT)")
        file.execute("INSERT INTO odd VALUES ('a', 'm', 1, 'no number', 'CORRECT')")
    file.close()
    short = "item=item,model=model,repeat=repeat,topic=stratum.topic,gpt=judge.gpt"
    for words, said in (
        ([source], "sqlite gives its own tables to count, and reads no files. Leave out --engine"),
        (["nowhere"], "there is no such file, and no such table"),
        (["odd"], "sqlite could not give the table 'odd'"),
    ):
        out = tmp_path / "x.cells"
        more = ["--protocol", "correctness", "--map", short, "--engine", f"sqlite://{house}", "--out", out]
        assert run([str(word) for word in ("count", *words, *more)]) == 2
        told = capsys.readouterr().err.strip()
        assert said in told and "\n" not in told
        assert not out.exists()
