"""The real screen on a real study, driven by Textual's pilot."""

from __future__ import annotations

from contextlib import asynccontextmanager

from db.coding import CodingSession
from tui.app import CodingApp
from tui.keymap import load_keymap
from tui.modes import Mode
from tui.studythread import StudyThread


class Seat:
    """One run of the screen."""

    def __init__(self, app, pilot):
        self.app, self.pilot = app, pilot

    @property
    def controller(self):
        return self.app.controller

    @property
    def mode(self):
        return self.controller.state.mode

    async def settle(self):
        """Until nothing is being saved and the item is on the screen."""
        for _ in range(400):
            await self.pilot.pause()
            shown = self.controller.item is None or self.controller.keyboard.painted is not None
            if self.mode is not Mode.SAVING and shown and self.controller.view is not None:
                return
            await self.pilot.pause(0.01)
        raise AssertionError(f"still {self.mode}")

    async def press(self, *keys):
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def type_ahead(self, *keys):
        """All keys at once, as a fast typist or a slow connection would deliver them."""
        await self.pilot.press(*keys)
        await self.settle()

    def text(self):
        """What is on the screen, line by line."""
        height = self.app.size.height
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips[:height])

    @property
    def position(self):
        return None if self.controller.item is None else self.controller.item.position


@asynccontextmanager
async def seated(study, size=(120, 40), coder="ada", **options):
    """The desk on ``study`` (path, protocol), ready for keys."""
    path, protocol = study
    thread = StudyThread(lambda: CodingSession.open(path, coder, protocol))
    thread.session()
    app = CodingApp(thread, coder=coder, protocol=protocol, make_keymap=load_keymap, **options)
    try:
        async with app.run_test(size=size) as pilot:
            seat = Seat(app, pilot)
            await seat.settle()
            yield seat
    finally:
        thread.close()
