"""A server on 127.0.0.1 that behaves like the OpenAI API, or misbehaves as it is told. Standard library only.

In a test: ``with Server(script) as server``; ``script(seen)`` returns what to do with one request. As a program it
answers every chat completion after ``--latency`` seconds and writes one line a request to ``--log``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MARKER = re.compile(r"\bid(\d+)\b")


@dataclass
class Seen:
    """One request as it came."""

    number: int
    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    at: float
    body: Any = None

    @property
    def prompt(self) -> str:
        return "\n".join(message["content"] for message in self.body["messages"])

    @property
    def user(self) -> str:
        return str(self.body["messages"][-1]["content"])

    @property
    def marker(self) -> str:
        """The number in the text ``id17`` of the response that is judged."""
        found = MARKER.search(self.user)
        return found[1] if found else ""


@dataclass
class Do:
    """What the server does: a whole answer, or part of one (``mode``)."""

    content: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    delay: float = 0.0
    mode: str = "whole"  # whole, reset, truncate, dribble, hang, silent
    choices: list[Any] | None = None
    usage: dict[str, int] | None = None

    def data(self, seen: Seen) -> bytes:
        return self.body if self.body is not None else completion(seen, self.content, self.choices, self.usage)


Script = Callable[[Seen], Do]


def completion(seen: Seen, content: str | None, choices: list[Any] | None, usage: dict[str, int] | None) -> bytes:
    message = {"role": "assistant", "content": content, "refusal": None}
    value = {
        "id": f"chatcmpl-{seen.number}",
        "object": "chat.completion",
        "created": 1,
        "model": seen.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}] if choices is None else choices,
        "usage": usage or {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
    return json.dumps(value).encode()


def label(name: str, reason: str = "because") -> str:
    return json.dumps({"reason": reason, "label": name})


def error(status: int, message: str, code: str = "", **headers: str) -> Do:
    body = {"error": {"message": message, "type": "error", "code": code or None, "param": None}}
    return Do(
        status=status, body=json.dumps(body).encode(), headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


def always(name: str = "HEDGE") -> Script:
    return lambda seen: Do(label(name))


class Server:
    """The server in a thread of its own; ``seen`` are the chat completions that came, in order."""

    def __init__(
        self, script: Script | None = None, *, port: int = 0, log: Path | None = None, quiet: bool = False
    ) -> None:
        self.script = script or always()
        self.seen: list[Seen] = []
        self.others: list[Seen] = []
        self.count = 0
        self.under_way = self.most_under_way = 0
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.batch_polls = 2  # how often a batch is looked at before it is over
        self.batch_line: Callable[[dict[str, Any], int], dict[str, Any] | None] = batch_line
        self._port, self._quiet = port, quiet
        self._log = log.open("a", encoding="utf-8", newline="") if log else None
        self._ready = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def __enter__(self) -> Server:
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(10)
        if self._log:
            self._log.close()

    async def serve(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        server = await asyncio.start_server(self._connection, "127.0.0.1", self._port, limit=1 << 26, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._over.wait()
        server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        self.count += 1
        seen = Seen(self.count, method, path, headers, raw, time.monotonic())
        if not path.endswith("/chat/completions"):
            self.others.append(seen)
            self._send(writer, *self._api(seen))
            await writer.drain()
            return True
        seen.body = json.loads(raw)
        if not self._quiet:
            self.seen.append(seen)
        if self._log:
            self._log.write(f"{seen.marker}\n")
            self._log.flush()
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            return await self._carry_out(self.script(seen), seen, writer)
        finally:
            self.under_way -= 1

    async def _carry_out(self, do: Do, seen: Seen, writer: asyncio.StreamWriter) -> bool:
        if do.delay:
            await asyncio.sleep(do.delay)
        if do.mode == "reset":
            writer.transport.abort()
            return False
        if do.mode == "silent":
            await asyncio.sleep(60)
        data = do.data(seen)
        if do.mode == "whole":
            self._send(writer, do.status, data, do.headers)
            await writer.drain()
            return True
        await self._in_parts(do, data, writer)
        return False

    async def _in_parts(self, do: Do, data: bytes, writer: asyncio.StreamWriter) -> None:
        """truncate: half of the body, then the end. hang: half, then nothing. dribble: a byte now and then."""
        writer.write(_head(do.status, len(data), do.headers))
        half = data[: len(data) // 2]
        if do.mode == "dribble":
            for byte in data:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.05)
            return
        writer.write(half)
        await writer.drain()
        if do.mode == "hang":
            await asyncio.sleep(60)

    def _send(
        self, writer: asyncio.StreamWriter, status: int, data: bytes, headers: dict[str, str] | None = None
    ) -> None:
        writer.write(_head(status, len(data), headers or {}) + data)

    # --- files and batches ------------------------------------------------------------------------

    def _api(self, seen: Seen) -> tuple[int, bytes, dict[str, str]]:
        path = seen.path.partition("?")[0].removeprefix("/v1")
        parts = path.strip("/").split("/")
        if path == "/files" and seen.method == "POST":
            name = f"file-{len(self.files) + 1}"
            self.files[name] = _multipart(seen)
            return _json(
                {"id": name, "object": "file", "bytes": 1, "created_at": 1, "filename": "f", "purpose": "batch"}
            )
        if path == "/batches" and seen.method == "POST":
            return _json(self._new_batch(json.loads(seen.raw)))
        if path == "/batches":
            return _json({"object": "list", "data": list(self.batches.values())[::-1], "has_more": False})
        if parts[0] == "batches":
            return _json(self._look(self.batches[parts[1]]))
        if parts[0] == "files" and parts[-1] == "content":
            return 200, self.files[parts[1]], {"content-type": "application/octet-stream"}
        return 404, b"{}", {}

    def _new_batch(self, wish: dict[str, Any]) -> dict[str, Any]:
        batch = {
            "id": f"batch-{len(self.batches) + 1}",
            "object": "batch",
            "endpoint": wish["endpoint"],
            "completion_window": "24h",
            "created_at": 1,
            "input_file_id": wish["input_file_id"],
            "metadata": wish.get("metadata"),
            "status": "in_progress",
            "output_file_id": None,
            "error_file_id": None,
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
            "looked": 0,
        }
        self.batches[batch["id"]] = batch
        return batch

    def _look(self, batch: dict[str, Any]) -> dict[str, Any]:
        batch["looked"] += 1
        if batch["looked"] >= self.batch_polls and batch["status"] == "in_progress":
            requests = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
            lines = [self.batch_line(request, number) for number, request in enumerate(requests)]
            kept = [json.dumps(line).encode() for line in lines if line is not None]
            output = f"{batch['id']}-output"
            self.files[output] = b"\n".join(kept) + b"\n"
            batch.update(status="completed", output_file_id=output)
        return batch


def batch_line(request: dict[str, Any], number: int) -> dict[str, Any] | None:
    """The result of one request of a batch: HEDGE."""
    seen = Seen(number, "POST", "", {}, b"", 0.0, request["body"])
    body = json.loads(completion(seen, label("HEDGE"), None, None))
    return {
        "id": f"b{number}",
        "custom_id": request["custom_id"],
        "error": None,
        "response": {"status_code": 200, "body": body},
    }


def _head(status: int, length: int, headers: dict[str, str]) -> bytes:
    given = {"content-type": "application/json", **{name.lower(): value for name, value in headers.items()}}
    lines = [
        f"HTTP/1.1 {status} X",
        f"content-length: {length}",
        *(f"{name}: {value}" for name, value in given.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _json(value: Any) -> tuple[int, bytes, dict[str, str]]:
    return 200, json.dumps(value).encode(), {}


def _multipart(seen: Seen) -> bytes:
    """The file in a multipart form: the part that has a filename."""
    boundary = seen.headers["content-type"].partition("boundary=")[2].encode()
    for part in seen.raw.split(b"--" + boundary):
        head, _, data = part.partition(b"\r\n\r\n")
        if b"filename=" in head:
            return data.removesuffix(b"\r\n")
    raise AssertionError("no file in the form")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--at-once", type=int, default=0, help="answer 429 to what is more than this under way")
    given = parser.parse_args()

    def script(seen: Seen) -> Do:
        if given.at_once and server.under_way > given.at_once:
            return error(429, "too many at once")
        return Do(label("HEDGE"), delay=given.latency)

    server = Server(script, log=given.log, quiet=True)
    with server:
        print(server.port, flush=True)
        sys.stdin.read()
        print(json.dumps({"requests": server.count, "most": server.most_under_way}), flush=True)


if __name__ == "__main__":
    main()
