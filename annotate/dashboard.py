"""The lead's dashboard: what is counted (at once, without numpy) and what is computed (in a thread, on request)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from annotate.checking import check_results
from annotate.studies import study_protocol
from db.cases import people_queue
from db.clock import utc_now
from db.coverage import Coverage, coverage
from db.freezing import frozen, looks
from db.monitor import Drift, Heaping, Monitor, Pace, Repeats, monitor
from db.overview import CoderProgress, coder_progress
from db.questions import open_questions
from db.study import Study
from tui.ports import Board, Line, Section

if TYPE_CHECKING:
    from agreement.impact import ImpactResult
    from annotate.analysis.people import PeopleAgreement

DRIFT_Z = 2.58
HEAPED = 0.5
"""Share of ratings on a multiple of five that counts as heaped, where single steps are allowed (by chance: 0.2)."""
ENOUGH = 20


class StudyDashboard:
    """Reads a study anew for each board; ``width``: the interval width of the score change that the lead wants.

    ``blind``: no results are computed, so that nobody has looked at any.
    """

    def __init__(self, study: Study, *, width: float = 0.05, names: bool = True, blind: bool = False) -> None:
        self._study, self._width, self._names, self._blind = study, width, names, blind

    def counts(self) -> Board:
        """Progress, pace, checks, repeats, heaping, drift, flags and what waits for the lead."""
        study = self._study
        protocol = study_protocol(study)
        progress, seen, rounds = coder_progress(study), monitor(study), coverage(study)
        queue = people_queue(study.connection, protocol)
        fine = protocol.rating is not None and protocol.rating.step == 1
        sections = (
            _progress(progress, seen.pace),
            _rounds(rounds),
            _waiting(study, len(queue.units) - queue.decided, queue.decided, queue.waiting),
            _quality(study, seen, fine),
            _drift(seen.drift),
            _flagged(seen),
        )
        facts = {
            "coders": [_coder_facts(each, _pace_of(each, seen.pace)) for each in progress],
            "coverage": {each.round: {"labels": each.labels, "meant": each.meant} for each in rounds},
            "checks": check_results(study),
            "repeats": [{"coder": r.coder, "pairs": r.pairs, "different": r.different} for r in seen.repeats],
            "heaping": [
                {"coder": h.coder, "ratings": h.ratings, "fives": h.fives, "tens": h.tens} for h in seen.heaping
            ],
            "drift": [{"coder": d.coder, "first": d.first, "second": d.second} for d in seen.drift],
            "flags": seen.flags,
            "questions": len(open_questions(study)),
            "disagreements": len(queue.units) - queue.decided,
            "adjudicated": queue.decided,
        }
        return Board(study.title or study.path.name, sections, utc_now(), facts, looks(study))

    def live(self) -> Board:
        """Agreement and score change as they stand; a look at interim results, and logged as one."""
        from db.blindness import record_lead_view

        study = self._study
        if self._blind:
            section = Section("Live numbers", note="Not looked at.")
            return Board(study.title, (section,), utc_now(), {}, looks(study))
        record_lead_view(study, "dashboard")
        from annotate.analysis.people import people_agreement
        from annotate.analysis.whole import Loaded, Wanted, impact_results

        wanted = Wanted(draws=1000, names=self._names)
        found = Loaded.of(study, wanted)
        if not found.answered:
            section = Section("Agreement", note="No human labels yet.")
            return Board(study.title, (section,), utc_now(), {"agreement": None}, looks(study))
        people = people_agreement(found.labels, ())
        sections = [_agreement(people)]
        facts: dict[str, Any] = {"agreement": {n: _estimate(c) for n, c in people.coefficients.items()}}
        try:
            impact = impact_results(study, wanted)
            fixed = frozen(study)
            sections.append(_impact(impact, self._width, fixed.primary if fixed else None))
            facts["score_change"] = _impact_facts(impact, self._width)
        except Exception as error:
            from db.errors import AnnotateError

            if not isinstance(error, (AnnotateError, ValueError)):
                raise
            sections.append(Section("Score change", note=str(error)))
            facts["score_change"] = None
        return Board(study.title, tuple(sections), utc_now(), facts, looks(study))


# --- counts -----------------------------------------------------------------------------------------


def _pace_of(progress: CoderProgress, paces: Sequence[Pace]) -> Pace | None:
    return next((pace for pace in paces if pace.coder == progress.coder), None)


def _progress(progress: Sequence[CoderProgress], paces: Sequence[Pace]) -> Section:
    lines = []
    for each in progress:
        if each.kind == "imported" or each.round_kind == "adjudication":
            continue
        facts = _coder_facts(each, _pace_of(each, paces))
        told = [f"{each.left:,} left"]
        told += [f"{each.stale:,} stale"] if each.stale else []
        told += [f"{each.skipped:,} skipped"] if each.skipped else []
        told += [f"{facts['per_hour']:,.0f} an active hour"] if facts["per_hour"] else []
        told += [f"{facts['per_day']:,.0f} a day"] if facts["per_day"] else []
        told += [f"done about {facts['finish'][:10]}"] if facts["finish"] else []
        lines.append(Line(f"{each.coder}, {each.round}", f"{each.done:,} of {each.total:,}", ", ".join(told)))
    return Section("Progress", tuple(lines), "" if lines else "Nothing is assigned yet.")


def _coder_facts(progress: CoderProgress, pace: Pace | None) -> dict[str, Any]:
    """Pace and projected finish: what is left at the rate of the days on which the coder coded lately."""
    hours = pace.active_ms / 3_600_000 if pace else 0.0
    per_day = pace.recent / pace.days if pace and pace.days else 0.0
    finish = None
    if progress.left and per_day:
        finish = (datetime.now(UTC) + timedelta(days=progress.left / per_day)).isoformat(timespec="minutes")
    return {
        "coder": progress.coder,
        "round": progress.round,
        "done": progress.done,
        "total": progress.total,
        "left": progress.left,
        "stale": progress.stale,
        "per_hour": pace.labels / hours if pace and hours else None,
        "per_day": per_day or None,
        "finish": finish,
    }


def _rounds(rounds: Sequence[Coverage]) -> Section:
    lines = [
        Line(
            each.round,
            f"{each.labels:,} of {each.meant:,} labels",
            f"{each.complete:,} of {each.units:,} units complete"
            + (f", {each.repeats:,} of {each.repeats_meant:,} repeats" if each.repeats_meant else ""),
        )
        for each in rounds
    ]
    return Section("Rounds", tuple(lines))


def _waiting(study: Study, left: int, decided: int, waiting: int) -> Section:
    questions = open_questions(study)
    fixed = frozen(study)
    lines = [
        Line("disagreements to decide", f"{left:,}", f"{decided:,} decided, {waiting:,} wait for a coder", left > 0),
        Line("questions open", f"{len(questions):,}", "", bool(questions)),
        Line("codebook", f"version {study.protocol_version}"),
    ]
    if fixed is None:
        lines.append(Line("frozen", "no", "annotate freeze fixes design, protocol and primary score"))
    else:
        late = f"late, after {fixed.labels:,} labels" if fixed.labels else "before the first main label"
        holds = "" if fixed.holds else "; design or protocol changed since"
        lines.append(Line("frozen", fixed.digest[:12], f"{fixed.primary}, {late}{holds}", not fixed.holds))
    lines.append(Line("looks at interim results", f"{looks(study):,}"))
    return Section("For the lead", tuple(lines))


def _quality(study: Study, seen: Monitor, fine: bool) -> Section:
    checks = [
        Line(f"checks, {c['coder']}", f"{c['failed']:,} of {c['done']:,} failed", c["round"], c["failed"] > 0)
        for c in check_results(study)
        if c["done"]
    ]
    lines = [*checks, *map(_repeat_line, seen.repeats)]
    lines += [_heap_line(each, fine) for each in seen.heaping]
    return Section("Checks", tuple(lines), "" if lines else "No checks, repeats or ratings yet.")


def _repeat_line(each: Repeats) -> Line:
    return Line(f"repeats, {each.coder}", f"{each.different:,} of {each.pairs:,} differ", "", each.different > 0)


def _heap_line(each: Heaping, fine: bool) -> Line:
    share = each.fives / each.ratings
    heaped = fine and each.ratings >= ENOUGH and share >= HEAPED
    return Line(
        f"ratings, {each.coder}",
        f"{share:.0%} end in 0 or 5",
        f"{each.tens / each.ratings:.0%} in 0; n = {each.ratings:,}" + (", 20% by chance" if fine else ""),
        heaped,
    )


def drift_z(each: Drift) -> float | None:
    """z of the change in agreement between the halves (pooled two-proportion test); None with too few pairs."""
    (n, same), (m, again) = each.first, each.second
    if min(n, m) < ENOUGH:
        return None
    share = (same + again) / (n + m)
    spread = math.sqrt(share * (1 - share) * (1 / n + 1 / m))
    return (again / m - same / n) / spread if spread else 0.0


def _drift(drift: Sequence[Drift]) -> Section:
    lines = []
    for each in drift:
        (n, same), (m, again) = each.first, each.second
        if not n or not m:
            continue
        z = drift_z(each)
        more = f"n = {n:,} and {m:,}" + (f", z = {z:+.1f}" if z is not None else ", too few to judge")
        lines.append(Line(each.coder, f"{same / n:.0%} → {again / m:.0%}", more, z is not None and abs(z) > DRIFT_Z))
    return Section("Agreement with others, first and second half", tuple(lines), "" if lines else "Nothing yet.")


def _flagged(seen: Monitor) -> Section:
    lines = [
        Line(f"{f.item} ({f.unit})", _flags(f.flags), f"{f.coder}: {f.note}" if f.note else f.coder)
        for f in seen.flagged
    ]
    more = f"{seen.flags - len(lines):,} more" if seen.flags > len(lines) else ""
    return Section(f"Flagged ({seen.flags:,})", tuple(lines), more)


def _flags(text: str) -> str:
    import json

    return ", ".join(json.loads(text))


# --- live numbers -----------------------------------------------------------------------------------


def _estimate(found: Any) -> dict[str, Any]:
    return {"value": found.value, "low": found.low, "high": found.high, "undefined": found.undefined or None}


def _line(name: str, found: Any, more: str = "") -> Line:
    if found.value is None:
        return Line(name, "undefined", found.undefined)
    interval = "" if found.low is None or found.high is None else f"[{found.low:.2f}, {found.high:.2f}]"
    return Line(name, f"{found.value:.2f}", " ".join(part for part in (interval, more) if part))


_COEFFICIENTS = {
    "percent_agreement": "percent",
    "krippendorff_alpha": "Krippendorff's alpha",
    "gwet_ac1": "Gwet's AC1",
    "cohen_kappa": "Cohen's kappa",
}


def _agreement(people: PeopleAgreement) -> Section:
    lines = [
        _line(_COEFFICIENTS[name], people.coefficients[name]) for name in _COEFFICIENTS if name in people.coefficients
    ]
    lines += [_line(f"  {label}", found) for label, found in people.labels.items()]
    lines += [_line(f"rating, {name.replace('_', ' ')}", found) for name, found in people.ratings.items()]
    return Section(f"Agreement of people on {people.n_units:,} units, 95 % intervals", tuple(lines))


def _impact(impact: ImpactResult, width: float, primary: str | None) -> Section:
    """One line a model and score; the primary score, where one was frozen, stands before the others."""
    rows = sorted(_impact_facts(impact, width), key=lambda row: row["score"] != primary)
    lines = [_impact_line(row, width) for row in rows]
    return Section(f"Score change, people minus {impact.main.judge}", tuple(lines))


def _impact_line(row: Mapping[str, Any], width: float) -> Line:
    if row["width"] is None:
        return Line(_named(row), "undefined", row["why"] or "")
    more = "narrow enough" if row["needed"] == 0 else f"{row['needed']:,} more for {width:g}"
    return Line(_named(row), f"{row['change']:+.3f}", f"width {row['width']:.2f}, {more}")


def _named(row: Mapping[str, Any]) -> str:
    return f"{row['score']}  {row['model']}".rstrip()


def _impact_facts(impact: ImpactResult, width: float) -> list[dict[str, Any]]:
    return [
        _change_facts(name, part, found.delta, model.n_labelled, width)
        for name, model in impact.main.models.items()
        for part, found in model.parts.items()
    ]


def _change_facts(model: str, part: str, delta: Any, labelled: int, width: float) -> dict[str, Any]:
    """Labels still needed: the width falls with the square root of their number."""
    bounds = delta.value is not None and delta.low is not None and delta.high is not None
    current = delta.high - delta.low if bounds else None
    needed = None
    if current is not None and labelled:
        needed = max(math.ceil(labelled * (current / width) ** 2) - labelled, 0)
    why = getattr(delta, "undefined", "") or getattr(delta, "reason", "") or None
    return {
        "model": model,
        "score": part,
        "change": delta.value,
        "low": delta.low,
        "high": delta.high,
        "width": current,
        "labelled": labelled,
        "needed": needed,
        "why": why,
    }


# --- as text ----------------------------------------------------------------------------------------


def board_lines(board: Board) -> Iterator[str]:
    """A board line by line, for plain terminals; "!" marks what needs the lead."""
    for section in board.sections:
        yield section.title
        for line in section.lines:
            yield f"  {'!' if line.alert else ' '} {line.name}: {line.value}{f' ({line.more})' if line.more else ''}"
        if section.note:
            yield f"    {section.note}"


def merged(*facts: Mapping[str, object]) -> dict[str, object]:
    """The facts of several boards in one mapping."""
    return {key: value for each in facts for key, value in each.items()}
