"""Waiting, the breaker, the budget and the price table, without a network."""

import asyncio
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.judges.budget import Budget
from annotate.judges.meter import Meter, progress_line
from annotate.judges.pacing import Breaker, Gate, Patience, Stop
from annotate.judges.prices import Price, price_of
from annotate.judges.waiting import back_off, retry_after, used_up
from db.errors import AnnotateError


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        # RFC 9110 dates: 1994-11-06 08:49:37 GMT is 784111777 s after 1970.
        ({"retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"}, 37.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers, seconds):
    assert retry_after(headers, now=784111740.0) == seconds


def test_a_date_that_is_past_means_now():
    assert retry_after({"retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"}, now=784111999.0) == 0.0


def test_a_limit_that_is_used_up_says_when_it_is_full_again():
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2s"}
    assert used_up(headers) == 62.0
    assert used_up({**headers, "x-ratelimit-remaining-requests": "1"}) is None
    assert used_up({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms"}) == 0.02
    assert used_up({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "later"}) is None


@given(st.integers(1, 1000), st.integers())
def test_back_off_doubles_to_a_minute_and_is_drawn_from_the_upper_half(attempt, seed):
    ceiling = min(60.0, 0.5 * 2 ** (attempt - 1))
    assert ceiling / 2 <= back_off(attempt, random.Random(seed)) <= ceiling


async def test_a_closed_gate_lets_nobody_through_before_its_time():
    gate = Gate(Stop(), random.Random(1))
    gate.close_for(0.15)
    start = time.monotonic()
    await asyncio.gather(*(gate.passed() for _ in range(20)))
    assert time.monotonic() - start >= 0.15


async def test_calls_a_minute_are_spaced():
    gate = Gate(Stop(), random.Random(1), per_second=100.0)
    start = time.monotonic()
    await asyncio.gather(*(gate.passed() for _ in range(20)))
    assert time.monotonic() - start >= 0.17  # 20 calls at 100 a second: the last 0.19 s after the first


async def test_stopping_wakes_everybody():
    stop = Stop()
    gate = Gate(stop, random.Random(1))
    gate.close_for(60)
    waiting = asyncio.gather(gate.passed(), stop.sleep(60))
    await asyncio.sleep(0.01)
    stop.set("enough")
    await asyncio.wait_for(waiting, 10)


async def test_the_breaker_lets_one_call_through_and_closes_when_it_succeeds():
    stop = Stop()
    breaker = Breaker(stop, Patience(cool_down=0.02), in_a_row=3)
    for _ in range(3):
        assert await breaker.passed() is False
        breaker.failed("http 500", probe=False)
    assert breaker.open
    start = time.monotonic()
    assert await breaker.passed() is True and time.monotonic() - start >= 0.019
    second = asyncio.ensure_future(breaker.passed())
    await asyncio.sleep(0.05)
    assert not second.done()  # one probe at a time
    breaker.succeeded()
    assert await asyncio.wait_for(second, 10) is False and not breaker.open and not stop


async def test_the_breaker_stops_a_run_that_only_fails():
    stop = Stop()
    breaker = Breaker(stop, Patience(cool_down=0.005, probes=3), in_a_row=2)
    for _ in range(2):
        breaker.failed("http 500", probe=False)
    probes = 0
    while await breaker.passed():
        probes += 1
        breaker.failed("http 500", probe=True)
    assert probes == 3 and stop.reason == "every call fails (http 500)"


PRICE = Price(prompt=2.0, completion=8.0, batch=0.5, source="t")


def test_prices_are_dollars_a_million_tokens():
    # 1,000 prompt tokens at $2 and 500 reply tokens at $8 a million: $0.002 + $0.004; by batch half of it.
    assert PRICE.cost(1000, 500) == pytest.approx(0.006)
    assert PRICE.cost(1000, 500, batch=True) == pytest.approx(0.003)


def test_an_unknown_price_or_count_is_unknown_and_not_free():
    assert Budget(None, None).cost(10, 10) is None
    assert Budget(PRICE, None).cost(None, 10) is None


async def test_the_limit_holds_whatever_the_replies_cost():
    """Calls that cost their most each: with 10 at once, no more are let through than fit."""
    budget = Budget(PRICE, limit=1.0)
    most = budget.most(prompt_bytes=24_800, max_tokens=6_250)  # 25,000 x $2 + 6,250 x $8 a million = $0.10
    assert most == pytest.approx(0.1)
    spent = []

    async def worker():
        while await budget.reserve(most):
            await asyncio.sleep(0.001)
            spent.append(most)
            await budget.settle(most, most)

    await asyncio.gather(*(worker() for _ in range(10)))
    assert len(spent) in (9, 10) and budget.spent <= 1.0 + 1e-9


async def test_calls_that_cost_less_give_the_rest_back():
    budget = Budget(PRICE, limit=1.0, spent=0.5)
    assert await budget.reserve(0.3) and await budget.reserve(0.2)
    third = asyncio.ensure_future(budget.reserve(0.25))
    await asyncio.sleep(0.01)
    assert not third.done()
    await budget.settle(0.3, 0.01)
    assert await asyncio.wait_for(third, 10)
    await budget.settle(0.2, None, perhaps=True)
    assert budget.perhaps == pytest.approx(0.2)


def test_the_price_table_knows_dated_names_and_says_how_old_it_is(tmp_path):
    found = price_of("gpt-4o-mini-2024-07-18", None)
    assert found is not None and (found.prompt, found.completion) == (0.15, 0.60) and "2025-08" in found.source
    assert price_of("no-such-model", None) is None
    own = tmp_path / "p.toml"
    own.write_text('as_of = "2026-11"\n[model]\n"local" = { prompt = 0, completion = 0 }\n', "utf-8")
    assert price_of("local", own).cost(5, 5) == 0.0


@pytest.mark.parametrize(
    "line",
    [
        '"m" = { prompt = -1, completion = 1 }',
        '"m" = { prompt = "2", completion = 1 }',
        '"m" = { promt = 1 }',
        '"m" = { prompt = 1 }',
    ],
)
def test_a_wrong_price_names_its_line(tmp_path, line):
    own = tmp_path / "p.toml"
    own.write_text(f'as_of = "2026-11"\n[model]\n{line}\n', "utf-8")
    with pytest.raises(AnnotateError, match=r"p\.toml, line 3"):
        price_of("m", own)


def test_the_progress_line_says_everything():
    meter = Meter(3000, done=312, odd=1, failed=2, prompt_tokens=400_000, completion_tokens=12_000, cost=1.234)
    assert (
        progress_line(meter, 150.0)
        == "312 of 3,000 done, 2 failed, 1 no label | 150.0/s | 412k tokens | $1.23 | 0:18 left"
    )
    assert progress_line(Meter(10), 0.0).endswith("0 tokens | cost unknown | time left unknown")
