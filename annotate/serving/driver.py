"""Textual's driver for a desk in a browser: it ends with its server, opens no address and hands out no file."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO, Literal, TextIO

from textual.drivers.web_driver import WebDriver

SECONDS_TO_END = 5.0


class BrowserDriver(WebDriver):
    """Keys come as packets on stdin; when nobody can send any more, the desk is left as if by its own key."""

    def run_input_thread(self) -> None:
        super().run_input_thread()
        if not self.exit_event.is_set():  # stdin has ended: the server is gone, however it ended
            end_this_process()

    def open_url(self, url: str, new_tab: bool = True) -> None:
        """Nothing: a text under judgement may hold any address."""

    def deliver_binary(
        self,
        binary: BinaryIO | TextIO,
        *,
        delivery_key: str,
        save_path: Path,
        open_method: Literal["browser", "download"] = "download",
        encoding: str | None = None,
        mime_type: str | None = None,
        name: str | None = None,
    ) -> None:
        """Nothing: a coder's browser is given no files."""
        binary.close()

    def on_meta(self, packet_type: str, payload: dict[str, Any]) -> None:
        if packet_type != "deliver_chunk_request":
            super().on_meta(packet_type, payload)


def end_this_process() -> None:
    """Ask the desk to leave; where it does not, stop hard. What was acknowledged is saved in either case."""
    os.kill(os.getpid(), signal.SIGTERM)

    def insist() -> None:
        time.sleep(SECONDS_TO_END)
        os._exit(1)

    threading.Thread(target=insist, daemon=True).start()
