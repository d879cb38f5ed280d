"""Fixtures that every test may use."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


def _shared() -> Path:
    return Path(os.environ.get("ANNOTATE_SHARED", REPOSITORY.parent / "shared"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real runs and labels that stands beside a developer's checkout; absent elsewhere."""
    folder = _shared() / "data"
    if not folder.is_dir():
        message = f"needs the shared data folder ({folder}), which is not part of the project"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return folder


@pytest.fixture(scope="session", autouse=True)
def published_json() -> Iterator[None]:
    """Whatever a test makes a command print with --json is held against the schema that is published for it."""
    import click
    import jsonschema

    from annotate import console
    from annotate.schemas.documents import names, schema

    emit, checks = console.emit_json, {}

    def checked(value: Any) -> None:
        context = click.get_current_context(silent=True)
        words = context.command_path.split()[1:] if context else []
        name = " ".join(words)
        if words:
            if name not in names():
                pytest.fail(f"annotate {name} --json has no schema in annotate/schemas/commands.toml")
            check = checks.setdefault(name, jsonschema.Draft202012Validator(schema(name)))
            if (
                wrong := jsonschema.exceptions.best_match(check.iter_errors(json.loads(json.dumps(value))))
            ) is not None:
                pytest.fail(f"annotate {name} --json is not what `annotate schema {name}` says: {wrong.message}")
        emit(value)

    console.emit_json = checked
    yield
    console.emit_json = emit


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests measured (``record_property``), so that it stands in the log of CI."""
    passed = terminalreporter.stats.get("passed", [])
    lines = sorted({f"{name}: {value}" for report in passed for name, value in report.user_properties})
    if lines:
        terminalreporter.section("measured")
        for line in lines:
            terminalreporter.write_line(line)
