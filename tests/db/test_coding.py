"""A coder's session: what it serves in which order, and undo without limit."""

from __future__ import annotations

from pathlib import Path

from acts import events, label
from builder import protocol

from db.coding import CodingSession
from db.records import Act

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
