"""The fold and the undo stacks against a plain model: lists of acts, copied at every step."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.fold import DONE, SKIPPED, SKIPPED_ONCE, TO_DO, FoldEvent, fold, in_order, queue_state
from db.stacks import Stacks

ACTS = st.one_of(
    st.tuples(
        st.just("label"),
        st.fixed_dictionaries({"label": st.sampled_from("ABC")}, optional={"rating": st.integers(0, 3)}),
    ),
    st.tuples(st.just("rating"), st.fixed_dictionaries({"rating": st.integers(0, 3)})),
    st.tuples(st.just("note"), st.fixed_dictionaries({"note": st.sampled_from(["n1", "n2", None])})),
    st.tuples(
        st.just("flag"),
        st.fixed_dictionaries({"flag": st.sampled_from(["technical", "question"]), "on": st.booleans()}),
    ),
    st.tuples(st.just("skip"), st.fixed_dictionaries({"reason": st.sampled_from(["r1", "r2"])})),
)
STEPS = st.lists(st.one_of(st.tuples(st.integers(0, 2), ACTS), st.sampled_from(["undo", "redo"])), max_size=25)


def plain(acts: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """The model: what a list of acts on one item comes to, written out the slow way."""
    label = rating = note = skip = None
    flags: set[str] = set()
    skips = 0
    for kind, body in acts:
        if kind == "label":
            label, rating, skip = body["label"], body.get("rating"), None
        elif kind == "rating":
            rating, skip = body["rating"], None
        elif kind == "skip":
            label, rating, skip, skips = None, None, body["reason"], skips + 1
        elif kind == "flag" and body["on"]:
            flags.add(body["flag"])
        elif kind == "flag":
            flags.discard(body["flag"])
        note = body.get("note", note)
    return {"label": label, "rating": rating, "note": note, "flags": flags, "skip": skip, "skips": skips}


@given(STEPS)
def test_undo_and_redo_are_what_copies_of_the_past_would_give(steps: list[Any]) -> None:
    events: list[tuple[int, FoldEvent]] = []  # (item, event)
    stacks = Stacks()
    past: list[list[tuple[int, tuple[str, dict[str, Any]]]]] = [[]]  # the model: every state of the list of acts
    future: list[list[tuple[int, tuple[str, dict[str, Any]]]]] = []
    for seq, step in enumerate(steps, 1):
        if step == "undo":
            if len(past) == 1:
                assert not stacks.done
                continue
            future.append(past.pop())
            target = stacks.done[-1]
        elif step == "redo":
            if not future:
                assert not stacks.undone
                continue
            past.append(future.pop())
            target = stacks.undone[-1]
        else:
            item, (kind, body) = step
            past.append([*past[-1], (item, (kind, body))])
            future.clear()
            stacks.add(seq, kind)
            events.append((item, FoldEvent(1, seq, kind, body, 1)))
            continue
        item = next(i for i, e in events if e.seq == target and e.kind not in {"undo", "redo"})
        stacks.add(seq, step, target)
        events.append((item, FoldEvent(1, seq, step, {"target": target}, 1)))
    for item in range(3):
        folded = fold([event for i, event in events if i == item])
        expected = plain([act for i, act in past[-1] if i == item])
        if folded is None:
            assert expected == plain([])
            continue
        assert (folded.label, folded.rating, folded.note) == (expected["label"], expected["rating"], expected["note"])
        assert set(folded.flags) == expected["flags"]
        assert (folded.skip_reason, folded.skip_count) == (expected["skip"], expected["skips"])


def test_time_that_was_spent_stays_spent_and_the_deciding_act_is_named() -> None:
    events = [
        FoldEvent(1, 1, "label", {"label": "A"}, 1, "masked", "t", "u1", 1000),
        FoldEvent(1, 2, "label", {"label": "B"}, 2, "open", "t", "u2", 500),
        FoldEvent(1, 3, "note", {"note": "n"}, 3, "open", "t", "u3", 70),
        FoldEvent(1, 4, "undo", {"target": 2}, 3, "open", "t", "u4", 5),
    ]
    folded = fold(events)
    assert folded is not None
    assert (folded.label, folded.protocol_version, folded.blindness, folded.utc) == ("A", 1, "masked", "u1")
    assert (folded.active_ms, folded.seq, folded.note) == (1575, 4, "n")


@pytest.mark.parametrize(
    ("events", "stale", "state"),
    [
        ([("label", {"label": "A"})], False, DONE),
        ([("label", {"label": "A"})], True, TO_DO),
        ([("skip", {"reason": "r"})], False, SKIPPED_ONCE),
        ([("skip", {"reason": "r"}), ("skip", {"reason": "r"})], False, SKIPPED),
        ([("skip", {"reason": "r"}), ("label", {"label": "A"})], False, DONE),
        ([("skip", {"words": "digest"})], False, SKIPPED_ONCE),
        ([("flag", {"flag": "technical", "on": True})], False, DONE),
        ([("flag", {"flag": "question", "on": True})], False, TO_DO),
        ([("note", {"note": "n"})], False, TO_DO),
    ],
)
def test_where_an_item_stands_in_the_queue(events: list[tuple[str, dict[str, Any]]], stale: bool, state: int) -> None:
    folded = fold([FoldEvent(1, seq, kind, body, 1) for seq, (kind, body) in enumerate(events, 1)])
    assert queue_state(folded, stale) == state


def test_a_stack_refuses_what_no_session_can_write() -> None:
    with pytest.raises(ValueError, match="event 2: undo of event 5"):
        Stacks.of([(1, "label", None), (2, "undo", 5)])
    with pytest.raises(ValueError, match="event 3: redo of event 1"):
        Stacks.of([(1, "label", None), (2, "label", None), (3, "redo", 1)])


def test_two_logs_of_one_item_count_in_the_order_of_their_leases() -> None:
    """Home 1-2, then a pack (log 7) was leased when home stood at 2 and merged, then home 3; a second pack (log 4)."""
    events = [
        FoldEvent(log, seq, "note", {}, 1) for log, seq in [(4, 1), (7, 1), (7, 2), (1, 1), (1, 2), (1, 3), (1, 4)]
    ]
    order = [(e.log, e.seq) for e in in_order(events, home=1, leases=[(7, 2), (4, 3)])]
    assert order == [(1, 1), (1, 2), (7, 1), (7, 2), (1, 3), (4, 1), (1, 4)]
