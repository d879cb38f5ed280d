"""Merging logs: the union, in any order and any number of times; forks, forgeries and double coding are refused."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from builder import protocol, seeded, small_study

from db.chain import row_hash
from db.coding import CodingSession
from db.connection import writing
from db.faults import Refused
from db.incoming import Incoming, read_logs
from db.lead import record
from db.leases import lease, recall
from db.lineage import change_protocol
from db.merge import Fork, merge, merge_copy
from db.records import Act
from db.study import Study, open_study
from db.verify import verify


def code(path: Path, coder: str, labels: str, *, note: str | None = None, place: str | None = None) -> None:
    """Give the next items these labels by their first letters; ``u`` takes the last back, ``!`` unmasks everything."""
    names = {name[0].lower(): name for name in ("ABSTAIN", "HEDGE", "WRONG")}
    with CodingSession.open(path, coder, protocol(), place=place) as session:
        for key in labels:
            if key == "u":
                session.undo()
            elif key == "!":
                session.save(Act("unmask", None))
            else:
                item = session.next()
                assert item
                session.save(Act("label", item.assignment, label=names[key], note=note))


def copies(path: Path, *names: str) -> list[Path]:
    found = [path.with_name(f"{name}.db") for name in names]
    for copy in found:
        shutil.copy(path, copy)
    return found


def state(path: Path) -> list[tuple[object, ...]]:
    """Every row of the people's logs and every annotation, by ids that do not depend on this file."""
    with open_study(path) as study:
        assert verify(study).holds, [check for check in verify(study).checks if check.broken]
        events = study.connection.execute(
            "SELECT l.uid, e.seq, e.hash, l.fence, l.confirmed_version FROM events e JOIN logs l ON l.id = e.log_id"
            " JOIN coders c ON c.id = l.coder_id WHERE c.kind <> 'lead' ORDER BY 1, 2"
        )
        folded = study.connection.execute(
            "SELECT a.uid, a.state, n.label, t.text, n.blindness, n.active_ms, n.seq FROM assignments a LEFT JOIN"
            " annotations n ON n.assignment_id = a.id LEFT JOIN texts t ON t.digest = n.note ORDER BY 1"
        )
        unmasked = study.connection.execute("SELECT coder_id, unit_id, seq FROM unmaskings ORDER BY 1, 2, 3")
        return [*events, *folded, *unmasked]


def merged(home: Path, *others: Path) -> None:
    for other in others:
        with open_study(home) as study, open_study(other) as copy:
            merge_copy(study, copy)


def test_the_union_does_not_depend_on_the_order_and_twice_changes_nothing(tmp_path: Path) -> None:
    home = small_study(tmp_path / "home.db", "A", "B", "C")
    code(home, "A", "w")
    parts = copies(home, "a", "b", "c")
    code(parts[0], "A", "hwu", note="first note")
    code(parts[1], "B", "w!aa")
    code(parts[2], "C", "hhh")
    results = []
    for number, order in enumerate(permutations(parts)):
        target = tmp_path / f"union{number}.db"
        shutil.copy(home, target)
        merged(target, *order)
        once = state(target)
        merged(target, *reversed(order))
        assert state(target) == once
        results.append(once)
    assert all(result == results[0] for result in results)
    labels = sorted(row[2] for row in results[0] if len(row) == 7 and row[2])
    # A: w, h (the second w was undone); B: w, a, a; C: h, h, h
    assert labels == ["ABSTAIN"] * 2 + ["HEDGE"] * 4 + ["WRONG"] * 2


def test_each_row_is_counted_and_the_lead_is_told(tmp_path: Path) -> None:
    home = small_study(tmp_path / "home.db", "A")
    code(home, "A", "w")
    (other,) = copies(home, "a")
    code(other, "A", "hw")
    with open_study(home) as study, open_study(other) as copy:
        found = merge_copy(study, copy)
        (log,) = [each for each in found.logs if each.coder != "lead"]
        assert (log.added, log.known, log.leases, found.assignments, found.added) == (2, 1, 0, 2, 2)
        again = merge_copy(study, copy)
        assert (again.added, again.assignments) == (0, 0)
        kinds = [row[0] for row in study.connection.execute("SELECT kind FROM events WHERE origin = 'lead'")]
        assert kinds.count("merge") == 1
        assert merge_copy(study, copy, coders=["A"]).added == 0
    code(home, "A", "w")  # the coder goes on at home, where the copy stopped
    assert len([row for row in state(home) if len(row) == 5]) == 4


def unchanged(home: Path, incoming: Incoming, match: str, kind: type[Refused] = Refused) -> None:
    before = state(home)
    with open_study(home) as study, pytest.raises(kind, match=match) as caught:
        merge(study, incoming)
    assert caught.value.hint
    assert state(home) == before


def incoming(path: Path) -> Incoming:
    with open_study(path) as study:
        return read_logs(study)


def test_two_writers_of_one_log_are_a_fork(tmp_path: Path) -> None:
    """The same coder goes on in the study and in a copy of it: neither is silently dropped."""
    home = small_study(tmp_path / "home.db", "A", "B")
    code(home, "A", "w")
    (other,) = copies(home, "a")
    code(home, "A", "h")
    code(other, "A", "a")
    unchanged(home, incoming(other), r"row 2: another label stands here at that place: a fork", Fork)
    code(other, "B", "w")
    with open_study(home) as study, open_study(other) as copy:
        assert merge_copy(study, copy, coders=["B"]).added == 1


