"""Running an LLM judge: from what was asked for to stored replies, by single calls or by batches."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from annotate.judges.asking import Asker, Question
from annotate.judges.batch import Batches, BatchRun
from annotate.judges.batch_api import BatchApi
from annotate.judges.budget import Budget
from annotate.judges.dialect import Dialect, Output, dialect_from
from annotate.judges.endpoint import Endpoint
from annotate.judges.failures import CallFailure
from annotate.judges.hosts import Target, confirm, target
from annotate.judges.identity import SWAPPED, llm_origin, same_judge
from annotate.judges.keys import DEFAULT_VARIABLE, Secret, key_from_environment
from annotate.judges.mapping import judge_mapping, put_in_force
from annotate.judges.meter import Display, Meter
from annotate.judges.outcome import Outcome
from annotate.judges.pacing import Breaker, Gate, Patience, Stop
from annotate.judges.plan import Forecast, Plan, forecast, make_plan, sizer, work
from annotate.judges.pool import Work, ask_all, interruptible
from annotate.judges.prices import Price, price_of
from annotate.judges.prompts import load_prompt
from annotate.judges.tasks import make_task
from annotate.judges.writer import Writer
from db.errors import AnnotateError
from db.judging import Judge, JudgingStore, Wanted
from db.locks import FileLock
from db.places import private_folder, side_folder
from db.records import Protocol


@dataclass(frozen=True, slots=True)
class LlmOptions:
    """How an LLM judge asks. ``output`` and ``temperature`` are ``auto`` until given; money in US dollars."""

    model: str
    task: str = "label"
    prompt: Path | None = None
    base_url: str | None = None
    key_variable: str = DEFAULT_VARIABLE
    output: Output | None = None
    temperature: float | None = 0.0
    temperature_given: bool = False
    max_tokens: int = 1024
    threshold: int | None = None
    swapped: bool = False
    mapping: dict[str, str] = field(default_factory=dict)
    concurrency: int = 8
    per_minute: float | None = None
    timeout: float = 120.0
    patience: Patience = field(default_factory=Patience)
    repeats: int = 1
    limit: int | None = None
    sampled: bool = False
    retry_failed: bool = False
    max_cost: float | None = None
    prices: Path | None = None
    yes_send_to: str | None = None
    batch: BatchRun | None = None


class LlmJudge:
    """One LLM judge of one study, checked before anything is sent."""

    def __init__(self, store: JudgingStore, name: str, protocol: Protocol, options: LlmOptions) -> None:
        self._store, self._options = store, options
        self.name = name + SWAPPED if options.swapped else name
        task = make_task(options.task, protocol, threshold=options.threshold, swapped=options.swapped)
        prompt = load_prompt(options.task, options.prompt, pairwise=protocol.pairwise)
        flipped = options.swapped and protocol.pairwise
        mapping = judge_mapping(protocol, name, task.labels, options.mapping, swapped=flipped)
        self.question = Question(task, prompt, options.model, options.max_tokens, flipped, mapping)
        self.where: Target = target(options.base_url)
        self.price: Price | None = price_of(options.model, options.prices)
        self.wanted = Wanted(options.sampled, protocol.filters, options.retry_failed)
        self._origin = llm_origin(
            replace(self.question, swapped=options.swapped), self.where, options.temperature, protocol.digest
        )
        self._judge: Judge | None = store.judge(self.name)
        if options.max_cost is not None and self.price is None:
            raise AnnotateError(
                f"--max-cost needs a price for {options.model!r}, and the price table has none.",
                "Add the model to a table of your own: --prices FILE.",
            )

    def plan(self, *, measured: bool = False) -> Plan:
        size = sizer(self.question, self._dialect()) if measured else None
        judge_id = self._judge.id if self._judge else None
        cannot = self.question.task.cannot_judge
        return make_plan(self._store, judge_id, self._options.repeats, self.wanted, cannot, self._options.limit, size)

    def forecast(self, plan: Plan) -> Forecast:
        return forecast(plan, self.question, self.price, batch=self._options.batch is not None)

    def run(self) -> Outcome:
        """Make the judge, agree on the host, and ask; raises AnnotateError where nothing can be asked."""
        import openai  # noqa: F401 (a missing extra is said before a judge is made)

        plan = self.plan()
        if self._judge is not None and not plan.calls and not plan.waiting:
            same_judge(self._store, self.name, "llm", self._options.model, self._origin)
            put_in_force(self._store, self._judge, self.question.mapping)
            return Outcome.of(self.name, plan, Meter(0), Stop())
        key = key_from_environment(self._options.key_variable, local=self.where.local)
        confirm(self._store, self.where, f"{plan.calls:,} calls", self._options.yes_send_to)
        judge = same_judge(self._store, self.name, "llm", self._options.model, self._origin)
        self._judge = judge
        put_in_force(self._store, judge, self.question.mapping)
        with only_run(self._store.path, judge):
            how = self._options.batch
            job = self._by_calls(judge, key, plan) if how is None else self._by_batches(judge, key, plan, how)
            try:
                return asyncio.run(job)
            except asyncio.CancelledError:
                raise KeyboardInterrupt from None

    def _dialect(self) -> Dialect:
        stored = self._judge.origin.get("dialect") if self._judge else None
        if stored:
            found = dialect_from(stored)
            if self._options.output not in (None, found.output):
                raise AnnotateError(
                    f"The judge {self.name!r} was asked with --output {found.output} before.",
                    "Use that, or another --judge name.",
                )
            return found
        output: Output = self._options.output or "schema"
        completion_field = self.where.base_url.startswith("https://api.openai.com/")
        return Dialect(output, self._options.temperature, "max_completion_tokens" if completion_field else "max_tokens")

    def _work(self, judge_id: int, limit: int | None) -> Work:
        cannot = self.question.task.cannot_judge
        return work(self._store, judge_id, self._options.repeats, self.wanted, cannot, limit)

    async def _by_calls(self, judge: Judge, key: Secret, plan: Plan) -> Outcome:
        stop, meter = Stop(), Meter(plan.calls)
        await self._calls(judge, key, stop, meter, limit=self._options.limit)
        return Outcome.of(self.name, plan, meter, stop)

    async def _calls(self, judge: Judge, key: Secret, stop: Stop, meter: Meter, *, limit: int | None) -> None:
        options = self._options
        async with (
            Endpoint(self.where, key, options.timeout) as endpoint,
            Writer(self._store.path, judge.id, over_failures=options.retry_failed) as writer,
            Display(meter),
        ):
            asker = self._asker(judge, endpoint, writer, stop, meter)
            todo = self._work(judge.id, limit)
            await ask_all(asker, todo, options.concurrency, stop, lambda: self._learned(judge, asker.dialect))

    def _asker(self, judge: Judge, endpoint: Endpoint, writer: Writer, stop: Stop, meter: Meter) -> Asker:
        options, chance = self._options, random.Random()
        in_a_row = max(options.patience.in_a_row, options.concurrency)
        return Asker(
            self.question,
            self._dialect(),
            ask=endpoint.ask,
            put=writer.put,
            stop=stop,
            gate=Gate(stop, chance, options.per_minute / 60 if options.per_minute else None),
            breaker=Breaker(stop, options.patience, in_a_row),
            budget=Budget(self.price, options.max_cost, self._store.spent(judge.id)),
            meter=meter,
            patience=options.patience,
            chance=chance,
            output_fixed=options.output is not None,
            temperature_fixed=options.temperature_given,
        )

    def _learned(self, judge: Judge, dialect: Dialect) -> None:
        self._store.note(judge.id, "dialect", dialect.as_json())

    async def _by_batches(self, judge: Judge, key: Secret, plan: Plan, how: BatchRun) -> Outcome:
        """The first response by a single call, unless it is known how the endpoint wants to be asked; then batches."""
        options, stop, meter = self._options, Stop(), Meter(plan.calls + plan.waiting)
        if "dialect" not in judge.origin and plan.calls:
            await self._calls(judge, key, stop, meter, limit=1)
        if not stop:
            found = self._store.judge(self.name)
            assert found is not None
            budget = Budget(self.price, None, self._store.spent(judge.id), batch=True)
            async with BatchApi(self.where, key, options.timeout, stop, options.patience) as api:
                batches = Batches(self._store, found, self.question, self._dialect(), api, budget, meter, stop)
                with interruptible(stop):
                    await self._through(batches, how, stop)
                return Outcome.of(self.name, plan, meter, stop, batches.notes())
        return Outcome.of(self.name, plan, meter, stop)

    async def _through(self, batches: Batches, how: BatchRun, stop: Stop) -> None:
        """Submit what is left, collect what is over, and look again until nothing is open.

        In this order, what failed in a batch that is collected now is asked again in the next run, and counted once.
        """
        try:
            await batches.submit(self._work(batches.judge_id, self._options.limit), how, self._options.max_cost)
            await batches.look()
            while how.wait and batches.unfinished and not stop:
                await stop.sleep(how.poll)
                await batches.look()
        except CallFailure as failure:
            stop.set(str(failure))


@contextmanager
def only_run(path: Path, judge: Judge) -> Iterator[None]:
    """One run a judge and study at a time, by a lock that the operating system lets go when the process dies."""
    lock = FileLock(private_folder(side_folder(path) / "locks") / f"judge-{judge.id}.lock")
    if not lock.acquire():
        raise AnnotateError(
            f"The judge {judge.name!r} is being run on this study by another process.", "Wait for it to end."
        )
    try:
        yield
    finally:
        lock.release()
