"""The limit on wrong links, by hand: three in ten seconds."""

from __future__ import annotations

from annotate.serving.guesses import Guesses


def test_after_so_many_an_address_waits_until_the_oldest_is_forgotten() -> None:
    now = [0.0]
    guesses = Guesses(wrong=3, window=10, clock=lambda: now[0])
    for at in (0.0, 1.0, 2.0):
        assert guesses.wait("a") == 0
        now[0] = at
        guesses.failed("a")
    assert guesses.wait("a") == 8.0
    assert guesses.wait("b") == 0
    now[0] = 10.0
    assert guesses.wait("a") == 0
    guesses.failed("a")
    assert guesses.wait("a") == 1.0


def test_memory_is_bounded() -> None:
    guesses = Guesses(wrong=1)
    for number in range(5000):
        guesses.failed(str(number))
    assert len(guesses._failed) == 1000
