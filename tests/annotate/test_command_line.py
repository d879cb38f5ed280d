"""The command line as a whole: what it loads, what it says of itself, how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from annotate.__main__ import run
from annotate.cli import COMMANDS, cli

HEAVY = ("textual", "numpy", "pandas", "scipy", "sklearn", "openai", "krippendorff", "pyarrow", "sqlite_utils")
CODING = ("numpy", "pandas", "scipy", "sklearn", "sqlite_utils", "openai", "pyarrow")
HELP_CPU_SECONDS = 0.25


def loaded(program: str) -> set[str]:
    """The top-level modules that a program of ours has loaded when it ends."""
    ending = "\nimport sys; print('LOADED', ' '.join(sorted({name.partition('.')[0] for name in sys.modules})))"
    found = subprocess.run([sys.executable, "-c", program + ending], capture_output=True, text=True, check=True)
    return set(found.stdout.rpartition("LOADED ")[2].split())


def commands() -> list[click.Command]:
    context = click.Context(cli)
    return [cli.get_command(context, name) for name in COMMANDS]  # type: ignore[misc]


def test_help_loads_nothing_heavy() -> None:
    modules = loaded("from annotate.__main__ import run; run(['--help'])")
    assert "click" in modules
    assert not modules & set(HEAVY)


def test_help_of_every_command_loads_nothing_heavy() -> None:
    modules = loaded(f"from annotate.__main__ import run\nfor name in {list(COMMANDS)!r}: run([name, '--help'])")
    assert not modules & set(HEAVY)


def test_the_coding_path_loads_no_numbers(tmp_path: Path) -> None:
    """Ten labels given line by line, then what was loaded until the end."""
    from annotate.demonstration import coding_study

    path, _ = coding_study(tmp_path)
    keys = "w\\n" * 10 + "q\\ny\\n"
    program = (
        f"import io, sys; sys.stdin = io.StringIO('{keys}'); from annotate.__main__ import run; "
        f"assert run(['code', {str(path)!r}, '--coder', 'you', '--plain']) == 0"
    )
    modules = loaded(program)
    assert "sqlite3" in modules
    assert not modules & set(CODING)
    from db.overview import coder_progress
    from db.study import open_study

    with open_study(path, read_only=True) as study:
        (progress,) = coder_progress(study)
        assert progress.done == 10


def test_status_loads_no_numbers(tmp_path: Path) -> None:
    from annotate.demonstration import coding_study

    path, _ = coding_study(tmp_path)
    assert not loaded(f"from annotate.__main__ import run; run(['status', {str(path)!r}])") & set(CODING)


def test_help_is_fast() -> None:
    """CPU time of the whole process, the best of three: the wall clock of a shared machine says little."""
    resource = pytest.importorskip("resource")
    best = 9.0
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "annotate", "--help"], capture_output=True, check=True, env=os.environ)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert best < HELP_CPU_SECONDS


@pytest.mark.parametrize("name", list(COMMANDS))
def test_the_list_says_what_the_command_says(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.name == name
    assert command.get_short_help_str(limit=200) == COMMANDS[name][1]


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_help_has_an_example_that_calls_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    assert f"annotate {name}" in capsys.readouterr().out.partition("Example")[2]


def test_every_command_speaks_to_machines() -> None:
    for command in commands():
        parts = list(command.commands.values()) if isinstance(command, click.Group) else [command]
        for part in parts:
            assert "--json" in [option for each in part.params for option in each.opts], part.name


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["coed"], 2, "There is no command 'coed'. Did you mean 'code'?"),
        (["status"], 2, "Missing argument 'STUDY.db'"),
        (["status", "nowhere.db"], 2, "there is no such file"),
        (["init", "x.db", "--protocol", "eqh"], 2, "Did you mean 'ehq'?"),
        (["protocol", "check", "nowhere.toml"], 2, "There is no protocol 'nowhere.toml'"),
        (["sample", "nowhere.db", "--n", "0"], 2, "0 is not in the range x>=1"),
        (["import", "nowhere.db"], 2, "there is no such file"),
        (["code", "nowhere.pack"], 2, "there is no such file"),
    ],
)
def test_every_mistake_is_one_clear_line(
    arguments: list[str],
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err
    assert printed.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
