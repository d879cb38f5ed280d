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


class Asker:
    """Asks about one response at a time; many workers share one, with its gate, breaker, budget and meter."""

    def __init__(
        self,
        question: Question,
        dialect: Dialect,
        *,
        ask: Ask,
        put: Put,
        stop: Stop,
        gate: Gate,
        breaker: Breaker,
        budget: Budget,
        meter: Meter,
        patience: Patience,
        chance: random.Random,
        output_fixed: bool = False,
        temperature_fixed: bool = False,
    ) -> None:
        self.dialect = dialect
        self.known = False
        self._question, self._ask, self._put = question, ask, put
        self._stop, self._gate, self._breaker, self._budget = stop, gate, breaker, budget
        self._meter, self._patience, self._chance = meter, patience, chance
        self._fixed = {"output_fixed": output_fixed, "temperature_fixed": temperature_fixed}
        self._held: list[StoredReply] = []

    async def settle(self, subject: Subject, repeat: int) -> None:
        """Ask until there is an answer, a settled failure, or the run is stopped (then nothing is stored)."""
        tries, limits = 0, 0
        while not self._stop:
            body = self._question.body(subject, self.dialect)
            data = canonical(body)
            request = hashlib.sha256(data).hexdigest()
            try:
                answer = await self._attempt(body, len(data))
            except CallFailure as failure:
                if failure.consequence == "stop":
                    self._stop.set(str(failure))
                    return
                if self._adapt(failure):
                    continue
                if failure.rate_limited:
                    limits += 1
                    self._close_gate(failure, limits)
                    continue
                tries += 0 if self._breaker.open else 1
                if failure.consequence == "settled" or tries >= self._patience.attempts:
                    cost = self._budget.cost(*failure.usage)
                    await self._store_failure(
                        self._question.failed(failure, subject.response_id, repeat, cost, request)
                    )
                    return
                if failure.retry_after:
                    self._gate.close_for(min(failure.retry_after, LONGEST_OBEYED))
                await self._stop.sleep(back_off(max(tries, 1), self._chance))
                continue
            if answer is None:
                return
            await self._store(answer.completion, subject.response_id, repeat, request)
            return

    async def _attempt(self, body: Mapping[str, object], size: int) -> Answer | None:
        """One call with its money and its place in the breaker; None where the run was stopped before it."""
        most = self._budget.most(size, self._question.max_tokens)
        if not await self._budget.reserve(most):
            self._stop.set("--max-cost would be passed by the next call")
            return None
        await self._gate.passed()
        probe = await self._breaker.passed()
        if self._stop:
            await self._give_back(most, probe)
            return None
        self._meter.attempts += 1
        try:
            answer = await self._ask(body)
        except CallFailure as failure:
            await self._count_failure(failure, most, probe)
            raise
        except BaseException:
            await self._give_back(most, probe)
            raise
        self._breaker.succeeded()
        cost = self._budget.cost(answer.completion.prompt_tokens, answer.completion.completion_tokens)
        await self._budget.settle(most, cost, perhaps=True)
        self._meter.add_tokens(answer.completion.prompt_tokens, answer.completion.completion_tokens, cost)
        if answer.refill:
            self._gate.close_for(min(answer.refill, LONGEST_OBEYED))
        return answer

    async def _count_failure(self, failure: CallFailure, most: float, probe: bool) -> None:
        cost = self._budget.cost(*failure.usage)
        self._meter.add_tokens(*failure.usage, cost)
        await self._budget.settle(most, cost, perhaps=failure.maybe_billed)
        if failure.kind == "refused":
            self._breaker.succeeded()
        elif failure.rate_limited:
            self._meter.limited += 1
            self._breaker.let_go() if probe else None
        else:
            self._breaker.failed(str(failure), probe=probe)

    async def _give_back(self, most: float, probe: bool) -> None:
        await self._budget.settle(most, None)
        if probe:
            self._breaker.let_go()

    def _adapt(self, failure: CallFailure) -> bool:
        """Change the dialect where the endpoint named what it does not take, as long as no call has succeeded."""
        if self.known or failure.kind not in ("http 400", "http 422"):
            return False
        changed = adapted(self.dialect, failure.detail, **self._fixed)
        if changed is None:
            return False
        self.dialect = changed
        return True

    def _close_gate(self, failure: CallFailure, times: int) -> None:
        wait = failure.retry_after if failure.retry_after is not None else back_off(times, self._chance)
        if wait > LONGEST_OBEYED:
            self._stop.set(f"the endpoint asks to be left alone for {wait:,.0f} s")
        elif times >= self._patience.rate_attempts:
            self._stop.set(f"rate limited {times} times in a row ({failure})")
        else:
            self._gate.close_for(max(wait, 0.05))

    async def _store(self, completion: Completion, response: int, repeat: int, request: str) -> None:
        cost = self._budget.cost(completion.prompt_tokens, completion.completion_tokens)
        reply = self._question.stored(completion, response, repeat, cost, request)
        await self._release()
        await self._put(reply)
        self._meter.done += 1
        self._meter.odd += not self._question.is_label(reply)

    async def _store_failure(self, reply: StoredReply) -> None:
        """Store it; before the first success, hold it: an endpoint that refuses everything judges nothing."""
        if not self.known and reply.reply is None and not reply.retry:
            self._held.append(reply)
            if len(self._held) >= REFUSALS_BEFORE_STOP:
                self._stop.set(f"the endpoint refuses every request ({reply.failure})")
            return
        if reply.reply is not None:
            await self._release()
        await self._put(reply)
        self._meter.failed += 1

    async def _release(self) -> None:
        self.known = True
        held, self._held = self._held, []
        for reply in held:
            await self._put(reply)
            self._meter.failed += 1

    async def finish(self) -> None:
        """Store what is held where the run ended without a success but was not stopped for it."""
        if not self._stop:
            await self._release()
