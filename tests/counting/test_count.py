"""Counting with DuckDB: the cells against plain Python, the same for every layout, every record accounted for.

Expected numbers are counted by hand from the rows that the test itself makes, or by the study file from imported rows.
"""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ibis")
pytest.importorskip("duckdb")

from annotate.__main__ import run
from annotate.analysis.counted import CellsDoNotFit, CountedStudy
from annotate.analysis.whole import Wanted, impact_results
from annotate.counting import CellTable, CountRequest, count_source, open_engine, read_cells, write_cells
from annotate.counting.cell_file import CellError
from annotate.counting.engines import Engine, EngineError
from annotate.importers import prepare
from annotate.importers.sources import SourceError
from annotate.importing import Wanted as ToImport
from annotate.importing import make_ready, run_import
from annotate.protocols import load_protocol
from annotate.sample_files import sample
from db.corpus import corpus_cells
from db.errors import AnnotateError
from db.records import Reject, ResponseRow
from db.sampling import draw, strata_counts
from db.study import Study, create_study
from tests.counting.corpora import MAP, expected_cells, graded, layout, write_csv, write_jsonl, write_parquet

CORRECTNESS = load_protocol("correctness")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    found = open_engine("duckdb", {"threads": "2", "memory_limit": "1GB"})
    yield found
    found.close()


def ask(source: object, **more: Any) -> CountRequest:
    return CountRequest(str(source), CORRECTNESS, options={"map": MAP}, **more)


def by_hand(table: CellTable) -> Counter[tuple[str, str, str]]:
    cells = table.cells.of(["model", "topic", "judge:gpt"])
    return Counter(dict(zip(cells.rows(), cells.counts.tolist(), strict=True)))


@pytest.mark.parametrize(("kind", "files"), [("jsonl", 1), ("jsonl", 3), ("csv", 2), ("parquet", 1), ("parquet", 5)])
def test_every_layout_gives_the_cells_that_plain_python_counts(
    engine: Engine, tmp_path: Path, kind: str, files: int
) -> None:
    rows = graded()
    table = count_source(engine, ask(layout(tmp_path / "runs", rows, kind, files, seed=files)))
    assert by_hand(table) == expected_cells(rows)
    assert table.account["read"] == table.account["counted"] == len(rows)
    assert table.account["not_labels"] == {"gpt": sum(row["gpt"].startswith("No idea") for row in rows)}
    assert table.run["outside"]["gpt"][0]["said"] == "No idea, 50 %"


def test_layouts_have_one_digest(engine: Engine, tmp_path: Path) -> None:
    rows = graded()
    kinds = [("jsonl", 1), ("jsonl", 4), ("csv", 3), ("parquet", 2)]
    folders = [layout(tmp_path / f"{kind}{files}", rows, kind, files, seed=files) for kind, files in kinds]
    mixed = layout(tmp_path / "mixed", rows[:200], "csv")
    write_parquet(mixed / "more.parquet", rows[200:])
    assert len({count_source(engine, ask(folder)).digest for folder in (*folders, mixed)}) == 1


def test_a_table_and_a_pattern_of_the_engine(tmp_path: Path) -> None:
    import duckdb

    rows = graded()
    write_parquet(tmp_path / "a.parquet", rows)
    with duckdb.connect(str(tmp_path / "house.duckdb")) as house:
        house.execute("CREATE TABLE runs AS SELECT * FROM read_parquet(?)", [str(tmp_path / "a.parquet")])
    own = open_engine(f"duckdb://{tmp_path}/house.duckdb")
    try:
        found = count_source(own, ask("runs"))
        assert found.digest == count_source(own, ask(f"{tmp_path}/*.parquet")).digest
        assert by_hand(found) == expected_cells(rows)
    finally:
        own.close()


