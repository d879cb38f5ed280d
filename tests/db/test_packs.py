"""Packs: what is in one, what of it comes back, and what it is at its coder's."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from builder import assigned, protocol, seeded, small_study
from pack_builder import bring, code, labels, pack, session, state, tamper

from db.coding import CodingSession
from db.connection import connect, is_pack, writing
from db.errors import AnnotateError
from db.faults import IsPack, NotAStudy, Refused, SessionTaken, StudyError
from db.known import set_known
from db.leases import packs_out
from db.lineage import change_protocol
from db.pack import open_pack
from db.pack_make import make_pack
from db.pack_merge import merge_pack
from db.pack_read import read_pack
from db.questions import answer_question, open_questions
from db.records import Act, LabelRule
from db.rounds import set_round_state
from db.study import open_study
from db.verify import verify, verify_pack

# --- there and back ---------------------------------------------------------------------------------


def test_what_is_coded_in_a_pack_comes_back_sealed_and_ends_its_lease(home: Path, ada: Path) -> None:
    assert stat.S_IMODE(ada.stat().st_mode) == 0o600 and is_pack(ada) and not is_pack(home)
    with open_study(home) as study:
        assert [(each.coder, each.assignments) for each in packs_out(study)] == [("A", 6)]
    code(ada, "wwhu", note="why")
    assert not list(ada.parent.glob("A.pack-*"))  # one file, to be sent as it lies
    (merged,) = bring(home, ada)
    assert [(log.added, log.known, log.leases) for log in merged.logs] == [(4, 0, 6)]
    assert labels(home) == ["WRONG", "WRONG", None, None, None, None]
    with open_study(home) as study:
        assert packs_out(study) == ()
        levels = study.connection.execute("SELECT DISTINCT blindness FROM annotations WHERE label IS NOT NULL")
        assert levels.fetchall() == [("sealed",)]
    with CodingSession.open(home, "A", protocol()) as desk:
        assert desk.progress.left == 4


def test_a_pack_is_whole_between_any_two_acts(home: Path, ada: Path) -> None:
    """Whoever closes the lid and sends the file sends everything: nothing waits in a log beside it."""
    desk = session(ada)
    for number in range(1, 4):
        item = desk.next()
        assert item
        desk.save(Act("label", item.assignment, label="WRONG"))
        sent = Path(shutil.copy(ada, ada.with_name(f"sent{number}.pack")))
        assert len(read_pack(sent).rows) == number
    desk.close()


def test_merging_twice_changes_nothing_and_a_fuller_state_brings_the_rest(home: Path, ada: Path) -> None:
    code(ada, "w")
    bring(home, ada)
    once = state(home)
    assert bring(home, ada)[0].added == 0 and state(home) == once
    code(ada, "hs?")
    assert bring(home, ada)[0].added == 3
    assert labels(home) == ["WRONG", "HEDGE", None, None, None, None]


def test_a_pack_without_acts_ends_its_lease_too(home: Path, ada: Path) -> None:
    assert [log.leases for log in bring(home, ada)[0].logs] == [6]
    assert [log.leases for log in bring(home, ada)[0].logs] == [0]
    with CodingSession.open(home, "A", protocol()) as desk:
        assert desk.progress.left == 6


def test_while_it_is_out_its_items_are_coded_there_alone(home: Path, ada: Path) -> None:
    with CodingSession.open(home, "A", protocol()) as desk:
        assert desk.next() is None and desk.progress.total == 0
    with pytest.raises(Refused, match="nothing to code here in an open round that is not in a pack"):
        pack(home, name="again.pack")
    assert not ada.with_name("again.pack").exists()


def test_a_pack_holds_what_is_still_to_do_and_another_one_what_is_left_then(home: Path) -> None:
    with CodingSession.open(home, "A", protocol()) as desk:
        item = desk.next()
        assert item
        desk.save(Act("label", item.assignment, label="HEDGE"))
    first = pack(home)
    assert first.items == 5
    code(first.path, "ww")
    bring(home, first.path)
    second = pack(home, name="second.pack")
    assert second.items == 3
    code(second.path, "aaa")
    bring(home, second.path, first.path)
    assert labels(home) == ["HEDGE", "WRONG", "WRONG", "ABSTAIN", "ABSTAIN", "ABSTAIN"]


def test_the_desk_does_in_a_pack_what_it_does_in_a_study(home: Path, ada: Path) -> None:
    with session(ada) as desk:
        items = [desk.item(n) for n in range(1, 7)]
        # Questions 2 stands in category FEQ, where the codebook does not expect CORRECT
        assert [item.impossible for item in items if item] == [(), (), ("CORRECT",), ("CORRECT",), (), ()]
        first, third = items[0], items[2]
        assert first and third and first.question == "Question 1?" and first.gold == ("42",)
        with pytest.raises(Refused, match="say why in a note"):
            desk.save(Act("label", third.assignment, label="CORRECT"))
        desk.save(Act("label", third.assignment, label="CORRECT", note="it is"))
        desk.save(Act("label", first.assignment, label="WRONG"))
        desk.save(Act("label", first.assignment, label="HEDGE"))
        desk.undo()
        desk.undo()
        desk.redo()
        desk.set_draft(first.assignment, "half a no")
        assert desk.annotation(first.assignment).label == "WRONG" and desk.blindness == "sealed"
        with pytest.raises(SessionTaken):
            session(ada)
    with session(ada) as desk:
        assert desk.draft(first.assignment) == "half a no"
        assert (desk.progress.done, desk.progress.left) == (2, 4)
        undone = desk.undo()
        assert undone and undone.annotation and undone.annotation.assignment == first.assignment
    bring(home, ada)
    assert labels(home) == [None, None, "CORRECT", None, None, None]


def test_a_session_that_was_taken_over_saves_nothing_more(home: Path, ada: Path) -> None:
    with session(ada) as one:
        item = one.next()
        assert item
        with session(ada, take_over=True) as two:
            with pytest.raises(Refused, match="took over"):
                one.save(Act("label", item.assignment, label="WRONG"))
            two.save(Act("label", item.assignment, label="HEDGE"))
    bring(home, ada)
    assert labels(home)[0] == "HEDGE"


def test_a_question_travels_back_and_its_answer_into_the_next_pack(home: Path, ada: Path) -> None:
    code(ada, "?")
    bring(home, ada)
    with open_study(home) as study:
        (question,) = open_questions(study)
        assert (question.asked, question.item) == ("What about this?", "q1")
        answer_question(study, question.assignment, "Take it as said.")
    second = pack(home, name="second.pack").path
    with session(second) as desk:
        item = desk.next()
        assert item and item.answer == "Take it as said."
    bring(home, second)


def test_a_skip_here_and_a_skip_there_are_two(home: Path) -> None:
    with CodingSession.open(home, "A", protocol()) as desk:
        item = desk.next()
        assert item
        desk.save(Act("skip", item.assignment, reason="unclear"))
    there = pack(home).path
    code(there, "s")
    bring(home, there)
    with open_study(home) as study:
        assert study.connection.execute("SELECT max(state) FROM assignments").fetchone() == (3,)  # for good


def test_the_sides_of_a_pair_stand_in_a_pack_as_they_are_shown(tmp_path: Path) -> None:
    """Which text came first in the source is not in the file; the label means the same text when it is back."""
    names = (LabelRule("FIRST", "1", "", ""), LabelRule("SECOND", "2", "", ""))
    pairs = protocol("pairs", labels=names, pairwise=True, impossible=())
    home = small_study(tmp_path / "home.db", "A", codebook=pairs)
    with open_study(home) as study, writing(study.connection) as connection:
        connection.execute("UPDATE responses SET text_b = 'other ' || id")
        connection.execute("UPDATE assignments SET sides_swapped = position % 2")
        there = home.with_name("A.pack")
        make_pack(study, "A", there, pairs, random_bytes=seeded(1))
    with session(there, pairs) as desk:
        shown = {}
        for label in ("FIRST", "FIRST", "SECOND", "SECOND"):
            item = desk.next()
            assert item and not item.sides_swapped
            shown[item.assignment] = item.text if label == "FIRST" else item.text_b
            desk.save(Act("label", item.assignment, label=label))
            assert desk.annotation(item.assignment).label == label
        desk.undo()
        desk.redo()
    with open_study(home) as study:
        merge_pack(study, read_pack(there), lambda text, name: pairs)
        assert verify(study).holds
        meant = study.connection.execute(
            "SELECT a.uid, CASE n.label WHEN 'FIRST' THEN r.text ELSE r.text_b END FROM annotations n"
            " JOIN assignments a ON a.id = n.assignment_id JOIN units u ON u.id = a.unit_id"
            " JOIN responses r ON r.id = u.response_id"
        )
        assert dict(meant.fetchall()) == shown
    with CodingSession.open(home, "A", pairs) as desk:  # and it is shown at home as it was chosen there
        assert [desk.annotation(uid).label for uid in shown] == ["FIRST", "FIRST", "SECOND", "SECOND"]


def test_a_change_of_the_codebook_that_was_not_confirmed_is_confirmed_in_the_pack(home: Path) -> None:
    with CodingSession.open(home, "A", protocol()):
        pass
    second = protocol("codebook two")
    with open_study(home) as study:
        change_protocol(study, second, change="editorial")
        there = home.with_name("A.pack")
        make_pack(study, "A", there, second, random_bytes=seeded(1))
    with session(there, second) as desk:
        pending = desk.pending_confirmation()
        assert pending and (pending.confirmed.version, pending.current.version) == (1, 2)
        item = desk.next()
        assert item
        with pytest.raises(Refused, match="confirm the change"):
            desk.save(Act("label", item.assignment, label="WRONG"))
        desk.save(Act("confirm", None))
        desk.save(Act("label", item.assignment, label="WRONG"))
    known = {"codebook one": protocol(), "codebook two": second}
    with open_study(home) as study:
        assert merge_pack(study, read_pack(there), lambda text, name: known[text]).added == 2


def test_a_codebook_that_changes_meanwhile_makes_what_it_touches_stale(home: Path, ada: Path) -> None:
    code(ada, "wh")
    with open_study(home) as study:
        change_protocol(study, protocol("codebook two"), change="substantive", touches={"labels": ["WRONG"]})
    bring(home, ada)
    with open_study(home) as study:
        assert study.connection.execute("SELECT label, stale FROM annotations ORDER BY label").fetchall() == [
            ("HEDGE", 0),
            ("WRONG", 1),
        ]


# --- what is packed ---------------------------------------------------------------------------------


def test_training_stays_where_its_known_labels_are(tmp_path: Path) -> None:
    home = small_study(tmp_path / "home.db", "A")
    with open_study(home) as study:
        assigned(study, "B", round_name="training")
        units = [row[0] for row in study.connection.execute("SELECT public_id FROM units")]
        set_known(study, "training", dict.fromkeys(units, "WRONG"))
        assigned(study, "B", units=2)
    made = pack(home, "B")
    assert (made.items, made.training) == (2, 6)
    with pytest.raises(Refused, match="is of kind training: it cannot be packed"):
        pack(home, "B", name="other.pack", rounds=["training"])


def test_only_a_round_or_a_batch(home: Path) -> None:
    with open_study(home) as study:
        assigned(study, "A", round_name="second", units=2)
    assert pack(home, "A", rounds=["second"]).items == 2
    assert pack(home, "A", name="b.pack", batch=1).items == 6
    for options, match in (({"rounds": ["none"]}, "no round 'none'"), ({"batch": 99}, "no batch 99")):
        with pytest.raises(Refused, match=match):
            pack(home, "B", **options)
    with open_study(home) as study:
        set_round_state(study, "main", "closed")
    with pytest.raises(Refused, match="nothing to code here"):
        pack(home, "B")
    with pytest.raises(Refused, match="no coder 'Nobody'"):
        pack(home, "Nobody")


def test_a_pack_that_cannot_be_written_leases_nothing(home: Path) -> None:
    (home.parent / "A.pack").write_text("something else")
    with pytest.raises(StudyError, match="already a file"):
        pack(home)
    with pytest.raises(StudyError, match="cannot be written"):
        pack(home, name="no/such/folder.pack")
    with open_study(home) as study:
        assert packs_out(study) == ()


def test_no_command_takes_a_pack_for_a_study_or_a_study_for_a_pack(home: Path, ada: Path) -> None:
    with pytest.raises(IsPack, match="is a pack, not a study"):
        open_study(ada)
    with pytest.raises(NotAStudy, match="is a study, not a pack"):
        open_pack(home)
    with closing(connect(home)):
        pass
    (ada.parent / "x.pack").write_bytes(b"nothing")
    with pytest.raises(AnnotateError, match="is not a study file"):
        open_pack(ada.parent / "x.pack")


# --- at the coder's, without the study --------------------------------------------------------------


def test_a_pack_proves_itself(home: Path, ada: Path) -> None:
    code(ada, "wh", note="n")
    with open_pack(ada, read_only=True) as opened:
        assert verify_pack(opened.connection).holds
    for statement, name in (
        ("UPDATE items SET question = 'x' WHERE id = 1", "content"),
        ("UPDATE events SET utc = 'x' WHERE seq = 1", "acts"),
        ("DELETE FROM seals WHERE seq = 2", "acts"),
        ("UPDATE texts SET text = 'x'", "notes"),
        ("UPDATE annotations SET label = 'HEDGE'", "annotations"),
    ):
        broken = Path(shutil.copy(ada, ada.with_name("broken.pack")))
        tamper(broken, statement)
        with open_pack(broken, read_only=True) as opened:
            wrong = [check.name for check in verify_pack(opened.connection).checks if check.broken]
        assert name in wrong, statement


def test_a_pack_of_an_earlier_format_is_brought_up_and_stays_a_pack(
    home: Path, ada: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import db.connection
    import db.migrations
    import db.pack
    import db.schema

    later = ((2, "m_next", ("CREATE TABLE next_thing (x INTEGER) STRICT",)),)
    monkeypatch.setattr(db.migrations, "MIGRATIONS", (*db.migrations.MIGRATIONS, *later))
    for module in (db.connection, db.schema, db.pack):
        monkeypatch.setattr(module, "LATEST", 2)
    monkeypatch.setattr(db.schema.migrate, "__defaults__", (2,))
    with open_pack(ada) as opened:
        assert opened.connection.execute("SELECT count(*) FROM next_thing").fetchone() == (0,)
    assert is_pack(ada)
    code(ada, "w")
    assert len(read_pack(ada).rows) == 1


def test_the_study_finds_a_log_that_was_cut_after_the_merge(home: Path, ada: Path) -> None:
    code(ada, "wh")
    bring(home, ada)
    with closing(sqlite3.connect(home)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM annotations WHERE seq = 2")
        connection.execute("UPDATE assignments SET state = 0 WHERE id NOT IN (SELECT assignment_id FROM annotations)")
        connection.execute("DELETE FROM events WHERE origin = 'terminal' AND seq = 2")
        connection.commit()
    with open_study(home) as study:
        broken = [check.name for check in verify(study).checks if check.broken]
    assert broken == ["packs that came back"]


def test_a_pack_of_another_machine_names_no_person_but_its_coder(home: Path, ada: Path) -> None:
    content = json.dumps(dict(read_pack(ada).content))
    assert '"A"' in content and '"B"' not in content
