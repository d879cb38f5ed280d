"""Packs: what is in one, what of it comes back, and every way in which one is refused."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from builder import assigned, protocol, seeded, small_study
from pack_builder import bring, code, first_key_of, labels, pack, rewrite, session, state, tamper

from db.coding import CodingSession
from db.connection import connect, is_pack, writing
from db.erasure import forget, redact
from db.errors import AnnotateError
from db.faults import DamagedStudy, IsPack, NewerStudy, NotAStudy, Refused, SessionTaken, StudyError
from db.known import set_known
from db.leases import packs_out, recall
from db.lineage import change_protocol
from db.merge import merge_copy
from db.pack import open_pack
from db.pack_check import Altered
from db.pack_make import make_pack
from db.pack_merge import Conflicts, OlderPack, merge_pack
from db.pack_read import read_pack
from db.questions import answer_question, open_questions
from db.reassigning import reassign
from db.records import Act, LabelRule
from db.repair import repair
from db.rounds import set_round_state
from db.study import create_study, open_study
from db.verify import verify, verify_pack


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return small_study(tmp_path / "home.db", "A", "B")


@pytest.fixture
def ada(home: Path) -> Path:
    """A's pack of six items, not yet coded."""
    return pack(home).path


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


# --- refusals ---------------------------------------------------------------------------------------


def refused(home: Path, path: Path, match: str, kind: type[AnnotateError] = Altered) -> AnnotateError:
    """The pack is refused with the reason and what to do, and the study is as it was."""
    before = state(home)
    with pytest.raises(kind, match=match) as caught:
        bring(home, path)
    assert caught.value.hint
    assert state(home) == before
    return caught.value


HEADS = {
    "question": "UPDATE items SET question = 'Another?' WHERE id = 1",
    "gold": "UPDATE items SET gold = '[\"1\"]' WHERE id = 1",
    "rules": "UPDATE items SET strata = '{}' WHERE id = 3",
    "response": "UPDATE responses SET text = 'Better' WHERE id = 1",
    "order": "UPDATE assignments SET position = 99 WHERE id = 1",
    "sides": "UPDATE assignments SET sides_swapped = 1 WHERE id = 1",
    "exchanged": "UPDATE units SET response_id = CASE response_id WHEN 1 THEN 2 ELSE 1 END + 10 WHERE id < 3",
    "name": "UPDATE coders SET name = 'Somebody'",
    "codebook": "UPDATE protocols SET toml = toml || ' '",
    "id": "UPDATE assignments SET uid = 'aaaaaaaaaaaa' WHERE id = 6",
    "item less": "DELETE FROM assignments WHERE id = 6",
    "code": "UPDATE pack SET code = '00'",
}


@pytest.mark.parametrize("part", HEADS)
def test_a_changed_head_is_refused(home: Path, ada: Path, part: str) -> None:
    code(ada, "w")
    tamper(ada, "PRAGMA foreign_keys = OFF", HEADS[part])
    if part == "exchanged":
        tamper(ada, "UPDATE units SET response_id = response_id - 10 WHERE id < 3")
    refused(home, ada, "its content is not what was packed")


ACTS = {
    "label": (
        """UPDATE events SET body = '{"label":"HEDGE"}' WHERE seq = 1""",
        "hash does not hold",
        Refused,
    ),
    "hash": (
        "UPDATE events SET hash = (SELECT hash FROM events WHERE seq = 2) WHERE seq = 1",
        "row 1: it is not",
        Altered,
    ),
    "code": (
        "UPDATE seals SET code = (SELECT code FROM seals WHERE seq = 2) WHERE seq = 1",
        "row 1: it is not",
        Altered,
    ),
    "no code": ("DELETE FROM seals WHERE seq = 3", "row 3: it is not sealed", Altered),
    "cut off": ("DELETE FROM events WHERE seq = 3", "acts are missing at its end", Altered),
    "cut off with code": (
        "DELETE FROM events WHERE seq = 3; DELETE FROM seals WHERE seq = 3",
        "missing at its",
        Altered,
    ),
    "gap": ("DELETE FROM events WHERE seq = 2; DELETE FROM seals WHERE seq = 2", "row 2: it is not", Altered),
    "order": (
        "UPDATE events SET seq = 9 WHERE seq = 1; UPDATE events SET seq = 1 WHERE seq = 2;"
        "UPDATE events SET seq = 2 WHERE seq = 9",
        "row 1: it is not",
        Altered,
    ),
    "time": ("UPDATE events SET utc = '1999-01-01' WHERE seq = 2", "hash does not hold", Refused),
    "level": ("UPDATE events SET blindness = 'open' WHERE seq = 1", "hash does not hold", Refused),
    "key": ("UPDATE pack SET ratchet = x'00'", "its key was changed", Altered),
    "note": ("UPDATE texts SET text = 'other words'", "words of its note", Refused),
    "log": ("UPDATE logs SET uid = 'bbbbbbbbbbbb'", "its content is not what was packed", Altered),
    "study": ("UPDATE study SET uid = 'another'", "belongs to another study", Refused),
    "coder": ("UPDATE coders SET uid = 'another'", "its content is not what was packed", Altered),
    "version": ("UPDATE protocols SET version = 7", "codebook .version 7. that this study does not know", Refused),
    "digest": ("UPDATE protocols SET digest = 'x'", "codebook .version 1. that this study does not know", Refused),
    "format": ("UPDATE pack SET format = 2", "pack of another version", NewerStudy),
    "nothing in it": ("DELETE FROM pack", "damaged", DamagedStudy),
    "no log": ("DELETE FROM logs", "damaged", DamagedStudy),
    "no table": ("DROP TABLE seals", "there is no table seals", DamagedStudy),
}


