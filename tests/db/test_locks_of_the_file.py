"""POSIX drops the locks of a process on a file when it closes any descriptor of it: opening must not do that."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from builder import protocol, small_study

from db.coding import CodingSession
from db.connection import wal_of
from db.labels import label_rows
from db.records import Act
from db.study import open_study

REPOSITORY = Path(__file__).resolve().parents[2]


def another_process_comes_and_goes(path: Path) -> None:
    """Opens the study, writes to it and closes it: where it is the last user, SQLite deletes the log (-wal)."""
    program = (
        "import sys; from db.study import open_study; s = open_study(sys.argv[1]); s.set_settings({'x': 1}); s.close()"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=True, cwd=REPOSITORY)


def test_a_second_connection_does_not_drop_the_locks_of_the_first(tmp_path: Path) -> None:
    path = small_study(tmp_path / "study.db", "A")
    with open_study(path) as first:
        first.connection.execute("SELECT count(*) FROM events").fetchone()
        with open_study(path):
            before = wal_of(path).stat().st_ino
        another_process_comes_and_goes(path)
        assert wal_of(path).stat().st_ino == before


def test_labels_of_a_session_that_is_read_in_two_threads_survive_other_processes(tmp_path: Path) -> None:
    path = small_study(tmp_path / "study.db", "A")
    with CodingSession.open(path, "A", protocol()) as session:
        reader = threading.Thread(target=lambda: session.next())
        reader.start()
        reader.join()
        another_process_comes_and_goes(path)
        item = session.next()
        assert item is not None
        session.save(Act("label", item.assignment, label="HEDGE"))
        with open_study(path) as elsewhere:
            assert [row.label for row in label_rows(elsewhere) if row.label] == ["HEDGE"]
    with open_study(path) as afterwards:
        assert [row.label for row in label_rows(afterwards) if row.label] == ["HEDGE"]
