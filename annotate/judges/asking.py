"""Asking about one response until its answer is stored: attempts, waits, money, and what becomes of each outcome."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from annotate.judges.budget import Budget
from annotate.judges.dialect import Dialect, adapted, request_body
from annotate.judges.endpoint import Answer
from annotate.judges.failures import CallFailure
from annotate.judges.meter import Meter
from annotate.judges.pacing import LONGEST_OBEYED, Breaker, Gate, Patience, Stop
from annotate.judges.prompts import Prompt, render
from annotate.judges.replies import Completion
from annotate.judges.tasks import Task
from annotate.judges.waiting import back_off
from db.judging import StoredReply, Subject

Ask = Callable[[Mapping[str, object]], Awaitable[Answer]]
Put = Callable[[StoredReply], Awaitable[None]]
REFUSALS_BEFORE_STOP = 3


@dataclass(frozen=True, slots=True)
class Question:
    """What a judge asks of every response: the same for a whole run but for the subject."""

    task: Task
    prompt: Prompt
    model: str
    max_tokens: int
    swapped: bool = False
    mapping: Mapping[str, str] = field(default_factory=dict)

    def body(self, subject: Subject, dialect: Dialect) -> dict[str, object]:
        output = self.task.output_instruction(json_wanted=dialect.output != "text")
        messages = render(self.prompt, subject, {**self.task.fixed, **_own(output)}, swapped=self.swapped)
        return request_body(dialect, self.task, self.model, messages, self.max_tokens)

    def stored(
        self, completion: Completion, response: int, repeat: int, cost: float | None, request: str
    ) -> StoredReply:
        """The row of a reply: its label as it stands there, its score, and everything that came with it."""
        verdict = self.task.parse(completion.text)
        aligned = {} if verdict.score is None else {"aligned": verdict.score >= self.task.threshold}
        return StoredReply(
            response_id=response,
            repeat=repeat,
            raw=verdict.raw,
            score=verdict.score,
            rationale=verdict.rationale,
            reply=completion.text,
            prompt_hash=self.prompt.digest,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            cost=cost,
            extra={**verdict.detail, **aligned, **completion.facts, "request_sha256": request},
        )

    def failed(self, failure: CallFailure, response: int, repeat: int, cost: float | None, request: str) -> StoredReply:
        """The row of a failure: never a label, whatever it says."""
        body = {} if failure.body is None else {"body": failure.body}
        return StoredReply(
            response_id=response,
            repeat=repeat,
            reply=failure.reply,
            failure=str(failure),
            retry=failure.consequence == "again",
            prompt_hash=self.prompt.digest,
            prompt_tokens=failure.usage[0],
            completion_tokens=failure.usage[1],
            cost=cost,
            extra={**body, "request_sha256": request},
        )

    def is_label(self, reply: StoredReply) -> bool:
        if self.task.name == "alignment":
            return reply.score is not None
        return reply.raw is not None and reply.raw.strip() in self.mapping


def _own(output: str) -> dict[str, str]:
    from annotate.judges.fencing import NOTICE

    return {"output": output, "fencing": NOTICE}


def canonical(body: Mapping[str, object]) -> bytes:
    """The bytes of a request whose SHA-256 is stored with its label."""
    return json.dumps(body, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode("ascii")


@dataclass(slots=True)
class Tries:
    """What one response took: ``failed`` passing faults, ``limited`` rate limits, the known ``cost`` of failures."""

    failed: int = 0
    limited: int = 0
    cost: float | None = None

    def total(self, cost: float | None) -> float | None:
        """The cost of everything, with that of the call that ended it."""
        return self.cost if cost is None else (self.cost or 0.0) + cost


@dataclass(slots=True)
class Asker:
    """Asks about one response at a time; many workers share one, with its gate, breaker, budget and meter.

    ``known``: a call has succeeded, so that it is known how the endpoint wants to be asked.
    """

    question: Question
    dialect: Dialect
    ask: Ask
    put: Put
    stop: Stop
    gate: Gate
    breaker: Breaker
    budget: Budget
    meter: Meter
    patience: Patience
    chance: random.Random
    output_fixed: bool = False
    temperature_fixed: bool = False
    known: bool = False
    held: list[StoredReply] = field(default_factory=list)

    async def settle(self, subject: Subject, repeat: int) -> None:
        """Ask until there is an answer, a settled failure, or the run is stopped (then nothing is stored)."""
        tries = Tries()
        while not self.stop:
            body = self.question.body(subject, self.dialect)
            data = canonical(body)
            request = hashlib.sha256(data).hexdigest()
            try:
                answer = await self._attempt(body, len(data))
            except CallFailure as failure:
                if await self._give_up(failure, subject.response_id, repeat, request, tries):
                    return
                continue
            if answer is not None:
                await self._store(answer.completion, subject.response_id, repeat, request, tries)
            return

    async def _give_up(self, failure: CallFailure, response: int, repeat: int, request: str, tries: Tries) -> bool:
        """What follows from a failure; True where nothing more is asked about this response."""
        if failure.consequence == "stop":
            self.stop.set(str(failure))
            return True
        if self._adapt(failure):
            return False
        if failure.rate_limited:
            tries.limited += 1
            self._close_gate(failure, tries.limited)
            return False
        tries.failed += 0 if self.breaker.open else 1
        tries.cost = tries.total(self.budget.cost(*failure.usage))
        if failure.consequence == "settled" or tries.failed >= self.patience.attempts:
            await self._store_failure(self.question.failed(failure, response, repeat, tries.cost, request))
            return True
        if failure.retry_after:
            self.gate.close_for(min(failure.retry_after, LONGEST_OBEYED))
        await self.stop.sleep(back_off(max(tries.failed, 1), self.chance))
        return False

    async def _attempt(self, body: Mapping[str, object], size: int) -> Answer | None:
        """One call with its money and its place in the breaker; None where the run was stopped before it."""
        most = self.budget.most(size, self.question.max_tokens)
        if not await self.budget.reserve(most):
            self.stop.set("--max-cost would be passed by the next call")
            return None
        await self.gate.passed()
        probe = await self.breaker.passed()
        if self.stop:
            await self._give_back(most, probe)
            return None
        self.meter.attempts += 1
        try:
            answer = await self.ask(body)
        except CallFailure as failure:
            await self._count_failure(failure, most, probe)
            raise
        except BaseException:
            await self._give_back(most, probe)
            raise
        self.breaker.succeeded()
        cost = self.budget.cost(answer.completion.prompt_tokens, answer.completion.completion_tokens)
        await self.budget.settle(most, cost, perhaps=True)
        self.meter.add_tokens(answer.completion.prompt_tokens, answer.completion.completion_tokens, cost)
        if answer.refill:
            self.gate.close_for(min(answer.refill, LONGEST_OBEYED))
        return answer

    async def _count_failure(self, failure: CallFailure, most: float, probe: bool) -> None:
        cost = self.budget.cost(*failure.usage)
        self.meter.add_tokens(*failure.usage, cost)
        await self.budget.settle(most, cost, perhaps=failure.maybe_billed)
        if failure.kind == "refused":
            self.breaker.succeeded()
        elif failure.rate_limited:
            self.meter.limited += 1
            self.breaker.let_go() if probe else None
        else:
            self.breaker.failed(str(failure), probe=probe)

    async def _give_back(self, most: float, probe: bool) -> None:
        await self.budget.settle(most, None)
        if probe:
            self.breaker.let_go()

    def _adapt(self, failure: CallFailure) -> bool:
        """Change the dialect where the endpoint named what it does not take, as long as no call has succeeded."""
        if self.known or failure.kind not in ("http 400", "http 422"):
            return False
        fixed = {"output_fixed": self.output_fixed, "temperature_fixed": self.temperature_fixed}
        changed = adapted(self.dialect, failure.detail, **fixed)
        if changed is None:
            return False
        self.dialect = changed
        return True

    def _close_gate(self, failure: CallFailure, times: int) -> None:
        wait = failure.retry_after if failure.retry_after is not None else back_off(times, self.chance)
        if wait > LONGEST_OBEYED:
            self.stop.set(f"the endpoint asks to be left alone for {wait:,.0f} s")
        elif times >= self.patience.rate_attempts:
            self.stop.set(f"rate limited {times} times in a row ({failure})")
        else:
            self.gate.close_for(max(wait, 0.05))

    async def _store(self, completion: Completion, response: int, repeat: int, request: str, tries: Tries) -> None:
        cost = tries.total(self.budget.cost(completion.prompt_tokens, completion.completion_tokens))
        reply = self.question.stored(completion, response, repeat, cost, request)
        await self._release()
        await self.put(reply)
        self.meter.done += 1
        self.meter.odd += not self.question.is_label(reply)

    async def _store_failure(self, reply: StoredReply) -> None:
        """Store it; before the first success, hold it: an endpoint that refuses everything judges nothing."""
        if not self.known and reply.reply is None and not reply.retry:
            self.held.append(reply)
            if len(self.held) >= REFUSALS_BEFORE_STOP:
                self.stop.set(f"the endpoint refuses every request ({reply.failure})")
            return
        if reply.reply is not None:
            await self._release()
        await self.put(reply)
        self.meter.failed += 1

    async def _release(self) -> None:
        self.known = True
        held, self.held = self.held, []
        for reply in held:
            await self.put(reply)
            self.meter.failed += 1

    async def finish(self) -> None:
        """Store what is held where the run ended without a success but was not stopped for it."""
        if not self.stop:
            await self._release()
