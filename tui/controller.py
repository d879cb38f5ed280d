"""What happens at the desk, without a screen: effects become requests, reports become what the screen shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol as Interface

from db.records import Act, CodingItem, PendingChange, Protocol, QueueEntry, Saved
from tui import effects as fx
from tui import requests as ask
from tui.activity import Activity
from tui.keyboard import Keyboard
from tui.keymachine import Desk, Press, Sight, State, fresh
from tui.keymap import Keymap
from tui.modes import Mode
from tui.palette import found
from tui.queuelist import QueueList
from tui.requests import Report, Request, View
from tui.summary import BREAK, SessionSummary, Tally


class Face(Interface):
    """What the controller needs of the screen. Every call returns at once."""

    def show(self, view: View) -> None: ...
    def refresh_mode(self) -> None: ...
    def notice(self, text: str, *, loud: bool = False) -> None: ...
    def hush(self) -> None: ...
    def scroll(self, action: str) -> None: ...
    def find(self, text: str, turn: int) -> None: ...
    def highlight(self, on: bool) -> None: ...
    def next_theme(self) -> None: ...
    def unseen(self) -> int: ...
    def codebook_changed(self) -> None: ...
    def after(self, seconds: float, call: Callable[[], None]) -> None: ...
    def leave(self) -> None: ...
    def crash(self, error: BaseException) -> None: ...


class Controller:
    """One session at the desk. ``clock`` is in seconds, the same that stamps the keys."""

    def __init__(
        self,
        face: Face,
        submit: Callable[[Request], None],
        *,
        protocol: Protocol,
        make_keymap: Callable[[Protocol], Keymap],
        read_protocol: Callable[[str, str], Protocol] | None,
        clock: Callable[[], float],
    ) -> None:
        self.face = face
        self.view: View | None = None
        self.pending: PendingChange | None = None
        self.failure = ""
        self.highlighted = False
        self.looked_up: str | None = None
        self.tally = Tally(clock())
        self._submit, self._clock = submit, clock
        self._make_keymap, self._read_protocol = make_keymap, read_protocol
        self._activity = Activity()
        self._failed: Request | None = None
        self._warned = self._suggest = False
        self.queue = QueueList(submit)
        self.keyboard = self._keyboard(Desk(protocol, make_keymap(protocol)))

    @property
    def state(self) -> State:
        return self.keyboard.state

    @property
    def desk(self) -> Desk:
        return self.keyboard.desk

    @property
    def item(self) -> CodingItem | None:
        return None if self.view is None else self.view.item

    def summary(self, coder: str) -> SessionSummary:
        left, total = (0, 0) if self.view is None else (self.view.progress.left, self.view.progress.total)
        return self.tally.summary(coder, self._clock(), left, total)

    # --- what comes from the terminal -----------------------------------------------------------

    def press(self, press: Press, at: float) -> None:
        self.touch(at)
        self.face.hush()
        self._suggest |= self.tally.break_due(at)
        self.keyboard.feed(press, at)
        self._suggest_break()

    def _suggest_break(self) -> None:
        """Once the key has done its work: most keys bring another item, and with it go all notices before it."""
        if self._suggest and self.state.mode is not Mode.SAVING:
            self._suggest = False
            self.face.notice(BREAK, loud=True)

    def touch(self, at: float) -> None:
        """Something was done: a key, the wheel, the mouse."""
        before = self._activity.seconds
        self._activity.touch(at)
        self.tally.active += self._activity.seconds - before

    def painted(self, assignment: str, at: float) -> None:
        """The item is on the screen now."""
        if self.item is not None and self.item.assignment == assignment and self.keyboard.painted is None:
            self.keyboard.painted = at

    # --- what the key machine asks for ----------------------------------------------------------

    def _act(self, effect: fx.Effect) -> None:
        match effect:
            case fx.Notice(text):
                self.face.notice(text)
            case fx.Run(action):
                self._run(action)
            case fx.Commit(label, rating, note):
                kind = "rating" if label is None else "label"
                self._save(advance=True, kind=kind, label=label, rating=rating, note=note)
            case fx.Skip(reason):
                self._save(advance=True, kind="skip", reason=reason)
            case fx.SaveNote(text):
                self._save(advance=False, kind="note", note=text)
            case fx.Flag(name):
                self._flag(name)
            case fx.Draft(text):
                self._draft(text)
            case fx.Unseen(lines):
                self._warn_unseen(lines)
            case fx.Find(text, turn):
                self.face.find(text, turn)
            case fx.Opened(mode):
                self._opened(mode)
            case fx.GoTo(number):
                self._ask(ask.Position(number))
            case fx.Pick(row):
                if row < len(self.queue.entries):
                    self._ask(ask.Position(self.queue.entries[row].position))
            case fx.Leave():
                self.face.leave()
            case _:
                self._settle(effect)

    def _settle(self, effect: fx.Effect) -> None:
        """What a failure or a changed codebook waits for."""
        match effect:
            case fx.ConfirmProtocol():
                self._confirm()
            case fx.Retry() if self._failed is not None:
                self._ask(self._failed)
            case fx.Drop():
                self._failed, self.failure = None, ""
                self.face.notice("Dropped: nothing was saved.", loud=True)

    def _run(self, action: str) -> None:
        here = None if self.item is None else self.item.assignment
        match action:
            case "undo" | "redo":
                self._ask(ask.Move(action, self._activity.take(self._clock())))
            case "previous" | "next":
                self._ask(ask.Look(None, here, backwards=action == "previous"))
            case "open" | "flagged" | "skipped":
                self._ask(ask.Look(action, here))
            case "differences":
                self._differences()
            case "theme":
                self.face.next_theme()
            case _:
                self.face.scroll(action)

    def _save(self, *, advance: bool, kind: str, **told: object) -> None:
        if self.item is None:
            return
        active = self._activity.take(self._clock())
        act = Act(kind, self.item.assignment, active_ms=active, **told)  # type: ignore[arg-type]
        self._ask(ask.Save(act, advance))

    def _ask(self, request: Request) -> None:
        """Ask for something that shows an item; keys wait until it is there."""
        under = self.state.under if self.state.mode is Mode.SAVING else self.state
        self.keyboard.state = State(Mode.SAVING, under=under)
        self._submit(request)

    def _flag(self, name: str) -> None:
        """Set the flag or take it off. A technical failure has no label: it completes the item."""
        annotation = None if self.view is None else self.view.annotation
        on = annotation is None or name not in annotation.flags
        advance = on and name == "technical" and (annotation is None or not annotation.done)
        self._save(advance=advance, kind="flag", flag=name, on=on)

    def _draft(self, text: str) -> None:
        if self.view is not None and self.item is not None:
            self.view = self.view._replace(draft=text)
            self._submit(ask.KeepDraft(self.item.assignment, text))

    def _warn_unseen(self, lines: int) -> None:
        self._warned = True
        more = "1 line" if lines == 1 else f"{lines:,} lines"
        self.face.notice(f"End of response not yet seen: {more} below. The key again labels it anyway.", loud=True)

    def _differences(self) -> None:
        if self.highlighted:
            self.highlighted = False
            self.face.highlight(False)
        elif self.item is not None and self.item.gold and self.item.text_b is None:
            self._save(advance=False, kind="highlight", on=True)
        else:
            self.face.notice("There is no gold answer here to compare with.")

    def _opened(self, mode: Mode) -> None:
        if mode is Mode.GO:
            self.queue.open(0 if self.item is None else self.item.position)

    def _confirm(self) -> None:
        assert self.pending is not None
        protocol: Protocol | None = None
        if self.pending.current.digest != self.desk.protocol.digest:
            if self._read_protocol is None:
                self.keyboard.resume(State(Mode.PROTOCOL))
                self.face.notice("Open the session again to go on under the changed codebook.", loud=True)
                return
            protocol = self._read_protocol(self.pending.current.toml, self.pending.current.name)
            keyboard = self._keyboard(Desk(protocol, self._make_keymap(protocol)))
            self.keyboard, self.keyboard.state = keyboard, State(Mode.SAVING)
        self._ask(ask.Confirm(protocol, None if self.item is None else self.item.assignment))

    # --- what comes from the study --------------------------------------------------------------

    def receive(self, report: Report) -> None:
        match report:
            case ask.Shown(view, saved, act):
                self._count(saved, act, view.item)
                self._meet(view)
                self._say(saved, act)
            case ask.Stays():
                self._stays(report)
            case ask.Listed(entries, before):
                self._listed(entries, before)
            case ask.Changed(pending, view):
                self.pending = pending
                self._meet(view, State(Mode.PROTOCOL))
            case ask.Failed(request, error):
                self._failed, self.failure = request, str(error)
                self.keyboard.resume(State(Mode.FAILED, under=self.state.under))
            case ask.Broken(error):
                self.face.crash(error)

    def _count(self, saved: object, act: Act | None, after: CodingItem | None) -> None:
        self._failed, self.failure = None, ""
        if isinstance(saved, Saved):
            item = after if act is None else self.item  # undo leads to its item, another act away from its own
            label = saved.annotation.label if saved.annotation else None
            self.tally.add(saved.kind, item.position if item else None, label)
            if saved.kind == "confirm":
                self.pending = None
                self.face.codebook_changed()

    def _meet(self, view: View, state: State | None = None) -> None:
        """Show ``view`` and let the keys that waited go on."""
        self.view, self.highlighted, self._warned = view, False, False
        self._begin_item(view.item)
        self.keyboard.painted = None
        self.face.show(view)
        if state is not None:
            self.keyboard.resume(state)
        elif view.item is None:
            self.keyboard.resume(State(Mode.DONE))
        else:
            self.keyboard.meet(self.looked_up)
        self._suggest_break()

    def _begin_item(self, item: CodingItem | None) -> None:
        texts = (
            () if item is None else (item.question, item.context, item.text, item.text_b, item.reason, item.rationale)
        )
        self._activity.begin(sum(len(text.split()) for text in texts if text), self._clock())

    def _stays(self, report: ask.Stays) -> None:
        self._count(report.saved, report.act, self.item)
        if report.view is not None:
            self.view = report.view
        if report.saved is not None and report.saved.kind == "highlight":
            self.highlighted = True
            self.face.highlight(True)
        self.keyboard.resume(self.state.under or self._resting())
        self._suggest_break()
        if report.reason:
            self.face.notice(report.reason, loud=True)
        self._say(report.saved, report.act)

    def _resting(self) -> State:
        return State(Mode.DONE) if self.item is None else fresh(self.desk, self.looked_up)

    def _say(self, saved: object, act: Act | None) -> None:
        if isinstance(saved, Saved) and (text := saved.feedback or _told(saved, act)):
            self.face.notice(text, loud=bool(saved.feedback))

    def _listed(self, entries: tuple[QueueEntry, ...], before: bool) -> None:
        if self.state.mode is not Mode.GO:
            return
        first = not self.queue.entries
        row = self.state.row + self.queue.add(entries, before)
        if first and not row and self.item is not None:
            row = self.queue.row_of(self.item.position)
        self.keyboard.state = self.state._replace(row=row)
        self.face.refresh_mode()

    # --- what is seen ---------------------------------------------------------------------------

    def _keyboard(self, desk: Desk) -> Keyboard:
        def wait(seconds: float) -> None:
            self.face.after(seconds, self.keyboard.let_through)

        return Keyboard(desk, sight=self._sight, act=self._act, changed=self._changed, wait=wait)

    def _changed(self) -> None:
        if self.state.mode is Mode.HELP or self.state.looked_up:
            self.looked_up = self.state.looked_up
        if self.state.mode is Mode.GO:
            self.queue.near(self.state.row)
        self.face.refresh_mode()

    def _sight(self) -> Sight:
        if self.view is None or self.item is None:
            return Sight(rows=len(self.queue.entries))
        annotation = self.view.annotation
        note = self.view.draft or (annotation.note if annotation is not None else None) or ""
        unseen = 0 if self._warned else self.face.unseen()
        return Sight(self.impossible(), note, unseen, self.rows())

    def impossible(self) -> dict[str, str]:
        """The labels that cannot occur on this item, with the reasons that the codebook gives."""
        labels = () if self.item is None else self.item.impossible
        rules = self.desk.protocol.impossible
        return {name: "; or ".join(rule.reason for rule in rules if rule.label == name) for name in labels}

    def rows(self) -> int:
        """The length of the list that is open."""
        if self.state.mode is Mode.PALETTE and self.state.under is not None:
            return len(found(self.state.line.text, self.state.under.mode))
        return len(self.queue.entries)


def _told(saved: Saved, act: Act | None) -> str:
    """A word on what was saved, where the screen does not show it anyway."""
    match saved.kind:
        case "undo":
            return f"Undone: {saved.undone_kind}."
        case "redo":
            return f"Done again: {saved.undone_kind}."
        case "skip":
            return "Skipped; it comes back once, at the end."
        case "note":
            return "Note saved." if act is not None and act.note else "Note removed."
        case "flag" if act is not None:
            return f"Flagged: {act.flag}." if act.on else f"Flag taken off: {act.flag}."
        case "highlight":
            return "Words shared with the gold answer are marked; this was recorded."
        case "confirm":
            return "Confirmed. Labels are saved under the new codebook from now on."
    return ""
