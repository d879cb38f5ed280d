"""Bad input: one clear line, a non-zero exit, and a study in which not a byte of content has changed."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from annotate.sample_files import sample
from tests.end_to_end.conftest import Cli


def content(path: Path) -> str:
    """A digest of everything that the study holds."""
    with closing(sqlite3.connect(path)) as connection:
        return hashlib.sha256("\n".join(connection.iterdump()).encode("utf-8", "replace")).hexdigest()


BAD = [
    (["sample", "{study}", "--n", "481"], 2, "n=481 is more than the 480 responses"),
    (["sample", "{study}", "--n", "20"], 2, "n=20 cannot give each of 11 strata by model, judge_label"),
    (["sample", "{study}", "--n", "60", "--by", "category"], 1, "would get fewer than 10 labels"),
    (["sample", "{study}", "--n", "60", "--by", "nonsense"], 2, "No response has a value of 'nonsense'"),
    (["sample", "{study}", "--n", "60", "--judge", "gpt"], 2, "There is no judge 'gpt'"),
    (["sample", "{study}", "--n", "200", "--allocation", "neyman"], 2, "--expect"),
    (["sample", "{study}", "--n", "200", "--expect", "WRONG"], 2, "expected LABEL=.9"),
    (["assign", "{study}", "--coders", "Ada"], 1, "There is no sample yet"),
    (["import", "{study}", "{folder}/none.csv"], 2, "there is no such file"),
    (["import", "{study}", "{folder}/bad.csv", "--map", "id=item,text=respons"], 2, "Did you mean"),
    (
        ["import", "{study}", "{folder}/bad.csv", "--map", "id=item,text=response,who=coder.Ada"],
        2,
        "nothing was imported",
    ),
    (["import", "{study}", "--recipe", "openqua", "{folder}"], 2, "Did you mean 'openqa'?"),
    (["import", "{study}", "--recipe", "openqa", "{folder}"], 2, "No file is called 'NQ301_human.tsv'"),
    (["code", "{study}", "--coder", "Nobody", "--plain"], 1, "Nobody"),
    (["impact", "{study}", "--judge-only", "--judge", "gpt"], 2, "no judge"),
    (["impact", "{study}", "--judge-only", "--score", "EHQ9"], 2, "There is no score 'EHQ9'"),
    (["impact", "{study}", "--judge-only", "--by", "categroy"], 2, "Did you mean 'category'?"),
    (["agreement", "{study}", "--by", "nonsense"], 2, "There is no field 'nonsense' to break down by"),
    (["export", "{study}", "--format", "parquet"], 2, "Parquet cannot go to the screen"),
    (["backup", "{study}", "--to", "{study}"], 2, "already a file"),
    (["init", "{study}"], 2, "already a file"),
]


@pytest.mark.parametrize(("arguments", "code", "said"), BAD, ids=[" ".join(a[:1] + a[2:]) for a, _, _ in BAD])
def test_a_mistake_changes_nothing(
    cli: Cli, ehq_study: Path, tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    (tmp_path / "bad.csv").write_text("id,text,who\n1,one,WRONG\n2,two,PERHAPS\n", encoding="utf-8")
    if arguments[0] in ("impact", "export", "agreement"):  # what shows labels is logged, once
        cli(*(each.format(study=ehq_study, folder=tmp_path) for each in arguments), code=None)
    before = content(ehq_study)
    found = cli(*(each.format(study=ehq_study, folder=tmp_path) for each in arguments), code=None)
    lines = [line for line in found.err.splitlines() if line.startswith("annotate: ")]
    assert found.code == code, found.err
    assert len(lines) == 1, found.err
    assert said in lines[0]
    assert content(ehq_study) == before


def test_a_refused_row_is_named_with_its_line_and_can_be_skipped(cli: Cli, tmp_path: Path) -> None:
    study, file = tmp_path / "s.db", tmp_path / "labels.csv"
    file.write_text("id,text,who\n1,one,WRONG\n2,two,PERHAPS\n3,three,CORRECT\n", encoding="utf-8")
    cli("init", study, "--protocol", "correctness")
    arguments = ("import", study, file, "--map", "id=item,text=response,who=coder.Ada", "--option", "labels-only=yes")
    stopped = cli(*arguments, code=2)
    assert "labels.csv, row 3: " in stopped.err
    assert cli("status", study, "--json").json["counts"]["responses"] == 0
    skipped = cli(*arguments, "--on-error", "skip", "--json").json
    (reject,) = skipped["rejects"]
    assert (reject["source"], reject["row"]) == ("labels.csv", 3)
    assert "PERHAPS" in reject["reason"]
    rows = skipped["rows"]["human labels"]
    assert (rows["read"], rows["imported"], rows["rejected"]) == (3, 2, 1)


def test_records_that_fit_nothing_stand_in_the_account(cli: Cli, tmp_path: Path) -> None:
    """Three records: one comes in, one is no JSON object, one has a confidence that is none."""
    study, records = tmp_path / "s.db", tmp_path / "records.jsonl"
    with gzip.open(sample("ehq-run", "records.jsonl.gz"), "rt", encoding="utf-8") as file:
        first, second = next(file), json.loads(next(file))
    records.write_text(first + "[1]\n" + json.dumps(second | {"parsed_confidence": 7}) + "\n", encoding="utf-8")
    cli("init", study, "--protocol", "ehq")
    files = ("--items", sample("ehq-run", "EHQ-120.json.gz"), "--records", records)
    shown = cli("import", study, "--format", "ehq", *files, "--on-error", "skip").out
    rows = {" ".join(words[:-6]): words[-6:] for line in shown.splitlines() if len(words := line.split()) >= 7}
    assert rows["responses"] == ["1", "1", "0", "0", "0", "0"]
    assert rows["other records"] == ["2", "0", "0", "0", "0", "2"]


def test_the_column_of_a_judge_is_named_as_in_count(cli: Cli, tmp_path: Path) -> None:
    study, table = tmp_path / "s.db", tmp_path / "t.csv"
    table.write_text("id,model,text,verdict\n1,m,one,WRONG\n2,m,two,CORRECT\n", encoding="utf-8")
    cli("init", study, "--protocol", "correctness")
    done = cli(
        "import", study, table, "--map", "id=item,model=model,text=response", "--judge-column", "verdict", "--json"
    )
    assert done.json["rows"]["judge labels"]["imported"] == 2


def test_a_dry_run_shows_the_guess_and_changes_nothing(cli: Cli, ehq_study: Path, tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    lines = ["id,question,answer,gpt4"] + [f"{i},q{i},a{i},CORRECT" for i in range(9)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    before = content(ehq_study)
    shown = cli("import", ehq_study, file, "--dry-run", "--json").json
    assert shown["mapping"] == "id=item,question=question,answer=response,gpt4=judge.gpt4"
    assert sorted({row["row"] for row in shown["rows"]}) == [2, 3, 4, 5, 6]
    assert content(ehq_study) == before


def test_a_table_without_rows_is_not_called_imported_already(cli: Cli, templates: Path, tmp_path: Path) -> None:
    study, table = tmp_path / "s.db", tmp_path / "cut.csv"
    shutil.copy(templates / "ehq.db", study)
    table.write_text("id,text\n", encoding="utf-8")
    before = content(study)
    done = cli("import", study, table, "--map", "id=item,text=response", code=2)
    assert "not a single row was read" in done.err
    assert content(study) == before


def test_the_encoding_that_an_error_asks_for_can_be_given(cli: Cli, tmp_path: Path) -> None:
    study, table = tmp_path / "s.db", tmp_path / "latin.csv"
    cli("init", study, "--protocol", "correctness")
    table.write_bytes(b"id,text\n1,caf\xe9\n")
    refused = cli("import", study, table, "--map", "id=item,text=response", code=2)
    told = re.search(r"--option encoding=cp1252", refused.err)
    assert told, refused.err
    done = cli("import", study, table, "--map", "id=item,text=response", *told.group().split(), "--json")
    assert done.json["rows"]["responses"]["imported"] == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_under_the_output_is_one_line(coded_study: Path) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "annotate", "status", str(coded_study)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "annotate: Writing: No space left on device. Make room, then run it again.\n"
