"""The live part of the lead's dashboard: agreement and score change as they stand, for the labels that are there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from db.clock import utc_now
from db.connection import reading
from db.errors import AnnotateError
from db.freezing import frozen, looks
from db.monitor import repeat_labels
from db.study import Study
from tui.ports import Board, Line, Section

if TYPE_CHECKING:
    from agreement.impact import ImpactResult
    from agreement.repeats import SelfAgreement
    from annotate.analysis.people import PeopleAgreement
    from annotate.analysis.whole import Loaded, Wanted

DRAWS = 1000


def live_board(study: Study, width: float, names: bool) -> Board:
    """Numbers from the labels that are there: main judge, models apart, without what only a report needs."""
    from annotate.analysis.people import people_agreement
    from annotate.analysis.source import judge_names
    from annotate.analysis.whole import Loaded, Wanted

    fixed = frozen(study)
    judges = judge_names(study)
    main = fixed.judge if fixed is not None and fixed.judge in judges else next(iter(judges), None)
    wanted = Wanted(by=(), judges=None if main is None else (main,), draws=DRAWS, names=names, lean=True)
    with reading(study.connection):  # and no longer: a view that is held keeps SQLite from folding its log back
        found, own = Loaded.of(study, wanted), repeat_labels(study)
    if not found.answered:
        section = Section("Agreement", note="No human labels yet.")
        return Board(study.title, (section,), utc_now(), {"agreement": None}, looks(study))
    people = people_agreement(found.labels, ())
    alone = _self_agreements(*own)
    changed, change = _score_change(found, wanted, width, fixed.primary if fixed else None)
    facts = {
        "agreement": {name: _estimate(each) for name, each in people.coefficients.items()},
        "self_agreement": {str(who): _self_facts(each) for who, each in alone.items()},
        "score_change": change,
    }
    sections = (_agreement(people), *([_own(alone)] if alone else []), changed)
    return Board(study.title, sections, utc_now(), facts, looks(study))


def _score_change(
    found: Loaded, wanted: Wanted, width: float, primary: str | None
) -> tuple[Section, list[dict[str, Any]] | None]:
    from annotate.analysis.whole import impact_of

    try:
        impact = impact_of(found, wanted)
    except (AnnotateError, ValueError) as error:  # ValueError: AgreementError, which says in words what is missing
        return Section("Score change", note=str(error)), None
    return _impact(impact, width, primary), _impact_facts(impact, width)


def _self_agreements(
    first: Mapping[Hashable, Mapping[Hashable, str]], second: Mapping[Hashable, Mapping[Hashable, str]]
) -> Mapping[Any, SelfAgreement]:
    from agreement import self_agreements

    return self_agreements(first, second) if second else {}


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
    moved = [row for row in rows if (row["change"], row["width"]) != (0, 0)]
    shown = [row for row in moved if row["width"] is not None or row["score"] == primary]
    reasons = Counter(row["why"] or "no reason given" for row in moved if row not in shown)
    notes = [f"{count:,} more undefined: {why}" for why, count in reasons.items()]
    if len(moved) < len(rows):
        notes.append(f"{len(rows) - len(moved):,} numbers that no label moves are not shown")
    lines = tuple(_impact_line(row, width) for row in shown)
    return Section(f"Score change, people minus {impact.main.judge}", lines, "\n".join(notes))


def _impact_line(row: Mapping[str, Any], width: float) -> Line:
    if row["width"] is None:
        return Line(_named(row), "undefined", row["why"] or "")
    return Line(_named(row), f"{row['change']:+.3f}", f"width {row['width']:.2f}, {_more(row['needed'], width)}")


def _more(needed: int | None, width: float) -> str:
    if needed is None:
        return "no label of this model yet"
    return f"{needed:,} more for {width:g}" if needed else "narrow enough"


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


def _own(own: Mapping[Any, SelfAgreement]) -> Section:
    """Each coder's Cohen's kappa with themselves, on the units that came to them twice."""
    lines = [_line(str(who), each.kappa, f"n = {each.kappa.n_units:,}") for who, each in own.items()]
    return Section("Agreement with oneself on hidden repeats, Cohen's kappa", tuple(lines))


def _self_facts(own: SelfAgreement) -> dict[str, Any]:
    return {"n": own.kappa.n_units, "percent": _estimate(own.percent), "kappa": _estimate(own.kappa)}
