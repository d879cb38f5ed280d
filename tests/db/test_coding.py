"""A coder's session: what it serves, what it refuses, and that what it said is saved is saved."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from builder import assigned, protocol, rated, small_study

from db.blindness import record_lead_view
from db.coding import CodingSession
from db.connection import writing
from db.faults import Fenced, ProtocolChanged, Refused, SessionTaken, StudyError
from db.lineage import change_protocol
from db.records import Act, Impossible
from db.rounds import reopen_unit, set_round_state
from db.study import open_study


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return small_study(tmp_path / "study.db", "A", "B")


@pytest.fixture
def session(path: Path) -> Iterator[CodingSession]:
    with CodingSession.open(path, "A", protocol()) as opened:
        yield opened


def label(session: CodingSession, position: int, name: str = "WRONG", **more: object) -> str:
    item = session.item(position)
    assert item is not None
    session.save(Act("label", item.assignment, label=name, **more))  # type: ignore[arg-type]
    return item.assignment


def events(path: Path) -> list[tuple[object, ...]]:
    with open_study(path) as study:
        return study.connection.execute("SELECT seq, kind, body, fence FROM events ORDER BY log_id, seq").fetchall()


# --- order and progress -----------------------------------------------------------------------------


def test_the_queue_is_served_in_order_and_each_save_is_one_event(session: CodingSession, path: Path) -> None:
    served, after = [], None
    while (item := session.next(after)) is not None:
        served.append(item.position)
        saved = session.save(Act("label", item.assignment, label="WRONG", active_ms=1200))
        assert saved.seq == len(served) and saved.annotation is not None and saved.annotation.label == "WRONG"
        after = item.assignment
    assert served == [1, 2, 3, 4, 5, 6]
    progress = session.progress
    assert (progress.total, progress.done, progress.skipped, progress.left) == (6, 6, 0, 0)
    assert [row[1] for row in events(path)[-6:]] == ["label"] * 6


def test_next_goes_on_from_where_the_coder_is_and_then_from_the_start(session: CodingSession) -> None:
    label(session, 1)
    jumped = session.item(5)
    assert jumped is not None
    session.save(Act("label", jumped.assignment, label="HEDGE"))
    following = session.next(jumped.assignment)
    assert following is not None and following.position == 6
    label(session, 6)
    wrapped = session.next(following.assignment)
    assert wrapped is not None and wrapped.position == 2
    assert session.next() == wrapped
    assert session.item(99) is None


def test_a_skipped_item_returns_once_at_the_end_and_then_is_skipped_for_good(session: CodingSession) -> None:
    first = session.next()
    assert first is not None
    session.save(Act("skip", first.assignment, reason="unclear"))
    assert session.progress.left == 6 and session.progress.skipped == 0
    for position in range(2, 7):
        label(session, position)
    again = session.next()
    assert again == first
    session.save(Act("skip", first.assignment, reason="my own words"))
    assert session.next() is None
    assert (session.progress.skipped, session.progress.left) == (1, 0)
    annotation = session.annotation(first.assignment)
    assert (annotation.skip_reason, annotation.skip_count) == ("my own words", 2)
    session.undo()
    assert session.next() == first and session.annotation(first.assignment).skip_reason == "unclear"


def test_seeking_neighbours_open_flagged_skipped_and_noted_items(session: CodingSession) -> None:
    marks = [label(session, 1), label(session, 2)]
    third, fourth = session.item(3), session.item(4)
    assert third and fourth
    session.save(Act("flag", third.assignment, flag="question", note="what is meant?"))
    session.save(Act("skip", fourth.assignment, reason="unclear"))

    def at(what: str | None, after: str | None = None, backwards: bool = False) -> int | None:
        found = session.seek(what, after, backwards=backwards)  # type: ignore[arg-type]
        return None if found is None else found.position

    assert at("flagged") == 3 and at("noted") == 3 and at("skipped") == 4
    assert at("open", marks[0]) == 3 and at("open", fourth.assignment) == 5
    assert at(None, fourth.assignment, backwards=True) == 3 and at(None, backwards=True) == 6
    assert at("done", fourth.assignment, backwards=True) == 2
    assert at("flagged", third.assignment) is None
    page = session.queue_page(1, 3)
    assert [(e.position, e.state, e.flagged, e.label) for e in page] == [
        (2, "done", False, "WRONG"),
        (3, "open", True, None),
        (4, "skipped", False, None),
    ]
    assert session.progress.flagged == 1


def test_the_running_count_equals_a_fresh_count(session: CodingSession, path: Path) -> None:
    first = session.item(1)
    assert first
    steps = [
        lambda: label(session, 1),
        lambda: session.save(Act("flag", first.assignment, flag="technical")),
        lambda: session.save(Act("skip", first.assignment, reason="unclear")),
        session.undo,
        lambda: session.save(Act("flag", first.assignment, flag="technical", on=False)),
        session.undo,
        session.undo,
        session.redo,
        lambda: label(session, 2),
    ]
    assert session.progress.total == 6
    for step in steps:
        step()
        running = session.progress
        session._counts = None
        assert running == session.progress


# --- undo -------------------------------------------------------------------------------------------


def test_undo_reaches_across_items_and_restarts_and_redo_back(path: Path) -> None:
    with CodingSession.open(path, "A", protocol()) as session:
        first, second = label(session, 1), label(session, 2, "HEDGE")
    with CodingSession.open(path, "A", protocol()) as session:
        undone = session.undo()
        assert undone and undone.annotation and (undone.annotation.assignment, undone.undone_kind) == (second, "label")
        undone = session.undo()
        assert undone and undone.annotation and undone.annotation.assignment == first
        assert session.undo() is None
    with CodingSession.open(path, "A", protocol()) as session:
        redone = session.redo()
        assert redone and redone.annotation and redone.annotation.label == "WRONG"
        label(session, 3)
        assert session.redo() is None  # a new act leaves nothing to redo
        assert session.annotation(second).label is None and session.annotation(first).label == "WRONG"
    kinds = [row[1] for row in events(path) if row[1] not in {"coder"}]
    assert kinds[-6:] == ["label", "label", "undo", "undo", "redo", "label"]


def test_undo_of_a_note_and_a_flag(session: CodingSession) -> None:
    item = session.next()
    assert item
    session.save(Act("note", item.assignment, note="first"))
    session.save(Act("note", item.assignment, note="second"))
    session.save(Act("flag", item.assignment, flag="question"))
    session.undo()
    assert session.annotation(item.assignment).flags == ()
    session.undo()
    assert session.annotation(item.assignment).note == "first"
    session.save(Act("note", item.assignment, note=""))
    assert session.annotation(item.assignment).note is None
    session.undo()
    assert session.annotation(item.assignment).note == "first"


# --- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (Act("label", "X", label="MAYBE"), "'MAYBE' is not a label of this codebook"),
        (Act("label", "X", label=None), "is not a label"),
        (Act("label", "X", label="WRONG", rating=50), "No rating is asked for"),
        (Act("rating", "X", rating=50), "asks for no rating"),
        (Act("note", "X"), "needs its text"),
        (Act("flag", "X", flag="Bad Flag"), "one lower-case word"),
        (Act("skip", "X", reason=" "), "needs a reason"),
        (Act("dance", "X"), "nothing that a coder does"),
        (Act("label", None, label="WRONG"), "needs an assignment"),
        (Act("label", "nobody", label="WRONG"), "not in this coder's queue"),
    ],
)
def test_an_act_that_makes_no_sense_is_refused_and_leaves_no_trace(
    session: CodingSession, path: Path, act: Act, reason: str
) -> None:
    item = session.next()
    assert item
    before = events(path)
    given = act._replace(assignment=item.assignment) if act.assignment == "X" else act
    with pytest.raises(Refused, match=reason):
        session.save(given)
    assert events(path) == before
    assert session.study.connection.execute("SELECT count(*) FROM texts").fetchone() == (0,)


def test_a_label_that_cannot_occur_needs_a_note_now_or_before(session: CodingSession) -> None:
    items = [session.item(position) for position in (1, 3, 4)]  # q1 HNQ, q2 FEQ twice
    assert all(items)
    hnq, feq, feq2 = [item for item in items if item]
    assert hnq.impossible == () and feq.impossible == ("CORRECT",)
    session.save(Act("label", hnq.assignment, label="CORRECT"))
    with pytest.raises(Refused, match=r"CORRECT should not occur here.*nothing to be right about"):
        session.save(Act("label", feq.assignment, label="CORRECT"))
    with pytest.raises(Refused, match="should not occur"):
        session.save(Act("label", feq.assignment, label="CORRECT", note="  "))
    session.save(Act("label", feq.assignment, label="CORRECT", note="it does exist"))
    session.save(Act("note", feq2.assignment, note="it does exist"))
    session.save(Act("label", feq2.assignment, label="CORRECT"))
    session.save(Act("note", feq2.assignment, note=""))
    with pytest.raises(Refused, match="should not occur"):
        session.save(Act("label", feq2.assignment, label="CORRECT"))


def test_ratings_follow_the_codebook(tmp_path: Path) -> None:
    path = small_study(tmp_path / "r.db", "A", codebook=rated())
    with CodingSession.open(path, "A", rated()) as session:
        item = session.next()
        assert item
        for act, reason in [
            (Act("label", item.assignment, label="CORRECT"), "asks for a rating from 0 to 100"),
            (Act("label", item.assignment, label="CORRECT", rating=101), "from 0 to 100"),
            (Act("label", item.assignment, label="CORRECT", rating=72), "steps of 5"),
            (Act("label", item.assignment, label="WRONG", rating=70), "No rating is asked for after WRONG"),
            (Act("rating", item.assignment, rating=70), "give the label first"),
        ]:
            with pytest.raises(Refused, match=reason):
                session.save(act)
        session.save(Act("label", item.assignment, label="CORRECT", rating=75))
        session.save(Act("rating", item.assignment, rating=100))
        annotation = session.annotation(item.assignment)
        assert (annotation.label, annotation.rating) == ("CORRECT", 100)
        session.save(Act("label", item.assignment, label="WRONG"))
        assert session.annotation(item.assignment).rating is None
        session.undo()
        assert session.annotation(item.assignment).rating == 100


def test_a_codebook_with_a_rating_only(tmp_path: Path) -> None:
    codebook = rated(labels=(), rating_only=True)
    path = small_study(tmp_path / "r.db", "A", codebook=codebook)
    with CodingSession.open(path, "A", codebook) as session:
        item = session.next()
        assert item
        session.save(Act("rating", item.assignment, rating=0))
        assert session.progress.done == 1
        with pytest.raises(Refused, match="it asks for a rating only"):
            session.save(Act("label", item.assignment, label="WRONG"))


def test_a_pair_is_stored_in_terms_of_the_texts_and_read_in_terms_of_the_sides(tmp_path: Path) -> None:
    from db.records import LabelRule

    names = ("FIRST", "SECOND", "TIE")
    codebook = protocol(
        "pairs", labels=tuple(LabelRule(n, n[0].lower(), n, n) for n in names), pairwise=True, impossible=()
    )
    path = small_study(tmp_path / "p.db", "A", codebook=codebook)
    with open_study(path) as study:
        study.connection.execute("UPDATE assignments SET sides_swapped = 1 WHERE position = 1")
    with CodingSession.open(path, "A", codebook) as session:
        swapped, plain = session.item(1), session.item(2)
        assert swapped and plain and swapped.sides_swapped and not plain.sides_swapped
        for item in (swapped, plain):
            saved = session.save(Act("label", item.assignment, label="FIRST"))
            assert saved.annotation and saved.annotation.label == "FIRST"
        assert [entry.label for entry in session.queue_page(0, 2)] == ["FIRST", "FIRST"]
        session.save(Act("label", session.item(3).assignment, label="TIE"))  # type: ignore[union-attr]
    with open_study(path) as study:
        stored = study.connection.execute("SELECT label FROM annotations ORDER BY assignment_id").fetchall()
    assert stored == [("SECOND",), ("FIRST",), ("TIE",)]


def test_a_closed_round_takes_flags_only(path: Path, session: CodingSession) -> None:
    done = label(session, 1)
    with open_study(path) as study:
        set_round_state(study, "main", "closed")
    for act in (Act("label", done, label="HEDGE"), Act("note", done, note="n"), Act("skip", done, reason="unclear")):
        with pytest.raises(Refused, match="round is closed"):
            session.save(act)
    with pytest.raises(Refused, match="round is closed"):
        session.undo()
    session.save(Act("flag", done, flag="question"))
    assert session.next() is None and session.progress.total == 0
    with open_study(path) as study:
        set_round_state(study, "main", "open")
    assert session.progress.done == 1
    undone = session.undo()
    assert undone and undone.undone_kind == "flag"


def test_an_adjudicated_item_is_closed_to_its_coders_until_it_is_reopened(path: Path) -> None:
    with open_study(path) as study:
        assigned(study, "judge", round_name="adjudication", units=2, role="adjudicator")
        unit = study.connection.execute("SELECT public_id FROM units ORDER BY id LIMIT 1").fetchone()[0]
    with CodingSession.open(path, "A", protocol()) as session, CodingSession.open(path, "judge", protocol()) as final:
        mine = label(session, 1)
        decided = label(final, 1, "HEDGE")
        label(final, 2, "HEDGE")
        with pytest.raises(Refused, match="was adjudicated"):
            session.save(Act("label", mine, label="HEDGE"))
        with pytest.raises(Refused, match="was adjudicated"):
            session.undo()
        session.save(Act("flag", mine, flag="question"))
        label(session, 2)  # a first label is still taken, and tells nothing
        final.save(Act("label", decided, label="WRONG"))  # the adjudicator may think again
        with open_study(path) as study:
            reopen_unit(study, unit)
        session.save(Act("label", mine, label="HEDGE"))
        label(final, 1, "ABSTAIN")
        with pytest.raises(Refused, match="was adjudicated"):
            session.save(Act("label", mine, label="WRONG"))


# --- one session a coder ----------------------------------------------------------------------------


def test_the_same_coder_twice_is_refused_or_taken_over_and_the_first_is_fenced(path: Path) -> None:
    first = CodingSession.open(path, "A", protocol())
    item = first.next()
    assert item
    label(first, 2)
    with pytest.raises(SessionTaken, match="A is already coding this study"):
        CodingSession.open(path, "A", protocol())
    with CodingSession.open(path, "B", protocol()) as other:
        assert other.next() is not None
    with CodingSession.open(path, "A", protocol(), take_over=True) as second:
        with pytest.raises(Fenced, match="took over"):
            first.save(Act("label", item.assignment, label="WRONG"))
        second.save(Act("label", item.assignment, label="HEDGE"))
        with pytest.raises(Fenced):
            first.undo()
        with pytest.raises(SessionTaken):
            CodingSession.open(path, "A", protocol())
        assert second.annotation(item.assignment).label == "HEDGE"
    first.close()
    assert [row[1] for row in events(path)][-2:] == ["takeover", "label"]
    CodingSession.open(path, "A", protocol()).close()


def test_a_dead_session_leaves_no_lock(path: Path) -> None:
    code = f"""
