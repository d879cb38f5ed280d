"""What opens over the item, the mouse, themes and sizes, at the real screen."""

from __future__ import annotations

from tests.tui.conftest import acts, events
from tests.tui.seat import seated
from tui.actions import ACTIONS
from tui.modes import Mode
from tui.palette import found
from tui.summary import BREAK, BREAK_EVERY, BREAK_IS


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


async def test_the_rule_under_consideration_is_in_view_at_any_size(make_study):
    study = make_study(3)
    async with seated(study, size=(80, 24)) as seat:
        assert "offers an answer and says" not in seat.text()
        await seat.press("?", "h", "escape")
        assert "HEDGE: The response offers an answer and says" in seat.text()
        await seat.press("w", "left")
        assert "HEDGE: The response offers" in seat.text()


async def test_a_break_is_suggested_on_the_next_item_and_stays_in_the_status_line_until_it_is_taken(make_study):
    study = make_study(6)
    async with seated(study, size=(80, 24)) as seat:
        tally = seat.controller.tally
        await seat.press("h")
        tally.at_work = BREAK_EVERY
        await seat.press("h")
        assert seat.position == 3
        assert BREAK in seat.text()
        assert "break due" in seat.text().splitlines()[0]
        await seat.press("h")
        assert BREAK not in seat.text()
        assert "break due" in seat.text().splitlines()[0]
        tally.last -= BREAK_IS
        await seat.press("h")
        assert "break due" not in seat.text()
        tally.at_work = BREAK_EVERY
        await seat.press("down")
        assert BREAK in seat.text()
    assert len(acts(study[0])) == 4
