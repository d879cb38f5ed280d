"""A wheel and an sdist of the tracked files, environments to try them in, and the sizes that CI prints at its end."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

VERSIONS = ("3.11", "3.12", "3.13")


def interpreter(version: str) -> str | None:
    """The path of a Python of this version on this machine, or None. Nothing is downloaded."""
    if sys.version_info[:2] == tuple(int(part) for part in version.split(".")):
        return sys.executable
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for found in (*sorted(kept.glob(f"{version}.*/bin/python"), reverse=True), shutil.which(f"python{version}")):
        if found and subprocess.run([str(found), "--version"], capture_output=True, check=False).returncode == 0:
            return str(found)
    return None


def uv(*arguments: object, **environment: str) -> str:
    """Run uv; what it printed. The test fails with its words where it does."""
    program = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if program is None:
        message = "needs uv, which comes with the [test] extra"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    clean = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    clean |= {"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1", "UV_PYTHON_DOWNLOADS": "never"}
    done = subprocess.run(
        [program, *map(str, arguments)], env=clean | environment, capture_output=True, text=True, check=False
    )
    for unpacked in Path(os.environ["UV_CACHE_DIR"]).glob("sdists-*"):
        shutil.rmtree(unpacked)  # Spark comes as a source of 2 GB, which uv would keep once for every install of it
    if done.returncode:
        pytest.fail(f"uv {' '.join(map(str, arguments))}\n{done.stderr[-3000:]}")
    return done.stdout


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Packages are fetched once for the whole run, linked into the environments, and gone at the end."""
    folder = tmp_path_factory.mktemp("uv")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("UV_CACHE_DIR", str(folder))
        yield
    shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Built:
    """The two files that a release is made of."""

    wheel: Path
    sdist: Path


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what git tracks, and nothing else: what lies about in a checkout cannot get into a release."""
    folder = tmp_path_factory.mktemp("source")
    listed = subprocess.run(
        ["git", "ls-files", "-z"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (REPOSITORY / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, folder / name)
    return folder


@pytest.fixture(scope="session")
def built(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("dist")
    uv("build", "--quiet", "--out-dir", folder, source)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Built(wheel, sdist)


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment with nothing in it but what a test installed."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def install(self, *what: object, **environment: str) -> None:
        uv("pip", "install", "--quiet", "--python", self.python, *what, **environment)

    def run(self, *arguments: object, cwd: Path, stdin: str = "", code: int | None = 0) -> str:
        """Run the installed `annotate` in ``cwd``; standard output and error together."""
        path = f"{self.python.parent}{os.pathsep}{os.environ.get('PATH', '')}"
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [self.python.parent / "annotate", *map(str, arguments)],
            cwd=cwd,
            env=clean | {"PATH": path, "TERM": "dumb"},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        assert code is None or done.returncode == code, f"annotate {arguments}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    @property
    def megabytes(self) -> float:
        """What was installed, compiled files left out: they depend on what was run."""
        (packages,) = self.folder.glob("lib/python*/site-packages")
        files = (path for path in packages.rglob("*") if path.is_file() and path.suffix != ".pyc")
        return sum(path.stat().st_size for path in files) / 1e6


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[Callable[[str], Environment]]:
    """``environment("3.12")`` makes an empty environment with that Python, or skips and says that there is none."""

    def make(version: str = "3.11") -> Environment:
        python = interpreter(version)
        if python is None:
            pytest.skip(f"this machine has no Python {version}")
        uv("venv", "--quiet", "--python", python, tmp_path / f"env-{version}")
        return Environment(tmp_path / f"env-{version}")

    yield make
    for folder in tmp_path.glob("env-*"):
        shutil.rmtree(folder)
