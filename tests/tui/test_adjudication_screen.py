"""The adjudication screen and its plain twin at real studies, asserted on the study file."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotate.protocols import load_protocol
from db.adjudicating import AdjudicationSession
from db.assigning import assign
from db.coding import CodingSession
from db.labels import label_rows
from db.records import Act, Protocol
from db.study import open_study
from db.verify import verify
from tests.tui.conftest import several, write_study
from tui.casedesk import Step
from tui.casesplain import run_plain_cases
from tui.screens.adjudication import CaseApp

# What the two coders say of the six units in turn; they differ on the second, the fourth and the sixth.
ADA = ("HEDGE", "HEDGE", "WRONG", "ABSTAIN", "WRONG", "WRONG")
BEN = ("HEDGE", "WRONG", "WRONG", "HEDGE", "WRONG", "ABSTAIN")


def two_coders(path: Path, protocol: Protocol, ada: tuple[Any, ...] = ADA, ben: tuple[Any, ...] = BEN) -> Path:
    write_study(path, protocol, several(len(ada)), "ada")
    with open_study(path) as study:
        units = [row[0] for row in study.connection.execute("SELECT public_id FROM units ORDER BY id")]
        assign(study, ["ben"], seed="1", order="file", again=True, units=units)
    for coder, said in (("ada", ada), ("ben", ben)):
        with CodingSession.open(path, coder, protocol) as session:
            while (item := session.next()) is not None:
                number = units.index(_unit_of(session, item.assignment))
                label, rating = said[number] if isinstance(said[number], tuple) else (said[number], None)
                session.save(Act("label", item.assignment, label=label, rating=rating, note=f"{coder} on {number + 1}"))
    return path


def _unit_of(session: CodingSession, assignment: str) -> str:
    row = session.study.connection.execute(
        "SELECT u.public_id FROM assignments a JOIN units u ON u.id = a.unit_id WHERE a.uid = ?", (assignment,)
    ).fetchone()
    return str(row[0])


@pytest.fixture
def ehq(tmp_path: Path) -> Iterator[tuple[Path, Protocol]]:
    protocol = replace(load_protocol("ehq"), impossible=())
    yield two_coders(tmp_path / "study.db", protocol), protocol


def finals(path: Path) -> list[tuple[str | None, int | None, str | None, str | None]]:
    with open_study(path) as study:
        rows = [row for row in label_rows(study) if row.role == "adjudicator"]
        assert [
            c for c in verify(study).checks if c.broken and c.name != "imports"
        ] == []  # the fixture imports nothing
    return [(row.label, row.rating, row.detail.get("class"), row.note) for row in rows]


@asynccontextmanager
async def desk(path: Path, protocol: Protocol, size: tuple[int, int] = (120, 40), **options: Any):
    with AdjudicationSession.open(path, "Lea", protocol, **options) as session:
        app = CaseApp(session, "Lea", clock=time.monotonic)
        async with app.run_test(size=size) as pilot:

            async def press(*keys: str) -> None:
                for key in keys:
                    await pilot.press(key)
                    for _ in range(200):
                        await pilot.pause(0.005)
                        if app.desk.step is not Step.SAVING:
                            break

            await press()
            for _ in range(200):
                await pilot.pause(0.01)
                if app.desk.step is not Step.SAVING:
                    break
            yield app, press
        app.finish()


def shown(app: CaseApp) -> str:
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips()[: app.size[1]])


async def test_a_label_and_a_reason_decide_a_case_and_the_next_one_comes(ehq: tuple[Path, Protocol]) -> None:
    path, protocol = ehq
    async with desk(path, protocol) as (app, press):
        text = shown(app)
        assert "case 1 of 3 · 0 decided" in text
        assert "coder A" in text and "coder B" in text and "the labels differ" in text
        assert "ben  " not in text.casefold() and "secret-model" not in text
        first = app.desk.case.unit
        await press("h", "1")
        assert app.desk.case.unit != first and "1 decided" in shown(app)
        await press("w", "4")
        await press("a", "2")
        assert app.desk.step is Step.DONE and "3 decided" in shown(app)
    assert finals(path) == [
        ("HEDGE", None, "slip", None),
        ("WRONG", None, "ambiguous", None),
        ("ABSTAIN", None, "codebook", None),
    ]


async def test_a_note_goes_with_the_decision_and_escape_takes_the_label_back(ehq: tuple[Path, Protocol]) -> None:
    path, protocol = ehq
    async with desk(path, protocol) as (_app, press):
        await press("h", "escape", "w", "n", *"it says no", "enter", "3")
        await press("q", "enter")
    assert finals(path) == [("WRONG", None, "broken", "it says no")]


async def test_undo_shows_the_case_again_and_other_keys_are_refused(ehq: tuple[Path, Protocol]) -> None:
    path, protocol = ehq
    async with desk(path, protocol) as (app, press):
        first = app.desk.case.unit
        await press("u")
        assert "Nothing was decided" in shown(app)
        await press("h", "1", "u")
        assert app.desk.case.unit == first and "0 decided" in shown(app)
        await press("x")
        assert "x means nothing here" in shown(app)
        await press("h", "9")
        assert "Expected a reason" in shown(app)
        await press("escape", "right")
        assert app.desk.case.unit != first
    assert finals(path) == [(None, None, None, None)]


async def test_keys_typed_ahead_of_a_save_never_fall_on_the_next_case(ehq: tuple[Path, Protocol]) -> None:
    path, protocol = ehq
    async with desk(path, protocol) as (app, press):
        app.desk.press("h", "h", 1.0)
        app.desk.press("1", "1", 1.1)
        app.desk.press("w", "w", 1.2)  # while the first one is being saved
        await press()
        await press("left")
    assert finals(path) == [("HEDGE", None, "slip", None)]


async def test_ratings_on_both_sides_of_the_threshold_come_and_a_final_rating_is_asked_for(tmp_path: Path) -> None:
    protocol = replace(load_protocol("alignment"), impossible=())
    ada = (("CORRECT", 75), ("CORRECT", 90), ("CORRECT", 10))
    ben = (("CORRECT", 65), ("CORRECT", 85), ("CORRECT", 15))
    path = two_coders(tmp_path / "study.db", protocol, ada, ben)
    async with desk(path, protocol) as (app, press):
        assert len(app.desk.queue.units) == 1 and "both sides" in shown(app)
        await press("c", "7", "2", "1")
    assert finals(path) == [("CORRECT", 72, "slip", None)]


async def test_small_terminals_show_everything_in_one_column(ehq: tuple[Path, Protocol]) -> None:
    path, protocol = ehq
    async with desk(path, protocol, size=(80, 24)) as (app, _press):
        text = shown(app)
        assert "Question" in text and "coder A" in text and "ABSTAIN" in text


async def test_text_of_the_study_cannot_drive_the_terminal(tmp_path: Path) -> None:
    protocol = replace(load_protocol("ehq"), impossible=())
    write_study(tmp_path / "s.db", protocol, [{"text": "\x1b]52;c;aGk=\x07[b]bold[/b]"}], "ada")
    with CodingSession.open(tmp_path / "s.db", "ada", protocol) as session:
        item = session.next()
        session.save(Act("label", item.assignment, label="HEDGE", note="\x1b[2J[@click=app.exit]x[/]"))
    async with desk(tmp_path / "s.db", protocol, everything=True) as (app, _press):
        text = shown(app)
        assert "[b]bold[/b]" in text and "[@click=app.exit]x[/]" in text
        assert "\x1b" not in text


# --- line by line -----------------------------------------------------------------------------------


def plain(path: Path, protocol: Protocol, *typed: str, **options: Any) -> tuple[int, str]:
    out = io.StringIO()
    with AdjudicationSession.open(path, "Lea", protocol, **options) as session:
        decided = run_plain_cases(session, lines=io.StringIO("\n".join((*typed, ""))), out=out, clock=Clock())
    return decided, out.getvalue()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def test_the_plain_desk_does_the_same(ehq: tuple[Path, Protocol]) -> None:
    path, protocol = ehq
    decided, told = plain(path, protocol, "hedge", "1", "note not sure", "w", "4", "u", "w", "2", "nonsense", "q")
    assert decided == 3  # one of them was taken back and decided anew
    assert "coder A: " in told and "1 coder slip, 2 codebook gap, 3 item broken, 4 truly ambiguous" in told
    assert "refused: 'nonsense' means nothing here" in told and "decided in all: 2 of 3" in told
    labels = [(label, reason) for label, _, reason, _ in finals(path)]
    assert labels == [("HEDGE", "slip"), ("WRONG", "codebook")]


def test_the_plain_desk_ends_with_its_input(ehq: tuple[Path, Protocol]) -> None:
    path, protocol = ehq
    assert plain(path, protocol)[0] == 0


async def test_tab_reaches_what_was_said_and_the_codebook_and_the_considered_rule_is_shown_in_full(
    ehq: tuple[Path, Protocol],
) -> None:
    path, protocol = ehq
    async with desk(path, protocol, size=(120, 24)) as (app, press):
        screen = app.screen
        for _ in range(3):  # from the response over gold and what was said
            await press("tab")
        assert screen._used is screen._book
        (marked,) = (line for line in shown(app).splitlines() if "▸" in line)  # not by colour alone
        assert "▸  a  ABSTAIN" in marked
        await press("down", "pagedown")
        assert screen._book.top > 0
        await press("w")
        assert protocol.label("WRONG").examples[0][:20] in shown(app)
        await press("escape", "shift+tab")
        assert screen._used is screen._beside_said


# --- reviews after unmasking ------------------------------------------------------------------------


def reviewed(path: Path, names: tuple[str, ...], said: dict[str, tuple[str, ...]]) -> None:
    """A review of one judge against people, or of two against each other, with one agreeing control."""
    from db.clock import utc_now
    from db.connection import writing
    from db.reviews import make_review

    with open_study(path) as study:
        units = [row[0] for row in study.connection.execute("SELECT public_id FROM units ORDER BY id")]
        with writing(study.connection) as connection:
            for number, name in enumerate(names, 1):
                connection.execute(
                    "INSERT INTO judges (id, name, kind, created_utc) VALUES (?, ?, 'llm', ?)",
                    (number, name, utc_now()),
                )
                for place, label in enumerate(said[name], 1):
                    connection.execute(
                        "INSERT INTO judge_labels (judge_id, response_id, raw, raw_key) VALUES (?, ?, ?, ?)",
                        (number, place, label, label),
                    )
                    connection.execute(
                        "INSERT OR IGNORE INTO judge_map_entries (judge_id, raw_key, label) VALUES (?, ?, ?)",
                        (number, label, label),
                    )
        if len(names) == 2:
            make_review(study, "judges", names, controls=1)
        reference = dict(zip(units, ADA, strict=True))
        make_review(
            study,
            "judge",
            names[:1],
            reference=reference,
            judged=dict(zip(units, said[names[0]], strict=True)),
            controls=1,
        )


def test_all_three_modes_line_by_line_and_undo_stays_within_its_cases(ehq: tuple[Path, Protocol]) -> None:
    path, protocol = ehq
    # People's label is ADA's; "one" differs from it on two units, and from "two" on three.
    one = ("HEDGE", "WRONG", "WRONG", "ABSTAIN", "WRONG", "ABSTAIN")
    two = ("HEDGE", "HEDGE", "WRONG", "WRONG", "WRONG", "WRONG")
    reviewed(path, ("one", "two"), {"one": one, "two": two})
    judges: dict[str, Any] = {"mode": "judges", "review": "review one - two"}
    judge: dict[str, Any] = {"mode": "judge", "review": "review one"}
    decided, told = plain(path, protocol, "1", "2", "2", "3", "4", "5", "3", "1", "q", **judges)
    assert decided == 4 and "mode: judge against judge, unmasked" in told  # three that differ, one control
    assert "first judge: " in told and "reason: 1 misread the response, 2 too strict" in told
    decided, told = plain(path, protocol, "undo", "wrong", "1", "undo", "wrong", "1", "h", "2", "q", **judge)
    assert decided == 3 and "The last act was no decision of these cases" in told
    assert "reason: 1 judge wrong, 2 coder slip" in told and "judge: " in told
    assert "decided in all: 2 of 3" in told
    decided, told = plain(path, protocol, "undo", "h", "1", "q")
    assert decided == 1 and "The last act was no decision of these cases" in told
    _, told = plain(path, protocol, *["back"] * 4, "q", **judges)
    assert "decided: " in told and "(too strict)" in told and "back, undo or q" in told


def test_a_codebook_with_a_rating_alone_is_reviewed_by_the_sides_of_its_threshold(tmp_path: Path) -> None:
    from db.clock import utc_now
    from db.connection import writing
    from db.reviews import find_review, make_review, verdicts

    protocol = load_protocol("nas")
    path = write_study(tmp_path / "s.db", protocol, several(2), "ada")
    with CodingSession.open(path, "ada", protocol) as session:
        for rating in (80, 20):
            item = session.next()
            session.save(Act("rating", item.assignment, rating=rating))
    with open_study(path) as study:
        units = [row[0] for row in study.connection.execute("SELECT public_id FROM units ORDER BY id")]
        with writing(study.connection) as connection:
            connection.execute(
                "INSERT INTO judges (id, name, kind, created_utc) VALUES (1, 'J', 'llm', ?)", (utc_now(),)
            )
            connection.executemany(
                "INSERT INTO judge_labels (judge_id, response_id, raw, raw_key, score) VALUES (1, ?, ?, ?, ?)",
                [(1, "35", "35", 35.0), (2, "35", "35", 35.0)],
            )
        reference = dict(zip(units, ("aligned", "not aligned"), strict=True))
        make_review(study, "judge", ("J",), reference=reference, judged=dict.fromkeys(units, "not aligned"), controls=1)
    decided, told = plain(path, protocol, "1", "1", "2", "2", "q", mode="judge", review="review J")
    assert decided == 2 and "1 aligned, 2 not aligned" in told
    assert "judge: 35" in told and "held by people: aligned" in told and "coder A: 80" in told
    with open_study(path) as study:
        given = {v.unit: v.verdict for v in verdicts(study.connection, find_review(study.connection, "review J"))}
    assert sorted(given.values()) == ["aligned", "not aligned"] and set(given) == set(units)


def test_a_unit_that_is_not_in_the_review_is_refused(ehq: tuple[Path, Protocol]) -> None:
    from db.adjudicating import Decision
    from db.errors import AnnotateError

    path, protocol = ehq
    reviewed(path, ("one",), {"one": ("HEDGE", "WRONG", "WRONG", "ABSTAIN", "WRONG", "ABSTAIN")})
    with AdjudicationSession.open(path, "Lea", protocol, mode="judge", review="review one") as session:
        inside = set(session.queue().units)
        with open_study(path) as study:
            other = next(u for (u,) in study.connection.execute("SELECT public_id FROM units") if u not in inside)
        for call in (lambda: session.case(other), lambda: session.decide(other, Decision("WRONG", reason="judge"))):
            with pytest.raises(AnnotateError, match="is not in 'review one'"):
                call()
    assert finals(path) == []
