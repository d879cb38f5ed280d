"""The real command line, run in this process."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
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


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two studies that are made once: ``ehq.db`` with the EHQ sample in it, ``coded.db`` drawn and coded besides."""
    from annotate.sample_files import sample

    folder = tmp_path_factory.mktemp("templates")
    ehq, coded = folder / "ehq.db", folder / "coded.db"
    items, records = sample("ehq-run", "EHQ-120.json.gz"), sample("ehq-run", "records.jsonl.gz")
    columns = "question_id=item,model=model,coder=coder,label=label"
    quietly("init", ehq, "--protocol", "ehq", "--title", "EHQ sample")
    quietly("import", ehq, "--items", items, "--records", records)
    shutil.copy(ehq, coded)
    quietly("sample", coded, "--n", 200, "--seed", 42)
    quietly("import", coded, sample("ehq-run", "simulated_coders.csv"), "--map", columns, "--simulated")
    return folder


def quietly(*arguments: object) -> None:
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as err:
        code = run([str(argument) for argument in arguments])
    assert code == 0, err.getvalue()


@pytest.fixture
def ehq_study(templates: Path, tmp_path: Path) -> Path:
    """The EHQ sample imported into a new study."""
    return Path(shutil.copy(templates / "ehq.db", tmp_path / "ehq.db"))


@pytest.fixture
def coded_study(templates: Path, tmp_path: Path) -> Path:
    """The same with a sample of 200 and the labels of the two simulated coders that ship."""
    return Path(shutil.copy(templates / "coded.db", tmp_path / "coded.db"))
