"""The lead's dashboard: what is counted (at once, without numpy) and what is computed (in a thread, on request)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from annotate.board_counts import counts_board
from annotate.studies import study_protocol
from db.clock import utc_now
from db.connection import reading
from db.freezing import Frozen, freezes, frozen, looks
from db.study import Study
from tui.ports import Board, Section


class StudyDashboard:
    """Reads a study anew for each board; ``width``: the interval width of the score change that the lead wants.

    ``blind``: no results are computed, so that nobody has looked at any.
    """

    def __init__(self, study: Study, *, width: float = 0.05, names: bool = True, blind: bool = False) -> None:
        self._study, self._width, self._names, self._blind = study, width, names, blind
        self._fixed: tuple[object, Frozen | None] | None = None

    def counts(self) -> Board:
        """Progress, pace, checks, repeats, heaping, drift, flags and what waits for the lead, of one moment."""
        with reading(self._study.connection):
            return counts_board(self._study, study_protocol(self._study), self._frozen())

    def live(self) -> Board:
        """Agreement and score change as they stand; a look at interim results, and logged as one."""
        from db.blindness import record_lead_view

        study = self._study
        if self._blind:
            section = Section("Live numbers", note="Not looked at.")
            return Board(study.title, (section,), utc_now(), {}, looks(study))
        record_lead_view(study, "dashboard")
        from annotate.board_live import live_board

        return live_board(study, self._width, self._names)

    def close(self) -> None:
        """Nothing is kept open here."""

    def _frozen(self) -> Frozen | None:
        """The digest of a large design takes a while: it is made anew only where something it binds has changed."""
        bound = freezes(self._study.connection)
        if self._fixed is None or self._fixed[0] != bound:
            self._fixed = (bound, frozen(self._study))
        return self._fixed[1]


def board_lines(board: Board) -> Iterator[str]:
    """A board line by line, for plain terminals; "!" marks what needs the lead."""
    for section in board.sections:
        yield section.title
        for line in section.lines:
            yield f"  {'!' if line.alert else ' '} {line.name}: {line.value}{f' ({line.more})' if line.more else ''}"
        for note in section.note.splitlines():
            yield f"    {note}"


def merged(*facts: Mapping[str, object]) -> dict[str, object]:
    """The facts of several boards in one mapping."""
    return {key: value for each in facts for key, value in each.items()}
