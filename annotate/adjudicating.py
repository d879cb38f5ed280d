"""The lead's desk, opened from the command line: which cases, on which kind of terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from annotate.studies import study_protocol
from db.adjudicating import AdjudicationSession, Decision
from db.cases import Mode
from db.errors import AnnotateError


def open_cases(
    path: Path,
    adjudicator: str,
    *,
    against: str | None = None,
    between: tuple[str, ...] = (),
    controls: int | None = None,
    seed: str = "1",
    names: bool = False,
    everything: bool = False,
    take_over: bool = False,
) -> AdjudicationSession:
    """The session over the cases that were asked for; a review that is not there yet is drawn first."""
    from db.study import open_study

    if against and between:
        raise AnnotateError("--against and --between are two reviews.", "Ask for one at a time.")
    mode: Mode = "people"
    review = None
    with open_study(path) as study:
        protocol = study_protocol(study)
        if against:
            from annotate.reviewing import review_of_judge

            mode, review = "judge", review_of_judge(study, against, controls=controls, seed=seed).name
        elif between:
            from annotate.reviewing import review_of_judges

            mode, review = "judges", review_of_judges(study, between, controls=controls, seed=seed).name
    return AdjudicationSession.open(
        path,
        adjudicator,
        protocol,
        mode=mode,
        review=review,
        names=names,
        everything=everything,
        take_over=take_over,
    )


def run_cases(session: AdjudicationSession, who: str, *, plain: bool, theme: str | None = None) -> None:
    """Decide until the lead leaves. Raises AnnotateError."""
    if plain:
        from tui.casesplain import run_plain_cases

        run_plain_cases(session)
        return
    from tui.runcases import run_case_screen

    run_case_screen(session, who, theme=theme)


def decide_one(session: AdjudicationSession, unit: str, **given: Any) -> None:
    """One decision from the command line, for scripts. Raises Refused."""
    session.case(unit)
    session.decide(unit, Decision(**given))


def case_facts(session: AdjudicationSession) -> dict[str, Any]:
    """The queue as plain JSON values."""
    queue = session.queue()
    return {
        "mode": session.mode,
        "review": session.review.name if session.review else None,
        "cases": [{"unit": u, "why": queue.why.get(u), "decided": u in queue.done} for u in queue.units],
        "decided": queue.decided,
        "left": len(queue.units) - len(queue.done & set(queue.units)),
        "waiting_for_coders": queue.waiting,
    }
