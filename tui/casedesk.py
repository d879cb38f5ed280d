"""The lead's desk as a machine: keys in, decisions out. It knows no widget; the screen and the plain mode share it.

A label's key (and a rating where the codebook asks for one), then the key of a reason, and the case is decided and
saved; the next one comes when the decision is durable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from db.adjudicating import Decision
from db.cases import Case, Queue
from db.errors import AnnotateError
from db.records import RatingRule
from tui import rating
from tui.activity import Activity
from tui.lineedit import Line, edit

if TYPE_CHECKING:
    from tui.ports import Cases

Run = Callable[[Callable[[], Any], Callable[[Any], None]], None]
"""Carries out a call on the study in order, elsewhere, and hands its result (or its AnnotateError) back."""


class Step(Enum):
    """What the desk waits for; the value is what the screen shows."""

    DECIDE = "DECIDE"
    RATING = "RATING"
    REASON = "REASON"
    NOTE = "NOTE"
    SAVING = "SAVING"
    DONE = "DONE"
    LEAVE = "LEAVE"


@dataclass(slots=True)
class Draft:
    """A decision in the making."""

    label: str | None = None
    rating: int | None = None
    digits: str = ""
    note: str = ""


class CaseDesk:
    """``case`` is what is shown; ``changed`` is called after whatever changes the picture, ``met`` with a new case."""

    def __init__(
        self,
        cases: Cases,
        label_keys: Mapping[str, str],
        *,
        run: Run,
        changed: Callable[[], None],
        met: Callable[[], None],
        leave: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        self.cases = cases
        self.keys = _keys_of(cases, label_keys)
        self.reason_keys = {str(number): name for number, name in enumerate(cases.reasons, 1)}
        self.step = Step.SAVING
        self.queue = Queue()
        self.case: Case | None = None
        self.at = 0
        self.draft = Draft()
        self.line = Line()
        self.notice, self.loud = "", False
        self.decisions = 0
        self._run, self._changed, self._met, self._leave, self._clock = run, changed, met, leave, clock
        self._activity = Activity()
        self._spent = 0.0

    # --- coming and going -----------------------------------------------------------------------

    def begin(self) -> None:
        """Ask for the queue and show its first case that is not decided."""
        self._ask(self._first_open, self._arrive)

    def _first_open(self) -> tuple[Queue, Case | None]:
        return self._next_after(None)

    def go(self, by: int) -> None:
        """To the next (1) or the previous (-1) case, decided or not."""
        wanted = self.at + by
        if not 0 <= wanted < len(self.queue.units):
            self.say("There is no case beyond this one.")
            return
        unit = self.queue.units[wanted]
        known = self.queue
        self._ask(lambda: (known, self.cases.case(unit)), self._arrive)

    def _arrive(self, found: tuple[Queue, Case | None]) -> None:
        self.queue, self.case = found
        self.draft = Draft()
        self.step = Step.DONE if self.case is None else Step.DECIDE
        if self.case is not None:
            units = self.queue.units
            self.at = units.index(self.case.unit) if self.case.unit in units else 0
            words = sum(len((text or "").split()) for text in _texts(self.case))
            self._activity.begin(words, self._clock())
            self._spent = self._activity.seconds
        self._met()
        self._changed()

    # --- keys -----------------------------------------------------------------------------------

    def press(self, key: str, typed: str | None, at: float) -> bool:
        """One key; False where it means nothing here, so that the screen may scroll with it."""
        self._activity.touch(at)
        if self.step is Step.SAVING:
            return True
        if self.step not in (Step.LEAVE, Step.NOTE) and key in ("q", "ctrl+c", "ctrl+q"):
            self._become(Step.LEAVE)
            return True
        handled = _PRESS[self.step](self, key, typed)
        if handled:
            self._changed()
        return handled

    def _decide(self, key: str, typed: str | None) -> bool:
        character = (typed or "").casefold()
        if character in self.keys:
            self.label(self.keys[character])
        elif self._rates_only and typed and typed in "0123456789=":
            self.draft.label = None
            self._become(Step.RATING)
            self._rate(key, typed)
        elif key in _MOVES:
            self.go(_MOVES[key])
        elif character == "n":
            self.write_note()
        elif character == "u":
            self.undo()
        else:
            if typed and typed.isprintable() and typed != " ":
                self.say(f"{typed} means nothing here.", loud=True)
            return bool(typed and typed != " ")
        return True

    def _done(self, key: str, typed: str | None) -> bool:
        if key == "left":
            self.at = len(self.queue.units)
            self.go(-1)
        elif typed == "u":
            self.undo()
        else:
            return False
        return True

    def label(self, label: str) -> None:
        """Choose a label; then a rating where one is asked for, else the reason."""
        self.draft.label, self.draft.digits, self.draft.rating = label, "", None
        asks = self.cases.mode == "people" and self.cases.protocol.asks_rating(label)
        self._become(Step.RATING if asks else Step.REASON)

    def _rate(self, key: str, typed: str | None) -> bool:
        if key == "escape":
            self._become(Step.DECIDE)
            return True
        entry = rating.press(self._rule, self.draft.digits, typed if typed and typed in "0123456789=" else key)
        if entry.refusal:
            if key in _SCROLLS:
                return False
            self.say(f"Expected {entry.refusal}.", loud=True)
        self.draft.digits = entry.digits
        if entry.value is not None:
            self.draft.rating = entry.value
            self._become(Step.REASON)
        return True

    @property
    def _rates_only(self) -> bool:
        return self.cases.mode == "people" and self.cases.protocol.rating_only

    @property
    def _rule(self) -> RatingRule:
        rule = self.cases.protocol.rating
        assert rule is not None
        return rule

    def _reason(self, key: str, typed: str | None) -> bool:
        if typed in self.reason_keys:
            self.save(self.reason_keys[typed])
        elif key == "escape":
            self.draft = Draft(note=self.draft.note)
            self._become(Step.DECIDE)
        elif typed == "n":
            self.write_note()
        elif key in _SCROLLS:
            return False
        else:
            self.say(f"Expected a reason, {', '.join(self.reason_keys)}, or Esc.", loud=True)
        return True

    def write_note(self) -> None:
        """Open the line of the note; it is saved with the decision."""
        self.line = Line.of(self.draft.note)
        self._become(Step.NOTE)

    def _note(self, key: str, typed: str | None) -> bool:
        if key in ("enter", "escape"):
            if key == "enter":
                self.draft.note = self.line.text.strip()
            self._become(Step.REASON if self._chosen else Step.DECIDE)
            return True
        self.line = edit(self.line, key, typed) or self.line
        return True

    @property
    def _chosen(self) -> bool:
        return self.draft.label is not None or self.draft.rating is not None

    def paste(self, text: str) -> None:
        """Text from the clipboard goes into a note and nowhere else."""
        if self.step is Step.NOTE:
            self.line = self.line.insert(" ".join(text.split()))
            self._changed()

    def _leaving(self, key: str, typed: str | None) -> bool:
        if key in ("enter", "ctrl+c", "ctrl+q") or typed == "y":
            self._leave()
        else:
            self._become(Step.DONE if self.case is None else Step.DECIDE)
        return True

    # --- saving ---------------------------------------------------------------------------------

    def save(self, reason: str) -> None:
        """Decide the case that is shown now; the next one comes when this is durable."""
        case = self.case
        assert case is not None
        spent, self._spent = self._activity.seconds - self._spent, self._activity.seconds
        draft = self.draft
        decision = Decision(draft.label, draft.rating, reason, draft.note, round(spent * 1000))

        known = replace(self.queue, done=self.queue.done | {case.unit})

        def save() -> tuple[Queue, Case | None]:
            self.cases.decide(case.unit, decision)
            following = known.next(case.unit)
            # Only at the end is it asked anew what has come up meanwhile.
            return self._next_after(case.unit) if following is None else (known, self.cases.case(following))

        self.decisions += 1
        self._ask(save, self._arrive, failed=self._not_saved)

    def _next_after(self, unit: str | None) -> tuple[Queue, Case | None]:
        queue = self.cases.queue()
        following = queue.next(unit)
        return queue, None if following is None else self.cases.case(following)

    def _not_saved(self, error: AnnotateError) -> None:
        self.decisions -= 1
        self.step = Step.DECIDE
        self.draft = Draft(note=self.draft.note)
        self.say(f"Not saved: {error}", loud=True)

    def undo(self) -> None:
        """Take the last decision back, and show its case."""

        def undo() -> tuple[Queue, Case | None] | None:
            unit = self.cases.undo()
            return None if unit is None else (self.cases.queue(), self.cases.case(unit))

        def arrive(found: tuple[Queue, Case | None] | None) -> None:
            if found is None:
                self.step = Step.DONE if self.case is None else Step.DECIDE
                self.say("Nothing was decided yet.")
                return
            self._arrive(found)
            self.say("Taken back.")

        self._ask(undo, arrive)

    # --- inside ---------------------------------------------------------------------------------

    def say(self, text: str, *, loud: bool = False) -> None:
        self.notice, self.loud = text, loud
        self._changed()

    def _become(self, step: Step) -> None:
        self.step, self.notice, self.loud = step, "", False
        self._changed()

    def _ask(
        self,
        call: Callable[[], Any],
        then: Callable[[Any], None],
        failed: Callable[[AnnotateError], None] | None = None,
    ) -> None:
        before = self.step
        self.step, self.notice, self.loud = Step.SAVING, "", False
        self._changed()

        def back(found: Any) -> None:
            if not isinstance(found, AnnotateError):
                then(found)
            elif failed is not None:
                failed(found)
            else:
                self.step = before if before is not Step.SAVING else Step.DONE
                self.say(str(found), loud=True)

        self._run(call, back)


def _keys_of(cases: Cases, label_keys: Mapping[str, str]) -> dict[str, str]:
    """The key of each answer: the codebook's own, or numbers where the answers are no labels of it."""
    if cases.mode == "people" or cases.choices == tuple(cases.protocol.label_names):
        return dict(label_keys)
    return {str(number): choice for number, choice in enumerate(cases.choices, 1)}


def _texts(case: Case) -> tuple[str | None, ...]:
    item = case.item
    return (item.question, item.context, item.text, item.text_b, item.reason, item.rationale)


_MOVES = {"right": 1, "left": -1}
_SCROLLS = frozenset(("up", "down", "pageup", "pagedown", "space", "home", "end", "tab", "shift+tab"))
_PRESS: Mapping[Step, Callable[[CaseDesk, str, str | None], bool]] = {
    Step.DECIDE: CaseDesk._decide,
    Step.RATING: CaseDesk._rate,
    Step.REASON: CaseDesk._reason,
    Step.NOTE: CaseDesk._note,
    Step.DONE: CaseDesk._done,
    Step.LEAVE: CaseDesk._leaving,
}
