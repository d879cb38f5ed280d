"""Importing: what goes in is what was given, every row is accounted for, and a refused import changes nothing."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from builder import protocol, rated

from db.faults import Refused
from db.imports import ImportRefused, ImportReport, KindCount, SourceFile, import_rows
from db.records import HumanLabelRow, ImportRow, ItemRow, JudgeLabelRow, Reject, ResponseRow
from db.study import Study, create_study


def source(name: str = "a.jsonl") -> SourceFile:
    return SourceFile(name, hashlib.sha256(name.encode()).hexdigest(), 10)


def load(study: Study, rows: Iterable[ImportRow | Reject], *names: str, **options: object) -> ImportReport:
    given: dict[str, object] = {"protocol": protocol(), "format": "test"}
    return import_rows(study, rows, sources=[source(n) for n in names or ("a.jsonl",)], **{**given, **options})  # type: ignore[arg-type]


def item(key: str, row: int = 1, **more: object) -> ItemRow:
    return ItemRow(key, row, f"Question {key}?", **more)  # type: ignore[arg-type]


def response(key: str, row: int = 1, text: str = "", **more: object) -> ResponseRow:
    return ResponseRow(key, row, text or f"answer in row {row}", **more)  # type: ignore[arg-type]


def all_of(study: Study, sql: str) -> list[tuple[object, ...]]:
    return study.connection.execute(sql).fetchall()


def counts(**given: int) -> KindCount:
    return KindCount(**given)


def test_every_field_is_stored_as_it_came(study: Study) -> None:
    text = "a\tb\r\n\x1b[31mred\x07 \u202e 'quote' \\u0000 é 漢字 👩🏽"
    rows = [
        ItemRow(
            "q1",
            7,
            text,
            context="ctx",
            gold=("x", "y"),
            rationale="why",
            options=("A", "B"),
            answer_key="2",
            strata={"category": "FEQ", "sub category": "é"},
            extra={"n": [1, None, {"a": 2.5}]},
        ),
        ResponseRow(
            "q1",
            8,
            text,
            model="m",
            condition="c",
            repeat=3,
            text_b="b",
            model_b="mb",
            reason="r",
            choice="2",
            confidence=85,
            confidence_grid=100,
            confidence_usable=False,
            searched=True,
            failure="timeout",
            extra={"t": 1},
        ),
        JudgeLabelRow("gpt", "q1", 9, model="m", condition="c", repeat=3, raw=" CORRECT \n", score=0.5, reply="{}"),
    ]
    report = load(study, rows)
    assert report.kinds["items"] == counts(read=1, imported=1)
    assert report.rejected == 0 and report.replaced == 0 and report.judges == ("gpt",)
    assert all_of(
        study, "SELECT question, context, gold, rationale, options, answer_key, strata, extra FROM items"
    ) == [
        (
            text,
            "ctx",
            '["x","y"]',
            "why",
            '["A","B"]',
            "2",
            '{"category":"FEQ","sub category":"é"}',
            '{"n":[1,null,{"a":2.5}]}',
        )
    ]
    assert all_of(
        study,
        "SELECT model, condition, repeat, text, text_b, model_b, reason, choice, confidence, confidence_grid,"
        " confidence_usable, searched, failure, extra, source_row FROM responses",
    ) == [("m", "c", 3, text, "b", "mb", "r", "2", 85, 100, 0, 1, "timeout", '{"t":1}', 8)]
    assert all_of(study, "SELECT raw, raw_key, score, reply, source_row FROM judge_labels") == [
        (" CORRECT \n", "CORRECT", 0.5, "{}", 9)
    ]
    assert all_of(study, "SELECT label FROM mapped_labels") == [("CORRECT",)]


def test_the_same_source_twice_is_recognised_and_changes_no_byte(study: Study) -> None:
    def rows() -> list[ImportRow]:
        out: list[ImportRow] = []
        for n in range(1, 6):
            out += [item(f"q{n}", n), response(f"q{n}", n), JudgeLabelRow("j", f"q{n}", n, raw="WRONG")]
            out.append(HumanLabelRow("ann", f"q{n}", n, "WRONG"))
        return out

    first = load(study, rows())
    study.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = study.path.read_bytes()
    again = load(study, rows())
    assert again.batch is None and again.imported == 0
    for kind in ("items", "responses", "judge labels", "human labels"):
        assert first.kinds[kind] == counts(read=5, imported=5)
        assert again.kinds[kind] == counts(read=5, already=5)
    study.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert study.path.read_bytes() == before


def test_the_same_content_from_another_file_is_unchanged_and_a_grown_file_adds_only_its_end(study: Study) -> None:
    rows = [item("q1"), response("q1", 1, "one"), response("q1", 2, "two")]
    load(study, rows)
    grown = load(study, [*rows, response("q1", 3, "three")], "grown.jsonl")
    assert grown.kinds["responses"] == counts(read=3, imported=1, unchanged=2)
    assert all_of(study, "SELECT repeat, text FROM responses ORDER BY repeat") == [(1, "one"), (2, "two"), (3, "three")]


def test_responses_without_repeat_are_numbered_in_file_order_never_by_text(study: Study) -> None:
    rows = [
        item("q1"),
        *[response("q1", n, "the same words", model="m") for n in (1, 2, 3)],
        response("q1", 4, model="k"),
    ]
    report = load(study, rows)
    assert report.kinds["responses"].imported == 4
    assert all_of(study, "SELECT model, repeat, source_row FROM responses ORDER BY source_row") == [
        ("m", 1, 1),
        ("m", 2, 2),
        ("m", 3, 3),
        ("k", 1, 4),
    ]


def test_one_file_of_an_import_of_two_is_recognised_alone(study: Study) -> None:
    load(study, [item("q1"), response("q1", 1, "a"), response("q1", 1, "b", source=1)], "a.jsonl", "b.jsonl")
    again = load(study, [item("q1"), response("q1", 1, "b")], "b.jsonl")
    assert again.kinds["responses"] == counts(read=1, already=1)
    assert all_of(study, "SELECT count(*) FROM responses") == [(2,)]


def test_other_content_under_a_known_key_is_refused_and_the_study_stays_as_it_was(study: Study) -> None:
    load(
        study,
        [item("q1"), response("q1", 1, "one", model="m", repeat=1), JudgeLabelRow("j", "q1", 1, model="m", raw="x")],
    )
    study.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = study.path.read_bytes()
    changed = [
        ItemRow("q1", 4, "Another question?"),
        item("q2", 5),
        response("q1", 6, "other words", model="m", repeat=1),
        JudgeLabelRow("j", "q1", 7, model="m", repeat=1, raw="y"),
    ]
    with pytest.raises(ImportRefused) as caught:
        load(study, changed, "b.jsonl")
    report = caught.value.report
    assert report.rejected == 3 and report.batch is None
    assert [(r.source, r.row) for r in report.rejects] == [("b.jsonl", 4), ("b.jsonl", 6), ("b.jsonl", 7)]
    assert "a.jsonl row 1" in report.rejects[0].reason and "repeat 1" in report.rejects[1].reason
    assert "b.jsonl, row 4: item 'q1' is in the study with other content" in str(caught.value)
    study.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert study.path.read_bytes() == before
    skipped = load(study, changed, "b.jsonl", on_error="skip")
    assert skipped.kinds["items"] == counts(read=2, imported=1, rejected=1)
    assert all_of(study, "SELECT source, row FROM rejects ORDER BY row") == [
        ("b.jsonl", 4),
        ("b.jsonl", 6),
        ("b.jsonl", 7),
    ]


def test_a_label_of_a_refused_response_is_refused_with_it(study: Study) -> None:
    load(study, [item("q1"), response("q1", 1, "one", repeat=1)])
    report = load(
        study,
        [
            response("q1", 2, "other", repeat=1),
            JudgeLabelRow("j", "q1", 2, raw="CORRECT"),
            HumanLabelRow("a", "q1", 2, "WRONG"),
        ],
        "b.jsonl",
        on_error="skip",
    )
    assert report.kinds["judge labels"] == counts(read=1, rejected=1)
    assert report.kinds["human labels"] == counts(read=1, rejected=1)
    assert [r.reason for r in report.rejects][1:] == ["its response was refused"] * 2
    assert report.batch is None


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (response("q9"), "there is no item 'q9' in the study"),
        (JudgeLabelRow("j", "q9", 1, raw="x"), "there is no item 'q9' in the study"),
        (
            JudgeLabelRow("j", "q1", 1, model="m", repeat=2, raw="x"),
            "there is no response of model 'm' to item 'q1' with repeat 2",
        ),
        (JudgeLabelRow("j", "q1", 1, model="x", raw="x"), "cannot be told"),
        (JudgeLabelRow("", "q1", 1, raw="x"), "the judge has no name"),
        (HumanLabelRow("a", "q1", 1, "MAYBE", model="m"), "'MAYBE' is not a label of this codebook"),
        (HumanLabelRow("a", "q1", 1, "WRONG", model="m", rating=3), "asks for no rating"),
        (HumanLabelRow("a", "q1", 1, "WRONG", model="m", pi=1.5), "the inclusion probability is 1.5"),
        (response("q1", repeat=0), "the repeat is 0"),
        (response("q1", confidence=101, confidence_grid=100), "the confidence is 101 on 100"),
        (response("q1", confidence=5), "a confidence needs its grid"),
        (ItemRow("", 1, "Q"), "the item has no key"),
        (ItemRow("q2", 1, ""), "has neither a question nor a context"),
        (ItemRow("q2", 1, "Q", strata={'a"b': "x"}), "a stratum field cannot be called"),
        (ItemRow("q2", 1, "Q", extra={"x": float("nan")}), "a value that JSON cannot"),
        (ItemRow("a\x1fb", 1, "Q"), "holds a control character"),
        (response("q1", model="\ud800"), "half a character"),
        (Reject("a.jsonl", 3, "not JSON"), "not JSON"),
    ],
)
def test_a_row_that_cannot_go_in_is_named_with_its_reason(study: Study, row: ImportRow | Reject, reason: str) -> None:
    load(study, [item("q1"), response("q1", 1, model="m", repeat=1)])
    with pytest.raises(ImportRefused, match="nothing was imported") as caught:
        load(study, [row], "b.jsonl")
    assert caught.value.report.rejected == 1
    assert reason in caught.value.report.rejects[0].reason


def test_characters_that_cannot_be_stored_are_replaced_and_counted(study: Study) -> None:
    report = load(
        study, [item("q1", context="a\ud800b\x00c"), response("q1", 1, "\udfff", extra={"k": "x\x00"}, reason="fine")]
    )
    assert report.replaced == 3
    assert all_of(study, "SELECT context FROM items") == [("a�b�c",)]
    text, extra = all_of(study, "SELECT text, extra FROM responses")[0]
    assert text == "�" and json.loads(str(extra)) == {"k": "x\x00"}


def test_a_table_that_repeats_its_items_counts_every_row(study: Study) -> None:
    rows: list[ImportRow] = []
    for n in range(1, 7):
        rows += [item(f"q{(n + 1) // 2}", n), response(f"q{(n + 1) // 2}", n, model=f"m{n % 2}")]
    report = load(study, rows)
    assert report.kinds["items"] == counts(read=6, imported=3, unchanged=3)


def test_labels_follow_the_response_of_their_record(study: Study) -> None:
    """One question and answer stand twice in the file; coder B is blank on the first, the judge on the second."""
    rows: list[ImportRow] = [item("q1")]
    rows += [response("q1", 5, "same"), HumanLabelRow("A", "q1", 5, "CORRECT"), HumanLabelRow("B", "q1", 5, None)]
    rows += [JudgeLabelRow("j", "q1", 5, raw="CORRECT", source=1)]
    rows += [response("q1", 9, "same"), HumanLabelRow("A", "q1", 9, "WRONG"), HumanLabelRow("B", "q1", 9, "HEDGE")]
    report = load(study, rows, "a.tsv", "judge.tsv")
    assert report.kinds["human labels"] == counts(read=4, imported=3, blank=1)
    told = all_of(
        study,
        "SELECT c.name, r.repeat, n.label FROM annotations n JOIN assignments a ON a.id = n.assignment_id"
        " JOIN coders c ON c.id = a.coder_id JOIN units u ON u.id = a.unit_id JOIN responses r ON r.id = u.response_id"
        " ORDER BY c.name, r.repeat",
    )
    assert told == [("A", 1, "CORRECT"), ("A", 2, "WRONG"), ("B", 2, "HEDGE")]
    assert all_of(study, "SELECT r.repeat FROM judge_labels l JOIN responses r ON r.id = l.response_id") == [(1,)]


def test_labels_alone_find_the_only_response_the_same_row_or_the_same_place(study: Study) -> None:
    load(study, [item("q1"), item("q2"), response("q1", 1), response("q1", 2), response("q2", 3)])
    alone = load(study, [JudgeLabelRow("j", "q2", 1, raw="x")], "b.jsonl")
    assert alone.kinds["judge labels"].imported == 1
    same_row = load(study, [JudgeLabelRow("k", "q1", 2, raw="second")], "a.jsonl")
    assert same_row.kinds["judge labels"].imported == 1
    place = load(study, [JudgeLabelRow("l", "q1", 8, raw="one"), JudgeLabelRow("l", "q1", 9, raw="two")], "c.jsonl")
    assert place.kinds["judge labels"].imported == 2
    told = all_of(
        study,
        "SELECT j.name, r.repeat, l.raw FROM judge_labels l JOIN judges j ON j.id = l.judge_id"
        " JOIN responses r ON r.id = l.response_id WHERE r.item_id = 1 ORDER BY 1, 2",
    )
    assert told == [("k", 2, "second"), ("l", 1, "one"), ("l", 2, "two")]
    unclear = load(study, [JudgeLabelRow("m", "q1", 8, raw="?")], "d.jsonl", on_error="skip")
    assert unclear.kinds["judge labels"] == counts(read=1, rejected=1)


def test_human_labels_are_events_of_their_own_log_and_make_a_census(study: Study) -> None:
    rows: list[ImportRow] = []
    for n in (1, 2, 3):
        rows += [item(f"q{n}", n), response(f"q{n}", n)]
    rows += [
        HumanLabelRow("A", "q1", 1, "CORRECT", note="sure", utc="2020-01-01T00:00:00Z", active_ms=1500),
        HumanLabelRow("B", "q1", 1, "WRONG"),
        HumanLabelRow("C", "q1", 1, "WRONG", role="tiebreak"),
        HumanLabelRow("final", "q1", 1, "WRONG", role="adjudicator"),
        HumanLabelRow("A", "q2", 2, "HEDGE"),
    ]
    report = load(study, rows, "people.csv")
    assert report.coders == ("A", "B", "C", "final") and report.kinds["human labels"].imported == 5
    events = all_of(
        study,
        "SELECT c.name, c.kind, l.place, e.seq, e.kind, e.origin, e.blindness, e.utc, e.active_ms, a.round, a.role"
        " FROM events e JOIN logs l ON l.id = e.log_id JOIN coders c ON c.id = l.coder_id"
        " JOIN assignments a ON a.id = e.assignment_id ORDER BY c.id, e.seq",
    )
    origin = f"import:{report.batch}"
    kind = ("imported", origin)
    assert events == [
        ("A", *kind, 1, "label", origin, "unknown", "2020-01-01T00:00:00Z", 1500, "main", "coder"),
        ("A", *kind, 2, "label", origin, "unknown", None, None, "main", "coder"),
        ("B", *kind, 1, "label", origin, "unknown", None, None, "main", "coder"),
        ("C", *kind, 1, "label", origin, "unknown", None, None, "main", "tiebreak"),
        ("final", *kind, 1, "label", origin, "unknown", None, None, "adjudication", "adjudicator"),
    ]
    sample = all_of(study, "SELECT kind, n, population, allocation FROM samples")
    assert sample == [("census", 2, 2, "all")]
    assert all_of(study, "SELECT DISTINCT pi FROM sample_units") == [(1.0,)]
    again = load(study, [HumanLabelRow("A", "q3", 1, "WRONG")], "more.csv")
    assert again.sample == 2
    assert all_of(study, "SELECT n, supersedes FROM samples WHERE id = 2") == [(3, 1)]
    conflict = load(study, [HumanLabelRow("A", "q1", 1, "HEDGE")], "other.csv", on_error="skip")
    assert "has labelled this response of item 'q1' already (CORRECT)" in conflict.rejects[0].reason


def test_given_probabilities_are_kept_and_must_be_there_for_all(study: Study) -> None:
    base: list[ImportRow] = []
    for n in range(1, 5):
        base += [item(f"q{n}", n), response(f"q{n}", n)]
    load(study, base)
    labels = [HumanLabelRow("A", f"q{n}", n, "WRONG", pi=0.5 if n < 3 else 0.25) for n in (1, 2, 3)]
    with pytest.raises(Refused, match="1 of 4 labelled responses have no inclusion probability"):
        load(study, [*labels, HumanLabelRow("A", "q4", 4, "WRONG")], "p.csv")
    load(study, labels, "p.csv")
    assert all_of(study, "SELECT kind, n, population FROM samples") == [("imported", 3, 8)]  # 2/.5 + 1/.25
    assert all_of(study, "SELECT pi, count(*) FROM sample_units GROUP BY pi ORDER BY pi") == [(0.25, 1), (0.5, 2)]


def test_ratings_and_simulated_coders(tmp_path: Path) -> None:
    with create_study(tmp_path / "r.db", rated()) as study:
        rows = [item("q1"), response("q1"), HumanLabelRow("sim", "q1", 1, "CORRECT", rating=85)]
        load(study, rows, protocol=rated(), coder_kind="simulated")
        assert all_of(study, "SELECT label, rating FROM annotations") == [("CORRECT", 85)]
        assert all_of(study, "SELECT kind FROM coders WHERE name = 'sim'") == [("simulated",)]
        bad = load(
            study,
            [HumanLabelRow("s2", "q1", 1, "CORRECT", rating=83)],
            protocol=rated(),
            coder_kind="simulated",
            on_error="skip",
        )
        assert "in steps of 5" in bad.rejects[0].reason


def test_human_labels_need_the_codebook(study: Study) -> None:
    with pytest.raises(Refused, match="codebook"):
        load(study, [item("q1"), response("q1"), HumanLabelRow("A", "q1", 1, "WRONG")], protocol=None)


def test_progress_and_a_broken_stream(study: Study) -> None:
    seen: list[tuple[int, int | None]] = []

    def rows(fail: bool) -> Iterable[ImportRow]:
        for n in range(1, 9001):
            yield item(f"q{n}", n)
        if fail:
            raise OSError("the disk went away")

    with pytest.raises(OSError, match="went away"):
        load(study, rows(True))
    assert all_of(study, "SELECT count(*) FROM items") == [(0,)]
    assert list((study.side / "staging").iterdir()) == []
    load(study, rows(False), progress=lambda done, total: seen.append((done, total)))
    assert seen[:2] == [(4000, None), (8000, None)] and seen[-1] == (9000, 9000)


def test_many_rejects_are_all_counted_when_skipped_and_stop_early_otherwise(study: Study) -> None:
    bad = [response(f"q{n}", n) for n in range(1, 3001)]
    report = load(study, bad, on_error="skip")
    assert report.rejected == 3000 and len(report.rejects) == 1000
    with pytest.raises(ImportRefused, match="and 2,999 more"):
        load(study, bad)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_stream(tmp_path: Path) -> None:
    """The largest resident size with 400,000 rows is that with 40,000 and the page cache of 64 MiB at most."""
    code = """
import resource, sys
from builder import protocol
from db.imports import SourceFile, import_rows
from db.records import ItemRow, ResponseRow
from db.study import create_study
def rows(n):
    for k in range(n):
        yield ItemRow(f"q{k % 1000}", k, f"Question {k % 1000}")
        yield ResponseRow(f"q{k % 1000}", k, f"A response of the usual length, number {k}. " * 3, model=f"m{k // 1000}")
with create_study(sys.argv[1], protocol()) as study:
    import_rows(study, rows(int(sys.argv[2])), format="t", sources=[SourceFile("a", "0" * 64, 1)])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    paths = f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}; sys.modules.update(pandas=None, numpy=None)\n"
    sizes = []
    for n in (20_000, 200_000):
        command = [sys.executable, "-c", paths + code, str(tmp_path / f"{n}.db"), str(n)]
        sizes.append(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    assert sizes[1] - sizes[0] < 80 * 1024  # KiB