import os, sys
sys.path[:0] = {[str(p) for p in sys.path if p]!r}
from builder import protocol
from db.coding import CodingSession
from db.records import Act
session = CodingSession.open({str(path)!r}, "A", protocol())
session.save(Act("label", session.next().assignment, label="WRONG"))
os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    with CodingSession.open(path, "A", protocol()) as session:
        assert session.progress.done == 1


@pytest.mark.parametrize(
    ("who", "reason"), [("Z", "There is no coder 'Z' in this study .there is: A, B"), ("lead", "no coder")]
)
def test_who_is_not_a_coder_is_told_whom_there_is(path: Path, who: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        CodingSession.open(path, who, protocol())


def test_a_coder_goes_by_pseudonym_too(path: Path) -> None:
    with CodingSession.open(path, "coder-2", protocol()) as session:
        assert session.coder.name == "B"


# --- the codebook changes ---------------------------------------------------------------------------


def test_a_changed_codebook_must_be_confirmed_and_leaves_touched_labels_stale(path: Path) -> None:
    new = protocol("codebook two")
    with CodingSession.open(path, "A", protocol()) as session:
        one, two = label(session, 1), label(session, 2, "HEDGE")
        with open_study(path) as study:
            assert change_protocol(study, new, change="substantive", touches={"labels": ["HEDGE"]}) == 1
            with pytest.raises(Refused, match="is version 2 of the study already"):
                change_protocol(study, new, change="editorial")
        third = session.item(3)
        assert third
        with pytest.raises(ProtocolChanged, match="changed meanwhile"):
            session.save(Act("label", third.assignment, label="WRONG"))
        session.adopt(new)
        pending = session.pending_confirmation()
        assert pending and (pending.confirmed.version, pending.current.version) == (1, 2)
        assert pending.current.touches == {"labels": ["HEDGE"]}
        with pytest.raises(ProtocolChanged, match="confirm"):
            session.save(Act("label", third.assignment, label="WRONG"))
        session.save(Act("confirm", None))
        assert session.pending_confirmation() is None
        assert session.progress.done == 1 and session.next() is not None
        assert session.next().assignment == two  # type: ignore[union-attr]
        assert session.annotation(two).stale and not session.annotation(one).stale
        assert session.queue_page(0, 2)[1].state == "stale"
        session.save(Act("label", two, label="HEDGE"))
        assert not session.annotation(two).stale and session.annotation(two).protocol_version == 2
        session.undo()
        assert session.annotation(two).stale  # the old label, and what it was given under, are back
    with pytest.raises(ProtocolChanged, match="another one than"):
        CodingSession.open(path, "A", protocol())


def test_a_change_can_touch_a_part_of_the_units_or_everything(path: Path) -> None:
    with CodingSession.open(path, "A", protocol()) as session:
        for position in range(1, 7):
            label(session, position)
    with open_study(path) as study:
        where = [{"field": "category", "values": ["FEQ"]}]
        assert change_protocol(study, protocol("two"), change="substantive", touches={"where": where}) == 2
        assert change_protocol(study, protocol("three"), change="editorial") == 0
        assert change_protocol(study, protocol("four"), change="substantive") == 4


# --- blindness --------------------------------------------------------------------------------------


def blind(path: Path) -> list[str]:
    with open_study(path) as study:
        return [
            row[0]
            for row in study.connection.execute(
                "SELECT blindness FROM events WHERE kind = 'label' ORDER BY log_id, seq"
            )
        ]


def test_labels_are_masked_open_after_an_unmasking_and_sealed_in_a_browser(path: Path) -> None:
    with CodingSession.open(path, "A", protocol()) as session:
        assert session.blindness == "masked"
        label(session, 1)
        second = session.item(2)
        assert second
        session.save(Act("unmask", second.assignment))
        label(session, 2)
        label(session, 3)
        assert session.blindness == "masked"
        session.save(Act("unmask", None))
        label(session, 4)
        assert session.blindness == "open"
    with open_study(path) as study:
        record_lead_view(study, "agreement")
        record_lead_view(study, "agreement")
    with CodingSession.open(path, "B", protocol()) as session:
        assert session.blindness == "open"  # the account that ran it
        label(session, 1)
    with CodingSession.open(path, "B", protocol(), sealed=True, origin="browser") as session:
        assert session.blindness == "sealed"
        label(session, 2)
    assert blind(path) == ["masked", "open", "masked", "open", "open", "sealed"]
    assert [row[1] for row in events(path)].count("unmask") == 3


# --- drafts -----------------------------------------------------------------------------------------


def test_an_unsent_note_survives_and_a_sent_one_is_gone(path: Path) -> None:
    with CodingSession.open(path, "A", protocol()) as session:
        item = session.next()
        assert item
        session.set_draft(item.assignment, "half a sen")
        session.set_draft(item.assignment, "half a sentence é\ud800")
        session.study.close()  # as a kill would
    with CodingSession.open(path, "A", protocol()) as session:
        assert session.draft(item.assignment) == "half a sentence é\ud800"
        session.save(Act("note", item.assignment, note="a sentence"))
        assert session.draft(item.assignment) is None
        session.save(Act("note", item.assignment, note="pasted \ud800 and \0"))
        assert session.annotation(item.assignment).note == "pasted \ufffd and \ufffd"
        session.set_draft(item.assignment, "more")
        session.set_draft(item.assignment, "")
        assert session.draft(item.assignment) is None


# --- threads, and what is imported ------------------------------------------------------------------


def test_a_writer_thread_and_a_reader_thread_share_a_session(path: Path) -> None:
    with CodingSession.open(path, "A", protocol()) as session:
        items = [session.item(position) for position in range(1, 7)]
        done = threading.Event()
        failures: list[BaseException] = []

        def write() -> None:
            try:
                for item in items:
                    assert item
                    session.save(Act("label", item.assignment, label="WRONG"))
            except BaseException as error:
                failures.append(error)
            done.set()

        thread = threading.Thread(target=write)
        thread.start()
        while not done.is_set():
            session.next()
            assert session.progress.total == 6
        thread.join()
        assert failures == [] and session.progress.done == 6


def test_the_coding_path_imports_neither_sqlite_utils_nor_the_analysis(path: Path) -> None:
    code = f"""
import sys
sys.path[:0] = {[str(p) for p in sys.path if p]!r}
from builder import protocol
from db.coding import CodingSession
from db.records import Act
with CodingSession.open({str(path)!r}, "A", protocol()) as session:
    while (item := session.next()) is not None:
        session.save(Act("label", item.assignment, label="WRONG", note="n"))
    session.undo(), session.redo(), session.progress, session.queue_page()
heavy = {{"sqlite_utils", "numpy", "pandas", "scipy", "sklearn", "textual", "rich", "click"}}
print(sorted(heavy & set(sys.modules)))
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_no_name_and_no_text_is_in_the_log(path: Path) -> None:
    with CodingSession.open(path, "A", protocol()) as session:
        item = session.next()
        assert item
        session.save(Act("label", item.assignment, label="WRONG", note="Zanzibar"))
        session.save(Act("skip", item.assignment, reason="Timbuktu"))
    for row in events(path):
        assert not any(word in json.dumps(row) for word in ("Zanzibar", "Timbuktu", "Question", "Answer", "m1", '"A"'))


def test_impossible_rules_with_a_field_that_nothing_has(tmp_path: Path) -> None:
    codebook = protocol("odd", impossible=(Impossible("CORRECT", "no such field", ("x",), "why"),))
    path = small_study(tmp_path / "o.db", "A", codebook=codebook)
    with CodingSession.open(path, "A", codebook) as session:
        assert session.next().impossible == ()  # type: ignore[union-attr]


def test_a_note_that_cannot_be_kept_is_said_and_a_saved_act_stays_saved(path: Path) -> None:
    with CodingSession.open(path, "A", protocol()) as session:
        item = session.next()
        assert item
        folder = session.study.side / "drafts"
        folder.write_text("a file where the folder should be")
        with pytest.raises(StudyError, match="cannot be"):
            session.set_draft(item.assignment, "words")
        session.save(Act("note", item.assignment, note="words"))
        assert session.annotation(item.assignment).note == "words"


def test_the_count_does_not_wait_for_a_save_that_waits(path: Path) -> None:
    with CodingSession.open(path, "A", protocol()) as session, open_study(path) as other:
        item = session.next()
        assert item and session.progress.left == 6
        with writing(other.connection):
            thread = threading.Thread(target=session.save, args=(Act("label", item.assignment, label="WRONG"),))
            thread.start()
            time.sleep(0.1)
            start = time.monotonic()
            assert session.progress.left == 6 and session.next() == item
            assert time.monotonic() - start < 1
        thread.join()
        assert session.progress.left == 5
