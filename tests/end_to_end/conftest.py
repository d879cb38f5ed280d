"""The real command line, run in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from annotate.__main__ import run


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Ran]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """``cli("status", path)`` runs ``annotate status PATH``; with ``code=`` it must end so (0 unless said)."""

    def call(*arguments: object, code: int | None = 0) -> Ran:
        capsys.readouterr()
        found = run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        if code is not None:
            assert found == code, printed.err or printed.out
        return Ran(found, printed.out, printed.err)

    return call


@pytest.fixture
def ehq_study(cli: Cli, tmp_path: Path) -> Path:
    """The EHQ sample imported into a new study."""
    from annotate.sample_files import sample

    path = tmp_path / "ehq.db"
    cli("init", path, "--protocol", "ehq", "--title", "EHQ sample")
    items, records = sample("ehq-run", "EHQ-120.json.gz"), sample("ehq-run", "records.jsonl.gz")
    cli("import", path, "--items", items, "--records", records)
    return path


@pytest.fixture
def coded_study(cli: Cli, ehq_study: Path) -> Path:
    """The same with a sample of 200 and the labels of the two simulated coders that ship."""
    from annotate.sample_files import sample

    cli("sample", ehq_study, "--n", 200, "--seed", 42)
    coders = sample("ehq-run", "simulated_coders.csv")
    columns = "question_id=item,model=model,coder=coder,label=label"
    cli("import", ehq_study, coders, "--map", columns, "--simulated")
    return ehq_study
