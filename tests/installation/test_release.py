"""What a release holds: the wheel and the sdist are built from the tracked files, and hold what they should."""

from __future__ import annotations

import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.installation.conftest import Built, uv

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

PACKAGES = ("annotate", "agreement", "db", "tui")


def tracked(*folders: str) -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", *folders],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    return {name for name in listed.stdout.split("\0") if name and (REPOSITORY / name).is_file()}


def test_the_wheel_holds_every_file_of_the_packages_and_the_samples(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name and ".data/" not in name}
        extra = {name for name in wheel.namelist() if ".data/" in name}
    samples = {f"annotate/{name}" for name in tracked("samples") if name.count("/") > 1}
    wanted = tracked(*PACKAGES) | samples
    assert wanted - held == set()
    assert {name for name in held - wanted if not name.startswith("annotate/samples/")} == set()
    assert [name.rpartition("/")[2] for name in extra] == ["annotate.1"]


def test_the_sdist_builds_the_same_wheel(built: Built, tmp_path: Path) -> None:
    with tarfile.open(built.sdist) as sdist:
        sdist.extractall(tmp_path / "unpacked", filter="data")
    (folder,) = (tmp_path / "unpacked").iterdir()
    uv("build", "--quiet", "--wheel", "--out-dir", tmp_path / "again", folder)
    (again,) = (tmp_path / "again").glob("*.whl")
    with zipfile.ZipFile(built.wheel) as one, zipfile.ZipFile(again) as two:
        first = {entry.filename: entry.CRC for entry in one.infolist() if not entry.filename.endswith("RECORD")}
        second = {entry.filename: entry.CRC for entry in two.infolist() if not entry.filename.endswith("RECORD")}
    assert first == second
