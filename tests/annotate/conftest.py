"""The command line run in this process, and a small study made by it."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from annotate.__main__ import run

Call = Callable[..., tuple[int, str, str]]


class Typed(io.StringIO):
    """Lines that are typed at a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run a command; ``typed`` are the lines that its user types."""

    def command(*arguments: object, typed: str = "", terminal: bool = False) -> tuple[int, str, str]:
        capsys.readouterr()
        monkeypatch.setattr("sys.stdin", Typed(typed) if terminal else io.StringIO(typed))
        code = run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return command


@pytest.fixture
def study(tmp_path: Path, call: Call) -> Path:
    """Six responses handed to Ada and Ben."""
    path, table = tmp_path / "study.db", tmp_path / "run.csv"
    rows = "\n".join(f"q{n},Question {n}?,42,m{m},Answer {n} {m}" for n in range(1, 4) for m in (1, 2))
    table.write_text(f"item,question,gold,model,response\n{rows}\n", encoding="utf-8")
    columns = "item=item,question=question,gold=gold,model=model,response=response"
    assert call("init", path, "--protocol", "correctness")[0] == 0
    assert call("import", path, table, "--map", columns)[0] == 0
    assert call("sample", path, "--n", 6, "--by", "", "--anyway")[0] == 0
    assert call("assign", path, "--coders", "Ada,Ben")[0] == 0
    return path
