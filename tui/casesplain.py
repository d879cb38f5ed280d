"""The lead's desk line by line, for screen readers, dumb terminals and scripts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from db.cases import Case
from db.errors import AnnotateError
from tui.casedesk import CaseDesk, Step
from tui.caselook import TITLES, hint, said, why
from tui.keymap import make_keymap
from tui.parts import parts
from tui.plaintalk import Gone, Talk
from tui.ports import Cases

_PRESSED = {"": "enter", "next": "right", "back": "left", "undo": "u", "note": "n", "esc": "escape", "leave": "q"}


def run_plain_cases(
    cases: Cases,
    *,
    lines: TextIO | None = None,
    out: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Decide cases line by line until the input ends; returns how many were decided."""
    return PlainCases(cases, Talk(lines or sys.stdin, out or sys.stdout, clock), clock).run()


class PlainCases:
    """Reads a line, presses its keys on the desk, says what came of it."""

    def __init__(self, cases: Cases, talk: Talk, clock: Callable[[], float]) -> None:
        self.talk, self._clock = talk, clock
        self._gone = False
        self.desk = CaseDesk(
            cases,
            make_keymap(cases.protocol).labels,
            run=_at_once,
            changed=lambda: None,
            met=self._read,
            leave=self._leave,
            clock=clock,
        )

    def run(self) -> int:
        mode = TITLES[self.desk.cases.mode]
        self.talk.say(f"mode: {mode}", "commands: a label's key or name, note TEXT, undo, next, back, q")
        try:
            self.desk.begin()
            while not self._gone:
                self._once()
        except Gone:
            pass
        queue = self.desk.queue
        self.talk.say(f"decided now: {self.desk.decisions}", f"decided in all: {queue.decided} of {len(queue.units)}")
        return self.desk.decisions

    def _once(self) -> None:
        desk = self.desk
        if desk.step is Step.LEAVE:
            self._leave()
            return
        typed = self.talk.prompt(f"{_question(desk)}:").strip()
        word, _, rest = typed.partition(" ")
        if word.casefold() == "note" and rest:
            desk.draft.note = rest.strip()
            self.talk.say(f"note: {desk.draft.note}")
            return
        if desk.step is Step.DECIDE and typed.upper() in desk.keys.values():
            desk.label(typed.upper())
        else:
            self._type(typed)
        if desk.notice:
            self.talk.say(desk.notice)

    def _type(self, typed: str) -> None:
        if typed.casefold() in _PRESSED:
            key = _PRESSED[typed.casefold()]
            self.desk.press(key, key if len(key) == 1 else None, self._clock())
        elif self.desk.step is Step.DECIDE and len(typed) > 1 and not typed.isdigit():
            self.talk.say(f"refused: {typed!r} means nothing here")
        else:
            for character in typed:
                self.desk.press(character, character, self._clock())

    def _read(self) -> None:
        case = self.desk.case
        if case is None:
            self.talk.say("", "nothing is left to decide")
            return
        self.talk.say("", f"case {self.desk.at + 1} of {len(self.desk.queue.units)}: {case.why}")
        self.talk.say(*_lines(case))

    def _leave(self) -> None:
        self._gone = True


def _lines(case: Case) -> list[str]:
    told = [f"{part.title.lower()}: {part.document.text}" for part in parts(case.item)]
    for opinion in case.opinions:
        told.append(f"{opinion.who}: {said(opinion)}")
        told += [f"  {opinion.who} wrote: {opinion.words}"] if opinion.words else []
        told += [f"  flagged: {', '.join(opinion.flags)}"] if opinion.flags else []
    if case.decided is not None:
        told.append(f"decided: {case.decided.label or case.decided.rating} ({why(case.decided.reason)})")
    return told


def _question(desk: CaseDesk) -> str:
    if desk.step is Step.DECIDE:
        return ", ".join(f"{key} {name}" for key, name in desk.keys.items()) or "rating"
    if desk.step is Step.REASON:
        return "reason: " + ", ".join(f"{key} {desk.cases.reasons[name]}" for key, name in desk.reason_keys.items())
    if desk.step is Step.NOTE:
        return "note"
    if desk.step is Step.DONE:
        return "back, undo or q"
    return hint(desk) or "rating, two digits"


def _at_once(call: Callable[[], Any], then: Callable[[Any], None]) -> None:
    try:
        found: Any = call()
    except AnnotateError as error:
        found = error
    then(found)
