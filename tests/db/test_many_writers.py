"""Many processes on one study: nothing is lost, nothing is doubled, and nobody reads "database is locked"."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from builder import assigned, filled, protocol, seeded, small_study

from db.backups import private_file
from db.coding import CodingSession
from db.connection import open_connection, set_pragmas
from db.faults import Refused
from db.leases import end_lease, lease, recall
from db.logs import Log
from db.records import Act
from db.schema import migrate
from db.study import create_study, open_study
from db.verify import verify

# Without pandas and numpy, which sqlite-utils imports where they are there, a process starts in a quarter of the time.
PATHS = f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}; sys.modules.update(pandas=None, numpy=None)\n"


def run(processes: list[str]) -> list[str]:
    """Run the programs at once and return what each printed. All must end well."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PATHS + code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for code in processes
    ]
    told = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0] * len(started), [errors for _, errors in told]
    return [out for out, _ in told]


def test_ten_processes_open_and_migrate_a_fresh_file(tmp_path: Path) -> None:
    path = tmp_path / "fresh.db"
    private_file(path)
    with closing(open_connection(path, "rw")) as connection:
        set_pragmas(connection)
    code = f"""
from pathlib import Path
from db.connection import open_connection, set_pragmas
from db.schema import migrate
connection = open_connection(Path({str(path)!r}), "rw")
set_pragmas(connection)
print(migrate(connection))
"""
    told = run([code] * 10)
    assert sorted(int(out) for out in told) == [0] * 9 + [1]
    with closing(open_connection(path, "rw")) as connection:
        assert migrate(connection) == 0


def test_ten_processes_make_the_same_study_and_one_does(tmp_path: Path) -> None:
    path = tmp_path / "one.db"
    code = f"""
from builder import protocol
from db.faults import StudyError
from db.study import create_study
try:
    create_study({str(path)!r}, protocol()).close()
    print("made")
except StudyError as error:
    assert "already a file" in error.message, error
    print("there")
"""
    assert sorted(out.strip() for out in run([code] * 10)) == ["made"] + ["there"] * 9
    assert [each.name for each in tmp_path.iterdir() if each.suffix != ".d"] == ["one.db"]


CODER = """
from builder import protocol
from db.coding import CodingSession
from db.records import Act
with CodingSession.open({path!r}, {name!r}, protocol()) as session:
    saved = 0
    while (item := session.next()) is not None:
        session.save(Act("label", item.assignment, label="WRONG"))
        saved += 1
    print(saved)
"""


def test_eight_coders_in_eight_processes_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with create_study(path, protocol(), random_bytes=seeded(1)) as study:
        filled(study, 20)
        for n in range(8):
            assigned(study, f"coder {n}")
    told = run([CODER.format(path=str(path), name=f"coder {n}") for n in range(8)])
    assert [int(out) for out in told] == [40] * 8
    with open_study(path) as study:
        assert study.connection.execute("SELECT count(*) FROM annotations WHERE label = 'WRONG'").fetchone() == (320,)
        assert verify(study).holds


def test_the_same_coder_from_many_processes_at_once_is_one(tmp_path: Path) -> None:
    path = small_study(tmp_path / "s.db", "A")
    code = f"""
import time
from builder import protocol
from db.coding import CodingSession
from db.faults import SessionTaken
try:
    with CodingSession.open({str(path)!r}, "A", protocol()):
        time.sleep(0.7)
    print("coding")
except SessionTaken:
    print("taken")
"""
    told = sorted(out.strip() for out in run([code] * 5))
    assert told.count("coding") >= 1 and told.count("coding") + told.count("taken") == 5
    with open_study(path) as study:  # however they came: never two at a time, so every session had its own number
        assert study.connection.execute("SELECT max(fence) FROM logs").fetchone()[0] == told.count("coding")


@pytest.mark.slow
def test_fifty_writers_in_a_burst(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with create_study(path, protocol(), random_bytes=seeded(1)) as study:
        filled(study, 50)
        for n in range(50):
            assigned(study, f"coder {n}")
    start = time.monotonic()
    told = run([CODER.format(path=str(path), name=f"coder {n}") for n in range(50)])
    assert [int(out) for out in told] == [100] * 50
    assert time.monotonic() - start < 110
    with open_study(path) as study:
        assert verify(study).holds


@pytest.mark.slow
def test_a_label_is_on_the_disk_before_it_is_acknowledged(tmp_path: Path) -> None:
    """strace: between two acknowledgements lies at least one fdatasync (or fsync) of the write-ahead log."""
    import shutil

    if shutil.which("strace") is None:
        pytest.skip("needs strace")
    path = small_study(tmp_path / "s.db", "A", items=10)
    code = f"""
import os
from builder import protocol
from db.coding import CodingSession
from db.records import Act
with CodingSession.open({str(path)!r}, "A", protocol()) as session:
    while (item := session.next()) is not None:
        session.save(Act("label", item.assignment, label="WRONG"))
        os.write(1, b"acknowledged\\n")
    session.undo()
    os.write(1, b"acknowledged\\n")
"""
    trace = tmp_path / "trace.txt"
    command = [
        "strace",
        "-f",
        "-e",
        "trace=fdatasync,fsync,write",
        "-o",
        str(trace),
        sys.executable,
        "-c",
        PATHS + code,
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    syncs = 0
    acknowledged = []
    for line in trace.read_text(encoding="utf-8", errors="replace").splitlines():
        if "fdatasync(" in line or "fsync(" in line:
            syncs += 1
        elif 'write(1, "acknowledged' in line:
            acknowledged.append(syncs)
            syncs = 0
    assert len(acknowledged) == 21 and min(acknowledged) >= 1


# --- leases -----------------------------------------------------------------------------------------


def test_what_is_in_a_pack_is_written_nowhere_else_until_it_is_recalled(tmp_path: Path) -> None:
    path = small_study(tmp_path / "s.db", "A", "B")
    with CodingSession.open(path, "A", protocol()) as session:
        first = session.next()
        assert first
        session.save(Act("label", first.assignment, label="WRONG"))
        with open_study(path) as study:
            log, number = lease(study, "A", "pack-1", random_bytes=seeded(8))
            assert number == 6
            with pytest.raises(Refused, match="in a pack already"):
                lease(study, "A", "pack-2")
            assert study.connection.execute("SELECT home_seq FROM leases LIMIT 1").fetchone() == (1,)
        assert session.next() is None and session.progress.total == 0
        for attempt in (lambda: session.save(Act("label", first.assignment, label="HEDGE")), session.undo):
            with pytest.raises(Refused, match="is in a pack"):
                attempt()
        with open_study(path) as study:
            with pytest.raises(Exception, match="leased to a pack"):
                study.connection.execute(
                    "INSERT INTO events SELECT log_id, seq + 1, kind, assignment_id, unit, body, protocol_version,"
                    " tool_version, utc, active_ms, fence, origin, blindness, hash FROM events WHERE kind = 'label'"
                )
            assert recall(study, "A") == 6 and recall(study, "A") == 0
        assert session.progress.total == 6
        session.save(Act("label", first.assignment, label="HEDGE"))
    with open_study(path) as study:
        assert isinstance(log, Log) and verify(study).holds
        kinds = [
            row[0] for row in study.connection.execute("SELECT kind FROM events WHERE origin = 'lead' ORDER BY seq")
        ]
        assert kinds[-2:] == ["lease", "lease end"]
        assert end_lease(study.connection, log.id, "merge") == 0
