"""Exports of nothing, and exports that a person reads on a terminal."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import pytest

from annotate.exports import shown_on_screen
from tests.end_to_end.conftest import Cli
from tests.tui.hostile import CORPUS


def test_a_table_without_a_label_has_its_header(cli: Cli, ehq_study: Path, coded_study: Path, tmp_path: Path) -> None:
    cli("sample", ehq_study, "--n", 40, "--anyway")
    whole = list(csv.reader(io.StringIO(cli("export", coded_study).out)))
    empty = cli("export", ehq_study)
    assert list(csv.reader(io.StringIO(empty.out))) == [whole[0]]
    assert "no label to export yet" in empty.err
    cli("export", ehq_study, "--out", tmp_path / "none.csv")
    assert (tmp_path / "none.csv").read_text(encoding="utf-8").splitlines() == [",".join(whole[0])]
    cli("export", ehq_study, "--out", tmp_path / "none.xlsx")
    with zipfile.ZipFile(tmp_path / "none.xlsx") as archive:
        assert archive.read("xl/worksheets/sheet1.xml").decode().count("<row>") == 1


def test_parquet_without_a_label_has_its_columns(cli: Cli, ehq_study: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    cli("sample", ehq_study, "--n", 40, "--anyway")
    cli("export", ehq_study, "--out", tmp_path / "none.parquet")
    table = parquet.read_table(tmp_path / "none.parquet")
    assert (table.num_rows, table.column_names[:3]) == (0, ["task", "worker", "label"])


@pytest.mark.parametrize("name", sorted(set(CORPUS) - {"megabyte line"}))
def test_what_goes_to_a_terminal_holds_no_escape(name: str) -> None:
    (row,) = shown_on_screen([{"note": CORPUS[name], "n": 3}])
    assert row["n"] == 3
    assert "\x1b" not in row["note"]
    assert "\x9b" not in row["note"]
    assert "\u202e" not in row["note"]
