"""Every action at the real screen, asserted on the study file. Nothing stands in for the study."""

from __future__ import annotations

import json

import pytest

from db.connection import writing
from db.study import open_study
from tests.tui.conftest import acts, events, several
from tests.tui.seat import seated
from tui.actions import ACTIONS
from tui.modes import Mode
from tui.palette import found


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


async def test_a_note_typed_ahead_is_text_and_no_label(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        await seat.type_ahead("n", *"what", "space", *"ahh", "enter", "h")
    assert [(event["kind"], event["position"]) for event in events(study[0])[1:]] == [("note", 1), ("label", 1)]
    assert events(study[0])[1]["note"] == "what ahh"


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


async def test_skip_with_a_reason_and_in_own_words(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        await seat.press("s")
        assert "needs expertise that I lack" in seat.text()
        await seat.press("2")
        await seat.press("s", "0", *"odd", "enter")
        await seat.press("a")
        # What was skipped comes back once, at the end.
        assert seat.position == 1
        await seat.press("s", "down", "down", "enter")
        await seat.press("a")
        assert seat.mode is Mode.DONE
    skips = [event for event in events(study[0]) if event["kind"] == "skip"]
    assert [event.get("reason") or event.get("words") for event in skips] == [
        "needs expertise that I lack",
        "odd",
        "gold answer seems wrong",
    ]


async def test_flags(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        await seat.press("f", "d")
        assert "⚑ to discuss" in seat.text()
        assert seat.position == 1
        await seat.press("f", "f")
        assert "⚑" not in seat.text()
        await seat.press("f", "t")
        assert seat.position == 2
    flags = [(event["flag"], event["on"]) for event in events(study[0]) if event["kind"] == "flag"]
    assert flags == [("discuss", True), ("discuss", False), ("technical", True)]


async def test_notes_can_be_changed_and_removed(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        await seat.press("n", *"ab", "enter")
        assert "✎ note" in seat.text()
        await seat.press("n", "c", "enter")
        await seat.press("n", "ctrl+u", "enter")
        assert "✎" not in seat.text()
    assert [event["note"] for event in events(study[0]) if event["kind"] == "note"] == ["ab", "abc", None]


async def test_an_unsent_note_is_there_again_in_the_next_session(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        await seat.press("n", *"half a", "escape")
        assert "✎ unsent note" in seat.text()
    async with seated(study) as seat:
        assert "✎ unsent note" in seat.text()
        await seat.press("n", "enter")
        assert "✎ note" in seat.text()
    assert events(study[0])[-1]["note"] == "half a"


async def test_moving_about(make_study):
    study = make_study(12)
    async with seated(study) as seat:
        await seat.press("a", "a", "f", "d")
        await seat.press("left")
        assert seat.position == 2
        assert "✓ ABSTAIN" in seat.text()
        await seat.press("left", "left")
        assert "This is the first item." in seat.text()
        await seat.press(".")
        assert seat.position == 3
        await seat.press("right")
        assert seat.position == 4
        await seat.press("s", "1")
        assert seat.position == 5
        await seat.press("g", "f")
        assert seat.position == 3
        await seat.press("g", "s")
        assert seat.position == 4
        await seat.press("g", "1", "1", "enter")
        assert seat.position == 11
        await seat.press("g", "9", "9", "enter")
        assert "There is no item 99" in seat.text()
        await seat.press("g")
        assert "Who designed the Nine Arch Bridge?" in seat.text()
        await seat.press("up", "up", "enter")
        assert seat.position == 9
        await seat.press("g", "n")
        assert seat.position == 10


async def test_changing_a_label_goes_on_with_the_next_open_item(make_study):
    study = make_study(4)
    async with seated(study) as seat:
        await seat.press("a", "a", "left", "left", "w")
        assert seat.position == 3
    assert acts(study[0])[-1] == ("label", 1, "WRONG", None)


async def test_the_list_fetches_what_the_cursor_comes_near_to(make_study):
    study = make_study(260)
    async with seated(study) as seat:
        await seat.press("g")
        await seat.pilot.press(*["pagedown"] * 30)
        await seat.pilot.pause(0.2)
        await seat.pilot.press(*["pagedown"] * 10)
        await seat.pilot.pause(0.2)
        assert seat.controller.queue.entries[-1].position == 260
        await seat.press("end", "enter")
        assert seat.position == 260
        await seat.press("g")
        await seat.pilot.press(*["pageup"] * 30)
        await seat.pilot.pause(0.2)
        assert [entry.position for entry in seat.controller.queue.entries[:3]] == [
            (first := seat.controller.queue.entries[0].position),
            first + 1,
            first + 2,
        ]


async def test_search(make_study):
    study = make_study([{"question": "Bridge?", "text": "a bridge\n" * 60, "gold": ["no"]}])
    async with seated(study, size=(80, 24)) as seat:
        await seat.press("/", *"bridge")
        assert "1 of 61" in seat.text()
        await seat.press("up")
        assert "61 of 61" in seat.text()
        assert seat.app.screen.item.panes["response"].top > 30
        await seat.press("enter")
        assert "1 of 61" in seat.text()
        await seat.press(*"zz")
        assert "not found" in seat.text()
        await seat.press("escape")
        assert seat.mode is Mode.LABEL


async def test_differences_are_off_by_default_and_logged(make_study):
    study = make_study([{"text": "It was Marwood", "gold": ["Harold Marwood"]}] * 2)
    async with seated(study) as seat:
        item = seat.app.screen.item
        assert item.panes["gold"].marks == ()
        await seat.press("ctrl+d")
        assert [span.style for span in item.panes["gold"].marks] == ["own", "shared"]
        await seat.press("ctrl+d")
        assert item.panes["gold"].marks == ()
        await seat.press("ctrl+d", "a")
        assert item.panes["gold"].marks == ()
    assert [event["kind"] for event in events(study[0])[1:]] == ["highlight", "highlight", "label"]


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


async def test_codebook_palette_summary(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        await seat.press("?", "w")
        assert "Smooth talk" in seat.text()
        await seat.press("escape")
        assert "Smooth talk" in seat.text(), "the rule that was looked up stays beside the item"
        await seat.press("ctrl+p", *"skip")
        assert "Skip with a reason" in seat.text()
        await seat.press("escape")
        await seat.press("f2")
        assert "Items coded" in seat.text()
        await seat.press("escape")
        assert seat.mode is Mode.LABEL
    assert acts(study[0]) == []


async def test_ctrl_c_asks_first(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        await seat.press("ctrl+c")
        assert "Leave the desk?" in seat.text()
        await seat.press("escape", "a")
        assert seat.position == 2
        await seat.pilot.press("ctrl+c", "enter")
        await seat.pilot.pause()
        assert not seat.app._running or seat.app._exit


async def test_themes(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        names = []
        for _ in range(3):
            await seat.press("ctrl+t")
            names.append(seat.app.look)
        assert names == ["light", "high-contrast", "dark"]


async def test_the_mouse_works_too(make_study):
    study = make_study([{"context": "c\n" * 50}, {}])
    async with seated(study, size=(80, 24)) as seat:
        await seat.pilot.click("#item", offset=(20, 3))
        assert seat.app.screen.item.used == "context"
        decision = seat.app.screen._bottom
        column = decision.draw_line(1).text.index(" h ") + 1
        await seat.pilot.click("#bottom", offset=(column, 1))
        await seat.settle()
        assert seat.position == 2
        await seat.press("s")
        await seat.pilot.click("#bottom", offset=(10, 2))
        await seat.settle()
    assert [event["kind"] for event in events(study[0])[1:]] == ["label", "skip"]


async def test_resizing_at_any_time(make_study):
    study = make_study([{"context": "words " * 400, "text": "answer " * 200, "rationale": "why " * 30}])
    async with seated(study) as seat:
        for size in [(80, 24), (200, 60), (60, 16), (40, 10), (120, 40), (300, 80)]:
            await seat.pilot.resize_terminal(*size)
            await seat.pilot.pause(0.05)
            text = seat.text()
            assert "LABEL" in text
            assert max(len(line) for line in text.splitlines()) <= size[0]
            assert all(pane.cells <= 100 for pane in seat.app.screen.item.panes.values())
        assert "ABSTAIN" in text


async def test_everything_at_once_at_120x40(make_study):
    item = {
        "question": "THE-QUESTION",
        "context": "THE-CONTEXT",
        "text": "THE-RESPONSE",
        "gold": ["THE-GOLD"],
        "rationale": "THE-RATIONALE",
    }
    async with seated(make_study([item])) as seat:
        text = seat.text()
        for word in (*(value if isinstance(value, str) else value[0] for value in item.values()), "declines to offer"):
            assert word in text
        assert "secret-model" not in text


async def test_an_empty_queue(make_study):
    async with seated(make_study([])) as seat:
        assert "Nothing is assigned to you yet." in seat.text()
        await seat.press("a", "u", "left", "g", "escape")
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


async def test_the_leads_answer_stands_on_the_item(make_study, monkeypatch):
    study = make_study(1)
    async with seated(study) as seat:
        view = seat.controller.view
        seat.app.screen.show(view._replace(item=view.item._replace(answer="Politeness is no hedge.")))
        await seat.pilot.pause()
        assert "Politeness is no hedge." in seat.text()


async def test_the_rule_under_consideration_is_in_view_at_any_size(make_study):
    study = make_study(3)
    async with seated(study, size=(80, 24)) as seat:
        assert "offers an answer and says" not in seat.text()
        await seat.press("?", "h", "escape")
        assert "HEDGE: The response offers an answer and says" in seat.text()
        await seat.press("w", "left")
        assert "HEDGE: The response offers" in seat.text()


async def test_reading_keys(make_study):
    study = make_study([{"context": "c\n" * 80, "text": "t\n" * 80, "gold": ["g"]}])
    async with seated(study, size=(80, 24)) as seat:
        item = seat.app.screen.item
        response = item.panes["response"]
        await seat.press("down", "down")
        assert response.top == 2
        await seat.press("up")
        assert response.top == 1
        await seat.press("pagedown")
        assert response.top == 1 + response.height - 2
        await seat.press("pageup")
        assert response.top == 1
        await seat.press("end")
        assert response.top + response.height == response.known
        await seat.press("home")
        assert response.top == 0
        await seat.press("tab")
        assert item.used == "gold"
        await seat.press("shift+tab", "shift+tab")
        assert item.used == "context"
        await seat.press("space")
        assert item.panes["context"].top > 0
        assert response.top == 0


async def test_every_action_can_be_carried_out_from_the_palette(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        await seat.press("a")
        for action in ACTIONS:
            if action.name in ("palette", "leave"):
                continue
            await seat.press("ctrl+p")
            seat.controller.keyboard.feed_paste(action.title.lower())
            await seat.press(*["down"] * found(action.title, Mode.LABEL).index(action), "enter")
            assert seat.mode is not Mode.PALETTE, action.name
            await seat.press(*["escape"] * (seat.mode is not Mode.LABEL))
            assert seat.mode is Mode.LABEL, action.name


async def test_numbers_that_run_on_over_rounds_are_not_told_of_the_open_ones(make_study):
    study = make_study(3)
    with open_study(study[0]) as opened, writing(opened.connection) as connection:
        connection.execute("UPDATE assignments SET position = position + 100")
    async with seated(study) as seat:
        assert "item 101   " in seat.text()
        await seat.press("g")
        assert "  101  " in seat.text()
        await seat.press("1", "0", "3", "enter")
        assert seat.position == 103
        await seat.press("g", "7", "enter")
        assert "There is no item 7." in seat.text()
