"""What a browser may send, against stand-ins for the connection and the process that write down what they are told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import WSMessage, WSMsgType

from annotate.serving.messages import Size, pass_on, size_of


class Socket:
    """Gives the messages that it was made with, and keeps what it is sent."""

    def __init__(self, *messages: WSMessage) -> None:
        self.messages, self.sent = list(messages), []

    def __aiter__(self) -> Socket:
        return self

    async def __anext__(self) -> WSMessage:
        if not self.messages:
            raise StopAsyncIteration
        return self.messages.pop(0)

    async def send_json(self, value: Any) -> None:
        self.sent.append(value)


class Process:
    def __init__(self) -> None:
        self.told: list[Any] = []

    async def send_bytes(self, data: bytes) -> None:
        self.told.append(data)

    async def set_terminal_size(self, width: int, height: int) -> None:
        self.told.append((width, height))

    async def focus(self) -> None:
        self.told.append("focus")

    async def blur(self) -> None:
        self.told.append("blur")


def text(value: str) -> WSMessage:
    return WSMessage(WSMsgType.TEXT, value, None)


async def passed(*messages: WSMessage) -> tuple[bool, list[Any], list[Any], int]:
    socket, process, active = Socket(*messages), Process(), []
    fair = await pass_on(socket, process, lambda: active.append(1))  # type: ignore[arg-type]
    return fair, process.told, socket.sent, len(active)


async def test_keys_sizes_and_focus_are_passed_on() -> None:
    """What textual.js of textual-serve 1.1 sends."""
    sent = [["stdin", "hé"], ["resize", {"width": 90, "height": 30}], ["focus"], ["blur"], ["ping", "1764537000000"]]
    fair, told, answers, active = await passed(*(text(json.dumps(each)) for each in sent))
    assert fair and told == ["hé".encode(), (90, 30), "focus", "blur"]
    assert answers == [["pong", "1764537000000"]] and active == 1


@pytest.mark.parametrize(
    "wrong",
    [
        *("", "{}", "[]", "[1]", '["stdin"]', '["stdin", 5]', '["resize", "x"]', '["resize", {"width": "x"}]'),
        *('["quit"]', '["ping", 5]', '["ping", "' + "9" * 40 + '"]', "[" * 5000, '["stdin", "h", "w"]'),
        *('["exec", "ls"]', '["resize", {"width": 1e999, "height": 1}]', '["resize", {"width": NaN, "height": 1}]'),
    ],
)
async def test_anything_else_ends_it_and_reaches_no_process(wrong: str) -> None:
    fair, told, answers, _ = await passed(text(wrong), text('["stdin", "h"]'))
    assert not fair and told == [] and answers == []


async def test_bytes_end_it() -> None:
    fair, told, _, _ = await passed(WSMessage(WSMsgType.BINARY, b"M\x00\x00\x00\x00", None))
    assert not fair and told == []


async def test_half_a_character_does_not_break_it() -> None:
    fair, told, _, _ = await passed(text(json.dumps(["stdin", "\ud800"])))
    assert fair and told == [b"?"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (("80", "24"), Size(80, 24)),
        ((10**9, 10**9), Size(500, 300)),
        ((-5, 0), Size(20, 5)),
        ((None, "24"), None),
        (("", ""), None),
    ],
)
def test_sizes_are_kept_within_bounds(given: tuple[Any, Any], kept: Size | None) -> None:
    assert size_of(*given) == kept
