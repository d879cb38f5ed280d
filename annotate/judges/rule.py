"""Running a judge that is no LLM: a rule, a user's code, or the majority of other judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol as Interface

from annotate.judges.identity import same_judge
from annotate.judges.llm import only_run
from annotate.judges.mapping import judge_mapping, put_in_force
from annotate.judges.meter import Meter
from annotate.judges.outcome import Outcome
from annotate.judges.pacing import Stop
from annotate.judges.plan import make_plan, work
from annotate.progress import Progress
from db.judging import JudgingStore, StoredReply, Subject, Wanted
from db.records import Protocol

CHUNK = 100


class Rule(Interface):
    """A way to judge without a network. ``origin`` is stored with the judge, and another origin needs another name."""

    kind: str
    version: str
    raw_labels: tuple[str, ...]

    @property
    def origin(self) -> Mapping[str, object]: ...

    def cannot_judge(self, subject: Subject) -> str:
        """Why this subject cannot be judged, or ''."""

    def judge(self, subjects: Sequence[Subject], repeat: int) -> Sequence[StoredReply]:
        """One row a subject, in any order."""


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """Which responses a rule judges, how often, and what its raw labels mean."""

    mapping: Mapping[str, str] = field(default_factory=dict)
    repeats: int = 1
    limit: int | None = None
    sampled: bool = False
    retry_failed: bool = False


def run_rule(store: JudgingStore, name: str, rule: Rule, protocol: Protocol, options: RuleOptions) -> Outcome:
    """Judge everything that this judge has not judged; each chunk is durable before the next one starts."""
    wanted = Wanted(options.sampled, protocol.filters, options.retry_failed)
    judge = same_judge(store, name, rule.kind, rule.version, rule.origin)
    mapping = judge_mapping(protocol, name, rule.raw_labels or protocol.label_names, options.mapping)
    put_in_force(store, judge, mapping)
    plan = make_plan(store, judge.id, options.repeats, wanted, rule.cannot_judge, options.limit)
    meter, stop = Meter(plan.calls), Stop()
    with only_run(store.path, judge), Progress(f"Judging by {name}", plan.calls, unit="responses") as progress:
        todo = work(store, judge.id, options.repeats, wanted, rule.cannot_judge, options.limit)
        for repeat, chunk in _chunks(todo):
            rows = rule.judge(chunk, repeat)
            store.store(judge.id, rows, over_failures=options.retry_failed)
            _count(meter, rows, mapping)
            progress(meter.settled)
            if all(row.failure is not None and row.retry for row in rows):
                stop.set(f"nothing was answered ({rows[0].failure})")
                break
    return Outcome.of(name, plan, meter, stop)


def _chunks(todo: Iterator[tuple[Subject, int]]) -> Iterator[tuple[int, list[Subject]]]:
    """Subjects of the same repeat, a hundred at a time."""
    while entries := list(islice(todo, CHUNK)):
        for repeat in dict.fromkeys(number for _, number in entries):
            yield repeat, [subject for subject, number in entries if number == repeat]


def _count(meter: Meter, rows: Sequence[StoredReply], mapping: Mapping[str, str]) -> None:
    for row in rows:
        if row.failure is not None:
            meter.failed += 1
            continue
        meter.done += 1
        meter.odd += row.score is None and (row.raw or "").strip() not in mapping
