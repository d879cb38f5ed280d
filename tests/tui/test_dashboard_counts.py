"""What the dashboard counts, held against counts by hand: pace, projected finish, dates, heaped ratings, repeats."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from annotate.dashboard import StudyDashboard
from annotate.protocols import load_protocol
from db.assigning import assign
from db.coding import CodingSession
from db.labels import label_rows
from db.records import Act, Protocol
from db.study import Study, open_study
from tests.tui.conftest import several, write_study
from tests.tui.test_adjudication_screen import two_coders


def board(study: Study) -> tuple[dict[str, Any], dict[str, list[tuple[str, str, str, bool]]]]:
    """The facts, and the lines of each section as they are shown."""
    found = StudyDashboard(study, blind=True).counts()
    lines = {s.title: [(n.name, n.value, n.more, n.alert) for n in s.lines] for s in found.sections}
    return dict(found.facts), lines


def test_ratings_that_heap_are_marked_and_others_are_not(tmp_path: Path) -> None:
    protocol = replace(load_protocol("alignment"), impossible=())
    heaped = [*(5 * n for n in range(1, 13)), *(61, 62, 63, 64, 66, 67, 68, 69)]  # 12 of 20 are multiples of 5
    spread = [*(5, 10, 15, 20), *(n for n in range(81, 100) if n % 5)][:20]  # 4 of 19 and more
    ada = tuple(("CORRECT", each) for each in heaped)
    ben = tuple(("CORRECT", spread[n % len(spread)]) for n in range(20))
    path = two_coders(tmp_path / "s.db", protocol, ada, ben)
    fives = sum(rating % 5 == 0 for _, rating in ben)
    with open_study(path) as study:
        facts, lines = board(study)
    told = {each["coder"]: each for each in facts["heaping"]}
    assert told["ada"] == {"coder": "ada", "ratings": 20, "fives": 12, "tens": 6}  # 10, 20, ... 60
    assert told["ben"]["fives"] == fives < 10
    marked = {name: alert for name, _, _, alert in lines["Checks"] if name.startswith("ratings")}
    assert marked == {"ratings, ada": True, "ratings, ben": False}
    assert ("ratings, ada", "60% end in 0 or 5", "30% in 0; n = 20, 20% by chance", True) in lines["Checks"]


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """Ten items, four of them done: three two days ago and one yesterday."""
    protocol = replace(load_protocol("ehq"), impossible=())
    path = write_study(tmp_path / "s.db", protocol, several(10), "ada")
    with CodingSession.open(path, "ada", protocol) as session:
        for _ in range(4):
            item = session.next()
            assert item is not None
            session.save(Act("label", item.assignment, label="HEDGE", active_ms=30_000))
    with open_study(path) as study:
        days = [datetime.now(UTC) - timedelta(days=n) for n in (2, 2, 2, 1)]
        rows = study.connection.execute("SELECT assignment_id FROM annotations ORDER BY assignment_id").fetchall()
        for (number,), day in zip(rows, days, strict=True):
            utc = day.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            study.connection.execute("UPDATE annotations SET utc = ? WHERE assignment_id = ?", (utc, number))
    return path


def test_the_finish_is_projected_from_the_days_on_which_somebody_coded(begun: Path) -> None:
    with open_study(begun) as study:
        ((ada,), lines) = board(study)[0]["coders"], board(study)[1]
    assert (ada["per_day"], ada["per_hour"]) == (2.0, 120.0)  # 4 on 2 days; 4 in two minutes at work
    finish = datetime.fromisoformat(ada["finish"])
    assert abs(finish - (datetime.now(UTC) + timedelta(days=3))) < timedelta(minutes=2)  # 6 left at 2 a day
    assert (ada["due"], ada["late"]) == (None, False)
    ((name, value, more, alert),) = lines["Progress"]
    assert (name, value, alert) == ("ada, main", "4 of 10", False)
    assert more == f"6 left, 120 an active hour, 2 a day, done about {ada['finish'][:10]}"


@pytest.mark.parametrize(("days", "late"), [(-1, True), (2, True), (4, False)])
def test_a_date_that_the_pace_does_not_meet_is_marked(begun: Path, days: int, late: bool) -> None:
    due = (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    with open_study(begun) as study:
        study.connection.execute("UPDATE batches SET due_utc = ?", (due,))
        facts, lines = board(study)
    assert facts["coders"][0]["late"] is late and lines["Progress"][0][3] is late
    assert ("late: due" in lines["Progress"][0][2]) is late


def rated_twice(path: Path, protocol: Protocol, given: dict[int, tuple[int, int]]) -> None:
    """Ben rates every item; those that come back get the second number of their pair."""
    with open_study(path) as study:
        units = [row[0] for row in study.connection.execute("SELECT public_id FROM units ORDER BY id")]
        assign(study, ["ben"], seed="1", order="file", again=True, units=units, repeats=0.5)
    with CodingSession.open(path, "ben", protocol) as session:
        while (item := session.next()) is not None:
            unit, occurrence = session.study.connection.execute(
                "SELECT u.public_id, a.occurrence FROM assignments a JOIN units u ON u.id = a.unit_id WHERE a.uid = ?",
                (item.assignment,),
            ).fetchone()
            session.save(Act("rating", item.assignment, rating=given[units.index(unit)][occurrence - 1]))


def test_repeated_ratings_differ_where_they_lie_on_two_sides_of_the_threshold(tmp_path: Path) -> None:
    protocol = load_protocol("nas")  # a rating alone, aligned from 70 on
    path = write_study(tmp_path / "s.db", protocol, several(6), "ada")
    given = dict.fromkeys(range(6), (75, 65))  # every repeat crosses the threshold, by 10
    rated_twice(path, protocol, given)
    with open_study(path) as study:
        again = sum(row.occurrence == 2 for row in label_rows(study))
        facts, lines = board(study)
    assert again == 3
    assert facts["repeats"] == [{"coder": "ben", "pairs": 3, "different": 3, "ratings_apart": 10.0}]
    assert ("repeats, ben", "3 of 3 differ", "ratings 10 apart on average", True) in lines["Checks"]
