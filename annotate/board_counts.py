"""What the lead's dashboard counts: progress, pace, checks, repeats, heaping, drift, flags.

No numpy, and no row for each unit: a hundred thousand units are counted inside SQLite.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from annotate.checking import check_results
from db.cases import QueueCounts, queue_counts
from db.clock import utc_now
from db.coverage import RoundCounts, round_counts
from db.freezing import Frozen, looks
from db.monitor import Drift, Heaping, Monitor, Pace, Repeats, monitor
from db.overview import CoderProgress, coder_progress
from db.questions import open_questions
from db.records import Protocol
from db.reviews import review_progress
from db.study import Study
from tui.ports import Board, Line, Section

DRIFT_Z = 2.58
HEAPED = 0.5
"""Share of ratings on a multiple of five that counts as heaped, where single steps are allowed (by chance: 0.2)."""
ENOUGH = 20


def counts_board(study: Study, protocol: Protocol, fixed: Frozen | None) -> Board:
    """The counts as they stand; ``fixed`` is what was frozen. The caller holds one view of the study."""
    threshold = protocol.rating.threshold if protocol.rating else 0
    progress, seen, rounds = coder_progress(study), monitor(study, threshold=threshold), round_counts(study)
    queue, checks, questions = (
        queue_counts(study.connection, protocol),
        check_results(study),
        len(open_questions(study)),
    )
    fine = protocol.rating is not None and protocol.rating.step == 1
    seen_by, reviewed = looks(study), review_progress(study.connection)
    sections = (
        _waiting(queue, questions, reviewed, study.protocol_version, fixed, seen_by),
        _progress(progress, seen.pace),
        _rounds(rounds),
        _quality(checks, seen, fine),
        _drift(seen.drift),
        _flagged(seen),
    )
    facts = {
        "coders": [_coder_facts(each, _pace_of(each, seen.pace)) for each in progress],
        "coverage": {each.round: _round_facts(each) for each in rounds},
        "checks": checks,
        "repeats": [_repeat_facts(each) for each in seen.repeats],
        "heaping": [{"coder": h.coder, "ratings": h.ratings, "fives": h.fives, "tens": h.tens} for h in seen.heaping],
        "drift": [{"coder": d.coder, "first": d.first, "second": d.second, "z": drift_z(d)} for d in seen.drift],
        "flags": seen.flags,
        "questions": questions,
        "reviews": [{"review": name, "reviewed": done, "units": units} for name, done, units in reviewed],
        "disagreements": queue.left,
        "adjudicated": queue.decided,
        "waiting_for_coders": queue.waiting,
    }
    return Board(study.title or study.path.name, sections, utc_now(), facts, seen_by)


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
        told += [f"{facts['per_hour']:,.0f} an active hour"] if facts["per_hour"] and each.left else []
        told += [f"{facts['per_day']:,.0f} a day"] if facts["per_day"] and each.left else []
        told += [f"done about {facts['finish'][:10]}"] if facts["finish"] else []
        told += [f"{'late: ' if facts['late'] else ''}due {facts['due'][:10]}"] if facts["due"] else []
        counted = f"{each.done:,} of {each.total:,}"
        lines.append(Line(f"{each.coder}, {each.round}", counted, ", ".join(told), facts["late"]))
    return Section("Progress", tuple(lines), "" if lines else "Nothing is assigned yet.")


def _coder_facts(progress: CoderProgress, pace: Pace | None) -> dict[str, Any]:
    """Pace and projected finish: what is left at the rate of the days on which the coder coded lately.

    ``late``: what is in the queue now will not be done by its date at this rate, or the date has passed.
    """
    hours = pace.active_ms / 3_600_000 if pace else 0.0
    per_day = pace.recent / pace.days if pace and pace.days else 0.0
    out = progress.left - progress.waiting
    ready = _after(out / per_day) if per_day else _after(0)
    return {
        "coder": progress.coder,
        "round": progress.round,
        "done": progress.done,
        "total": progress.total,
        "left": progress.left,
        "stale": progress.stale,
        "per_hour": pace.labels / hours if pace and hours else None,
        "per_day": per_day or None,
        "finish": _after(progress.left / per_day) if progress.left and per_day else None,
        "due": progress.due_utc,
        "late": bool(out and progress.due_utc and ready > progress.due_utc),
    }


def _after(days: float) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="minutes")


def _rounds(rounds: Sequence[RoundCounts]) -> Section:
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


def _waiting(
    queue: QueueCounts,
    questions: int,
    reviewed: Sequence[tuple[str, int, int]],
    version: int,
    fixed: Frozen | None,
    seen_by: int,
) -> Section:
    decided = f"{queue.decided:,} decided, {queue.waiting:,} wait for a coder"
    lines = [
        Line("disagreements to decide", f"{queue.left:,}", decided, queue.left > 0),
        Line("questions open", f"{questions:,}", "", questions > 0),
        *(Line(name, f"{done:,} of {units:,} cases", "after unmasking") for name, done, units in reviewed),
        Line("codebook", f"version {version}"),
    ]
    if fixed is None:
        lines.append(Line("frozen", "no", "annotate freeze fixes design, protocol and primary score"))
    else:
        late = f"late, after {fixed.labels:,} labels" if fixed.labels else "before the first main label"
        holds = "" if fixed.holds else "; design or protocol changed since"
        lines.append(Line("frozen", fixed.digest[:12], f"{fixed.primary}, {late}{holds}", not fixed.holds))
    lines.append(Line("looks at interim results", f"{seen_by:,}"))
    return Section("For the lead", tuple(lines))


def _quality(known: Sequence[Mapping[str, Any]], seen: Monitor, fine: bool) -> Section:
    checks = [
        Line(f"checks, {c['coder']}", f"{c['failed']:,} of {c['done']:,} failed", c["round"], c["failed"] > 0)
        for c in known
        if c["done"]
    ]
    lines = [*checks, *map(_repeat_line, seen.repeats)]
    lines += [_heap_line(each, fine) for each in seen.heaping]
    return Section("Checks", tuple(lines), "" if lines else "No checks, repeats or ratings yet.")


def _repeat_line(each: Repeats) -> Line:
    apart = "" if each.apart is None else f"ratings {each.apart:.0f} apart on average"
    return Line(f"repeats, {each.coder}", f"{each.different:,} of {each.pairs:,} differ", apart, each.different > 0)


def _repeat_facts(each: Repeats) -> dict[str, Any]:
    return {"coder": each.coder, "pairs": each.pairs, "different": each.different, "ratings_apart": each.apart}


def _round_facts(each: RoundCounts) -> dict[str, int]:
    return {
        "units": each.units,
        "complete": each.complete,
        "labels": each.labels,
        "meant": each.meant,
        "skips": each.skips,
        "repeats": each.repeats,
        "repeats_meant": each.repeats_meant,
    }


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
    return ", ".join(json.loads(text))
