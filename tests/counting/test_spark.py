"""A real Spark cluster against DuckDB and against imported rows: equal cells, byte-equal scores, the same draw.

The slow tier: a master and two workers are started as processes on the loopback, with the system's Java.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ibis")
pytest.importorskip("duckdb")
pytest.importorskip("pyspark")

from annotate.__main__ import run
from annotate.counting import CellTable, CountRequest, count_source, open_engine
from annotate.counting.drawing import Draw, draw_units, fetch_records
from annotate.counting.engines import EngineError
from annotate.counting.run import count_opened, open_source
from annotate.protocols import load_protocol
from benchmarks.counting_corpus import write_wikiprofile
from db.labels import unit_rows
from db.samples import Stratum
from db.study import open_study
from tests.counting.cluster import Cluster, start_cluster
from tests.counting.corpora import MAP, graded, layout, write_csv, write_jsonl

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.filterwarnings("default")]

REPOSITORY = Path(__file__).resolve().parents[2]
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.executor.memory": "600m",
    "spark.executor.cores": "1",
    "spark.sql.shuffle.partitions": "2",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        message = "needs Java 17 or newer"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    found = start_cluster(tmp_path_factory.mktemp("spark"))
    yield found
    found.stop()


def options(**more: str) -> list[str]:
    return [word for pair in (SETTINGS | more).items() for word in ("--engine-option", "=".join(pair))]


def counted(engine: str, settings: dict[str, str], *requests: CountRequest) -> list[CellTable]:
    opened = open_engine(engine, settings)
    try:
        return [count_source(opened, request) for request in requests]
    finally:
        opened.close()


def rows_with_everything() -> list[dict[str, Any]]:
    """Labels with odd blanks and letters, copies, contradictions, and values that are none."""
    rows = graded(300)
    rows[5] = rows[5] | {"gpt": "\u00a0CORRECT\u3000"}
    rows[6] = rows[6] | {"model": "ß \U0001f600 o'x\\"}
    return [*rows, rows[1], rows[2] | {"gpt": "WRONG" if rows[2]["gpt"] == "CORRECT" else "CORRECT"}]


def test_cells_are_equal_on_every_engine_and_layout(cluster: Cluster, tmp_path: Path, shared_data: Path) -> None:
    rows = rows_with_everything()
    broken = layout(tmp_path / "broken", rows, "jsonl", 2, 1)
    with (broken / "part 0.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"item": "q\n[1]\n{"item": null, "model": "m"}\n')
    correctness = load_protocol("correctness")
    folders = [
        broken,
        layout(tmp_path / "csv [1]", rows, "csv", 3, 2),
        layout(tmp_path / "parquet", rows, "parquet", 2),
    ]
    requests = [CountRequest(str(folder), correctness, options={"map": MAP}) for folder in folders]
    requests.append(CountRequest(str(shared_data / "ehq-run" / "records.jsonl"), load_protocol("ehq")))
    write_wikiprofile(tmp_path / "wp.parquet", models=3, modes=2, facts=25)
    requests.append(CountRequest(str(tmp_path / "wp.parquet"), load_protocol("wikiprofile")))
    duck = counted("duckdb", {"threads": "2"}, *requests)
    spark = counted(cluster.address, SETTINGS, *requests)
    for one, other in zip(duck, spark, strict=True):
        assert one.account == other.account
        assert list(one.cells.rows()) == list(other.cells.rows())
        assert one.digest == other.digest
        assert one.run["malformed"] == other.run["malformed"]
        assert one.run["duplicates"] == other.run["duplicates"]
    assert duck[0].account["left_out"]["not readable"] == 2
    assert duck[1].digest == duck[2].digest
    assert duck[3].account["counted"] == 480
    assert duck[4].account["counted"] == 3 * 2 * 25 * 10 * 8


def call(*words: object) -> None:
    assert run([str(word) for word in words]) == 0


def drawn(path: Path) -> list[tuple[Any, ...]]:
    with open_study(path) as study:
        return [(u.item, u.model, u.condition, u.repeat, u.stratum, u.pi) for u in unit_rows(study)]


@pytest.mark.parametrize("corpus", ["ehq", "graded"])
def test_draws_and_scores_are_those_of_rows_on_every_engine(
    cluster: Cluster, tmp_path: Path, shared_data: Path, capsys: pytest.CaptureFixture[str], corpus: str
) -> None:
    run_folder = shared_data / "ehq-run"
    rows = graded(300)
    if corpus == "ehq":
        protocol, source = "ehq", run_folder / "records.jsonl"
        how: list[Any] = ["--items", run_folder / "EHQ-120.json"]
        whole = ["--format", "ehq", *how, "--records", source]
    else:
        protocol, source = "correctness", layout(tmp_path / "runs", rows, "parquet", 3)
        how = ["--map", MAP]
        whole = ["--format", "table", *how, write_jsonl(tmp_path / "all.jsonl", rows)]
    engines = {"rows": [], "duckdb": ["--engine", "duckdb"], "spark": ["--engine", cluster.address, *options()]}
    found: dict[str, str] = {}
    for name, engine in engines.items():
        study, cells = tmp_path / f"{name}.db", tmp_path / f"{name}.parquet"
        call("init", study, "--protocol", protocol)
        if name == "rows":
            call("import", study, *whole)
            call("sample", study, "--n", 90, "--seed", "42", "--anyway")
            people = tmp_path / "people.csv"
            labels = [label.name for label in load_protocol(protocol).labels]
            said = [
                {"item": i, "model": m, "condition": c, "repeat": r, "a": labels[at % len(labels)]}
                for at, (i, m, c, r, *_) in enumerate(drawn(study))
            ]
            write_csv(people, said)
        else:
            call("sample", study, "--n", 90, "--seed", "42", "--anyway", "--source", source, *how, *engine)
            table = [] if corpus == "ehq" else how
            call("count", source, "--protocol", protocol, *table, *engine, "--out", cells)
        mapping = "item=item,model=model,condition=condition,repeat=repeat,a=coder.a"
        call("import", study, "--format", "table", "--map", mapping, people)
        capsys.readouterr()
        call("impact", study, "--json", "--draws", 1000, *([] if name == "rows" else ["--cells", cells]))
        found[name] = capsys.readouterr().out
    assert drawn(tmp_path / "rows.db") == drawn(tmp_path / "duckdb.db") == drawn(tmp_path / "spark.db")
    assert json.loads(found["rows"])["labelled"] == 90
    assert found["rows"] == found["duckdb"] == found["spark"]


def test_a_worker_that_is_killed_changes_nothing(tmp_path: Path, cluster: Cluster) -> None:
    own = tmp_path / "own"
    own.mkdir()
    mine = start_cluster(own)
    try:
        _kill_while_counting(tmp_path, mine)
    finally:
        mine.stop()


def _kill_while_counting(tmp_path: Path, mine: Cluster) -> None:
    import pyarrow.parquet as pq

    write_wikiprofile(tmp_path / "wp.parquet", models=6, modes=2, facts=60)
    whole = pq.read_table(tmp_path / "wp.parquet")
    (tmp_path / "parts").mkdir()
    for part in range(60):
        pq.write_table(
            whole.slice(part * whole.num_rows // 60, whole.num_rows // 60), tmp_path / f"parts/{part}.parquet"
        )
    request = CountRequest(str(tmp_path / "parts"), load_protocol("wikiprofile"))
    (expected,) = counted("duckdb", {}, request)
    log = tmp_path / "events"
    log.mkdir()
    settings = SETTINGS | {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": log.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.sql.files.openCostInBytes": "134217728",
        "spark.task.maxFailures": "8",
    }
    engine = open_engine(mine.address, settings)
    seen: list[tuple[int, int]] = []

    def kill() -> None:
        end = time.monotonic() + 300
        while time.monotonic() < end:
            done = engine.done()
            if done is not None and 2 <= done[0] < done[1] - 2:
                mine.kill_worker()
                seen.append(done)
                return
            time.sleep(0.005)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = count_source(engine, request)
    finally:
        killer.join()
        engine.close()
    assert seen, "no moment was seen at which some tasks were finished and others pending"
    assert found.digest == expected.digest
    events = [
        json.loads(line) for path in log.rglob("*") if path.is_file() and path.stat().st_size
        for line in path.read_text("utf-8").split("\n") if line.startswith("{")
    ]  # fmt: skip
    names = [event["Event"] for event in events]
    lost, ends = names.index("SparkListenerExecutorRemoved"), [at for at, n in enumerate(names) if n.endswith("JobEnd")]
    assert lost < ends[-1], "the worker was lost after the work was done"
    assert all(events[at]["Job Result"]["Result"] == "JobSucceeded" for at in ends)


def test_a_table_of_sparks_catalog_is_counted_and_drawn_from(tmp_path: Path) -> None:
    rows = graded(120)
    source = layout(tmp_path / "runs", rows, "parquet")
    engine: Any = open_engine("local[1]", SETTINGS | {"spark.sql.warehouse.dir": str(tmp_path / "house")})
    try:
        engine._session.read.parquet(str(source)).createOrReplaceTempView("here")
        engine._session.sql("CREATE DATABASE lab")
        engine._session.read.parquet(str(source)).write.saveAsTable("lab.runs")
        names = ("here", "lab.runs", str(source))
        opened = [
            open_source(engine, CountRequest(each, load_protocol("correctness"), options={"map": MAP}))
            for each in names
        ]
        assert len({count_opened(each).digest for each in opened}) == 1
        strata = (Stratum({"model": "modèle 1"}, 40, 9),)
        ways = []
        for each in opened:
            units = draw_units(each, Draw("7", ("model",), "response", None, (), strata))
            ways.append((units, fetch_records(each, units, "response")))
        assert ways[0] == ways[1] == ways[2]
        assert engine.columns("lab.nothing") is None and engine.columns("no/such folder") is None
    finally:
        engine.close()


def test_a_master_that_is_not_there_is_one_line() -> None:
    start = time.monotonic()
    for address in ("spark://127.0.0.1:1", "spark://nobody", "spark://me:hush@127.0.0.1:1"):
        with pytest.raises(EngineError) as error:
            open_engine(address)
        assert "\n" not in str(error.value) and "hush" not in str(error.value)
    assert time.monotonic() - start < 20


def test_spark_in_this_process_says_nothing_of_its_own(tmp_path: Path) -> None:
    """In a process of its own, since Java starts once in each."""
    source = layout(tmp_path / "runs", graded(60), "parquet")
    words = ["count", str(source), "--protocol", "correctness", "--map", MAP, "--out", str(tmp_path / "a.cells")]
    done = subprocess.run(
        [sys.executable, "-m", "annotate", *words, "--engine", "local[1]", *options()],
        capture_output=True, text=True, check=True, timeout=300, env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    other = [line for line in done.stderr.splitlines() if not line.startswith(("Counting", "no label"))]
    assert not other
