"""The record: append-only, chained, and every change to what is stored is found and named by ``verify``."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from builder import assigned, protocol, seeded, small_study

from db.assigning import assign
from db.backups import back_up
from db.chain import EventRow, genesis, row_hash, row_json
from db.coding import CodingSession
from db.connection import writing
from db.coverage import coverage
from db.erasure import forget, redact
from db.faults import Refused, StudyError
from db.history import history, log_events
from db.imports import SourceFile, import_rows
from db.judge_maps import apply_protocol, mapping_digests
from db.labels import label_rows
from db.overview import coder_progress, imports_of, study_counts
from db.records import Act, HumanLabelRow, ItemRow, JudgeLabelRow, JudgeRule, ResponseRow
from db.sampling import draw, strata_counts
from db.study import create_study, open_study
from db.verify import verify


@pytest.fixture
def coded(tmp_path: Path) -> Path:
    """A study that went the whole way: imported, drawn twice, assigned, coded by two, one with imported labels."""
    path = tmp_path / "coded.db"
    with create_study(path, protocol(), random_bytes=seeded(1)) as study:
        rows: list[object] = []
        for n in range(1, 13):
            rows.append(ItemRow(f"q{n}", n, f"Question {n}", strata={"category": "HNQ"}))
            for model in ("m1", "m2"):
                rows.append(ResponseRow(f"q{n}", n, f"Secret answer {n}", model=model))
                rows.append(JudgeLabelRow("gpt", f"q{n}", n, model=model, raw="WRONG", reply=f"Secret reply {n}"))
        source = [SourceFile("run.jsonl", "a" * 64, 1)]
        import_rows(study, rows, format="t", sources=source, protocol=protocol())  # type: ignore[arg-type]
        for n, seed in ((3, 1), (4, 2)):
            strata = [replace(s, drawn=n) for s in strata_counts(study, ["model"]).strata]
            draw(study, strata, seed=seed, by=["model"], allocation="equal", combine=seed == 2)
        assign(study, ["Ann", "Bob"], seed=1, overlap=0.5, repeats=0.2)
        human = [HumanLabelRow("Carl", "q1", 1, "HEDGE", model="m1", note="Secret remark")]
        source = [SourceFile("people.csv", "b" * 64, 1)]
        import_rows(study, human, format="t", sources=source, protocol=protocol())
    for name in ("Ann", "Bob"):
        with CodingSession.open(path, name, protocol()) as session:
            for position in range(1, 5):
                item = session.item(position)
                assert item
                session.save(Act("label", item.assignment, label="WRONG", note=f"Secret note of {name}"))
            session.undo()
            session.save(Act("unmask", None))
    return path


def problems(path: Path) -> dict[str, str]:
    with open_study(path) as study:
        return {check.name: check.first for check in verify(study).checks if check.broken}


def tamper(path: Path, *statements: str, without: str | None = None) -> None:
    """Change the file behind the program's back; ``without``: drop these triggers first, as a forger would."""
    with closing(sqlite3.connect(path)) as connection:
        if without is not None:
            names = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE ?", (without,)
            )
            for (name,) in names.fetchall():
                connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_a_sound_study_is_proved(coded: Path) -> None:
    with open_study(coded) as study:
        proved = verify(study)
        assert proved.holds, [check for check in proved.checks if check.broken]
        examined = {check.name: check.examined for check in proved.checks}
        assert examined["logs"] == study.connection.execute("SELECT count(*) FROM events").fetchone()[0]
        assert examined["annotations"] == study.connection.execute("SELECT count(*) FROM assignments").fetchone()[0]
        assert {"file", "foreign keys", "codebooks", "texts", "samples", "imports"} <= set(examined)


# --- append-only ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET body = '{}' WHERE seq = 1",
        "DELETE FROM events WHERE seq = 1",
        "INSERT OR REPLACE INTO events SELECT log_id, seq, kind, assignment_id, unit, '{}', protocol_version,"
        " tool_version, utc, active_ms, fence, origin, blindness, hash FROM events WHERE seq = 1",
        "INSERT INTO events SELECT log_id, seq + 100, kind, assignment_id, unit, body, protocol_version, tool_version,"
        " utc, active_ms, fence, origin, blindness, hash FROM events WHERE seq = 1",
        "REPLACE INTO logs SELECT id, uid, coder_id, place, protocol_digest, 'x', fence, confirmed_version,"
        " sealed_head, created_utc FROM logs",
        "UPDATE logs SET genesis = 'x'",
        "DELETE FROM logs",
        "UPDATE sample_units SET pi = 1",
        "DELETE FROM sample_units",
        "UPDATE protocols SET toml = 'x'",
        "DELETE FROM protocols",
        "UPDATE texts SET text = 'other words'",
        "DELETE FROM texts",
    ],
)
def test_what_is_written_is_neither_changed_nor_deleted(coded: Path, statement: str) -> None:
    with (
        open_study(coded) as study,
        pytest.raises(sqlite3.IntegrityError, match=r"append-only|never changed|never deleted|stays"),
    ):
        study.connection.execute(statement)


