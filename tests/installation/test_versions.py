"""The fast tier on every Python that this machine has, with the newest releases of all dependencies, and on the oldest
Python with the lowest ones that pyproject.toml allows. (CI itself runs with those of constraints.txt.)
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.installation.conftest import VERSIONS, Environment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]

DECLARED = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]


def requirements(*extras: str) -> list[str]:
    """The direct requirements of the base install and of ``extras``, as pyproject.toml states them."""
    optional = DECLARED["optional-dependencies"]
    return [*DECLARED["dependencies"], *(each for extra in extras for each in optional[extra])]


def run_tests(env: Environment, source: Path, *which: str) -> str:
    """The last line of the fast tier, or of the tests ``which``, run by ``env`` on a copy of the tracked files.

    The test fails with their report.
    """
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CI")}
    shared = os.environ.get("ANNOTATE_SHARED", str(REPOSITORY.parent / "shared"))
    path = f"{env.python.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    words = ("-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider", "--basetemp")
    with tempfile.TemporaryDirectory(prefix="fast-") as short:  # long paths would be folded in what commands print
        done = subprocess.run(
            [env.python, *words, f"{short}/t", *which],
            cwd=source,
            env=clean | {"PATH": path, "PYTHONPATH": str(source), "ANNOTATE_SHARED": shared},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        pytest.fail(done.stdout[-6000:] + done.stderr[-2000:])
    return done.stdout.strip().splitlines()[-1]


RUNTIME = tuple(sorted(set(DECLARED["optional-dependencies"]) - {"all", "docs", "test"}))
SPARK = ("tests/counting/test_spark.py", "-m", "slow")
"""No other test starts a cluster. Spark is larger than all other packages together: its newest release is tried on one
Python alone."""


@pytest.mark.parametrize("version", VERSIONS)
def test_the_newest_releases(
    version: str,
    source: Path,
    environment: Callable[..., Environment],
    record_property: Callable[[str, object], None],
) -> None:
    env = environment(version)
    env.install("--upgrade", *requirements(*(each for each in RUNTIME if each != "spark"), "docs", "test"))
    record_property(f"fast tier, Python {version}, newest releases", run_tests(env, source))
    if version == VERSIONS[0] and shutil.which("java"):
        env.install("--upgrade", *requirements(*RUNTIME))
        record_property(f"Spark, Python {version}, newest releases", run_tests(env, source, *SPARK))


def test_the_lowest_releases(
    source: Path,
    environment: Callable[..., Environment],
    record_property: Callable[[str, object], None],
) -> None:
    env = environment(VERSIONS[0])
    env.install("--resolution", "lowest-direct", *requirements(*RUNTIME))
    env.install(*requirements("docs", "test"))
    record_property(f"fast tier, Python {VERSIONS[0]}, lowest releases", run_tests(env, source))
    if shutil.which("java"):
        record_property(f"Spark, Python {VERSIONS[0]}, lowest releases", run_tests(env, source, *SPARK))
