"""The five calls of the Batch API that a judge needs, each tried again when it fails for a passing reason."""

from __future__ import annotations

import io
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from annotate.judges.endpoint import LONGEST_BATCH_LINE, as_failure, make_client
from annotate.judges.failures import CallFailure
from annotate.judges.hosts import Target
from annotate.judges.keys import Redactor, Secret
from annotate.judges.pacing import Patience, Stop
from annotate.judges.waiting import back_off

T = TypeVar("T")
TAG = "annotate_batch"
LISTED = 100
UPLOAD_SECONDS = 900.0


@dataclass(frozen=True, slots=True)
class BatchState:
    """What the endpoint says of a batch; ``files`` holds its results, then its errors, where there are any."""

    id: str
    status: str
    completed: int
    failed: int
    files: tuple[str, ...]
    trouble: str

    @property
    def over(self) -> bool:
        return self.status in ("completed", "failed", "expired", "cancelled")


class BatchApi:
    """``async with BatchApi(…) as api``; raises CallFailure when an endpoint has failed too often or for good."""

    def __init__(self, where: Target, key: Secret, timeout: float, stop: Stop, patience: Patience) -> None:
        self._client = make_client(where, key, max(timeout, UPLOAD_SECONDS))
        self._redactor = Redactor(key)
        self._stop, self._patience, self._chance = stop, patience, random.Random()

    async def __aenter__(self) -> BatchApi:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def upload(self, name: str, lines: bytes) -> str:
        """Upload the requests; return the file's id. A file that no batch uses costs nothing."""
        made = await self._again(lambda: self._client.files.create(file=(name, io.BytesIO(lines)), purpose="batch"))
        return str(made.id)

    async def create(self, file: str, tag: str) -> BatchState:
        """Start a batch. Not tried again here: after an unclear failure ``find`` says whether it was started."""
        return _state(
            await self._once(
                lambda: self._client.batches.create(
                    input_file_id=file, endpoint="/v1/chat/completions", completion_window="24h", metadata={TAG: tag}
                )
            )
        )

    async def find(self, file: str, tag: str) -> BatchState | None:
        """The batch that was started with this tag or file, among the newest hundred."""
        page: Any = await self._again(lambda: self._client.batches.list(limit=LISTED))
        for batch in page.data:
            if batch.input_file_id == file or (batch.metadata or {}).get(TAG) == tag:
                return _state(batch)
        return None

    async def state(self, batch: str) -> BatchState:
        return _state(await self._again(lambda: self._client.batches.retrieve(batch)))

    async def lines(self, file: str) -> AsyncIterator[str]:
        """The lines of a result file as they arrive, the key taken out of each."""
        try:
            async with self._client.files.with_streaming_response.content(file) as response:
                async for line in response.iter_lines():
                    if line.strip() and len(line) <= LONGEST_BATCH_LINE:
                        yield self._redactor.clean(line)
        except Exception as error:
            raise as_failure(error, self._redactor) from None

    async def _again(self, call: Callable[[], Awaitable[T]]) -> T:
        for attempt in range(1, self._patience.attempts + 1):
            try:
                return await self._once(call)
            except CallFailure as failure:
                if failure.consequence != "again" or attempt == self._patience.attempts or self._stop:
                    raise
                await self._stop.sleep(failure.retry_after or back_off(attempt, self._chance))
        raise AssertionError

    async def _once(self, call: Callable[[], Awaitable[T]]) -> T:
        try:
            return await call()
        except Exception as error:
            raise as_failure(error, self._redactor) from None


def _state(batch: Any) -> BatchState:
    counts = batch.request_counts
    files = tuple(name for name in (batch.output_file_id, batch.error_file_id) if name)
    errors = getattr(batch.errors, "data", None) or []
    trouble = "; ".join(str(getattr(error, "message", "")) for error in errors)[:300]
    completed, failed = (counts.completed, counts.failed) if counts else (0, 0)
    return BatchState(str(batch.id), str(batch.status), completed, failed, files, trouble)


def custom_id(response: int, repeat: int) -> str:
    return f"r{response}-k{repeat}"


def request_line(response: int, repeat: int, body: Mapping[str, object]) -> dict[str, object]:
    """One line of the file of requests."""
    return {"custom_id": custom_id(response, repeat), "method": "POST", "url": "/v1/chat/completions", "body": body}