# --- tampering --------------------------------------------------------------------------------------


LABEL_EVENT = "UPDATE events SET body = json_set(body, '$.label', 'HEDGE') WHERE kind = 'label' AND seq = 2"
FORGERIES = [
    (LABEL_EVENT, "events%", "logs", "row 2: was changed"),
    ("UPDATE events SET utc = '2020-01-01T00:00:00.000Z' WHERE seq = 3", "events%", "logs", "row 3: was changed"),
    ("UPDATE events SET blindness = 'sealed' WHERE seq = 1", "events%", "logs", "row 1: was changed"),
    ("DELETE FROM events WHERE seq = 2 AND kind = 'label'", "events%", "logs", "row 2 should stand here"),
    ("UPDATE logs SET genesis = 'x' WHERE id = 1", "logs%", "logs", "its genesis"),
    ("UPDATE annotations SET label = 'HEDGE' WHERE label = 'WRONG'", None, "annotations", "not what its events come"),
    ("UPDATE assignments SET state = 2 WHERE state = 0", None, "annotations", "its place in the queue is not"),
    ("UPDATE assignments SET position = position + 100 WHERE id = 1", None, "assignments", "batch 1: its assignments"),
    ("UPDATE sample_units SET pi = 0.9 WHERE unit_id = 1", "sample%", "samples", "are not those that the lead's log"),
    ("UPDATE texts SET text = 'kind words'", "texts%", "texts", "was changed"),
    ("UPDATE protocols SET toml = 'another codebook'", "protocols%", "codebooks", "version 1: its text was"),
    (
        "UPDATE responses SET text = 'Secret answer 7!' WHERE text = 'Secret answer 7'",
        None,
        "items and responses",
        "q7: it",
    ),
    (
        "UPDATE items SET question = question || ' ' WHERE id = 2",
        None,
        "items and responses",
        "item q2: it is not what",
    ),
    ("DELETE FROM unmaskings", None, "unmaskings and reopenings", "does not hold it"),
    ("UPDATE items SET gold = '[1 2]' WHERE id = 1", None, "JSON", "items.gold: 1 values"),
    ("DELETE FROM judge_labels WHERE id = 3", None, "imports", "24 judge labels came in, 23 are there"),
    ("UPDATE units SET response_id = 999 WHERE id = 1", None, "foreign keys", "units row 1 points to no row"),
]


@pytest.mark.parametrize(("statement", "without", "check", "where"), FORGERIES)
def test_a_forger_is_found_and_the_row_is_named(
    coded: Path, statement: str, without: str | None, check: str, where: str
) -> None:
    tamper(coded, statement, without=without)
    found = problems(coded)
    assert where in found[check], found


def test_a_forged_probability_is_found_even_where_the_log_is_silent(coded: Path) -> None:
    tamper(coded, "UPDATE sample_strata SET drawn = drawn - 1 WHERE id = 1")
    assert "drawn, " in problems(coded)["samples"]


def test_a_row_is_hashed_as_the_documentation_says() -> None:
    """SHA-256 over the hash before and the canonical JSON, both written out here by hand."""
    row = EventRow(
        "log1",
        1,
        "label",
        "as1",
        "un1",
        1,
        "0.1.0",
        "2026-01-02T03:04:05.678Z",
        900,
        2,
        "terminal",
        "masked",
        {"label": "É"},
    )
    text = (
        '{"active_ms":900,"assignment":"as1","blindness":"masked","body":{"label":"É"},"fence":2,"kind":"label",'
        '"log":"log1","origin":"terminal","protocol":1,"seq":1,"tool":"0.1.0","unit":"un1","utc":"2026-01-02T03:04:05.678Z"}'
    )
    assert row_json(row) == text
    start = hashlib.sha256(b'{"coder":"c","format":"annotate-log-1","log":"l","protocol":"p","study":"s"}').hexdigest()
    assert genesis("s", "c", "l", "p") == start
    assert row_hash(start, row) == hashlib.sha256((start + text).encode()).hexdigest()


