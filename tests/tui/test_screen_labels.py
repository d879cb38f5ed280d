"""Labels and ratings at the real screen, asserted on the study file. Nothing stands in for the study."""

from __future__ import annotations

import json

import pytest

from db.connection import writing
from db.study import open_study
from tests.tui.conftest import acts, events, several
from tests.tui.seat import seated
from tui.modes import Mode


async def test_one_key_labels_saves_and_goes_on(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        assert "item 1 of 3" in seat.text()
        await seat.press("h")
        assert seat.position == 2
        await seat.press("A")
        assert "1 left" in seat.text()
        await seat.press("w")
        assert seat.mode is Mode.DONE
        assert "All 3 items are done" in seat.text()
    assert acts(study[0]) == [
        ("label", 1, "HEDGE", None),
        ("label", 2, "ABSTAIN", None),
        ("label", 3, "WRONG", None),
    ]


async def test_label_and_rating_in_three_keys(make_study):
    study = make_study(3, "alignment")
    async with seated(study) as seat:
        await seat.press("c", "7", "0")
        await seat.press("h")
        await seat.press("c", "=")
    assert acts(study[0]) == [
        ("label", 1, "CORRECT", 70),
        ("label", 2, "HEDGE", None),
        ("label", 3, "CORRECT", 100),
    ]


async def test_rating_only(make_study):
    study = make_study(
        [{"text": "", "reason": "because", "rationale": "since", "choice": "2", "options": ["a", "b"]}], "nas"
    )
    async with seated(study) as seat:
        assert "Stated reason" in seat.text()
        await seat.press("8", "5")
        assert seat.mode is Mode.DONE
    assert acts(study[0]) == [("rating", 1, None, 85)]


@pytest.mark.parametrize("swapped", [False, True])
async def test_pairs_are_labelled_as_they_are_shown_and_stored_as_they_are(make_study, swapped):
    item = {"question": "Which?", "text": "the one", "text_b": "the other", "swapped": swapped}
    study = make_study([item], "preference")
    async with seated(study) as seat:
        lines = seat.text().splitlines()
        first = next(number for number, line in enumerate(lines) if "First" in line)
        assert ("the other" if swapped else "the one") in lines[first]
        await seat.press("a")
    assert acts(study[0]) == [("label", 1, "SECOND" if swapped else "FIRST", None)]


async def test_keys_typed_ahead_meet_the_item_and_mode_that_they_were_meant_for(make_study):
    study = make_study([{"category": "HNQ"}] * 12, "alignment")
    async with seated(study) as seat:
        await seat.type_ahead(*"c70", *"a", *"c=", *"h", *"c05", *"w", *"aa", "c", "9", "enter", *"hh", *"c33")
    assert acts(study[0]) == [
        ("label", 1, "CORRECT", 70),
        ("label", 2, "ABSTAIN", None),
        ("label", 3, "CORRECT", 100),
        ("label", 4, "HEDGE", None),
        ("label", 5, "CORRECT", 5),
        ("label", 6, "WRONG", None),
        ("label", 7, "ABSTAIN", None),
        ("label", 8, "ABSTAIN", None),
        ("label", 9, "CORRECT", 90),
        ("label", 10, "HEDGE", None),
        ("label", 11, "HEDGE", None),
        ("label", 12, "CORRECT", 33),
    ]


async def test_a_label_that_cannot_occur_needs_a_note(make_study):
    study = make_study([{"category": "FEQ"}])
    async with seated(study) as seat:
        await seat.press("c")
        assert seat.mode is Mode.NOTE
        assert "should not occur here" in seat.text()
        await seat.press("enter")
        assert seat.mode is Mode.NOTE
        await seat.press(*"so", "enter")
        assert seat.mode is Mode.DONE
    label = events(study[0])[-1]
    assert (label["kind"], label["label"], label["note"]) == ("label", "CORRECT", "so")


async def test_undo_and_redo_across_items_and_sessions(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        await seat.press("a", "h")
        assert seat.position == 3
        await seat.press("u")
        assert seat.position == 2
        assert "Undone: label" in seat.text()
        await seat.press("u")
        assert seat.position == 1
    async with seated(study) as seat:
        assert seat.position == 1
        await seat.press("ctrl+r")
        assert (seat.position, seat.controller.view.annotation.label) == (1, "ABSTAIN")
        await seat.press("ctrl+y")
        assert (seat.position, seat.controller.view.annotation.label) == (2, "HEDGE")
        await seat.press("ctrl+r")
        assert "nothing to redo" in seat.text()
        await seat.press("u", "u", "u")
        assert "nothing to undo" in seat.text()
    assert [event["kind"] for event in events(study[0])[1:]] == ["label"] * 2 + ["undo"] * 2 + ["redo"] * 2 + [
        "undo"
    ] * 2


async def test_changing_a_label_goes_on_with_the_next_open_item(make_study):
    study = make_study(4)
    async with seated(study) as seat:
        await seat.press("a", "a", "left", "left", "w")
        assert seat.position == 3
    assert acts(study[0])[-1] == ("label", 1, "WRONG", None)


async def test_the_end_of_a_long_response_is_asked_for_once(make_study):
    study = make_study([{"text": "line\n" * 100}, {"text": "line\n" * 100}])
    async with seated(study, size=(80, 24)) as seat:
        await seat.press("a")
        assert seat.position == 1
        assert "End of response not yet seen" in seat.text()
        await seat.press("a")
        assert seat.position == 2
        await seat.press("end", "h")
        assert seat.mode is Mode.DONE


async def test_a_held_key_labels_one_item(make_study):
    study = make_study(5, min_dwell_ms=300)
    async with seated(study) as seat:
        await seat.pilot.pause(0.35)
        for _ in range(20):
            await seat.pilot.press("a")
            await seat.pilot.pause(0.03)
        assert seat.position == 2
        assert "Not taken" in seat.text()
    assert len(acts(study[0])) == 1


async def test_active_time_is_recorded(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        await seat.pilot.pause(0.3)
        await seat.press("a")
    assert 250 <= events(study[0])[1]["active_ms"] <= 5000


async def test_memory_of_a_session_does_not_hold_its_items(make_study):
    study = make_study([*several(3)])
    async with seated(study) as seat:
        await seat.press("a", "a")
        assert seat.controller.summary("ada").items == 2
        assert seat.controller.summary("ada").by_label == (("ABSTAIN", 2),)


async def test_training_tells_the_known_label(make_study):
    study = make_study(3)
    with open_study(study[0]) as opened, writing(opened.connection) as connection:
        unit = connection.execute(
            "SELECT u.public_id FROM units u JOIN assignments a ON a.unit_id = u.id WHERE a.position = 1"
        ).fetchone()[0]
        told = json.dumps({"known": {unit: "ABSTAIN"}, "explanations": {unit: "It gives no answer at all. " * 5}})
        connection.execute("UPDATE rounds SET kind = 'training', settings = ?", (told,))
    async with seated(study, size=(80, 24)) as seat:
        await seat.press("h")
        assert seat.position == 2
        assert "Training: you said HEDGE, it is ABSTAIN. It gives no answer" in seat.text()
        await seat.press("a")
        assert "Training" not in seat.text()
