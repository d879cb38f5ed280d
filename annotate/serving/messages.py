"""What a browser may send over its connection: keys, sizes, whether it has the focus. Nothing else is passed on."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aiohttp import WSMsgType

if TYPE_CHECKING:
    from aiohttp.web import WebSocketResponse

    from annotate.serving.process import DeskProcess

MAX_MESSAGE: Final = 256 * 1024
"""Bytes: a long text pasted into a note fits; a frame beyond it closes the connection before it was read."""
WIDTHS: Final = (20, 500)
HEIGHTS: Final = (5, 300)


class Size(NamedTuple):
    """Of the terminal, in cells."""

    width: int
    height: int


def size_of(width: Any, height: Any) -> Size | None:
    """A size within bounds: the program holds every cell. None where these are no numbers."""
    try:
        wide, high = int(width), int(height)
    except (TypeError, ValueError, OverflowError):
        return None
    return Size(min(max(wide, WIDTHS[0]), WIDTHS[1]), min(max(high, HEIGHTS[0]), HEIGHTS[1]))


async def pass_on(socket: WebSocketResponse, process: DeskProcess, active: Callable[[], None]) -> bool:
    """Until the browser closes. False at the first message that is none of ours; ``active`` is called at each key."""
    async for message in socket:
        if message.type is not WSMsgType.TEXT:
            return False
        kind, value = _parts(message.data)
        if kind == "stdin" and isinstance(value, str):
            active()
            await process.send_bytes(value.encode("utf-8", "replace"))
        elif kind == "resize" and isinstance(value, dict):
            size = size_of(value.get("width"), value.get("height"))
            if size is None:
                return False
            await process.set_terminal_size(*size)
        elif kind == "ping" and isinstance(value, str) and len(value) <= 32:
            await socket.send_json(["pong", value])
        elif kind == "focus":
            await process.focus()
        elif kind == "blur":
            await process.blur()
        else:
            return False
    return True


def _parts(text: str) -> tuple[str, Any]:
    """The kind of an envelope and what is in it; ("", None) where it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return "", None
    if not isinstance(found, list) or not 1 <= len(found) <= 2 or not isinstance(found[0], str):
        return "", None
    return found[0], found[1] if len(found) == 2 else None
