"""What the desk asks of the study: each request runs in the study's own thread and comes back as one report."""

from __future__ import annotations

from typing import NamedTuple
from typing import Protocol as Interface

from db.coding import CodingSession
from db.errors import AnnotateError
from db.queue import Seek
from db.records import Act, Annotation, CodingItem, PendingChange, Progress, Protocol, QueueEntry, Saved


class View(NamedTuple):
    """An item with what stands on it; ``item`` None: nothing is left to do."""

    item: CodingItem | None
    annotation: Annotation | None
    draft: str
    progress: Progress


class Shown(NamedTuple):
    """Show this view. ``saved``: the act that is durable now, if the request was one."""

    view: View
    saved: Saved | None = None
    act: Act | None = None


class Stays(NamedTuple):
    """The item stays; ``reason`` says why, if nothing was saved. ``view``: what stands on it now."""

    reason: str = ""
    view: View | None = None
    saved: Saved | None = None
    act: Act | None = None


class Listed(NamedTuple):
    """Lines of the queue; ``before`` asks for them in front of those that are there."""

    entries: tuple[QueueEntry, ...]
    before: bool = False


class Changed(NamedTuple):
    """The codebook changed and must be confirmed; ``view`` is the item to go on with."""

    pending: PendingChange
    view: View


class Failed(NamedTuple):
    """Nothing was saved; ``request`` can be made again."""

    request: Request
    error: AnnotateError


class Broken(NamedTuple):
    """An error in the program itself."""

    error: BaseException


Report = Shown | Stays | Listed | Changed | Failed | Broken


class Request(Interface):
    """Runs in the study's thread; None: there is nothing to report."""

    def __call__(self, session: CodingSession) -> Report | None: ...


def view(session: CodingSession, item: CodingItem | None) -> View:
    """``item`` with its annotation and unsent note."""
    if item is None:
        return View(None, None, "", session.progress)
    draft = session.draft(item.assignment)
    return View(item, session.annotation(item.assignment), draft or "", session.progress)


class Begin(NamedTuple):
    """The first item to do; a changed codebook first."""

    def __call__(self, session: CodingSession) -> Report:
        first = view(session, session.next())
        pending = session.pending_confirmation()
        return Shown(first) if pending is None else Changed(pending, first)


class Save(NamedTuple):
    """Save an act made on an item; ``advance``: then go on to the next one to do."""

    act: Act
    advance: bool

    def __call__(self, session: CodingSession) -> Report:
        saved = session.save(self.act)
        assert self.act.assignment is not None
        if self.advance:
            return Shown(view(session, session.next(self.act.assignment)), saved, self.act)
        return Stays(view=view(session, session.item_of(self.act.assignment)), saved=saved, act=self.act)


class Move(NamedTuple):
    """Undo or redo, and show the item that it was about."""

    kind: str
    active_ms: int

    def __call__(self, session: CodingSession) -> Report:
        saved = session.undo(self.active_ms) if self.kind == "undo" else session.redo(self.active_ms)
        if saved is None or saved.annotation is None:
            return Stays(f"There is nothing to {self.kind}.")
        return Shown(view(session, session.item_of(saved.annotation.assignment)), saved)


class Look(NamedTuple):
    """Show another item: the nearest of a kind (None: the neighbour) beyond ``after``."""

    what: Seek | None
    after: str | None
    backwards: bool = False

    def __call__(self, session: CodingSession) -> Report:
        found = session.seek(self.what, self.after, backwards=self.backwards)
        if found is None and self.what is not None:
            found = session.seek(self.what, None, backwards=self.backwards)  # around the end of the queue
        if self.what == "open" and found is None:
            found = session.next(self.after)  # what was skipped comes back once
        if found is None or (self.what is not None and found.assignment == self.after):
            return Stays(
                _NONE[self.what] if self.what else f"This is the {'first' if self.backwards else 'last'} item."
            )
        return Shown(view(session, found))


_NONE = {
    "open": "No other item is left to label.",
    "flagged": "No other item is flagged.",
    "skipped": "No other item is skipped.",
    "done": "No other item is labelled.",
    "noted": "No other item has a note.",
}


class Position(NamedTuple):
    """Show the item of this number."""

    number: int

    def __call__(self, session: CodingSession) -> Report:
        found = session.item(self.number)
        if found is None:
            return Stays(f"There is no item {self.number}.")
        return Shown(view(session, found))


class Page(NamedTuple):
    """Lines of the queue with a position greater than ``after``."""

    after: int
    limit: int
    before: bool = False

    def __call__(self, session: CodingSession) -> Report:
        return Listed(session.queue_page(max(self.after, 0), self.limit), self.before)


class KeepDraft(NamedTuple):
    """Keep an unsent note."""

    assignment: str
    text: str

    def __call__(self, session: CodingSession) -> None:
        session.set_draft(self.assignment, self.text)


class Confirm(NamedTuple):
    """The coder has read the change: take ``protocol`` up (None: it is the one in use) and record the confirmation."""

    protocol: Protocol | None
    assignment: str | None

    def __call__(self, session: CodingSession) -> Report:
        if self.protocol is not None:
            session.adopt(self.protocol)
        saved = session.save(Act("confirm", None))
        item = session.next() if self.assignment is None else session.item_of(self.assignment)
        return Shown(view(session, item), saved)