# --- what is told of it -----------------------------------------------------------------------------


def test_coverage_names_units_and_agrees_with_the_other_counts(coded: Path) -> None:
    with open_study(coded) as study:
        (main,) = coverage(study)
        progress = coder_progress(study)
        rows = [row for row in label_rows(study, round_name="main") if row.occurrence == 1]
        assert main.units == len({row.unit for row in rows})
        assert main.labels == sum(row.state == "done" for row in rows)
        assert main.meant == len(rows)
        assert main.units == main.complete + len(main.missing) + len(main.doubled) + len(main.over)
        assert sum(p.total for p in progress) == main.meant + main.repeats_meant
        assert sum(p.done for p in progress) == main.labels + main.repeats == study_counts(study).labelled
        assert not main.clean and main.missing[0].meant > main.missing[0].coded
        assert [p.coder for p in progress] == ["Ann", "Bob", "Carl"] and progress[2].kind == "imported"


def test_coverage_finds_too_many_labels(tmp_path: Path) -> None:
    path = small_study(tmp_path / "s.db", "A")
    with open_study(path) as study:
        study.connection.execute(
            "INSERT INTO batch_units (batch_id, unit_id, overlap, pi2, coders) SELECT 1, id, 0, 0.5, 1 FROM units"
        )
        assigned(study, "B", units=1)
    for name in ("A", "B"):
        with CodingSession.open(path, name, protocol()) as session:
            while (item := session.next()) is not None:
                session.save(Act("label", item.assignment, label="WRONG"))
    with open_study(path) as study:
        (main,) = coverage(study)
        assert (main.units, main.complete, len(main.doubled), main.doubled[0].coders) == (
            6,
            5,
            1,
            ("coder-1", "coder-2"),
        )


def test_imported_labels_do_not_stand_for_those_that_are_assigned(coded: Path) -> None:
    """Twelve labels that come in later are twelve more labels and twelve more that are meant; nothing gets complete."""
    with open_study(coded) as study:
        (before,) = coverage(study)
        human = [HumanLabelRow("Dora", f"q{n}", n, "HEDGE", model="m1") for n in range(1, 13)]
        source = [SourceFile("more.csv", "c" * 64, 12)]
        import_rows(study, human, format="t", sources=source, protocol=protocol())
        (after,) = coverage(study)
        assert (after.meant, after.labels) == (before.meant + 12, before.labels + 12)
        assert {gap.unit for gap in after.missing} == {gap.unit for gap in before.missing}


def test_the_history_of_a_unit_says_who_did_what_and_what_was_undone(coded: Path) -> None:
    with open_study(coded) as study:
        unit = study.connection.execute(
            "SELECT e.unit FROM events e WHERE e.kind = 'undo' ORDER BY e.log_id LIMIT 1"
        ).fetchone()[0]
        told = [(e.coder, e.kind, e.undone, e.body.get("note")) for e in history(study, unit) if e.coder == "Ann"]
        assert told == [("Ann", "label", True, "Secret note of Ann"), ("Ann", "undo", False, None)]
        assert {e.unit for e in history(study, "q1/m1")} == {
            study.connection.execute(
                "SELECT u.public_id FROM units u JOIN responses r ON r.id = u.response_id"
                " WHERE r.item_id = 1 AND r.model = 'm1'"
            ).fetchone()[0]
        }
        assert [e.kind for e in log_events(study, coder="lead")][:2] == ["import", "sample"]
        with pytest.raises(Refused, match="no unit, assignment or item 'nothing'"):
            history(study, "nothing")
        assert [entry.format for entry in imports_of(study)] == ["t", "t"]


# --- erasure ----------------------------------------------------------------------------------------


def all_bytes(path: Path) -> bytes:
    found = path.read_bytes()
    for end in ("-wal", "-shm"):
        extra = path.with_name(path.name + end)
        found += extra.read_bytes() if extra.exists() else b""
    return found


def test_a_forgotten_coder_leaves_labels_and_a_whole_chain_but_no_word(coded: Path) -> None:
    with open_study(coded) as study:
        copy = back_up(coded)
        assert b"Secret note of Ann" in all_bytes(coded)
        erased = forget(study, "Ann")
        assert (erased.name, erased.texts, erased.backups, erased.scrubbed) == ("coder-1", 4, (copy.name,), True)
        assert b"Secret note of Ann" not in all_bytes(coded) and b"Secret note of Bob" in all_bytes(coded)
        assert verify(study).holds
        assert coder_progress(study)[0].coder == "coder-1"
        assert any(e.body.get("note") == "(erased)" for e in log_events(study, coder="coder-1"))
    assert b"Ann" not in all_bytes(coded)
    with pytest.raises(Refused, match="was forgotten"):
        CodingSession.open(coded, "coder-1", protocol())


