"""Money that calls may cost at most: what is spent, and what the calls under way could still cost."""

from __future__ import annotations

import asyncio

from annotate.judges.prices import Price


class Budget:
    """Reserve before a call, settle after it. Without a limit it only adds up. Sums in US dollars.

    A reservation is the most that a call can cost (a token is never less than one byte of the prompt), so that the
    limit holds whatever the replies are. It counts what earlier runs of the same judge cost.
    """

    def __init__(self, price: Price | None, limit: float | None, spent: float = 0.0, *, batch: bool = False) -> None:
        self._price, self._limit, self._batch = price, limit, batch
        self.spent = spent
        self.perhaps = 0.0
        self._reserved = 0.0
        self._changed = asyncio.Condition()

    def most(self, prompt_bytes: int, max_tokens: int) -> float:
        """The most that one call can cost; 0 where no price is known (then there is no limit either)."""
        return self.cost(prompt_bytes + 200, max_tokens) or 0.0

    def cost(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        if self._price is None or prompt_tokens is None or completion_tokens is None:
            return None
        return self._price.cost(prompt_tokens, completion_tokens, batch=self._batch)

    async def reserve(self, most: float) -> bool:
        """True once the call fits; False when it does not even with nothing else under way."""
        if self._limit is None:
            return True
        async with self._changed:
            while self.spent + self.perhaps + self._reserved + most > self._limit:
                if self._reserved <= 1e-12:
                    return False
                await self._changed.wait()
            self._reserved += most
            return True

    async def settle(self, most: float, cost: float | None, *, perhaps: bool = False) -> None:
        """Give a reservation back. ``perhaps``: the call failed, but may be billed in full, which stays set aside."""
        self.spent += cost or 0.0
        if self._limit is None:
            return
        async with self._changed:
            self._reserved = max(0.0, self._reserved - most)
            if cost is None:
                self.perhaps += most if perhaps else 0.0
            self._changed.notify_all()
