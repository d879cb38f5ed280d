"""Skips, flags, notes and differences at the real screen, asserted on the study file."""

from __future__ import annotations

from tests.tui.conftest import events
from tests.tui.seat import seated
from tui.modes import Mode


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


async def test_a_note_typed_ahead_is_text_and_no_label(make_study):
    study = make_study(3)
    async with seated(study) as seat:
        await seat.type_ahead("n", *"what", "space", *"ahh", "enter", "h")
    assert [(event["kind"], event["position"]) for event in events(study[0])[1:]] == [("note", 1), ("label", 1)]
    assert events(study[0])[1]["note"] == "what ahh"


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


async def test_the_leads_answer_stands_on_the_item(make_study, monkeypatch):
    study = make_study(1)
    async with seated(study) as seat:
        view = seat.controller.view
        seat.app.screen.show(view._replace(item=view.item._replace(answer="Politeness is no hedge.")))
        await seat.pilot.pause()
        assert "Politeness is no hedge." in seat.text()
