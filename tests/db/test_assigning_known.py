"""Who is left out when units are handed out: nobody codes unnoticed what training, a check or a review told them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from builder import filled, protocol, seeded

from db.assigning import assign
from db.coders import add_coder
from db.coding import CodingSession
from db.coverage import coverage
from db.errors import AnnotateError
from db.faults import Refused
from db.known import set_known
from db.labels import label_rows
from db.overview import coder_progress
from db.reassigning import reassign
from db.records import Act
from db.releasing import release_next
from db.sampling import draw, strata_counts
from db.study import Study, create_study
from db.verify import verify


@pytest.fixture
def sampled(tmp_path: Path) -> Study:
    """Twelve items of two models, all 24 responses drawn."""
    study = create_study(tmp_path / "s.db", protocol(), random_bytes=seeded(1))
    filled(study, 12, ("a", "b"))
    study.connection.execute("DELETE FROM units")
    strata = [replace(s, drawn=12) for s in strata_counts(study, ["model"]).strata]
    draw(study, strata, seed=1, by=["model"], allocation="equal", random_bytes=seeded(2))
    return study


def units_of(study: Study, coder: str, round_name: str = "main") -> set[str]:
    return {row.unit for row in label_rows(study, round_name=round_name) if row.coder == coder}


def trained(study: Study, coder: str, count: int, kind: str = "training") -> set[str]:
    """The first ``count`` units in training (or in hidden checks) for one coder."""
    known = [row[0] for row in study.connection.execute("SELECT public_id FROM units ORDER BY id LIMIT ?", (count,))]
    assign(study, [coder], seed=1, round_name=kind, kind=kind, units=known)  # type: ignore[arg-type]
    set_known(study, kind, dict.fromkeys(known, "HEDGE"))
    return set(known)


@pytest.mark.parametrize("kind", ["training", "check"])
def test_a_coder_is_not_given_what_they_were_trained_on(sampled: Study, kind: str) -> None:
    known = trained(sampled, "A", 5, kind)
    done = assign(sampled, ["A", "B"], seed=3, overlap=1.0)
    assert [(load.units, load.left_out) for load in done.loads] == [(19, 5), (24, 0)]
    assert units_of(sampled, "A").isdisjoint(known) and len(units_of(sampled, "B")) == 24
    assert done.overlap == 19  # coded by both
    (main,) = (each for each in coverage(sampled) if each.round == "main")
    assert main.meant == 19 + 24
    assert verify(sampled).holds


def test_a_pilot_round_that_tells_nothing_leaves_its_units_to_its_coders(sampled: Study) -> None:
    units = [row[0] for row in sampled.connection.execute("SELECT public_id FROM units LIMIT 5")]
    assign(sampled, ["A"], seed=1, round_name="pilot", kind="check", units=units)
    done = assign(sampled, ["A"], seed=3)
    assert [(load.units, load.left_out) for load in done.loads] == [(24, 0)]


def test_without_overlap_another_coder_gets_them(sampled: Study) -> None:
    known = trained(sampled, "A", 5)
    assign(sampled, ["A", "B"], seed=3, overlap=0.0)
    mine, theirs = units_of(sampled, "A"), units_of(sampled, "B")
    assert not mine & theirs and len(mine | theirs) == 24 and known <= theirs


def test_units_that_all_of_them_know_are_said_to_be_left_out(sampled: Study) -> None:
    trained(sampled, "A", 24)
    with pytest.raises(Refused, match="know it from training"):
        assign(sampled, ["A"], seed=3)
    assert [round_.round for round_ in coverage(sampled)] == ["training"]


def test_who_takes_over_is_not_given_what_they_know_and_what_was_out_stays_out(sampled: Study) -> None:
    known = trained(sampled, "C", 5)
    assign(sampled, ["A"], seed=3, released=False)
    release_next(sampled, 10, round_name="main")
    pi = sampled.connection.execute("SELECT unit_id, pi FROM sample_units ORDER BY unit_id").fetchall()
    moved = reassign(sampled, "A", "C")
    assert (moved.moved, moved.stayed) == (19, 5)
    assert units_of(sampled, "C").isdisjoint(known)
    out = sampled.connection.execute(
        "SELECT c.name, a.round, sum(a.in_queue) FROM assignments a JOIN coders c ON c.id = a.coder_id"
        " WHERE a.withdrawn_utc IS NULL AND a.round = 'main' GROUP BY c.id ORDER BY c.name"
    ).fetchall()
    assert sum(row[2] for row in out) == 10  # what was released is released, and nothing else
    assert sampled.connection.execute("SELECT unit_id, pi FROM sample_units ORDER BY unit_id").fetchall() == pi
    assert verify(sampled).holds


def test_who_has_left_has_no_repeat_to_do(sampled: Study) -> None:
    assign(sampled, ["A"], seed=3, repeats=0.5)
    with CodingSession.open(sampled.path, "A", protocol()) as session:
        for _ in range(8):
            item = session.next()
            assert item is not None
            session.save(Act("label", item.assignment, label="WRONG"))
    assert reassign(sampled, "A", "C").moved == 16
    (left,) = (each for each in coder_progress(sampled) if each.coder == "A")
    assert (left.done, left.left) == (8, 0)
    (main,) = coverage(sampled)
    assert (main.meant, main.labels, main.repeats_meant) == (24, 8, 0)


def due(study: Study) -> set[str | None]:
    return {row[0] for row in study.connection.execute("SELECT due_utc FROM batches WHERE round = 'main'")}


def test_a_due_date_is_that_of_the_newest_release(sampled: Study) -> None:
    assign(sampled, ["A"], seed=3, released=False)
    release_next(sampled, 5, due_utc="2026-12-11T23:59:59.000Z")
    assert due(sampled) == {"2026-12-11T23:59:59.000Z"}
    release_next(sampled)
    assert due(sampled) == {None}


@pytest.mark.parametrize("twin", ["ada", "ADA", "Ada  Byron", "\uff21da", "ada byron"])  # \uff21: a full-width A
def test_a_name_that_differs_in_case_or_width_alone_is_refused(sampled: Study, twin: str) -> None:
    add_coder(sampled, "Ada")
    add_coder(sampled, "Ada Byron")
    with pytest.raises(Refused, match=r"'Ada( Byron)?' already"):
        add_coder(sampled, twin)
    assert add_coder(sampled, " Ada ").name == "Ada"  # the same name is the same coder
    assert add_coder(sampled, "ada", kind="imported").kind == "imported"  # what a file says is kept


@pytest.mark.parametrize("name", ["", " ", "a\tb", "a\x1b[31m", "a\x7fb", "a\x85b", "a\u202eb", "a\u2028b", "x" * 81])
def test_a_name_that_cannot_be_shown_is_refused(sampled: Study, name: str) -> None:
    with pytest.raises(AnnotateError):
        add_coder(sampled, name)
    assert add_coder(sampled, "x" * 80).name == "x" * 80
    assert add_coder(sampled, "\u0645\u06cc\u200c\u062e").name == "\u0645\u06cc\u200c\u062e"  # Persian joins so
