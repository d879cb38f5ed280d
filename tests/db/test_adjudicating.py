"""Final labels and verdicts: expected cases are written out by hand from who said what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from builder import protocol, small_study

from db.adjudicating import AdjudicationSession, Decision
from db.coding import CodingSession
from db.connection import writing
from db.faults import Refused
from db.labels import label_rows
from db.records import Act
from db.reviews import make_review, verdicts
from db.rounds import reopen_unit, set_round_state
from db.study import open_study
from db.verify import verify

# What A and B say of the six units, in the order of their numbers; None is not coded yet.
SAID = (
    ("HEDGE", "HEDGE"),
    ("WRONG", "HEDGE"),
    ("ABSTAIN", "ABSTAIN"),
    ("WRONG", "WRONG"),
    ("WRONG", "ABSTAIN"),
    ("HEDGE", None),
)
JUDGED = ("HEDGE", "HEDGE", "WRONG", "WRONG", "WRONG", "WRONG")


def coded(path: Path) -> Path:
    small_study(path, "A", "B")
    for place, coder in enumerate("AB"):
        with CodingSession.open(path, coder, protocol()) as session:
            for said in SAID:
                item = session.next()
                if item is not None and said[place] is not None:
                    session.save(Act("label", item.assignment, label=said[place], note=f"note of {coder}"))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    yield coded(tmp_path / "study.db")


def units(path: Path) -> list[str]:
    with open_study(path) as study:
        return [row[0] for row in study.connection.execute("SELECT public_id FROM units ORDER BY id")]


def judged(path: Path, name: str = "J", said: tuple[str, ...] = JUDGED) -> None:
    with open_study(path) as study, writing(study.connection) as connection:
        number = connection.execute(
            "INSERT INTO judges (name, kind, created_utc) VALUES (?, 'llm', '2026-01-01T00:00:00.000Z')", (name,)
        ).lastrowid
        for label in set(said):
            connection.execute("INSERT INTO judge_map_entries VALUES (?, ?, ?)", (number, label, label))
        for response, label in enumerate(said, 1):
            connection.execute(
                "INSERT INTO judge_labels (judge_id, response_id, raw, raw_key, rationale) VALUES (?, ?, ?, ?, ?)",
                (number, response, label, label, f"{name} thinks so"),
            )


def open_session(path: Path, who: str = "Lea", **options: object) -> AdjudicationSession:
    return AdjudicationSession.open(path, who, protocol(), **options)  # type: ignore[arg-type]


def test_disagreements_come_and_what_is_unfinished_waits(path: Path) -> None:
    with open_session(path) as session:
        queue = session.queue()
        assert set(queue.units) == {units(path)[1], units(path)[4]}
        assert (queue.decided, queue.waiting) == (0, 0)  # unit 6 has one label: nothing says that it will differ


def test_coders_are_letters_and_no_judge_is_shown(path: Path) -> None:
    judged(path)
    with open_session(path) as session:
        case = session.case(units(path)[1])
    assert sorted(opinion.who for opinion in case.opinions) == ["coder A", "coder B"]
    assert {opinion.label for opinion in case.opinions} == {"WRONG", "HEDGE"}
    assert {opinion.words for opinion in case.opinions} == {"note of A", "note of B"}
    with open_session(path, names=True) as session:
        assert {(o.who, o.label) for o in session.case(units(path)[1]).opinions} == {("A", "WRONG"), ("B", "HEDGE")}


def test_a_decision_is_the_final_label_with_its_reason_and_note(path: Path) -> None:
    unit = units(path)[1]
    with open_session(path) as session:
        session.decide(unit, Decision("HEDGE", reason="slip", note="it says maybe"))
        assert session.queue().decided == 1
        decided = session.case(unit).decided
        assert decided is not None
        assert (decided.label, decided.reason, decided.note) == ("HEDGE", "slip", "it says maybe")
    with open_study(path) as study:
        final = [row for row in label_rows(study) if row.role == "adjudicator"]
        assert [(row.unit, row.label, row.blindness, row.detail) for row in final] == [
            (unit, "HEDGE", "masked", {"class": "slip"})
        ]
        assert verify(study).holds


def test_coders_cannot_change_an_adjudicated_unit_and_it_never_enters_their_queue(path: Path) -> None:
    unit = units(path)[1]
    with open_session(path, "A") as session:
        session.decide(unit, Decision("WRONG", reason="ambiguous"))
    with CodingSession.open(path, "A", protocol()) as coder:
        assert coder.progress.total == 6
        second = coder.item(2)
        assert second is not None
        with pytest.raises(Refused, match="adjudicated"):
            coder.save(Act("label", second.assignment, label="HEDGE"))


def test_who_codes_a_unit_and_saw_the_others_labels_is_open_there_alone(path: Path) -> None:
    with open_session(path, "B") as session:
        session.case(units(path)[5])
    with CodingSession.open(path, "B", protocol()) as coder:
        item = coder.next()
        assert item is not None
        coder.save(Act("label", item.assignment, label="HEDGE"))
        assert coder.blindness == "masked"
    with open_study(path) as study:
        rows = {row.unit: row.blindness for row in label_rows(study) if row.coder == "B"}
    assert rows[units(path)[5]] == "open"
    assert rows[units(path)[0]] == "masked"


def test_undo_takes_the_last_decision_back(path: Path) -> None:
    unit = units(path)[1]
    with open_session(path) as session:
        session.decide(unit, Decision("HEDGE", reason="slip"))
        session.decide(unit, Decision("WRONG", reason="codebook"))
        assert session.undo() == unit
        decided = session.case(unit).decided
        assert decided is not None and decided.label == "HEDGE"
        assert session.undo() == unit
        assert session.undo() is None
        assert session.queue().decided == 0
    with open_study(path) as study:
        assert verify(study).holds


def test_another_adjudicator_decides_only_after_reopening(path: Path) -> None:
    unit = units(path)[1]
    with open_session(path) as session:
        session.decide(unit, Decision("HEDGE", reason="slip"))
    with open_session(path, "Max") as session, pytest.raises(Refused, match="Somebody else"):
        session.decide(unit, Decision("WRONG", reason="slip"))
    with open_study(path) as study:
        reopen_unit(study, unit)
    with open_session(path, "Max") as session:
        session.decide(unit, Decision("WRONG", reason="slip"))
    with open_study(path) as study:
        standing = [row.label for row in label_rows(study) if row.role == "adjudicator" and not row.set_aside]
    assert standing == ["WRONG"]


def test_a_label_outside_the_codebook_and_an_unknown_reason_are_refused(path: Path) -> None:
    with open_session(path) as session:
        for decision in (Decision("MAYBE", reason="slip"), Decision("HEDGE", reason="mood"), Decision(None)):
            with pytest.raises(Refused):
                session.decide(units(path)[1], decision)
        session.decide(units(path)[1], Decision("HEDGE", reason="slip"))
    with open_study(path) as study:
        set_round_state(study, "adjudication", "closed")
    with open_session(path) as session, pytest.raises(Refused, match="closed"):
        session.decide(units(path)[4], Decision("HEDGE", reason="slip"))


# --- reviews ----------------------------------------------------------------------------------------


def people() -> tuple[str, ...]:
    """The reference by hand: units 1, 3 and 4 agree, 6 has a single label, 2 and 5 are unresolved."""
    return ("HEDGE", "", "ABSTAIN", "WRONG", "", "HEDGE")


def review_of(path: Path, controls: int = 1) -> str:
    judged(path)
    ids = units(path)
    with open_study(path) as study:
        made = make_review(
            study,
            "judge",
            ["J"],
            reference={unit: label for unit, label in zip(ids, people(), strict=True) if label},
            judged=dict(zip(ids, JUDGED, strict=True)),
            controls=controls,
        )
    return made.name


def test_a_review_mixes_random_agreeing_controls_with_what_differs(path: Path) -> None:
    name = review_of(path)
    ids = units(path)
    with open_study(path) as study:
        from db.reviews import find_review

        review = find_review(study.connection, name)
    assert review.disputed == {ids[2], ids[5]}  # by hand: ABSTAIN against WRONG, HEDGE against WRONG
    assert len(review.units) == 3
    assert set(review.units) - review.disputed < {ids[0], ids[3]}


def test_verdicts_never_change_a_label_and_are_counted_apart(path: Path) -> None:
    name = review_of(path, controls=2)
    with open_study(path) as study:
        before = list(label_rows(study))
    with open_session(path, mode="judge", review=name) as session:
        for unit in session.queue().units:
            assert {o.who for o in session.case(unit).opinions} >= {"judge"}
            session.decide(unit, Decision("WRONG", reason="judge"))
        assert session.queue().decided == 4
    with open_study(path) as study:
        after = list(label_rows(study))
        assert [row for row in after if row.round_kind == "main"] == before
        assert not any(row.role == "adjudicator" for row in after)
        assert {row.label for row in after if row.round == name} == {None}
        assert {row.blindness for row in after if row.round == name} == {"open"}
        from db.reviews import find_review

        given = verdicts(study.connection, find_review(study.connection, name))
        assert sum(v.disputed for v in given) == 2
        flipped = [v for v in given if not v.disputed and v.verdict != v.kept]
        assert [v.kept for v in flipped] == ["HEDGE"]  # unit 1 was agreed HEDGE; unit 4 was WRONG and stays
        assert verify(study).holds


def test_after_a_review_what_the_reviewer_codes_is_open(path: Path) -> None:
    name = review_of(path)
    with open_session(path, "B", mode="judge", review=name):
        pass
    with CodingSession.open(path, "B", protocol()) as coder:
        assert coder.blindness == "open"


def test_two_judges_are_shown_in_a_random_order_and_the_better_one_is_named(path: Path) -> None:
    judged(path, "J", JUDGED)
    judged(path, "K", ("HEDGE", "WRONG", "WRONG", "HEDGE", "WRONG", "WRONG"))
    with open_study(path) as study:
        review = make_review(study, "judges", ["J", "K"], controls=1)
    assert review.disputed == {units(path)[1], units(path)[3]}
    with open_session(path, mode="judges", review=review.name) as session:
        assert session.choices == ("FIRST", "SECOND", "BOTH", "NEITHER")
        unit = next(unit for unit in review.units if unit == units(path)[1])
        first = session.case(unit).opinions[0]
        assert first.label == {"J": "HEDGE", "K": "WRONG"}[review.sides(unit)[0]]
        session.decide(unit, Decision("FIRST", reason="lenient"))
    with open_study(path) as study:
        (given,) = verdicts(study.connection, review)
        assert given.sides is not None and given.verdict == "FIRST"


def test_nothing_to_review_and_unknown_judges_are_refused(path: Path) -> None:
    judged(path)
    ids = units(path)
    with open_study(path) as study:
        with pytest.raises(Refused, match="nothing to review"):
            make_review(study, "judge", ["J"], reference={ids[0]: "HEDGE"}, judged={ids[0]: "HEDGE"}, controls=1)
        with pytest.raises(Refused, match="no judge 'X'"):
            make_review(study, "judges", ["J", "X"], controls=1)
        with pytest.raises(Refused, match="itself"):
            make_review(study, "judges", ["J", "J"], controls=1)


def test_a_decision_that_was_taken_back_is_not_handed_over_when_its_adjudicator_leaves(path: Path) -> None:
    from db.reassigning import reassign

    unit = units(path)[1]
    with open_session(path, "B") as session:
        session.decide(unit, Decision("HEDGE", reason="slip"))
        assert session.undo() == unit
    with open_study(path) as study:
        assert reassign(study, "B", "C").moved == 1  # the one unit that B has still to code
    with open_session(path, "B") as session:
        session.decide(unit, Decision("HEDGE", reason="slip"))
    with open_study(path) as study:
        assert [row.label for row in label_rows(study) if row.role == "adjudicator"] == ["HEDGE"]
