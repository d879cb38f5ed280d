"""What came of a run, in numbers that add up: responses x repeats = stored before, not judged, done, failed, left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotate.judges.meter import Meter
    from annotate.judges.pacing import Stop
    from annotate.judges.plan import Plan


@dataclass(frozen=True, slots=True)
class Outcome:
    """``not_labels`` are among ``done``; ``stored_before`` and ``not_judged`` not asked. ``cost`` None: unknown."""

    judge: str
    responses: int
    outside_filter: int
    stored_before: int
    not_judged: Mapping[str, int]
    calls: int
    done: int
    not_labels: int
    failed: int
    left: int
    attempts: int
    rate_limited: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    stopped: str = ""
    interrupted: bool = False
    notes: tuple[str, ...] = field(default=())

    @staticmethod
    def of(judge: str, plan: Plan, meter: Meter, stop: Stop, notes: tuple[str, ...] = ()) -> Outcome:
        return Outcome(
            judge=judge,
            responses=plan.responses,
            outside_filter=plan.outside,
            stored_before=plan.stored,
            not_judged=dict(sorted(plan.not_judged.items())),
            calls=plan.calls,
            done=meter.done,
            not_labels=meter.odd,
            failed=meter.failed,
            left=plan.waiting + plan.calls + plan.later - meter.done - meter.failed,
            attempts=meter.attempts,
            rate_limited=meter.limited,
            prompt_tokens=meter.prompt_tokens,
            completion_tokens=meter.completion_tokens,
            cost=meter.cost,
            stopped=stop.reason,
            interrupted=stop.interrupted,
            notes=notes,
        )

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    @property
    def exit_code(self) -> int:
        """0: everything asked has an answer. 1: a call failed or the run was stopped. 130: interrupted."""
        if self.interrupted:
            return 130
        return 1 if self.failed or self.stopped else 0
