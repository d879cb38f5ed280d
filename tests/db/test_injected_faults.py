"""Faults done on purpose: the process is killed, or the disk is full, at every single write of a session.

strace counts the pwrite64 calls of SQLite and acts at the N-th. After each: what was acknowledged is there, nothing is
there twice, the file proves itself, and the next session goes on.
"""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from builder import protocol, seeded, small_study

from db.coding import CodingSession
from db.connection import open_connection
from db.overview import imports_of, study_counts
from db.records import Act
from db.study import create_study, open_study
from db.verify import verify

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")]

PATHS = f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}\n"
SESSION = """
import os
from builder import protocol
from db.coding import CodingSession
from db.errors import AnnotateError
from db.records import Act
def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())
with CodingSession.open({path!r}, "A", protocol()) as session:
    for step in range(3):
        item = session.next()
        try:
            session.save(Act("label", item.assignment, label="WRONG", note="a note"))
            say("label", item.assignment)
        except AnnotateError as error:
            say("refused", type(error).__name__)
    try:
        undone = session.undo()
        say("undo", undone.annotation.assignment)
    except AnnotateError as error:
        say("refused", type(error).__name__)
"""


def inject(path: Path, what: str, program: str = SESSION, call: str = "pwrite64") -> tuple[int, list[list[str]]]:
    """Run the program with a fault; return its exit status and what it acknowledged."""
    command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{what}"]
    run = subprocess.run(
        [*command, sys.executable, "-c", PATHS + program.format(path=str(path))],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return run.returncode, [line.split() for line in run.stdout.splitlines()]


def check(path: Path, told: list[list[str]]) -> None:
    """Everything acknowledged is there, at most one unacknowledged act more, and the study holds."""
    with open_study(path) as study:
        proved = verify(study)
        assert proved.holds, [each for each in proved.checks if each.broken]
        kinds = [
            row[0]
            for row in study.connection.execute(
                "SELECT e.kind FROM events e JOIN logs l ON l.id = e.log_id JOIN coders c ON c.id = l.coder_id"
                " WHERE c.name = 'A' ORDER BY e.seq"
            )
        ]
    acknowledged = [words[0] for words in told if words[0] != "refused"]
    assert kinds[: len(acknowledged)] == acknowledged
    assert len(kinds) - len(acknowledged) <= 1


def test_killed_at_every_write_nothing_acknowledged_is_missing(tmp_path: Path) -> None:
    whole = small_study(tmp_path / "whole.db", "A")
    for number in range(1, 400):
        path = tmp_path / f"s{number}.db"
        shutil.copy(whole, path)
        status, told = inject(path, f"signal=KILL:when={number}")
        check(path, told)
        with CodingSession.open(path, "A", protocol()) as session:
            item = session.next()
            assert item is not None
            session.save(Act("label", item.assignment, label="HEDGE"))
        check_again = verify_whole(path)
        assert check_again, number
        if status == 0:
            assert len(told) == 4 and number > 10
            return
    raise AssertionError("the session never came to its end")


def verify_whole(path: Path) -> bool:
    with open_study(path) as study:
        return verify(study).holds


@pytest.mark.parametrize("step", [1, 3, 7])
def test_a_full_disk_refuses_in_words_and_the_study_goes_on(tmp_path: Path, step: int) -> None:
    whole = small_study(tmp_path / "whole.db", "A")
    refused = 0
    for number in range(1, 200, step * 4):
        path = tmp_path / f"s{step}-{number}.db"
        shutil.copy(whole, path)
        status, told = inject(path, f"error=ENOSPC:when={number}+{step}")
        assert all(words[1] in {"DiskFull", "StudyError"} for words in told if words[0] == "refused"), told
        refused += sum(words[0] == "refused" for words in told)
        check(path, told)
        if status == 0 and len(told) == 4 and not any(words[0] == "refused" for words in told):
            break
        with CodingSession.open(path, "A", protocol()) as session:
            item = session.next()
            assert item is not None
            session.save(Act("label", item.assignment, label="HEDGE"))
        assert verify_whole(path)
    assert refused > 0


# --- merging ----------------------------------------------------------------------------------------

MERGE = """
import os
from db.merge import merge_copy
from db.study import open_study
with open_study({path!r}) as study, open_study({path!r}.replace(".db", "-copy.db")) as copy:
    found = merge_copy(study, copy)
    os.write(1, f"merged {{found.added}}\\n".encode())
"""


def coded(path: Path, number: int, note: str | None = None) -> None:
    with CodingSession.open(path, "A", protocol()) as session:
        for _ in range(number):
            item = session.next()
            assert item is not None
            session.save(Act("label", item.assignment, label="WRONG", note=note))


def test_killed_at_every_write_of_a_merge_all_of_it_came_in_or_nothing(tmp_path: Path) -> None:
    home = small_study(tmp_path / "home.db", "A")
    coded(home, 2)
    other = Path(shutil.copy(home, tmp_path / "other.db"))
    coded(other, 3, "a note")
    seen = set()
    for number in range(1, 200):
        path, copy = tmp_path / f"m{number}.db", tmp_path / f"m{number}-copy.db"
        shutil.copy(home, path)
        shutil.copy(other, copy)
        status, told = inject(path, f"signal=KILL:when={number}", MERGE)
        labels = labels_of(path)
        assert labels in ({2, 5} if status else {5}) and (labels == 5 or not told)
        seen.add(labels)
        assert inject(path, "signal=KILL:when=9999", MERGE)[1] == [["merged", str(5 - labels)]]
        assert labels_of(path) == 5
        if status == 0:
            assert told == [["merged", "3"]] and seen == {2, 5} and number > 5
            return
    raise AssertionError("merging never came to its end")


def labels_of(path: Path) -> int:
    """How many labels stand, in a study that holds."""
    with open_study(path) as study:
        proved = verify(study)
        assert proved.holds, [each for each in proved.checks if each.broken]
        return study_counts(study).labelled


# --- migration --------------------------------------------------------------------------------------

MIGRATE = """
import os
import db.connection, db.migrations, db.schema
later = ("CREATE TABLE next_thing (x INTEGER) STRICT", "INSERT INTO next_thing SELECT id FROM assignments",
         "ALTER TABLE coders ADD COLUMN colour TEXT NOT NULL DEFAULT ''", "CREATE INDEX next_x ON next_thing (x)")
db.migrations.MIGRATIONS = (*db.migrations.MIGRATIONS, (db.schema.LATEST + 1, "m_next", later))
db.connection.LATEST = db.schema.LATEST = db.schema.LATEST + 1
from contextlib import closing
from pathlib import Path
with closing(db.connection.connect(Path({path!r}))) as connection:
    db.schema.migrate(connection, db.schema.LATEST)
os.write(1, b"migrated\\n")
"""


def version_of(path: Path) -> int:
    with closing(open_connection(path, "rw")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (27,)
        tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE name LIKE 'next%'").fetchone()[0]
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        assert tables == (0 if version == 1 else 2)
        return version


def test_killed_at_every_write_of_a_migration_the_study_is_old_or_new_and_whole(tmp_path: Path) -> None:
    fixture = gzip.decompress((Path(__file__).parent / "fixtures" / "m001.db.gz").read_bytes())
    whole, number, step = tmp_path / "whole.db", 0, 1
    whole.write_bytes(fixture)
    seen = set()
    while number < 2000:
        number += step
        folder = tmp_path / str(number)
        folder.mkdir()
        path = Path(shutil.copy(whole, folder / "s.db"))
        status, told = inject(path, f"signal=KILL:when={number}", MIGRATE)
        version = version_of(path)
        seen.add(version)
        assert version == 2 or not told
        copies = list((folder / "s.d" / "backups").glob("*.db"))
        assert all(version_of(copy) == 1 for copy in copies) and (version == 1 or len(copies) == 1)
        step = 1 if copies else 13  # the many equal writes of the backup itself are taken in strides
        assert inject(path, "signal=KILL:when=65000", MIGRATE)[1] == [["migrated"]]
        assert version_of(path) == 2
        shutil.rmtree(folder)
        if status == 0:
            assert seen == {1, 2}
            return
    raise AssertionError("the migration never came to its end")


# --- importing --------------------------------------------------------------------------------------

IMPORT = """
import os
from db.errors import AnnotateError
from db.imports import SourceFile, import_rows
from db.records import ItemRow, ResponseRow
from db.study import open_study
from builder import protocol
rows = []
for n in range(1, 1201):
    rows += [ItemRow(f"q{{n}}", n, "What? " * 40), ResponseRow(f"q{{n}}", n, "An answer. " * 60, model="m")]
try:
    with open_study({path!r}) as study:
        source = [SourceFile("run.jsonl", "a" * 64, 1)]
        import_rows(study, rows, format="t", sources=source, protocol=protocol())
        os.write(1, b"imported\\n")
except AnnotateError as error:
    os.write(1, f"refused {{type(error).__name__}} {{error.hint}}\\n".encode())
"""


@pytest.mark.parametrize("when", [1, 5, 40, 200, 400])
def test_a_full_disk_in_mid_import_leaves_the_study_as_it_was(tmp_path: Path, when: int) -> None:
    path = tmp_path / "s.db"
    create_study(path, protocol(), random_bytes=seeded(3)).close()
    status, told = inject(path, f"error=ENOSPC:when={when}+", IMPORT)
    assert status == 0 and told[0][0] == "refused", told
    assert told[0][1] in {"DiskFull", "StudyError"} and len(told[0]) > 2  # it says what to do
    with open_study(path) as study:
        assert verify(study).holds and study_counts(study).items == 0 and imports_of(study) == ()
    status, told = inject(path, "error=ENOSPC:when=65000", IMPORT)
    assert told == [["imported"]]
    with open_study(path) as study:
        assert verify(study).holds and study_counts(study).responses == 1200


@pytest.mark.parametrize("call", ["fdatasync", "fsync"])
def test_a_disk_that_cannot_sync_is_not_called_saved(tmp_path: Path, call: str) -> None:
    """A label whose write could not be made durable is not acknowledged, and the study goes on afterwards."""
    path = small_study(tmp_path / "s.db", "A")
    status, told = inject(path, "error=EIO:when=2+", call=call)
    assert status == 0 or not told, told
    check(path, told)


def test_ten_processes_migrate_an_older_study_once_with_one_backup(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(gzip.decompress((Path(__file__).parent / "fixtures" / "m001.db.gz").read_bytes()))
    program = [sys.executable, "-c", PATHS + MIGRATE.format(path=str(path))]
    started = [subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(10)]
    told = [process.communicate(timeout=120) for process in started]
    assert [out for out, _ in told] == ["migrated\n"] * 10, told
    assert version_of(path) == 2
    (copy,) = (tmp_path / "s.d" / "backups").iterdir()
    assert version_of(copy) == 1
