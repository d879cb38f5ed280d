"""What a run would ask: how many calls, about how many tokens, and what they may cost, before any is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from annotate.judges.asking import Question, canonical
from annotate.judges.dialect import Dialect
from annotate.judges.prices import Price
from db.judging import JudgingStore, Subject, Wanted

BYTES_PER_TOKEN = 4.0


@dataclass(frozen=True, slots=True)
class Plan:
    """``responses`` x ``repeats`` = ``stored`` + ``waiting`` + ``calls`` + ``later`` + all ``not_judged``.

    ``waiting``: for results of a batch. ``outside``: responses beyond the filter. ``prompt_bytes``: None if unmeasured.
    """

    responses: int
    outside: int
    repeats: int
    stored: int
    waiting: int
    calls: int
    later: int
    not_judged: Counter[str] = field(default_factory=Counter)
    prompt_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Forecast:
    """Tokens and dollars of a plan: about, and at most. ``None``: no price is known for the model."""

    prompt_tokens: int
    completion_tokens: int
    most_completion_tokens: int
    about: float | None
    at_most: float | None


Judgeable = Callable[[Subject], str]
"""Why a subject cannot be judged, or ''."""


def work(
    store: JudgingStore, judge_id: int | None, repeats: int, wanted: Wanted, cannot: Judgeable, limit: int | None
) -> Iterator[tuple[Subject, int]]:
    """What is left to ask, ``limit`` at most: all responses for repeat 1, then for repeat 2, and so on."""
    entries = (
        (subject, repeat)
        for repeat in range(1, repeats + 1)
        for subject in store.pending(judge_id, repeat, wanted)
        if not cannot(subject)
    )
    return islice(entries, limit)


def make_plan(
    store: JudgingStore,
    judge_id: int | None,
    repeats: int,
    wanted: Wanted,
    cannot: Judgeable,
    limit: int | None,
    size: Callable[[Subject], int] | None = None,
) -> Plan:
    """Go through everything that is left and count it; ``size`` gives the bytes of the request for one subject."""
    everything, responses = store.responses(wanted)
    not_judged: Counter[str] = Counter()
    pending = calls = prompt_bytes = 0
    for repeat in range(1, repeats + 1):
        for subject in store.pending(judge_id, repeat, wanted):
            pending += 1
            if why := cannot(subject):
                not_judged[why] += 1
                continue
            if limit is None or calls < limit:
                calls += 1
                prompt_bytes += size(subject) if size else 0
    waiting = store.waiting_for_batches(judge_id, repeats, wanted)
    stored = responses * repeats - pending - waiting
    later = pending - not_judged.total() - calls
    measured = prompt_bytes if size else None
    return Plan(responses, everything - responses, repeats, stored, waiting, calls, later, not_judged, measured)


def sizer(question: Question, dialect: Dialect) -> Callable[[Subject], int]:
    return lambda subject: len(canonical(question.body(subject, dialect)))


def forecast(plan: Plan, question: Question, price: Price | None, *, batch: bool = False) -> Forecast:
    """Tokens by the rule of thumb of four bytes each; at most: a token a byte, and every reply as long as allowed."""
    size = plan.prompt_bytes or 0
    prompt, reply = round(size / BYTES_PER_TOKEN), plan.calls * question.task.reply_tokens
    longest = plan.calls * question.max_tokens
    if price is None:
        return Forecast(prompt, reply, longest, None, None)
    about = price.cost(prompt, reply, batch=batch)
    return Forecast(prompt, reply, longest, about, price.cost(size, longest, batch=batch))
