"""Moving between items and reading them at the real screen."""

from __future__ import annotations

from db.connection import writing
from db.study import open_study
from tests.tui.seat import seated
from tui.modes import Mode


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


async def test_an_empty_queue(make_study):
    async with seated(make_study([])) as seat:
        assert "Nothing is assigned to you yet." in seat.text()
        await seat.press("a", "u", "left", "g", "escape")
        assert seat.mode is Mode.DONE


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


async def test_the_jumps_are_in_view_in_a_narrow_terminal_and_can_be_clicked(make_study):
    async with seated(make_study(4), size=(80, 24)) as seat:
        await seat.press("f", "d", "right", "g")
        line = next(row for row, text in enumerate(seat.text().splitlines()) if "GO TO" in text)
        text = seat.text().splitlines()[line]
        assert "n unlabelled  f flagged  s skipped" in text
        await seat.pilot.click("#bottom", offset=(text.index("f flagged"), line - seat.app.screen._bottom.region.y))
        await seat.settle()
        assert seat.position == 1