@pytest.mark.parametrize("part", ACTS)
def test_changed_acts_are_refused(home: Path, ada: Path, part: str) -> None:
    code(ada, "wah", note="n")
    statements, match, kind = ACTS[part]
    tamper(ada, "PRAGMA foreign_keys = OFF", *statements.split(";"))
    refused(home, ada, match, kind)


def test_the_tail_that_was_merged_cannot_be_taken_back(home: Path, ada: Path) -> None:
    """An older state is honest by itself, codes and all; the study remembers that it has seen more."""
    code(ada, "w")
    older = Path(shutil.copy(ada, ada.with_name("older.pack")))
    code(ada, "h")
    bring(home, ada)
    told = refused(home, older, "holds 1 acts, but this pack came back with 2 before", OlderPack)
    assert "older state" in str(told)
    code(older, "a")  # and goes on from there: two acts, the second another one
    refused(home, older, r"row 2: another label stands here at that place: a fork", Refused)


def test_another_study(home: Path, ada: Path, tmp_path: Path) -> None:
    with create_study(tmp_path / "other.db", protocol(), random_bytes=seeded(77)):
        pass
    refused(tmp_path / "other.db", ada, "belongs to another study", Refused)


def test_a_study_that_was_restored_from_before_it_was_packed_knows_its_pack_by_the_code(home: Path) -> None:
    backup = Path(shutil.copy(home, home.with_name("backup.db")))
    there = pack(home).path
    code(there, "wh", note="n")
    later = Path(shutil.copy(backup, home.with_name("later.db")))
    bring(backup, there)
    assert labels(backup)[:3] == ["WRONG", "HEDGE", None]
    once = state(backup)
    assert bring(backup, there)[0].added == 0 and state(backup) == once
    code(there, "a")
    bring(backup, there)
    assert labels(backup)[:3] == ["WRONG", "HEDGE", "ABSTAIN"]
    at_home(later)  # the coder has gone on in the restored one
    refused(later, there, "coded here, too", Conflicts)
    before = small_study(home.with_name("before.db"), "B")  # from before these items were A's
    refused(before, there, "does not know the items of this pack", Refused)


def with_key(home: Path, path: Path, change: object) -> None:
    """A coder who kept the first copy, and so its key, and writes the log anew with another program."""
    first = Path(shutil.copy(path, path.with_name("first.pack")))
    code(path, "wah")
    rewrite(path, change, key=first_key_of(first))  # type: ignore[arg-type]


FORGED = {
    "label": (lambda n, e: e["body"].update(label="MAYBE"), "'MAYBE' is not a label of this codebook"),
    "no label": (lambda n, e: e["body"].pop("label"), "None is not a label"),
    "rating": (lambda n, e: e["body"].update(rating=3), r"says more than it may .rating"),
    "more": (lambda n, e: e["body"].update(model="m1"), r"says more than it may .model"),
    "kind": (lambda n, e: e["row"].update(kind="verdict"), "'verdict' is nothing that a coder does"),
    "lead": (lambda n, e: e["row"].update(kind="merge"), "'merge' is nothing that a coder does"),
    "origin": (lambda n, e: e["row"].update(origin="lead"), "not written at the coding desk"),
    "level": (lambda n, e: e["row"].update(blindness="masked"), "not written at the coding desk"),
    "session": (lambda n, e: e["row"].update(fence=5 - n), "an earlier session"),
    "note": (lambda n, e: e["body"].update(note="words"), "note is no digest"),
    "no unit": (lambda n, e: e["row"].update(unit="dddddddddddd"), "hash does not hold|names no item"),
}


@pytest.mark.parametrize("part", FORGED)
def test_acts_that_the_codebook_or_the_desk_does_not_allow_are_refused(home: Path, ada: Path, part: str) -> None:
    change, match = FORGED[part]
    with_key(home, ada, change)
    refused(home, ada, match, Refused)


