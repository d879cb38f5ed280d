"""The published schemas of --json: well formed, complete, on a page, and kept by commands that no other test asks.

(Every other test that makes a command print JSON is checked too: see ``published_json`` in tests/conftest.py.)
"""

from __future__ import annotations

import json
from pathlib import Path

import click
import jsonschema
import pytest

from annotate.__main__ import run
from annotate.cli import COMMANDS, cli
from annotate.sample_files import sample
from annotate.schemas.documents import documents, names, schema, shapes
from annotate.schemas.page import page
from tests.conftest import REPOSITORY


def with_json() -> set[str]:
    """The full name of every command that takes --json."""
    found = set()
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        parts = command.commands if isinstance(command, click.Group) else {"": command}
        for part, each in parts.items():
            if any("--json" in option.opts for option in each.params):
                found.add(f"{name} {part}".strip())
    return found


def test_every_command_takes_json_and_has_a_schema() -> None:
    assert {name.partition(" ")[0] for name in with_json()} == set(COMMANDS)
    assert set(names()) == with_json() | {"results"}


@pytest.mark.parametrize("name", names())
def test_a_schema_is_a_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


def test_every_value_says_what_it_is() -> None:
    for values in (*(each.values for each in documents()), *shapes().values()):
        for value in values:
            assert value.meaning, value.path
            assert value.type in {"string", "integer", "number", "boolean", "object", "array", "any", *shapes()}, value


def test_a_document_that_lacks_or_adds_a_value_is_refused() -> None:
    check = jsonschema.Draft202012Validator(schema("backup"))
    assert check.is_valid({"backup": "x", "bytes": 1})
    assert not check.is_valid({"backup": "x"})
    assert not check.is_valid({"backup": "x", "bytes": 1, "more": 1})
    assert not check.is_valid({"backup": "x", "bytes": None})


def test_the_page_is_current() -> None:
    assert (REPOSITORY / "docs" / "json.md").read_text("utf-8").rstrip("\n") == "\n".join(page())


def test_the_command_prints_a_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "protocol", "list"]) == 0
    assert json.loads(capsys.readouterr().out) == schema("protocol list")
    assert run(["schema"]) == 0
    assert capsys.readouterr().out.split("\n")[:2] == ["adjudicate", "agreement"]
    assert run(["schema", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == list(names())
    assert run(["schema", "nonsense"]) == 2
    assert "'nonsense' has no schema" in capsys.readouterr().err


def test_the_rarer_commands_keep_theirs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The schemas are checked as each document is printed; here only that the values are those of this small study."""

    def ask(*words: object, code: int = 0) -> object:
        capsys.readouterr()
        assert run([str(word) for word in (*words, "--json")]) == code, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    study = tmp_path / "s.db"
    made = ask("init", study, "--protocol", "ehq", "--title", "Small")
    assert isinstance(made, dict) and made["title"] == "Small"
    items, records = sample("ehq-run", "EHQ-120.json.gz"), sample("ehq-run", "records.jsonl.gz")
    ask("import", study, "--items", items, "--records", records)
    ask("protocol", "show", "ehq")
    ask("protocol", "check", "nas")
    ask("sample", study, "--n", 200, "--dry-run")
    ask("sample", study, "--n", 200, "--seed", 42)
    columns = "question_id=item,model=model,coder=coder,label=label"
    ask("import", study, sample("ehq-run", "simulated_coders.csv"), "--map", columns, "--simulated")
    rows = len(sample("ehq-run", "simulated_coders.csv").read_text("utf-8").splitlines()) - 1
    rounds = ask("rounds", study)
    assert isinstance(rounds, list)
    assert rounds[0] == {"name": "main", "kind": "main", "state": "open", "assignments": rows, "done": rows}
    cases = ask("adjudicate", study, "--by", "Lea", "--list")
    talk = ask("discuss", study)
    assert isinstance(cases, dict) and isinstance(talk, list) and len(talk) == cases["left"] > 0
    ask("log", study)
    ask("questions", study)
    ask("status", study)
    ask("judge", study)
    ask("coverage", study)
    ask("backup", study, "--to", tmp_path / "copy.db")
    ask("recall", study, "--coder", "simulated-1", code=1)
    ask("report", study, "--out", tmp_path / "report")
    ask("export", study, "--out", tmp_path / "labels.csv")
    ask("doctor", study, code=0)
    ask("schema", "status")
    shell = ask("completion", "bash")
    assert isinstance(shell, dict) and "_ANNOTATE_COMPLETE=bash_complete" in shell["script"]
    for words, again in (((), True), ((), False), (("--lead",), True)):
        demo = ask("demo", *words, "--dir", tmp_path / "demo")
        assert isinstance(demo, dict) and demo["made"] is again and Path(demo["study"]).is_file()
