"""Rows that come many at a time end up as rows that come one by one do: two ways through the code, one study."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate.importers import batches, prepare
from annotate.protocols import load_protocol
from db.imports import ImportRefused, import_rows
from db.row_block import RowBlock
from db.study import create_study

MAP = (
    "id=item,q=question,cat=stratum.category,gold=gold,model=model,run=repeat,text=response,conf=confidence,"
    "found=searched,gpt=judge.gpt,score=judge.gpt.score,rules=judge.rules"
)
TABLES = ("items", "responses", "judge_labels", "judges", "rejects", "sources")
HIDDEN = {"created_utc", "origin"}

odd_text = st.sampled_from(["", " ", "Paris", "a\x00b", "half \ud800", "naïve 🙂", "-\u202e", "x" * 400])
texts = st.one_of(st.none(), odd_text, st.integers(-2, 2), st.floats(allow_nan=False, width=16), st.booleans())
records = st.fixed_dictionaries(
    {},
    optional={
        "id": st.one_of(st.sampled_from(["Q1", "Q2", "Q3", "Q1\x01", "", "Q\ud800"]), st.none()),
        "q": st.sampled_from(["Who?", "Who?", "What?", ""]),
        "cat": texts,
        "gold": st.one_of(odd_text, st.lists(odd_text, max_size=2)),
        "model": st.sampled_from(["a", "b", "", "m\x1f"]),
        "run": st.sampled_from([None, 1, 2, "2", 0, "x"]),
        "text": texts,
        "conf": st.sampled_from([None, 50, "70", 101, 33.3]),
        "found": st.sampled_from([None, True, "no", "perhaps"]),
        "gpt": texts,
        "score": st.sampled_from([None, 1, "0.5", "inf", "x"]),
        "rules": texts,
        "more": st.one_of(texts, st.lists(texts, max_size=2)),
    },
)
usual = st.builds(lambda more, key: {"id": key, "q": "Who?", "model": "a"} | more, records, st.sampled_from("QRSTUV"))
"""Mostly records that can be imported, so that what comes after a refused one is seen, too."""


def stored(folder: Path, name: str, path: Path, way: str, on_error: Any) -> tuple[object, object]:
    """The tables and the account of an import by ``way`` (rows or stream)."""
    protocol = load_protocol("ehq")
    study = create_study(folder / f"{name}.db", protocol)
    job = prepare([path], format="table", options={"map": MAP, "confidence_scale": "100"})
    how: dict[str, Any] = {"format": job.format, "sources": job.source_files(), "mapping": job.mapping}
    try:
        report = import_rows(
            study, getattr(job, way), protocol=protocol, on_error=on_error, rows_read=job.tally.read, **how
        )
    except ImportRefused as refused:
        report = refused.report
    account = (report.kinds, report.unreadable, report.rejected, report.rejects, report.replaced, job.tally.read)
    tables = {}
    for table in TABLES:
        cursor = study.connection.execute(f"SELECT * FROM {table} ORDER BY id")
        names = [column[0] for column in cursor.description]
        tables[table] = [{n: v for n, v in zip(names, row, strict=True) if n not in HIDDEN} for row in cursor]
    study.close()
    return tables, account


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    lines=st.lists(st.one_of(records, usual, usual), min_size=1, max_size=25),
    size=st.sampled_from([1, 3, 4096]),
    on_error=st.sampled_from(["stop", "skip", "skip"]),
)
def test_blocks_and_single_rows_make_the_same_study(lines: list[dict[str, Any]], size: int, on_error: str) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "_BATCH", size)
        folder = Path(name)
        path = folder / "a.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in [dict.fromkeys(FIRST, None) | USUAL, *lines]))
        single = stored(folder, "single", path, "rows", on_error)
        block = stored(folder, "block", path, "stream", on_error)
        assert block == single


FIRST = ("id", "q", "cat", "gold", "model", "run", "text", "conf", "found", "gpt", "score", "rules")
USUAL = {"id": "Q0", "q": "Who?", "model": "a", "text": "He."}


def test_a_plain_table_comes_in_blocks_and_one_with_coders_does_not(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"q": "Who?", "a": "He", "l": "WRONG"}\n')
    plain = prepare([path], format="table", options={"map": "q=question,a=response,l=judge.gpt"})
    coded = prepare([path], format="table", options={"map": "q=question,a=response,l=coder.Ada"})
    assert [type(row) for row in plain.stream] == [RowBlock]
    assert RowBlock not in {type(row) for row in coded.stream}


def test_a_block_says_how_many_rows_it_stands_for_and_gives_them_in_file_order(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"q": "{q}", "a": "{a}", "l": "x"}}\n' for q, a in (("1", "a"), ("1", "b"), ("2", "c"))))
    options = {"map": "q=question,a=response,l=judge.gpt"}
    [block] = prepare([path], format="table", options=options).stream
    assert isinstance(block, RowBlock)
    single = list(block.single())
    assert len(block) == len(single) == 8  # 2 items, 3 responses, 3 labels
    assert single == list(prepare([path], format="table", options=options).rows)