def test_malformed_records_are_counted_and_listed_with_their_line(engine: Engine, tmp_path: Path) -> None:
    rows = graded(30)
    lines = [json.dumps(row) for row in rows]
    lines[3:3] = [
        '{"item": "q-9", "mo',
        "[1, 2]",
        json.dumps(rows[0] | {"item": " "}),
        json.dumps({**rows[0], "repeat": "2.5"}),
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    table = count_source(engine, ask(path))
    assert table.account == {
        "read": 34,
        "counted": 30,
        "left_out": {"no item": 1, "not readable": 2, "repeat": 1},
        "not_labels": {"gpt": table.account["not_labels"]["gpt"]},
    }
    where = {(entry["kind"], entry["line"]) for entry in table.run["malformed"]}
    assert where == {("not readable", 4), ("not readable", 5), ("no item", 6), ("repeat", 7)}
    assert by_hand(table) == expected_cells(rows)


def test_ragged_rows_of_a_csv_are_named(engine: Engine, tmp_path: Path) -> None:
    rows = graded(12)
    path = write_csv(tmp_path / "a.csv", rows)
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write("only,three,fields\r\n")
    table = count_source(engine, ask(path))
    assert table.account["left_out"] == {"not readable": 1}
    assert table.account["read"] == 13
    last = len(path.read_text("utf-8").splitlines())
    assert table.run["malformed"] == [{"kind": "not readable", "file": "a.csv", "line": last}]


def test_a_loose_quote_is_counted_and_named_without_a_line(engine: Engine, tmp_path: Path) -> None:
    """Python's reader takes it, so that no line can be told; what was left out is told all the same."""
    path = write(
        tmp_path / "a.csv", b'item,model,repeat,topic,question,response,gpt\na,m,1,t,q,r,WRONG\n"b"c,m,1,t,q,r,WRONG\n'
    )
    table = count_source(engine, ask(path))
    assert table.account["left_out"] == {"not readable": 1}
    assert table.run["malformed"] == [{"kind": "not readable", "file": "a.csv", "line": None}]


def test_odd_confidences_are_read_by_the_engine_as_they_are_imported(engine: Engine, tmp_path: Path) -> None:
    """By hand: what Python writes for an undefined number is missing, numbers as text count, ``odd`` are refused."""
    said = [float("nan"), float("inf"), None, "", "NaN", 0.5, "0.5", " 0.7 ", 1, 1.0, "1", 1e-05, "1E-6", 0.29]
    odd = [10**40, "high", "50%", -5, True, 1 / 3, 1e-320, [0.5], {"a": 1}, 0.1 + 0.2, 1.0000001]
    with gzip.open(sample("ehq-run", "records.jsonl.gz"), "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file][: len(said) + len(odd)]
    changed = [each | {"parsed_confidence": value} for each, value in zip(records, said + odd, strict=True)]
    path = write_jsonl(tmp_path / "records.jsonl", changed)
    table = count_source(engine, CountRequest(str(path), load_protocol("ehq")))
    assert table.account["left_out"] == {"confidence": len(odd)}
    assert [entry["line"] for entry in table.run["malformed"]] == list(range(len(said) + 1, len(changed) + 1))
    cells = table.cells.of(["confidence", "confidence_grid"])
    assert Counter(dict(zip(cells.rows(), cells.counts.tolist(), strict=True))) == {
        (None, None): 5,
        (50, 100): 2,
        (70, 100): 1,
        (100, 100): 3,
        (10, 1_000_000): 1,
        (1, 1_000_000): 1,
        (29, 100): 1,
    }
    rows = list(prepare([path, sample("ehq-run", "EHQ-120.json.gz")], format="ehq").rows)
    assert [row.row for row in rows if isinstance(row, Reject)] == [entry["line"] for entry in table.run["malformed"]]
    assert Counter((row.confidence, row.confidence_grid) for row in rows if isinstance(row, ResponseRow)) == Counter(
        dict(zip(cells.rows(), cells.counts.tolist(), strict=True))
    )


def test_the_list_ends_at_a_hundred_of_a_kind(engine: Engine, tmp_path: Path) -> None:
    rows = [*graded(30), *({**graded(1)[0], "item": "", "model": f"m{at}"} for at in range(250))]
    table = count_source(engine, ask(write_parquet(tmp_path / "a.parquet", rows)))
    assert table.account["left_out"] == {"no item": 250}
    assert [entry["line"] for entry in table.run["malformed"]] == list(range(31, 131))


def test_copies_count_once_and_contradictions_not_at_all(engine: Engine, tmp_path: Path) -> None:
    rows = graded(60)
    contradicting = rows[7] | {"gpt": "WRONG" if rows[7]["gpt"] == "CORRECT" else "CORRECT"}
    every = [*rows, rows[3], rows[3], rows[4], contradicting]
    for seed, kind in enumerate(("jsonl", "parquet", "csv")):
        table = count_source(engine, ask(layout(tmp_path / kind, every, kind, 3, seed)))
        assert table.account["left_out"] == {"identical copies": 3, "conflicting records": 2}
        assert table.account["read"] == 64
        assert by_hand(table) == expected_cells([*rows[:7], *rows[8:]])
        kinds = Counter((entry["kind"], entry["item"], entry["records"]) for entry in table.run["duplicates"])
        assert kinds == {
            ("identical copies", rows[3]["item"], 3): 1,
            ("identical copies", rows[4]["item"], 2): 1,
            ("conflicting records", rows[7]["item"], 2): 1,
        }
        write_cells(table, tmp_path / f"{kind}.cells")  # what is listed is written as JSON: whole numbers, no decimals
        assert read_cells(tmp_path / f"{kind}.cells").run["duplicates"] == table.run["duplicates"]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda folder: folder / "*.parquet", "no file matches this pattern"),
        (lambda folder: folder, "no file to count"),
        (lambda folder: folder / "none.parquet", "there is no such file, and no such table"),
        (lambda folder: write(folder / "a.parquet", b"PAR1 and no more"), "not readable as Parquet"),
        (lambda folder: write(folder / "a.jsonl.gz", b"\x1f\x8b\x08 broken off"), "the gzip file is damaged"),
        (lambda folder: write(folder / "a.csv", b""), "the file is empty"),
        (lambda folder: write(folder / "a.csv", "item,gpt\na,CORRECT\n".encode("utf-16")), "is UTF-16"),
        (lambda folder: write_csv(folder / "a.csv", [{"item": 1, "modl": "m"}]), "there is no column"),
    ],
)
def test_bad_sources_get_one_line(engine: Engine, tmp_path: Path, make: Any, said: str) -> None:
    with pytest.raises(AnnotateError, match=said) as error:
        count_source(engine, ask(make(tmp_path)))
    assert "\n" not in str(error.value)


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_a_gzip_that_breaks_off_is_no_count(engine: Engine, tmp_path: Path) -> None:
    import gzip

    whole = gzip.compress(b"".join(json.dumps(row).encode() + b"\n" for row in graded(2000)))
    with pytest.raises(AnnotateError):
        count_source(engine, ask(write(tmp_path / "a.jsonl.gz", whole[: len(whole) // 2])))


def test_files_with_other_columns_are_named(engine: Engine, tmp_path: Path) -> None:
    rows = graded(12)
    write_csv(tmp_path / "a.csv", rows)
    write_csv(tmp_path / "b.csv", [{k: v for k, v in row.items() if k != "gpt"} for row in rows])
    with pytest.raises(SourceError, match=r"b\.csv: there is no column 'gpt', which other files"):
        count_source(engine, ask(tmp_path))


def test_columns_in_another_order_are_the_same_columns(engine: Engine, tmp_path: Path) -> None:
    rows = graded(60)
    write_csv(tmp_path / "a.csv", rows[:30])
    write_csv(tmp_path / "b.csv", [dict(reversed(row.items())) for row in rows[30:]])
    assert by_hand(count_source(engine, ask(tmp_path))) == expected_cells(rows)


def test_another_protocol_is_refused(engine: Engine, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [row | {"gpt": "full_refusal"} for row in graded(12)])
    with pytest.raises(SourceError, match=r"no label of judge 'gpt' is one of protocol 'correctness'.*full_refusal"):
        count_source(engine, ask(path))


def test_names_that_look_like_sql_are_names(engine: Engine, tmp_path: Path) -> None:
    rows = graded(12)
    odd = "x'); DROP TABLE t; --"
    folder = tmp_path / "it's [1] * \"; --"
    folder.mkdir()
    write_parquet(folder / "a'b?.parquet", [{odd: row["gpt"], **row} for row in rows])
    request = CountRequest(
        str(folder), CORRECTNESS, options={"map": f"item=item,model=model,repeat=repeat,{odd}=judge.j"}
    )
    table = count_source(engine, request)
    assert table.account["counted"] == 12
    assert Counter(table.cells.values("judge:j")).keys() <= {"CORRECT", "WRONG", "(missing)", "(not a label)"}


@pytest.mark.parametrize("blank", ["\u00a0CORRECT\u3000", "\tCORRECT\x1f", " CORRECT\u2028"])
def test_blanks_are_those_of_python(engine: Engine, tmp_path: Path, blank: str) -> None:
    assert blank.strip() == "CORRECT"
    path = write_jsonl(tmp_path / "a.jsonl", [row | {"gpt": blank} for row in graded(12)])
    assert set(count_source(engine, ask(path)).cells.levels["judge:gpt"]) == {"CORRECT"}


# --- in place of rows -----------------------------------------------------------------------------------


@pytest.fixture
def study(tmp_path: Path) -> Iterator[tuple[Study, list[dict[str, Any]]]]:
    """A study with all rows imported, a sample of 60 drawn, and people's labels on it."""
    rows = graded(600)
    path = write_jsonl(tmp_path / "all.jsonl", rows)
    with create_study(tmp_path / "s.db", CORRECTNESS) as opened:
        run_import(opened, make_ready(ToImport((path,), "", "table", {"map": MAP})))
        labelled(opened, tmp_path, rows)
        yield opened, rows


def labelled(opened: Study, folder: Path, rows: list[dict[str, Any]]) -> None:
    found = strata_counts(opened, ["model", "judge_label"], judge="gpt")
    sizes = [replace(stratum, drawn=min(8, stratum.population)) for stratum in found.strata]
    draw(opened, sizes, seed="11", by=["model", "judge_label"], allocation="sqrt", judge="gpt")
    people(opened, folder, rows)


def people(opened: Study, folder: Path, rows: list[dict[str, Any]]) -> None:
    """Labels of a coder on every row: those outside the sample carry no weight."""
    rng = random.Random(2)
    said = [{k: row[k] for k in ("item", "model", "repeat")} | {"a": rng.choice(["CORRECT", "WRONG"])} for row in rows]
    path = write_csv(folder / "people.csv", said)
    mapping = {"map": "item=item,model=model,repeat=repeat,a=coder.a"}
    run_import(opened, make_ready(ToImport((path,), "", "table", mapping)))


@pytest.mark.parametrize("wanted", [Wanted(draws=1000), Wanted(draws=1000, target="population", by=("topic",))])
def test_scores_from_cells_are_those_from_rows_byte_for_byte(
    engine: Engine, study: tuple[Study, list[dict[str, Any]]], tmp_path: Path, wanted: Wanted
) -> None:
    opened, rows = study
    table = count_source(
        engine, ask(layout(tmp_path / "runs", rows, "parquet", 4), items=wanted.target == "population")
    )
    write_cells(table, tmp_path / "c.parquet")
    counted = CountedStudy.of(opened, read_cells(tmp_path / "c.parquet"))
    columns = ["model", "stratum", "technical", "topic", "judge:gpt"]
    assert counted.count_cells(columns) == corpus_cells(opened, columns)
    assert json.dumps(impact_results(counted, wanted).to_dict()) == json.dumps(impact_results(opened, wanted).to_dict())


def test_cells_without_items_say_so(engine: Engine, study: tuple[Study, list[dict[str, Any]]], tmp_path: Path) -> None:
    opened, rows = study
    counted = CountedStudy.of(opened, count_source(engine, ask(write_jsonl(tmp_path / "b.jsonl", rows))))
    with pytest.raises(CellsDoNotFit, match="do not tell questions apart"):
        impact_results(counted, Wanted(target="population"))


def test_cells_of_another_corpus_are_refused(
    engine: Engine, study: tuple[Study, list[dict[str, Any]]], tmp_path: Path
) -> None:
    opened, rows = study
    fewer = count_source(engine, ask(write_jsonl(tmp_path / "b.jsonl", rows[:-1])))
    with pytest.raises(CellsDoNotFit, match="not of the same corpus"):
        CountedStudy.of(opened, fewer)


def test_force_writes_over_a_table_of_cells_and_over_nothing_else(engine: Engine, tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", graded(30))
    before = source.read_bytes()
    table = count_source(engine, ask(source))
    for other in (source, write_parquet(tmp_path / "b.parquet", graded(3))):
        with pytest.raises(CellError, match="is no table of cells; --force writes over such only"):
            write_cells(table, other, force=True)
    assert source.read_bytes() == before
    write_cells(table, tmp_path / "c.parquet")
    write_cells(table, tmp_path / "c.parquet", force=True)
    assert read_cells(tmp_path / "c.parquet").digest == table.digest


def test_cells_do_not_come_among_the_files_that_are_counted(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = layout(tmp_path / "runs", graded(30), "parquet")
    (runs / "deep").mkdir()
    how = ["--protocol", "correctness", "--map", MAP]
    for source, out in (
        (runs, runs / "c.parquet"),
        (runs, runs / "deep" / "c"),
        (f"{runs}/*.parquet", runs / "c.parquet"),
    ):
        assert run(["count", str(source), *how, "--out", str(out)]) == 2
        told = capsys.readouterr().err.strip()
        assert f"lies among the files of {source}" in told and "Name a file outside of it." in told and "\n" not in told
        assert not out.exists()
    assert run(["count", f"{runs}/*.parquet", *how, "--out", str(runs / "c.cells")]) == 0
    write_cells(read_cells(runs / "c.cells"), runs / "c.parquet")
    with pytest.raises(SourceError, match=r"c\.parquet: is a table of cells that annotate count wrote"):
        count_source(engine, ask(runs))


def test_a_file_that_was_changed_is_refused(engine: Engine, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "c.parquet"
    write_cells(count_source(engine, ask(write_jsonl(tmp_path / "a.jsonl", graded(30)))), path)
    with pytest.raises(CellError, match="is there already"):
        write_cells(read_cells(path), path)
    arrow = pq.read_table(path)
    more = pa.array([each + 1 for each in arrow.column("count").to_pylist()])
    pq.write_table(arrow.set_column(arrow.column_names.index("count"), "count", more), path)
    with pytest.raises(CellError, match="was changed"):
        read_cells(path)
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(CellError, match="no table of cells"):
        read_cells(path)


# --- engines --------------------------------------------------------------------------------------------


def test_engines_that_are_none_get_one_line_without_their_secret() -> None:
    with pytest.raises(EngineError) as error:
        open_engine("postgres://me:hush@host/db")
    assert "hush" not in str(error.value)
    with pytest.raises(EngineError) as error:
        open_engine("duckdb", {"memory_limit": "plenty"})
    assert "\n" not in str(error.value)


def test_a_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins
    import sys

    real = builtins.__import__

    def without(name: str, *args: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "duckdb":
            raise ModuleNotFoundError("No module named 'duckdb'", name="duckdb")
        return real(name, *args, **more)

    monkeypatch.delitem(sys.modules, "annotate.counting.duckdb_engine", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(EngineError, match="needs duckdb, which is not installed"):
        open_engine("duckdb")