def test_a_redacted_unit_leaves_its_label_but_no_text(coded: Path) -> None:
    with open_study(coded) as study:
        unit, number = study.connection.execute(
            "SELECT u.public_id, r.item_id FROM annotations n JOIN assignments a ON a.id = n.assignment_id"
            " JOIN units u ON u.id = a.unit_id JOIN responses r ON r.id = u.response_id"
            " WHERE n.label = 'WRONG' AND r.model = 'm1' AND r.item_id > 9 LIMIT 1"
        ).fetchone()
        labels = study.connection.execute("SELECT count(*) FROM annotations WHERE label IS NOT NULL").fetchone()
        redact(study, unit, with_item=True)
        left = study.connection.execute(
            "SELECT r.text, l.reply, i.question FROM units u JOIN responses r ON r.id = u.response_id"
            " JOIN items i ON i.id = r.item_id JOIN judge_labels l ON l.response_id = r.id WHERE u.public_id = ?",
            (unit,),
        ).fetchone()
        assert left == ("[redacted]", None, "[redacted]")
        assert f"Question {number}".encode() not in all_bytes(coded)
        assert study.connection.execute("SELECT count(*) FROM annotations WHERE label IS NOT NULL").fetchone() == labels
        assert verify(study).holds
        assert strata_counts(study, []).excluded == {"redacted": 2}
        with pytest.raises(Refused, match="There is no unit"):
            redact(study, "nothing")


# --- backup -----------------------------------------------------------------------------------------


def test_a_judges_words_that_are_no_label_go_with_the_text(coded: Path) -> None:
    """A refusal may quote the response; a label's name tells nothing of it."""
    with open_study(coded) as study:
        unit, response = study.connection.execute(
            "SELECT public_id, response_id FROM units ORDER BY id LIMIT 1"
        ).fetchone()
        judge, label = study.connection.execute(
            "SELECT judge_id, raw FROM judge_labels WHERE response_id = ?", (response,)
        ).fetchone()
        study.connection.execute(
            "INSERT INTO judge_labels (judge_id, response_id, repeat, raw, raw_key, failure)"
            " VALUES (?, ?, 2, 'I quote: xyzzy', 'I quote: xyzzy', 'stopped at: xyzzy')",
            (judge, response),
        )
        redact(study, unit)
        left = study.connection.execute(
            "SELECT raw, failure FROM judge_labels WHERE response_id = ? ORDER BY repeat", (response,)
        ).fetchall()
        assert left == [(label, None), ("[redacted]", "[redacted]")]
    assert b"xyzzy" not in all_bytes(coded)


def test_a_judge_that_was_run_here_keeps_the_mapping_it_was_asked_with(coded: Path) -> None:
    """The labels of a swapped pair are turned back by the mapping: a protocol's must not take its place."""
    declared = replace(protocol(), judges=(JudgeRule("gpt", {"WRONG": "CORRECT"}, "turned"),))
    with open_study(coded) as study:
        before = mapping_digests(study.connection)["gpt"]
        study.connection.execute("UPDATE judges SET kind = 'llm' WHERE name = 'gpt'")
        with writing(study.connection) as connection:
            apply_protocol(connection, declared)
        assert mapping_digests(study.connection)["gpt"] == before
        study.connection.execute("UPDATE judges SET kind = 'imported' WHERE name = 'gpt'")
        with writing(study.connection) as connection:
            apply_protocol(connection, declared)
        assert mapping_digests(study.connection)["gpt"] == "turned"


def test_a_backup_holds_what_is_still_in_the_log_of_an_open_study(coded: Path, tmp_path: Path) -> None:
    with CodingSession.open(coded, "Ann", protocol()) as session:
        item = session.next()
        assert item
        session.save(Act("label", item.assignment, label="ABSTAIN"))
        copy = back_up(coded, tmp_path / "copy.db")
    assert not list(tmp_path.glob(".copy*")) and oct(copy.stat().st_mode)[-3:] == "600"
    with open_study(copy) as study:
        assert verify(study).holds
        assert study.connection.execute("SELECT count(*) FROM annotations WHERE label = 'ABSTAIN'").fetchone() == (1,)
    with pytest.raises(StudyError, match="already a file"):
        back_up(coded, copy)
    with pytest.raises(StudyError, match="cannot be made"):
        back_up(coded, tmp_path / "no" / "folder.db")
