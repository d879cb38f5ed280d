"""The desk line by line, for screen readers and dumb terminals: one prompt at a time, answers in words, no drawing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

from db.coding import CodingSession
from db.errors import AnnotateError
from db.faults import Fenced, ProtocolChanged, Refused
from db.records import Act, Protocol, Saved
from tui import plainwords as words
from tui import requests as ask
from tui.document import places
from tui.keymap import Keymap
from tui.parts import Part, parts
from tui.plaintalk import Gone, Talk
from tui.requests import View
from tui.summary import BREAK, SessionSummary, Tally

CommandOf = Callable[["PlainDesk", str], bool]
"""Carries out a command with its words; True where another item is to be met."""


def run_plain(
    open_session: Callable[[], CodingSession],
    make_keymap: Callable[[Protocol], Keymap],
    read_protocol: Callable[[str, str], Protocol] | None = None,
    *,
    lines: TextIO | None = None,
    out: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> SessionSummary:
    """One session in plain mode; ``lines`` and ``out`` stand in for the terminal."""
    with open_session() as session:
        talk = Talk(lines or sys.stdin, out or sys.stdout, clock)
        return PlainDesk(session, make_keymap, read_protocol, talk, clock).run()


class PlainDesk:
    """Reads a line, does it, says what came of it."""

    def __init__(
        self,
        session: CodingSession,
        make_keymap: Callable[[Protocol], Keymap],
        read_protocol: Callable[[str, str], Protocol] | None,
        talk: Talk,
        clock: Callable[[], float],
    ) -> None:
        self.session, self._make_keymap, self._read_protocol = session, make_keymap, read_protocol
        self.talk, self.say, self.prompt, self._clock = talk, talk.say, talk.prompt, clock
        self.keymap = make_keymap(session.protocol)
        self.tally = Tally(clock())
        self.view = ask.view(session, None)
        self.parts: list[Part] = []

    # --- the loop -------------------------------------------------------------------------------

    def run(self) -> SessionSummary:
        """Until the coder leaves or the input ends."""
        coder = self.session.coder.name or self.session.coder.pseudonym
        self.say(words.line("protocol", self.session.protocol.title), words.line("coder", coder))
        self.say("help: type help and Enter for all commands")
        try:
            self._confirm_change()
            self._meet(ask.view(self.session, self.session.next()))
            while True:
                self._once()
        except Gone:
            pass
        self.tally.active = self.talk.active
        summary = self.tally.summary(coder, self._clock(), self.session.progress.left, self.session.progress.total)
        self.say(*(f"{name.lower()}: {value}" for name, value in summary.lines()))
        return summary

    def _once(self) -> None:
        if self.view.item is None:
            self.say(f"all done: {words.progress_words(self.view.progress)}")
            typed = self.prompt("u to undo, back, g and a number, or q to leave:")
        else:
            typed = self.prompt(words.question_words(self.session.protocol, self.keymap))
        due = self.tally.break_due(self._clock())
        try:
            if self._do(typed.strip()):
                self._read_item()
        except ProtocolChanged:
            self._confirm_change()
        except Fenced as error:
            self.say(f"not saved: {error}")
            raise Gone from error
        except Refused as error:
            self.say(f"refused: {error}")
        except AnnotateError as error:
            self.say(f"not saved: {error}")
        if due:
            self.say(words.line("break", BREAK))

    def _do(self, typed: str) -> bool:
        """Carry out one line. A letter is a label first, then a command; what means nothing is refused."""
        first, _, rest = typed.partition(" ")
        label = self._label(typed)
        if label is not None and self.view.item is not None:
            return self._give_label(label)
        if self.session.protocol.rating_only and self.view.item is not None and typed.isdecimal():
            return self._commit(None, int(typed))
        command = _COMMANDS.get(first.casefold())
        if command is None:
            self.say(
                f"refused: {typed!r} means nothing here; help lists what does" if typed else "refused: an empty line"
            )
            return False
        return command(self, rest.strip())

    def _label(self, typed: str) -> str | None:
        by_name = {name.casefold(): name for name in self.keymap.labels.values()}
        return self.keymap.labels.get(typed.casefold()) or by_name.get(typed.casefold())

    # --- items ----------------------------------------------------------------------------------

    def _meet(self, view: View) -> None:
        self.view = view
        self.parts = [] if view.item is None else list(parts(view.item))
        self.talk.activity.begin(sum(part.document.words for part in self.parts), self._clock())
        self._read_item()

    def _read_item(self) -> None:
        if self.view.item is not None:
            self.say("", words.item_line(self.view))
            self.say(*(told for part in self.parts for told in words.part_lines(part, whole=False)))
            self.say(*words.standing_lines(self.view))

    def _repeat(self, rest: str) -> bool:
        if not rest:
            return True
        named = [
            part for part in self.parts if part.title.casefold() == rest.casefold() or part.name == rest.casefold()
        ]
        names = ", ".join(part.title.lower() for part in self.parts)
        self.say(*(told for part in named for told in words.part_lines(part, whole=True)))
        if not named:
            self.say(f"refused: there is no part {rest!r}; the parts: {names}")
        return False

    def _go(self, found: ask.Report) -> bool:
        """Meet the item of a report, or say why there is none."""
        if isinstance(found, ask.Shown):
            self._meet(found.view)
        elif isinstance(found, ask.Stays):
            self.say(f"refused: {found.reason}")
        return False

    @property
    def _here(self) -> str | None:
        return None if self.view.item is None else self.view.item.assignment

    # --- acts -----------------------------------------------------------------------------------

    def _give_label(self, label: str) -> bool:
        assert self.view.item is not None
        note = self._note_for(label) if label in self.view.item.impossible else None
        if label in self.view.item.impossible and not note and not self._has_note():
            self.say(f"taken back: {label}")
            return False
        rating = self._ask_rating(label) if self.session.protocol.asks_rating(label) else None
        if self.session.protocol.asks_rating(label) and rating is None:
            self.say(f"taken back: {label}")
            return False
        return self._commit(label, rating, note or None)

    def _has_note(self) -> bool:
        return bool(self.view.annotation is not None and self.view.annotation.note)

    def _note_for(self, label: str) -> str | None:
        if self._has_note():
            return None
        rules = self.session.protocol.impossible
        reasons = "; or ".join(rule.reason for rule in rules if rule.label == label)
        self.say(words.line(f"{label} should not occur here", reasons))
        return self.prompt("say why, or Enter alone to take it back:").strip()

    def _ask_rating(self, label: str) -> int | None:
        rule = self.session.protocol.rating
        assert rule is not None
        self.say(words.line("label", label), words.line("rating", rule.question))
        while typed := self.prompt(f"{words.rating_words(rule)[:-1]}, or Enter alone to take the label back:").strip():
            if typed.isdecimal() and rule.low <= int(typed) <= rule.high and not (int(typed) - rule.low) % rule.step:
                return int(typed)
            self.say(f"refused: {typed!r} is not on the scale")
        return None

    def _commit(self, label: str | None, rating: int | None, note: str | None = None) -> bool:
        saved = self._save(
            Act("rating" if label is None else "label", self._here, label=label, rating=rating, note=note)
        )
        position = 0 if self.view.item is None else self.view.item.position
        if saved.annotation is not None:
            self.say(words.line("saved", f"item {position}, {words.answer_words(saved.annotation)}"))
        self._meet(ask.view(self.session, self.session.next(self._here)))
        return False

    def _save(self, act: Act) -> Saved:
        """Save an act made now; an error of the file may be tried again."""
        timed = act._replace(active_ms=self.talk.activity.take(self._clock()))
        while True:
            try:
                saved = self.session.save(timed)
            except Refused:
                raise
            except AnnotateError as error:
                self.say(f"not saved: {error}")
                if self.prompt("Enter saves again, drop gives it up:").strip().casefold() == "drop":
                    raise
            else:
                self._count(saved, self.view)
                if saved.feedback:
                    self.say(saved.feedback)
                return saved

    def _count(self, saved: Saved, view: View) -> None:
        label = saved.annotation.label if saved.annotation else None
        self.tally.add(saved.kind, view.item.position if view.item else None, label)

    def _stay(self, act: Act, told: str) -> bool:
        self._save(act)
        assert self._here is not None
        self.view = ask.view(self.session, self.session.item_of(self._here))
        self.say(f"saved: {told}")
        return False

    def _note(self, rest: str) -> bool:
        if self.view.item is None:
            return self._nothing_here()
        text = (
            rest or self.prompt("note, or Enter alone to send the unsent one:" if self.view.draft else "note:").strip()
        )
        text = text or self.view.draft
        return self._stay(
            Act("note", self._here, note=text), words.line("note", text) if text else "the note is removed"
        )

    def _flag(self, rest: str) -> bool:
        if self.view.item is None:
            return self._nothing_here()
        name = rest.casefold() or "discuss"
        annotation = self.view.annotation
        on = annotation is None or name not in annotation.flags
        done = self._stay(Act("flag", self._here, flag=name, on=on), f"flag {name} {'set' if on else 'taken off'}")
        if on and name == "technical" and (annotation is None or not annotation.done):
            self._meet(ask.view(self.session, self.session.next(self._here)))
        return done

    def _skip(self, rest: str) -> bool:
        if self.view.item is None:
            return self._nothing_here()
        reasons = self.session.protocol.skip_reasons
        if not rest:
            self.say(*(words.line(str(number), reason) for number, reason in enumerate(reasons, start=1)))
            rest = self.prompt("reason, by number or in your own words; Enter alone does not skip:").strip()
        if not rest:
            self.say("not skipped")
            return False
        reason = reasons[int(rest) - 1] if rest.isdecimal() and 0 < int(rest) <= len(reasons) else rest
        self._save(Act("skip", self._here, reason=reason))
        self.say(words.line("skipped", reason))
        self._meet(ask.view(self.session, self.session.next(self._here)))
        return False

    def _move(self, kind: str) -> bool:
        report = ask.Move(kind, self.talk.activity.take(self._clock()))(self.session)
        if isinstance(report, ask.Shown) and report.saved is not None:
            self._count(report.saved, report.view)
            self.say(f"{'undone' if kind == 'undo' else 'done again'}: {report.saved.undone_kind}")
        return self._go(report)

    def _compare(self, rest: str) -> bool:
        names = {part.name for part in self.parts}
        if not {"response", "gold"} <= names or "second" in names:
            self.say("refused: there is no gold answer here to compare with")
            return False
        self._save(Act("highlight", self._here, on=True))
        self.say(*words.compare_lines(self.parts))
        return False

    def _nothing_here(self) -> bool:
        self.say("refused: no item is open")
        return False

    # --- the rest -------------------------------------------------------------------------------

    def _go_to(self, rest: str) -> bool:
        if rest.isdecimal():
            return self._go(ask.Position(int(rest))(self.session))
        match rest:
            case "open" | "flagged" | "skipped":
                return self._go(ask.Look(rest, self._here)(self.session))
        self.say("refused: g and a number, g open, g flagged or g skipped")
        return False

    def _find(self, rest: str) -> bool:
        found = [(part.title.lower(), start) for part in self.parts for start, _ in places(part.document, rest)]
        self.say(*words.found_lines(self.parts, rest, found))
        return False

    def _rules(self, rest: str) -> bool:
        label = self._label(rest) if rest else None
        if rest and label is None:
            self.say(f"refused: there is no label {rest!r}")
            return False
        self.say(*words.rules_lines(self.session.protocol, self.keymap, label))
        return False

    def _help(self, rest: str) -> bool:
        self.say(*(f"{name}: {told}" for name, told in words.HELP))
        return False

    def _summary(self, rest: str) -> bool:
        progress = self.session.progress
        self.tally.active = self.talk.active
        found = self.tally.summary("", self._clock(), progress.left, progress.total)
        self.say(*(f"{name.lower()}: {value}" for name, value in found.lines()))
        return False

    def _leave(self, rest: str) -> bool:
        if self.prompt("leave? Everything that was said to be saved is saved. y or n:").strip().casefold() in (
            "y",
            "yes",
        ):
            raise Gone
        return False

    def _confirm_change(self) -> None:
        """A changed codebook is read and confirmed before the next label."""
        pending = self.session.pending_confirmation()
        if pending is None:
            return
        if pending.current.digest != self.session.protocol.digest:
            if self._read_protocol is None:
                self.say("the codebook has changed: open the session again to go on under it")
                raise Gone
            protocol = self._read_protocol(pending.current.toml, pending.current.name)
            self.session.adopt(protocol)
            self.keymap = self._make_keymap(protocol)
        self.say(*words.change_lines(pending))
        while self.prompt("type yes when you have read the change:").strip().casefold() not in ("y", "yes"):
            pass
        self.session.save(Act("confirm", None))
        self.say("confirmed: labels are saved under the new codebook from now on")


def _names(pairs: Iterable[tuple[str, CommandOf]]) -> Iterator[tuple[str, CommandOf]]:
    for names, command in pairs:
        yield from ((name, command) for name in names.split())


_COMMANDS: dict[str, CommandOf] = dict(
    _names(
        (
            ("r repeat", PlainDesk._repeat),
            ("rules codebook", PlainDesk._rules),
            ("help ?", PlainDesk._help),
            ("u undo", lambda desk, rest: desk._move("undo")),
            ("redo", lambda desk, rest: desk._move("redo")),
            ("n note", PlainDesk._note),
            ("f flag", PlainDesk._flag),
            ("s skip", PlainDesk._skip),
            ("g go", PlainDesk._go_to),
            ("back", lambda desk, rest: desk._go(ask.Look(None, desk._here, backwards=True)(desk.session))),
            ("next", lambda desk, rest: desk._go(ask.Look(None, desk._here)(desk.session))),
            ("find /", PlainDesk._find),
            ("compare", PlainDesk._compare),
            ("summary", PlainDesk._summary),
            ("q quit leave", PlainDesk._leave),
        )
    )
)
