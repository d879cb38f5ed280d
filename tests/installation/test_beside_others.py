"""A distribution with a package of our name beside ours: said in one line, whichever command runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.installation.conftest import Built, Environment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.mark.parametrize("module", [True, False], ids=["module", "package"])
def test_another_db_is_named_in_one_line(
    module: bool, built: Built, environment: Callable[..., Environment], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    where = other / "elsewhere"
    (where / "db").mkdir(parents=True)
    if module:
        (where / "db.py").write_text("WHO = 'somebody else'\n", "utf-8")
        (where / "db").rmdir()
    else:
        (where / "db" / "__init__.py").write_text("WHO = 'somebody else'\n", "utf-8")
    (other / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "dummy-db"\nversion = "1"\n'
        "[tool.setuptools]\n"
        + ('py-modules = ["db"]\n' if module else 'packages = ["db"]\n')
        + '[tool.setuptools.package-dir]\n"" = "elsewhere"\n',
        "utf-8",
    )
    env = environment()
    env.install(built.wheel)
    env.install("--target", tmp_path / "first", other)
    (packages,) = env.folder.glob("lib/python*/site-packages")
    (packages / "first.pth").write_text(f"import sys; sys.path.insert(0, {str(tmp_path / 'first')!r})\n", "utf-8")
    for command in (("--help",), ("doctor",), ("status", "s.db")):
        (line,) = env.run(*command, cwd=tmp_path, code=2).splitlines()
        assert line.startswith("annotate: The package 'db' comes from ") and "pipx install" in line


def test_installed_over_ours_in_the_same_folder(
    built: Built, environment: Callable[..., Environment], tmp_path: Path
) -> None:
    """The same folder: the other's files stand among ours or replace them, and no traceback comes of it."""
    env = environment()
    env.install(built.wheel)
    (packages,) = env.folder.glob("lib/python*/site-packages")
    (packages / "db" / "__init__.py").write_text("WHO = 'somebody else'\n", "utf-8")
    for name in ("errors.py", "connection.py"):
        (packages / "db" / name).unlink()
    (line,) = env.run("status", "s.db", cwd=tmp_path, code=2).splitlines()
    assert line.startswith("annotate: This installation is not whole: No module named 'db.")
