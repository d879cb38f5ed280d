"""One chat completion over HTTP through the openai package: one attempt, bounded in time and size, no retry of its own.

Redirects are not followed: the texts go to the host that was agreed to, or nowhere. Every text that came from the
endpoint has the key taken out before it leaves this module.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotate.judges.failures import CallFailure
from annotate.judges.hosts import Target
from annotate.judges.keys import Redactor, Secret
from annotate.judges.replies import Completion, excerpt, read_completion
from annotate.judges.waiting import retry_after, used_up

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

LARGEST_BODY = 4 * 1024 * 1024
LONGEST_BATCH_LINE = LARGEST_BODY
_PASSING = frozenset({408, 409, 425, 429})
_HTTP_LIBRARIES = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "h11", "h2"})


@dataclass(frozen=True, slots=True)
class Answer:
    """A completion, and the seconds until the endpoint's limit is full again where this call used it up."""

    completion: Completion
    refill: float | None


def make_client(where: Target, key: Secret, timeout: float) -> AsyncOpenAI:
    """The client of the openai package, without its retries and without redirects."""
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    http = DefaultAsyncHttpxClient(follow_redirects=False)
    return AsyncOpenAI(api_key=key.reveal(), base_url=where.base_url, max_retries=0, timeout=timeout, http_client=http)


class Endpoint:
    """``async with Endpoint(…) as endpoint: await endpoint.ask(body)``; raises CallFailure and nothing else."""

    def __init__(self, where: Target, key: Secret, timeout: float) -> None:
        self._client = make_client(where, key, timeout)
        self._timeout = timeout
        self._redactor = Redactor(key)

    async def __aenter__(self) -> Endpoint:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def ask(self, body: Mapping[str, object]) -> Answer:
        """One attempt at one chat completion."""
        try:
            async with asyncio.timeout(self._timeout):
                data, headers = await self._exchange(body)
            return Answer(_clean(read_completion(data), self._redactor), used_up(headers))
        except TimeoutError:
            raise CallFailure("timeout", f"no whole reply in {self._timeout:g} s", maybe_billed=True) from None
        except Exception as error:
            raise as_failure(error, self._redactor) from None

    async def _exchange(self, body: Mapping[str, object]) -> tuple[bytes, Mapping[str, str]]:
        # As extra_body the body goes out as it is: given as arguments, the package walks through each of them by its
        # type annotations first, which costs more than everything else in a call.
        create: Any = self._client.chat.completions.with_streaming_response.create
        async with create(model=body["model"], messages=(), extra_body=body) as response:
            return await _read(response), response.headers


async def _read(response: Any) -> bytes:
    data = bytearray()
    async for chunk in response.iter_bytes():
        data += chunk
        if len(data) > LARGEST_BODY:
            raise CallFailure("reply too large", f"more than {LARGEST_BODY:,} bytes", "settled", maybe_billed=True)
    return bytes(data)


def as_failure(error: Exception, redactor: Redactor) -> CallFailure:
    """The failure that an exception of the openai package or its HTTP library means; raises what is a fault of ours."""
    failure = error if isinstance(error, CallFailure) else _failure(error)
    for name in ("detail", "reply", "body"):
        if text := getattr(failure, name):
            setattr(failure, name, redactor.clean(text))
    return failure


def _failure(error: Exception) -> CallFailure:
    import openai

    if isinstance(error, openai.APIStatusError):
        return status_failure(error)
    if isinstance(error, openai.APITimeoutError):
        return CallFailure("timeout", "no reply in time", maybe_billed=True)
    if isinstance(error, openai.APIConnectionError):
        return CallFailure("connection", _cause(error), maybe_billed=True)
    # While a body is read, the HTTP library's own exceptions come through the openai package unchanged.
    if type(error).__module__.partition(".")[0] in _HTTP_LIBRARIES or isinstance(error, OSError):
        kind = "timeout" if "Timeout" in type(error).__name__ else "connection"
        return CallFailure(kind, f"broke off ({type(error).__name__})", maybe_billed=True)
    raise error


def _cause(error: Exception) -> str:
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {cause}"[:200]


def _clean(completion: Completion, redactor: Redactor) -> Completion:
    facts = redactor.clean_all(completion.facts)
    assert isinstance(facts, dict)
    text = redactor.clean(completion.text)
    return Completion(text, completion.prompt_tokens, completion.completion_tokens, facts)


def status_failure(error: APIStatusError) -> CallFailure:
    """What an HTTP error status means for this call and for the run."""
    status, headers = error.status_code, error.response.headers
    said = _said(error)
    wait = retry_after(headers)
    if 300 <= status < 400:
        place = headers.get("location", "elsewhere")
        return CallFailure(f"http {status}", f"the endpoint sends calls on to {place}: give that as --base-url", "stop")
    if status in (401, 402, 404) or "insufficient_quota" in said:
        return CallFailure(f"http {status}", said, "stop")
    told = headers.get("x-should-retry")
    again = told == "true" or (told != "false" and (status in _PASSING or status >= 500))
    limited = status == 429 and again
    return CallFailure(
        f"http {status}", said, "again" if again else "settled", wait, limited, maybe_billed=status >= 500
    )


def _said(error: APIStatusError) -> str:
    body = error.body
    if isinstance(body, Mapping):
        parts = [str(body[name]) for name in ("message", "code", "type", "param") if body.get(name)]
        return " | ".join(parts)[:500]
    return excerpt(str(body if body is not None else error.message).encode("utf-8", "replace"))[:500]