def test_an_item_that_was_not_in_the_pack_is_refused(home: Path) -> None:
    """Somebody with the key adds an item of the coder's that stayed at home, under its true id."""
    there = pack(home, batch=1).path
    with open_study(home) as study:
        assigned(study, "A", round_name="second", units=1)
        (uid,) = study.connection.execute("SELECT uid FROM assignments WHERE round = 'second'").fetchone()
    first = Path(shutil.copy(there, there.with_name("first.pack")))
    code(there, "w")
    tamper(there, "PRAGMA foreign_keys = OFF", f"UPDATE assignments SET uid = '{uid}' WHERE id = 1")
    rewrite(there, lambda n, e: e["row"].update(unit=uid), key=first_key_of(first))
    refused(home, there, "its content is not what was packed")


def test_what_is_not_detected_a_coder_who_keeps_the_first_copy_and_codes_anew(home: Path, ada: Path) -> None:
    """The threat model says so: the first copy holds the first key, and who has it can begin again."""
    first = Path(shutil.copy(ada, ada.with_name("first.pack")))
    code(ada, "www")
    code(first, "aaa")
    bring(home, first)
    assert labels(home)[:3] == ["ABSTAIN"] * 3
    refused(home, ada, "a fork", Refused)  # only where the other state was merged before does it show


# --- conflicts --------------------------------------------------------------------------------------


def at_home(home: Path, label: str = "HEDGE", coder: str = "A") -> None:
    with CodingSession.open(home, coder, protocol()) as desk:
        item = desk.next()
        assert item
        desk.save(Act("label", item.assignment, label=label))


def test_after_a_recall_a_pack_is_taken_in_unless_the_same_was_coded_here(home: Path, ada: Path) -> None:
    code(ada, "ww")
    with open_study(home) as study:
        assert recall(study, "A") == 6
    late = Path(shutil.copy(home, home.with_name("late.db")))
    bring(home, ada)
    assert labels(home)[:2] == ["WRONG", "WRONG"]
    at_home(late)
    told = refused(late, ada, "coded here, too", Conflicts)
    assert isinstance(told, Conflicts) and [each.item for each in told.conflicts] == ["q1"]
    assert labels(late)[:2] == ["HEDGE", None]


def test_every_conflict_is_listed(home: Path, ada: Path) -> None:
    code(ada, "www")
    with open_study(home) as study:
        recall(study, "A")
    at_home(home)
    at_home(home)
    told = refused(home, ada, "and 1 more", Conflicts)
    assert isinstance(told, Conflicts) and len(told.conflicts) == 2


def test_what_was_undone_here_is_no_conflict(home: Path, ada: Path) -> None:
    """The way out: its coder takes back what was coded here, and the pack comes in."""
    code(ada, "w")
    with open_study(home) as study:
        recall(study, "A")
    at_home(home)
    refused(home, ada, "coded here, too", Conflicts)
    with CodingSession.open(home, "A", protocol()) as desk:
        desk.undo()
    bring(home, ada)
    assert labels(home)[0] == "WRONG" and state(home)


def test_a_pack_that_came_back_and_went_on_does_not_overwrite_what_was_coded_here(home: Path, ada: Path) -> None:
    code(ada, "w")
    bring(home, ada)
    at_home(home, "HEDGE")  # the second item, now at home
    code(ada, "a")  # and in the pack
    refused(home, ada, "coded here, too", Conflicts)
    assert labels(home)[:2] == ["WRONG", "HEDGE"]


def test_two_packs_of_the_same_items_are_a_conflict_whichever_comes_first(home: Path, ada: Path) -> None:
    code(ada, "w")
    with open_study(home) as study:
        recall(study, "A")
    second = pack(home, name="second.pack").path
    refused(home, ada, "is in another pack now", Conflicts)
    code(second, "h")
    other = Path(shutil.copy(home, home.with_name("other.db")))
    bring(home, second)
    refused(home, ada, "was coded in another pack", Conflicts)
    with open_study(other) as study:
        recall(study, "A")
    bring(other, ada)
    refused(other, second, "was coded in another pack", Conflicts)
    assert (labels(home)[0], labels(other)[0]) == ("HEDGE", "WRONG")


def test_a_copy_coded_meanwhile_is_refused_before_and_after_the_pack_comes_back(home: Path) -> None:
    copy = Path(shutil.copy(home, home.with_name("copy.db")))
    there = pack(home).path
    code(there, "w")
    at_home(copy)
    with open_study(home) as study, open_study(copy, read_only=True) as other:
        with pytest.raises(Refused, match="is leased to another log"):
            merge_copy(study, other)
        bring(home, there)
        with pytest.raises(Refused, match="was coded in a pack meanwhile"):
            merge_copy(study, other)
    assert labels(home)[0] == "WRONG"


# --- what else happens meanwhile --------------------------------------------------------------------


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
