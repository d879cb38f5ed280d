"""What a coder's session refuses, and what the codebook asks for."""

from __future__ import annotations

from pathlib import Path

import pytest
from acts import events, label
from builder import assigned, protocol, rated, small_study

from db.coding import CodingSession
from db.faults import Refused
from db.records import Act, Impossible
from db.rounds import reopen_unit, set_round_state
from db.study import open_study


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


def test_impossible_rules_with_a_field_that_nothing_has(tmp_path: Path) -> None:
    codebook = protocol("odd", impossible=(Impossible("CORRECT", "no such field", ("x",), "why"),))
    path = small_study(tmp_path / "o.db", "A", codebook=codebook)
    with CodingSession.open(path, "A", codebook) as session:
        assert session.next().impossible == ()  # type: ignore[union-attr]
