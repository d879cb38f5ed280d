"""Small studies to judge, built through the study's own schema, and an endpoint on this machine."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from annotate.protocols import load_protocol
from db.connection import connect, writing
from db.study import create_study
from tests.judges.openai_server import Server

KEY = "sk-test-5f0c/A+b=17-quite+secret"


def build(path: Path, n: int = 5, protocol: str = "ehq", **columns: Any) -> Path:
    """A study of ``n`` items with a response each, whose text holds ``id17``; columns can be functions of it."""
    with create_study(path, load_protocol(protocol)):
        pass
    values = {
        "key": lambda i: f"q{i}",
        "question": lambda i: f"Question number {i}?",
        "context": None,
        "gold": '["42"]',
        "rationale": None,
        "strata": '{"category":"HNQ"}',
        "text": lambda i: f"The answer is id{i} and nothing else.",
        "text_b": None,
        "reason": None,
        "choice": None,
        "answer_key": None,
        "failure": None,
        **columns,
    }
    with closing(connect(path)) as connection, writing(connection):
        connection.execute(
            "INSERT INTO imports (id, batch, format, fingerprint, mapping, counts, created_utc, tool_version)"
            " VALUES (1, 'b', 'test', 'f', '{}', '{}', '2026-01-01T00:00:00.000Z', '0')"
        )
        for i in range(1, n + 1):
            row = {name: value(i) if callable(value) else value for name, value in values.items()}
            connection.execute(
                "INSERT INTO items (id, key, question, context, gold, rationale, answer_key, strata, digest,"
                " import_id, source_row)"
                " VALUES (:i, :key, :question, :context, :gold, :rationale, :answer_key, :strata, 'd', 1, :i)",
                {**row, "i": i},
            )
            connection.execute(
                "INSERT INTO responses (id, item_id, model, condition, repeat, text, text_b, reason, choice, failure,"
                " digest, import_id, source_row) VALUES (:i, :i, 'm', '', 1, :text, :text_b, :reason, :choice,"
                " :failure, 'd', 1, :i)",
                {**row, "i": i},
            )
    return path


def rows(path: Path, sql: str = "SELECT * FROM judge_labels ORDER BY judge_id, response_id, repeat") -> list[Any]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return connection.execute(sql).fetchall()


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: what is tested here is not the disk, and a flush costs nothing there."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    return KEY


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(*arguments: Any, **options: Any) -> Server:
        server = Server(*arguments, **options)
        server.__enter__()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.__exit__()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Back-offs of milliseconds, so that a test of retries does not wait."""
    monkeypatch.setattr("annotate.judges.waiting.FIRST_WAIT", 0.004)
    monkeypatch.setattr("annotate.judges.waiting.LONGEST_WAIT", 0.05)


def run_llm(path: Path, server: Server, *, name: str = "gpt", **options: Any) -> Any:
    """Run an LLM judge against a server of this machine and return its outcome."""
    from annotate.judges.llm import LlmJudge, LlmOptions
    from annotate.protocols import parse_protocol
    from db.judging import JudgingStore

    given = {"model": "gpt-4o-mini", "base_url": server.url, "yes_send_to": server.host, "timeout": 10.0, **options}
    with JudgingStore(path) as store:
        _, title, toml = store.protocol()  # type: ignore[misc]
        return LlmJudge(store, name, parse_protocol(toml, title), LlmOptions(**given)).run()
