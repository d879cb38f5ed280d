"""Reading tables: every record with the line on which it begins, and one clear line for what cannot be read."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from annotate.importers.records import ReadOptions, Record, kind_of, read_records
from annotate.importers.sources import SourceError
from db.records import Reject

Write = Callable[[str, str | bytes], Path]


def read(path: Path, **options: object) -> list[Record | Reject]:
    return list(read_records(path, ReadOptions(**options)))  # type: ignore[arg-type]


def test_a_quoted_line_break_moves_the_lines_that_follow(write: Write) -> None:
    # Line 2 holds a value that goes on to line 4, so that the next record is on line 5; line 6 is blank.
    path = write("a.csv", 'q,a\n"one\n\ntwo",1\nthree,2\n\nfour,3\n')
    assert read(path) == [
        Record(2, {"q": "one\n\ntwo", "a": "1"}),
        Record(5, {"q": "three", "a": "2"}),
        Record(7, {"q": "four", "a": "3"}),
    ]


def test_a_byte_order_mark_does_not_become_part_of_the_first_column(write: Write) -> None:
    text = "q,a\r\nü,1\r\n"
    expected = [Record(2, {"q": "ü", "a": "1"})]
    assert read(write("a.csv", b"\xef\xbb\xbf" + text.encode())) == expected
    assert read(write("b.csv", text.encode("utf-16"))) == expected
    assert read(write("c.jsonl", b'\xef\xbb\xbf{"q": "\xc3\xbc"}\n')) == [Record(1, {"q": "ü"})]


def test_another_encoding_can_be_named_and_otherwise_the_line_is(write: Write) -> None:
    path = write("a.csv", "q\nok\ncafé\n".encode("cp1252"))
    with pytest.raises(SourceError, match=r"line 3: not UTF-8 \(byte 0xe9\)"):
        read(path)
    assert read(path, encoding="cp1252")[1] == Record(3, {"q": "café"})
    with pytest.raises(SourceError, match="no encoding 'klingon'"):
        read(path, encoding="klingon")


@pytest.mark.parametrize(("name", "mark"), [("a.tsv", "\t"), ("a.csv", ";"), ("a.csv", "|"), ("a.csv", ",")])
def test_the_delimiter_is_found_in_the_header(write: Write, name: str, mark: str) -> None:
    path = write(name, f"q{mark}a{mark}b\n1{mark}2,3{mark}4\n" if mark != "," else "q,a,b\n1,2;3,4\n")
    (record,) = read(path)
    assert isinstance(record, Record)
    assert list(record.data) == ["q", "a", "b"]


def test_a_ragged_row_is_refused_with_its_line_and_the_others_are_read(write: Write) -> None:
    path = write("a.csv", "q,a\n1,2\n3\n4,5,6\n7,8\n")
    assert read(path) == [
        Record(2, {"q": "1", "a": "2"}),
        Reject("a.csv", 3, "1 fields, but the header has 2"),
        Reject("a.csv", 4, "3 fields, but the header has 2"),
        Record(5, {"q": "7", "a": "8"}),
    ]


def test_a_column_that_is_there_twice_is_refused(write: Write) -> None:
    with pytest.raises(SourceError, match=r"line 1: the column 'label' is there twice \(fields 2, 4\)"):
        read(write("a.csv", "q,label,x,label\n1,2,3,4\n"))


def test_a_file_that_breaks_off_inside_quotes_is_refused(write: Write) -> None:
    with pytest.raises(SourceError, match="quote that opens near line 3 is never closed"):
        read(write("a.csv", 'q,a\n1,2\n3,"and then\nit ends'))


def test_loose_quotes_are_read_as_spreadsheets_read_them(write: Write) -> None:
    # Published files have text after a closing quote; only an end inside quotes is an error.
    assert read(write("a.tsv", 'q\ta\n"Word" he said\t1\n')) == [Record(2, {"q": "Word he said", "a": "1"})]
    assert read(write("b.tsv", 'q\ta\n"Word\t1\n'), quoting=False) == [Record(2, {"q": '"Word', "a": "1"})]


def test_a_field_longer_than_the_csv_modules_limit_is_read(write: Write) -> None:
    long = "x" * 300_000
    assert read(write("a.csv", f"q\n{long}\n")) == [Record(2, {"q": long})]


def test_json_lines_name_the_line_that_is_wrong(write: Write) -> None:
    lines = ['{"a": 1}', "", "{broken", "[1]", '{"a": NaN}', '{"a": "\\ud83d"}']
    found = read(write("a.jsonl", "\n".join(lines)))
    assert found[0] == Record(1, {"a": 1})
    assert isinstance(found[1], Reject)
    assert found[1].row == 3
    assert "not valid JSON at column 2" in found[1].reason
    assert found[2] == Reject("a.jsonl", 4, "a JSON object was expected, not list")
    assert found[3] == Record(5, {"a": None})  # NaN is no number: missing
    assert found[4] == Record(6, {"a": "\ud83d"})  # half a character: what happens to it is the study file's to say


def test_a_json_array_gives_the_line_of_each_element(write: Write) -> None:
    path = write("a.json", '[\n  {"a": 1},\n\n  {"a":\n   2}, {"a": 3}\n]\n')
    assert [(r.row, r.data) for r in read(path) if isinstance(r, Record)] == [
        (2, {"a": 1}),
        (4, {"a": 2}),
        (5, {"a": 3}),
    ]
    assert read(write("b.json", " [ ] ")) == []


@pytest.mark.parametrize("keep", [0.5, 0.9, 0.99])
def test_a_json_array_that_breaks_off_is_refused_with_the_line(write: Write, keep: float) -> None:
    text = json.dumps([{"a": i, "b": "text"} for i in range(50)], indent=1)
    with pytest.raises(SourceError, match=r"a\.json, line \d+ \(after \d+ records\)") as caught:
        read(write("a.json", text[: int(len(text) * keep)]))
    assert "cut off" in caught.value.hint


def test_elements_larger_than_the_window_and_numbers_at_its_edge_are_whole(write: Write) -> None:
    values = ["y" * 1_000_000, *range(100_000)]
    path = write("a.json", json.dumps([{"v": value} for value in values]))
    assert [record.data["v"] for record in read(path) if isinstance(record, Record)] == values


def test_deep_nesting_is_refused_and_not_a_crash(write: Write) -> None:
    deep = "[" * 200_000
    with pytest.raises(SourceError):
        read(write("a.json", deep))
    (found,) = read(write("a.jsonl", '{"a": ' + deep + "\n"), kind="jsonl")
    assert isinstance(found, Reject)


def test_gzip_is_unpacked_on_the_way_and_damage_is_named(write: Write) -> None:
    packed = gzip.compress(b"q\n1\n" * 1000)
    assert len(read(write("a.csv.gz", packed))) == 1999
    with pytest.raises(SourceError, match="gzip file is damaged"):
        read(write("b.csv.gz", packed[: len(packed) // 2]))


def test_parquet_gives_the_same_values_as_json_lines(write: Write, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    records = [{"q": "one", "n": 1, "x": 0.5, "l": ["a", "b"]}, {"q": None, "n": None, "x": None, "l": []}]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist(records), path)
    assert [record.data for record in read(path) if isinstance(record, Record)] == records
    whole = path.read_bytes()
    with pytest.raises(SourceError, match="not readable as Parquet"):
        read(write("b.parquet", whole[: len(whole) // 2]))


def test_the_kind_is_told_by_the_content_before_the_suffix(write: Write) -> None:
    assert kind_of(write("a.json", '{"a": 1}\n{"a": 2}\n')) == "jsonl"
    assert kind_of(write("b.jsonl", '[{"a": 1}]')) == "json"
    assert kind_of(write("c.data", '[{"a": 1}]')) == "json"
    assert kind_of(write("d.parquet", b"PAR1....")) == "parquet"
    with pytest.raises(SourceError, match="not recognised as a table"):
        kind_of(write("e.pdf", b"%PDF-1.7"))


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no\.csv: there is no such file"):
        read(tmp_path / "no.csv")
    with pytest.raises(SourceError, match="is a folder"):
        read(tmp_path, kind="csv")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json"])
def test_memory_does_not_grow_with_the_file(write: Write, name: str) -> None:
    """Ten times the records take no more than a fixed amount of memory more."""

    def peak(records: int) -> int:
        text = {
            "a.csv": "q,a\n" + "some text,1\n" * records,
            "a.jsonl": '{"q": "some text", "a": 1}\n' * records,
            "a.json": "[" + ",".join(['{"q": "some text", "a": 1}'] * records) + "]",
        }[name]
        path = write(name, text)
        tracemalloc.start()
        assert sum(1 for _ in read_records(path)) == records
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(60_000) < peak(6_000) + 1_000_000
