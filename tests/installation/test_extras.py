"""Base and every extra, from the built wheel in an empty environment: each does what it is there for. The sizes are
printed at the end of the run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from annotate.extras import OPTIONAL
from tests.conftest import REPOSITORY
from tests.installation.conftest import Built, Environment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

BASE_MB = 60.0
"""The base install (coding, packs, verify) stays below this, so that it goes onto a coder's small machine."""

DECLARED = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
EXTRAS = sorted(set(DECLARED) - {"all", "docs", "test"})


def drawn(folder: Path) -> None:
    """What a lead hands to coders: a study with a sample, made by the program under test where it is developed."""
    labels = "".join(
        f"{number},m{number % 2},Is it {number}?,it is {number},{number},{('CORRECT', 'WRONG')[number % 3 == 0]}\n"
        for number in range(12)
    )
    (folder / "rows.csv").write_text("item,model,question,response,gold,judge\n" + labels, "utf-8")
    columns = "item=item,model=model,question=question,response=response,gold=gold,judge=judge.rules"
    for words in (
        ("init", "s.db", "--protocol", "correctness"),
        ("import", "s.db", "rows.csv", "--map", columns),
        ("sample", "s.db", "--n", "12"),
        ("assign", "s.db", "--coders", "Ada,Ben", "--overlap", "1"),
    ):
        where = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        subprocess.run([sys.executable, "-m", "annotate", *words], cwd=folder, env=where, check=True)


def coded(env: Environment, folder: Path) -> None:
    """Two coders label it, and the record is checked, with what the base install has."""
    drawn(folder)
    for coder, keys in (("Ada", "cw" * 6), ("Ben", "ccw" * 4)):
        env.run("code", "s.db", "--coder", coder, "--plain", stdin="\n".join([*keys, "q", ""]), cwd=folder, code=None)
    assert "Every unit has its labels." in env.run("coverage", "s.db", cwd=folder)
    env.run("verify", "s.db", cwd=folder)


def test_the_base_install_codes_a_study(
    built: Built,
    environment: Callable[..., Environment],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    env = environment()
    env.install(built.wheel)
    coded(env, tmp_path)
    states = {each["what"]: each["state"] for each in json.loads(env.run("doctor", "--json", cwd=tmp_path))}
    assert {name for name, state in states.items() if state == "missing"} >= {each.distribution for each in OPTIONAL}
    assert "annotate-judge[analysis]" in env.run("agreement", "s.db", cwd=tmp_path, code=2)
    assert len(env.run("agreement", "s.db", cwd=tmp_path, code=2).splitlines()) == 1
    assert env.megabytes <= BASE_MB
    record_property("installed size, base, MB", round(env.megabytes))


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_brings_what_it_names_and_the_program_runs(
    extra: str,
    built: Built,
    environment: Callable[..., Environment],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    env = environment()
    env.install(f"annotate-judge[{extra}] @ {built.wheel.as_uri()}")
    states = {each["what"]: each["state"] for each in json.loads(env.run("doctor", "--json", cwd=tmp_path))}
    assert {each.distribution for each in OPTIONAL if each.name == extra and states[each.distribution] != "ok"} == set()
    record_property(f"installed size, [{extra}], MB", round(env.megabytes))
    if extra == "analysis":
        coded(env, tmp_path)
        assert "appa" in env.run("agreement", "s.db", cwd=tmp_path)  # kappa
        env.run("impact", "s.db", cwd=tmp_path)
        env.run("report", "s.db", "--out", "report", cwd=tmp_path)
        assert "matches" in env.run("reproduce", "report", cwd=tmp_path)


def test_all_does_everything_that_one_machine_can(
    built: Built,
    environment: Callable[..., Environment],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    env = environment()
    env.install(f"annotate-judge[all] @ {built.wheel.as_uri()}")
    coded(env, tmp_path)
    states = {each["what"]: each["state"] for each in json.loads(env.run("doctor", "--json", cwd=tmp_path))}
    assert {each.distribution for each in OPTIONAL if states[each.distribution] != "ok"} == {"pyspark"}
    env.run("report", "s.db", "--out", "report", cwd=tmp_path)
    assert {"report.html", "report.md", "report.pdf", "results.json"} <= {
        p.name for p in (tmp_path / "report").iterdir()
    }
    env.run("export", "s.db", "--out", "labels.parquet", cwd=tmp_path)
    assert (env.folder / "share" / "man" / "man1" / "annotate.1").is_file()
    record_property("installed size, [all], MB", round(env.megabytes))


def test_the_table_of_optional_packages_is_the_one_that_is_declared() -> None:
    declared = {
        (name, requirement.partition(">=")[0].partition("[")[0]) for name in EXTRAS for requirement in DECLARED[name]
    }
    ours = {(each.name, each.distribution) for each in OPTIONAL}
    assert declared <= ours | {("spark", "ibis-framework")}
    assert {name for name, _ in ours} == set(EXTRAS)
