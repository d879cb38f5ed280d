"""What else happens while a pack is out: forgetting, unmasking, repair, reassignment."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from builder import protocol
from pack_builder import bring, code, labels, pack, refused, session, tamper

from db.coding import CodingSession
from db.erasure import forget, redact
from db.faults import DamagedStudy, IsPack, Refused
from db.leases import recall
from db.pack_merge import merge_pack
from db.pack_read import read_pack
from db.reassigning import reassign
from db.records import Act
from db.repair import repair
from db.study import open_study
from db.verify import verify


def test_a_coder_who_is_forgotten_and_a_record_that_is_redacted_meanwhile_stay_so(home: Path, ada: Path) -> None:
    code(ada, "w", note="private words")
    there = pack(home, "B").path
    code(there, "hh", note="quotes the answer")
    with open_study(home) as study:
        forget(study, "A")
        (unit,) = study.connection.execute("SELECT public_id FROM units ORDER BY id LIMIT 1").fetchone()
        redact(study, unit)
    bring(home, ada, there)
    with open_study(home) as study:
        words = study.connection.execute("SELECT text FROM texts ORDER BY text").fetchall()
        assert words == [(None,), (None,), ("quotes the answer",)] and verify(study).holds
    assert labels(home, "B")[:2] == ["HEDGE", "HEDGE"]


def test_a_note_from_a_pack_is_erased_with_its_unit(home: Path, ada: Path) -> None:
    code(ada, "w", note="quotes the answer")
    bring(home, ada)
    with open_study(home) as study:
        (unit,) = study.connection.execute("SELECT public_id FROM units ORDER BY id LIMIT 1").fetchone()
        assert redact(study, unit).texts == 1
        assert study.connection.execute("SELECT text FROM texts").fetchall() == [(None,)]


LEVELS = (
    "SELECT n.blindness FROM annotations n JOIN assignments a ON a.id = n.assignment_id WHERE n.label IS NOT NULL"
    " ORDER BY a.position"
)


def test_what_its_coder_has_unmasked_here_stays_open_there(home: Path) -> None:
    with CodingSession.open(home, "A", protocol()) as desk:
        item = desk.next()
        assert item
        desk.save(Act("unmask", item.assignment))
    there = pack(home).path
    lie = Path(shutil.copy(there, there.with_name("lie.pack")))
    tamper(lie, "DELETE FROM unmaskings")
    code(lie, "ww")
    refused(home, lie, "its content is not what was packed")
    code(there, "ww")
    bring(home, there)
    with open_study(home) as study:
        assert study.connection.execute(LEVELS).fetchall() == [("open",), ("sealed",)]


def test_who_unmasks_in_a_pack_is_open_from_then_on(home: Path, ada: Path) -> None:
    with session(ada) as desk:
        first, second = desk.item(1), desk.item(2)
        assert first and second
        desk.save(Act("unmask", second.assignment))
        desk.save(Act("label", first.assignment, label="WRONG"))
        desk.save(Act("label", second.assignment, label="WRONG"))
    bring(home, ada)
    with open_study(home) as study:
        assert study.connection.execute(LEVELS).fetchall() == [("sealed",), ("open",)] and verify(study).holds


def test_a_view_in_the_place_of_a_table_is_refused_before_it_is_read(home: Path, ada: Path) -> None:
    endless = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS seq, 'x' AS code FROM n"
    tamper(ada, "DROP TABLE seals", f"CREATE VIEW seals AS {endless}")
    refused(home, ada, "there is no table seals", DamagedStudy)


def test_a_study_that_was_repaired_after_a_merge_holds(home: Path, ada: Path) -> None:
    code(ada, "wha")
    bring(home, ada)
    with open_study(home) as study:
        study.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = home.read_bytes()
    assert content.count(b'{"label":"HEDGE"}') >= 1
    home.write_bytes(content.replace(b'{"label":"HEDGE"}', b'{"label":"HEDGY"}'))
    for name in ("home.db-wal", "home.db-shm"):
        home.with_name(name).unlink(missing_ok=True)
    repair(home, home.with_name("new.db"))
    with open_study(home.with_name("new.db")) as study:
        assert verify(study).holds, [check for check in verify(study).checks if check.broken]
        merge_pack(study, read_pack(ada), lambda text, name: protocol())
        assert verify(study).holds
    assert labels(home.with_name("new.db"))[:3] == ["WRONG", "HEDGE", "ABSTAIN"]


def test_a_pack_is_not_repaired_and_one_that_is_cut_off_is_asked_for_again(home: Path, ada: Path) -> None:
    code(ada, "wh")
    with pytest.raises(IsPack, match=r"packs are not repaired\. Ask for the file again"):
        repair(ada, home.with_name("new.db"))
    assert not home.with_name("new.db").exists()
    ada.write_bytes(ada.read_bytes()[:50_000])
    with pytest.raises(DamagedStudy, match="Ask for the file again; if it is lost, 'annotate recall'") as told:
        read_pack(ada)
    assert "backups" not in str(told.value)


def test_what_is_all_in_a_pack_is_given_to_another_coder_once_it_is_recalled(home: Path, ada: Path) -> None:
    code(ada, "wh")
    with open_study(home) as study:
        with pytest.raises(
            Refused, match=r"nothing to do that Cyd could take over\. 6 are in a pack: 'annotate recall'"
        ):
            reassign(study, "A", "Cyd")
        recall(study, "A")
        assert reassign(study, "A", "Cyd").moved == 6
