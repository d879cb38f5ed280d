"""The packages as packages: which way imports point, and what the light paths may load."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
HEAVY = ("numpy", "pandas", "scipy", "sklearn", "krippendorff", "openai", "pyarrow")


def modules_after(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded once ``code`` ran."""
    script = f"{code}\nimport sys\nprint('\\n'.join(sorted({{m.partition('.')[0] for m in sys.modules}})))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True, check=True, timeout=120
    )
    return set(done.stdout.split())


def test_imports_point_one_way() -> None:
    tool = str(Path(sys.executable).with_name("lint-imports"))
    done = subprocess.run([tool], cwd=REPOSITORY, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout


def test_help_loads_neither_textual_nor_the_numbers() -> None:
    loaded = modules_after("from annotate.__main__ import run\nassert run(['--help']) == 0")
    assert not loaded & {"textual", "sqlite_utils", *HEAVY}


@pytest.mark.parametrize("package", ["db.records", "tui", "annotate"])
def test_the_light_packages_load_no_numbers(package: str) -> None:
    assert not modules_after(f"import {package}") & set(HEAVY)


def test_the_agreement_engine_loads_numpy_alone() -> None:
    assert not modules_after("import agreement") & {"pandas", "scipy", "sklearn", "textual", "rich", "click", "sqlite3"}


def test_a_foreign_package_of_the_same_name_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "__init__.py").write_text("", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY}"}
    script = "import sys; from annotate.__main__ import main; main(['--help'])"
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], env=environment, capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"The package 'db' comes from {tmp_path / 'db'}" in done.stderr


def test_every_package_is_installed() -> None:
    """The list in pyproject.toml is written by hand, because annotate.samples is mapped; it must not fall behind."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    declared = set(project["tool"]["setuptools"]["packages"])
    found = {
        ".".join(path.parent.relative_to(REPOSITORY).parts)
        for top in ("agreement", "annotate", "db", "tui")
        for path in (REPOSITORY / top).rglob("*.py")
    }
    assert declared == found | {"annotate.samples"}


def test_every_file_of_a_package_is_installed() -> None:
    """A template or script beside the modules is of no use to a reader who installed the package without it."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    data = project["tool"]["setuptools"]["package-data"]
    for top in ("agreement", "annotate", "db", "tui"):
        for path in (REPOSITORY / top).rglob("*"):
            if path.suffix in (".py", ".pyc") or not path.is_file() or "__pycache__" in path.parts:
                continue
            below = str(path.relative_to(REPOSITORY))
            own = data.get("annotate.judges", []) if path.parts[-3:-1] == ("judges", "prompts") else []
            assert any(path.match(pattern) for pattern in (*data["*"], *own)), f"{below} is not in package-data"