def test_two_logs_begun_in_two_copies_are_a_fork(tmp_path: Path) -> None:
    home = small_study(tmp_path / "home.db", "A")
    (other,) = copies(home, "a")
    code(home, "A", "h")
    code(other, "A", "a")
    unchanged(home, incoming(other), "began another log here", Fork)


def test_a_row_that_was_changed_is_refused_by_its_number(tmp_path: Path) -> None:
    home = small_study(tmp_path / "home.db", "A")
    (other,) = copies(home, "a")
    code(other, "A", "hwa", note="words")
    whole = incoming(other)
    number = next(n for n, log in enumerate(whole.logs) if log.rows[0][0].kind == "label")
    log = whole.logs[number]

    def changed(rows: list[tuple[object, str]], **parts: object) -> Incoming:
        logs = list(whole.logs)
        logs[number] = replace(log, rows=rows)  # type: ignore[arg-type]
        return replace(whole, logs=logs, **parts)  # type: ignore[arg-type]

    row, stored = log.rows[1]
    forged = row._replace(body={**row.body, "label": "ABSTAIN"})
    unchanged(home, changed([log.rows[0], (forged, stored), log.rows[2]]), "row 2: was changed")
    unchanged(home, changed([log.rows[0], log.rows[2]]), "row 2: was changed")
    undo = log.rows[0][0]._replace(seq=4, kind="undo", body={"kind": "label", "target": 1})
    bad_turn = [*log.rows, (undo, row_hash(log.rows[2][1], undo))]
    unchanged(home, changed(bad_turn), "not the one in turn")
    salt = {digest: (salt, "other words") for digest, (salt, _) in whole.texts.items()}
    unchanged(home, changed(list(log.rows), texts=salt), "words of its note are missing or were changed")
    unchanged(home, replace(whole, study="another"), "belongs to another study")
    unchanged(home, replace(whole, codebooks={1: "another"}), "codebook .version 1. unknown here")


def test_what_the_lead_did_elsewhere_is_not_half_taken(tmp_path: Path) -> None:
    home = small_study(tmp_path / "home.db", "A")
    one, two = copies(home, "one", "two")
    with open_study(one) as study, writing(study.connection) as connection:
        record(connection, "unmask", {"account": "x", "what": "report"})
    unchanged(home, incoming(one), "the lead worked in that file too .unmask")
    with open_study(two) as study:
        change_protocol(study, protocol("codebook two"), change="editorial")
    unchanged(home, incoming(two), "the lead worked in that file too .protocol")


def test_an_erased_note_stays_erased(tmp_path: Path) -> None:
    home = small_study(tmp_path / "home.db", "A")
    code(home, "A", "w", note="Secret")
    (other,) = copies(home, "a")
    code(other, "A", "h", note="Later")
    with open_study(home) as study, writing(study.connection) as connection:
        connection.execute("UPDATE texts SET text = NULL, salt = ''")
    merged(home, other)
    assert sorted(str(row[3]) for row in state(home) if len(row) == 7 and row[2]) == ["Later", "None"]


# --- leases -----------------------------------------------------------------------------------------


def packed(home: Path, coder: str = "A") -> Path:
    """Lease the coder's queue to a pack, which a copy of the file stands in for here."""
    with open_study(home) as study:
        lease(study, coder, "pack-1", random_bytes=seeded(8))
    (pack,) = copies(home, "pack")
    with open_study(pack) as study, writing(study.connection) as connection:
        connection.execute("UPDATE assignments SET in_queue = 1")
    return pack


def test_a_pack_that_comes_back_ends_its_lease(tmp_path: Path) -> None:
    home = small_study(tmp_path / "home.db", "A")
    code(home, "A", "w")
    pack = packed(home)
    code(pack, "A", "hh", place="pack-1")
    with open_study(home) as study, open_study(pack) as copy:
        found = merge_copy(study, copy)
        assert [each.leases for each in found.logs if each.added] == [6]
        assert queue(study) == (6, 3)
        assert merge_copy(study, copy).added == 0
    code(home, "A", "w")
    state(home)


def queue(study: Study) -> tuple[int, int]:
    row = study.connection.execute("SELECT sum(in_queue), sum(state = 2) FROM assignments").fetchone()
    return int(row[0]), int(row[1])


def test_after_a_recall_a_pack_is_taken_unless_the_same_was_coded_here(tmp_path: Path) -> None:
    home = small_study(tmp_path / "home.db", "A")
    code(home, "A", "w")
    pack = packed(home)
    code(pack, "A", "hh", place="pack-1")
    with open_study(home) as study:
        assert recall(study, "A") == 6
    (late,) = copies(home, "late")
    merged(home, pack)
    state(home)
    code(late, "A", "a")
    unchanged(late, incoming(pack), "was coded in another place meanwhile")


def test_what_is_leased_to_a_pack_is_not_taken_from_elsewhere(tmp_path: Path) -> None:
    home = small_study(tmp_path / "home.db", "A")
    (other,) = copies(home, "a")
    packed(home)
    code(other, "A", "h")
    unchanged(home, incoming(other), "is leased to another log")
