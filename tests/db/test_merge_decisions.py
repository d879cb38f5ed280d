"""Final labels and verdicts that were given in a copy of the study come home with it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from builder import protocol, small_study

from db.adjudicating import AdjudicationSession, Decision
from db.clock import utc_now
from db.coding import CodingSession
from db.connection import writing
from db.faults import Refused
from db.labels import label_rows
from db.merge import merge_copy
from db.records import Act
from db.reviews import find_review, make_review, verdicts
from db.rounds import set_round_state
from db.study import open_study
from db.verify import verify


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two coders who differ on everything, two people who may decide, and a review of a judge that has been drawn."""
    path = small_study(tmp_path / "home.db", "A", "B")
    for coder, label in (("A", "WRONG"), ("B", "HEDGE")):
        with CodingSession.open(path, coder, protocol()) as session:
            while (item := session.next()) is not None:
                session.save(Act("label", item.assignment, label=label))
    for who in ("Lea", "Kim"):
        with AdjudicationSession.open(path, who, protocol()):
            pass
    with open_study(path) as study:
        with writing(study.connection) as connection:
            connection.execute("INSERT INTO judges (name, kind, created_utc) VALUES ('J', 'llm', ?)", (utc_now(),))
        units = [row[0] for row in study.connection.execute("SELECT public_id FROM units ORDER BY id")]
        judged = dict.fromkeys(units[:2], "HEDGE") | dict.fromkeys(units[2:], "WRONG")
        make_review(study, "judge", ("J",), reference=dict.fromkeys(units, "WRONG"), judged=judged, controls=1)
    return path


def copied(path: Path, name: str) -> Path:
    return Path(shutil.copy(path, path.with_name(f"{name}.db")))


def decide(path: Path, who: str, label: str, count: int, review: str | None = None) -> None:
    with AdjudicationSession.open(
        path, who, protocol(), mode="judge" if review else "people", review=review
    ) as session:
        for unit in session.queue().units[:count]:
            session.decide(unit, Decision(label, reason="ambiguous", note="as it reads"))


def finals(path: Path) -> list[tuple[str, str | None, str | None, str | None]]:
    with open_study(path) as study:
        assert [check for check in verify(study).checks if check.broken and check.name != "imports"] == []
        return sorted((r.unit, r.label, r.coder, r.note) for r in label_rows(study) if r.role == "adjudicator")


def test_decisions_come_home_and_coming_twice_changes_nothing(home: Path) -> None:
    copy = copied(home, "copy")
    decide(copy, "Lea", "ABSTAIN", 4)
    for expected in (4 + 0, 0):
        with open_study(home) as study, open_study(copy) as other:
            merged = merge_copy(study, other)
        assert merged.assignments == expected
        assert finals(home) == finals(copy) and len(finals(home)) == 4
    with AdjudicationSession.open(home, "Kim", protocol()) as session:
        queue = session.queue()
        assert (queue.decided, len(queue.units)) == (4, 6)
        with pytest.raises(Refused, match="Somebody else has decided"):
            session.decide(next(iter(queue.done)), Decision("WRONG", reason="slip"))


def test_verdicts_come_home(home: Path) -> None:
    copy = copied(home, "copy")
    decide(copy, "Lea", "HEDGE", 3, "review J")
    with open_study(home) as study, open_study(copy) as other:
        merge_copy(study, other)
        found = verdicts(study.connection, find_review(study.connection, "review J"))
        assert found == verdicts(other.connection, find_review(other.connection, "review J"))
    assert [each.verdict for each in found] == ["HEDGE"] * 3 and finals(home) == []


def refused(home: Path, copy: Path, why: str) -> None:
    before = finals(home)
    with open_study(home) as study, open_study(copy) as other, pytest.raises(Refused, match=why):
        merge_copy(study, other)
    assert finals(home) == before


def test_a_unit_that_was_decided_in_two_places_is_refused(home: Path) -> None:
    copy = copied(home, "copy")
    decide(copy, "Lea", "ABSTAIN", 2)
    decide(home, "Kim", "WRONG", 1)
    refused(home, copy, "decided by somebody else here")


def test_a_round_that_is_closed_here_takes_nothing_in(home: Path) -> None:
    copy = copied(home, "copy")
    decide(copy, "Lea", "HEDGE", 1, "review J")
    with open_study(home) as study:
        set_round_state(study, "review J", "closed")
    refused(home, copy, "round 'review J' is closed here")


def test_somebody_who_is_new_there_is_not_taken_in(home: Path) -> None:
    copy = copied(home, "copy")
    decide(copy, "Zoe", "ABSTAIN", 1)
    refused(home, copy, "the lead worked in that file too|whom this study does not know")
