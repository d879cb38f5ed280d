"""Nothing is left out: generated pages are those of the code, and every public function has its explanation."""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import itertools
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import click
import pytest

import agreement
import agreement.impact
import agreement.scores
import annotate
from annotate.__main__ import run
from annotate.cli import cli
from annotate.notebook import StudyFrames
from tests.docs.pages import DOCS, REPOSITORY

PARTS = ("statistics-agreement.md", "statistics-judge.md", "statistics-corpus.md", "statistics-scores.md")
CLICK = tuple(int(part) for part in importlib.metadata.version("click").split(".")[:2])


def generator() -> ModuleType:
    """docs/generate.py, with the path of imports as it was afterwards."""
    before = list(sys.path)
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module("generate")
    finally:
        sys.path[:] = before


@pytest.mark.parametrize("name", ["commands.md", "codebooks.md", "schema.md", "keys.md"])
def test_a_generated_page_is_what_the_code_says(name: str) -> None:
    if name == "commands.md" and CLICK < (8, 2):
        pytest.skip("click words options otherwise before 8.2")
    found = (DOCS / name).read_text(encoding="utf-8")
    assert found == generator().PAGES[name](), f"out of date: run python docs/generate.py ({name})"


def sections() -> dict[str, str]:
    """Each section of the statistics pages by its title."""
    text = "\n".join((DOCS / part).read_text(encoding="utf-8") for part in PARTS)
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return {title: body for title, body in zip(parts[1::2], parts[2::2], strict=True) if title != "References"}


def explained() -> set[str]:
    """What the line under each title names: `function(…)` or a class."""
    heads = [body.strip().split("\n\n")[0] for body in sections().values()]
    return {name for head in heads for name in re.findall(r"`(\w+)(?:\(|`)", head)}


def public(package: ModuleType) -> set[str]:
    return {name for name in package.__all__ if inspect.isfunction(getattr(package, name))}


@pytest.mark.parametrize("package", [agreement, agreement.impact, agreement.scores], ids=lambda p: p.__name__)
def test_every_public_function_is_explained(package: ModuleType) -> None:
    missing = public(package) - explained()
    assert not missing, f"no section of {', '.join(PARTS)} names {sorted(missing)}"


def test_every_score_class_is_explained() -> None:
    missing = set(agreement.scores.__all__) - explained()
    assert not missing, sorted(missing)


def test_the_pages_explain_nothing_that_is_not_there() -> None:
    there = {*agreement.__all__, *agreement.impact.__all__, *agreement.scores.__all__}
    assert explained() <= there, explained() - there


def test_every_number_of_a_confusion_matrix_is_explained() -> None:
    matrix = agreement.confusion(["A", "B", "A"], ["A", "B", "B"], labels=["A", "B"])
    names = {name for name, _ in agreement.point_measures(matrix)}
    assert names == set(re.findall(r"`([^`]+)`", _first_column("statistics-judge.md", "measures")))


def _first_column(page: str, mark: str) -> str:
    """The first column of the table that follows a comment."""
    written = (DOCS / page).read_text(encoding="utf-8").partition(f"<!-- {mark} -->")[2]
    table = itertools.takewhile(lambda line: line.startswith("|"), written.strip().splitlines())
    return "\n".join(row.split("|")[1] for row in table)


def test_each_section_says_when_how_and_from_where() -> None:
    for title, body in sections().items():
        for part in ("**When.**", "**Formula.**", "**Source.**"):
            assert body.count(part) == 1, f"{title}: {part}"


def test_the_python_page_documents_everything_public() -> None:
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\.\. auto(?:function|class|exception):: ([\w.]+)$", text, re.MULTILINE))
    packages = [agreement, agreement.impact, agreement.scores]
    names = {name for package in packages for name in package.__all__}
    assert names <= {entry.rpartition(".")[2] for entry in listed}, sorted(
        names - {e.rpartition(".")[2] for e in listed}
    )
    assert {f"annotate.{name}" for name in annotate.__all__ if not name.startswith("_")} <= listed


def test_the_tables_of_a_study_are_on_the_page_on_notebooks(studies: Callable[[str], Path]) -> None:
    text = (DOCS / "notebooks.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", text, re.MULTILINE))
    assert set(rows) == {name for name, value in vars(StudyFrames).items() if isinstance(value, property)}
    with annotate.open_study(studies("coded")) as study:
        for name, columns in rows.items():
            named = {column.replace("NAME", "ehq-rules") for column in re.findall(r"`([\w:-]+)`", columns)}
            assert named <= set(getattr(study, name).columns), name


def test_signatures_on_the_statistics_pages_are_real() -> None:
    for body in sections().values():
        head = body.strip().split("\n\n")[0]
        for name, written in re.findall(r"`(\w+)\(([^`]*)\)`", head):
            owner = next(p for p in (agreement, agreement.impact, agreement.scores) if name in p.__all__)
            known = inspect.signature(getattr(owner, name)).parameters
            for argument in (part.strip().partition("=")[0] for part in written.split(",") if part.strip()):
                assert argument == "…" or argument in known, f"{name}: there is no argument {argument}"


def test_every_kind_of_act_is_on_the_page_of_the_study_file() -> None:
    """The kinds: those of a coder, and what db/ writes into the lead's log."""
    from db.acts import ACTS

    text = (DOCS / "study-file.md").read_text(encoding="utf-8")
    source = "\n".join(path.read_text(encoding="utf-8") for path in (REPOSITORY / "db").glob("*.py"))
    lead = set(re.findall(r"\brecord\(\s*[\w.]+,\s*\"([a-z ]+)\"", source))
    assert {"sample", "assign", "round", "answer"} <= lead
    for kind in {*ACTS, *lead, "undo", "redo"}:
        assert f"`{kind}`" in text, f"study-file.md does not tell of acts of kind {kind}"


@pytest.mark.parametrize("shape", ["long", "wide"])
def test_the_columns_of_an_export_are_on_its_page(shape: str, studies: Callable[[str], Path], tmp_path: Path) -> None:
    out = tmp_path / "labels.csv"
    assert run(["export", str(studies("coded")), "--shape", shape, "--out", str(out)]) == 0
    header = out.read_text(encoding="utf-8").splitlines()[0].split(",")
    listed = re.findall(r"`([\w:]+)`", _first_column("exporting.md", shape))
    own = {"category", "subcategory", *(name for name in header if name.startswith("coder-"))}
    assert [name.replace("ehq-rules", "NAME") for name in header if name not in own] == listed


def test_the_random_number_that_a_shell_computes_is_the_programs() -> None:
    from db.random_numbers import random_number, record_key

    assert random_number("42", record_key("q1", "m1", "", 1)) in (DOCS / "study-file.md").read_text(encoding="utf-8")


def test_every_command_and_option_says_what_it_does() -> None:
    for command, path in commands(cli, "annotate"):
        assert command.help, path
        assert isinstance(command, click.Group) or "Example:" in (command.epilog or ""), f"{path} has no example"
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help and len(option.help) > 5, f"{path} {option.opts}"


def commands(command: click.Command, path: str) -> Iterator[tuple[click.Command, str]]:
    yield command, path
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from commands(child, f"{path} {name}")
