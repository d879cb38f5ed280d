"""A disk that is really full: a file system of 4 MB that is mounted for this test (needs the right to mount)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PATHS = f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}\n"
PROGRAM = """
from pathlib import Path
from builder import protocol, seeded, small_study
from db.backups import back_up
from db.coding import CodingSession
from db.errors import AnnotateError
from db.faults import DiskFull
from db.imports import SourceFile, import_rows
from db.overview import study_counts
from db.records import Act, ItemRow, ResponseRow
from db.study import open_study
from db.verify import verify

folder = Path({folder!r})
path = small_study(folder / "s.db", "A", items=300)
ballast = folder / "ballast"


def fill(leave):
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
    with ballast.open("r+b") as file:
        file.truncate(ballast.stat().st_size - leave)


saved = 0
with CodingSession.open(path, "A", protocol()) as session:
    fill(400_000)
    try:
        while True:
            item = session.next()
            session.save(Act("label", item.assignment, label="WRONG", note="a note of some length " * 20))
            saved += 1
    except DiskFull as error:
        print("save:", error.message, error.hint)
    for attempt in (session.undo, lambda: back_up(path, folder / "copy.db")):
        try:
            attempt()
        except AnnotateError as error:
            print("other:", error.message, error.hint)
    assert saved > 3 and not (folder / "copy.db").exists()
    ballast.unlink()
    session.save(Act("label", item.assignment, label="HEDGE"))
with open_study(path) as study:
    assert verify(study).holds and study_counts(study).labelled == saved + 1
    fill(120_000)
    rows = [ItemRow(f"i{{n}}", n, "What? " * 40) for n in range(2000)]
    rows += [ResponseRow(f"i{{n}}", n, "It is. " * 60) for n in range(2000)]
    try:
        import_rows(study, rows, format="t", sources=[SourceFile("r", "a" * 64, 1)], protocol=protocol())
    except DiskFull as error:
        print("import:", error.message, error.hint)
    ballast.unlink()
    assert verify(study).holds and study_counts(study).items == 300
print("saved", saved)
"""


def test_a_disk_that_is_full_in_mid_save_and_in_mid_import(tmp_path: Path) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare")
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["unshare", "--mount", "sh", "-c"]
    try:
        if subprocess.run(
            [*mount, f"mount -t tmpfs -o size=64k none {folder}"], capture_output=True, check=False
        ).returncode:
            pytest.skip("needs the right to mount")
    except OSError:
        pytest.skip("needs the right to mount")
    program = tmp_path / "program.py"
    program.write_text(PATHS + PROGRAM.format(folder=str(folder)), encoding="utf-8")
    command = f"mount -t tmpfs -o size=4m none {folder} && exec {sys.executable} {program}"
    done = subprocess.run([*mount, command], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    save, *_, imported, last = done.stdout.splitlines()
    for line in (save, imported):
        assert "the disk is full" in line and "Free some space" in line
    assert save.startswith("save:") and imported.startswith("import:") and int(last.split()[1]) > 3
