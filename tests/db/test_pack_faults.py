"""A pack is killed at every write of a session and of its merge, and its disk is filled: what was acknowledged is
in it, it proves itself, the next session goes on, and the study takes it in."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from builder import small_study
from pack_builder import bring, code, labels, pack, session, state

from db.leases import packs_out
from db.pack import open_pack
from db.pack_read import read_pack
from db.records import Act
from db.study import open_study
from db.verify import verify_pack

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")]

PATHS = f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}\n"
SESSION = """
import os
from pathlib import Path
from pack_builder import session
from db.errors import AnnotateError
from db.records import Act
def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())
try:
    with session(Path({path!r})) as desk:
        for step in range(4):
            try:
                if step < 3:
                    item = desk.next()
                    desk.save(Act("label", item.assignment, label="WRONG", note="a note"))
                    say("label", item.assignment)
                else:
                    say("undo", desk.undo().annotation.assignment)
            except AnnotateError as error:
                say("refused", type(error).__name__)
except AnnotateError as error:
    say("ended", type(error).__name__)
"""
MERGE = """
import os
from pathlib import Path
from pack_builder import bring
(found,) = bring(Path({path!r}), Path({path!r}).with_name("A.pack"))
os.write(1, f"merged {{found.added}}\\n".encode())
"""
PACK = """
import os
from pathlib import Path
from pack_builder import pack
made = pack(Path({path!r}))
os.write(1, f"packed {{made.items}}\\n".encode())
"""


def inject(path: Path, what: str, program: str = SESSION, call: str = "pwrite64") -> tuple[int, list[list[str]]]:
    """Run the program with a fault; return its exit status and what it acknowledged."""
    command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{what}"]
    run = subprocess.run(
        [*command, sys.executable, "-c", PATHS + program.format(path=str(path))],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return run.returncode, [line.split() for line in run.stdout.splitlines()]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return small_study(tmp_path / "home.db", "A")


def check(path: Path, told: list[list[str]]) -> int:
    """Everything acknowledged is in the pack, at most one act more, each sealed; how many."""
    with open_pack(path) as opened:
        proved = verify_pack(opened.connection)
        assert proved.holds, [each for each in proved.checks if each.broken]
    kinds = [row.kind for row, _ in read_pack(path).rows]
    acknowledged = [words[0] for words in told if words[0] not in ("refused", "ended")]
    assert kinds[: len(acknowledged)] == acknowledged and len(kinds) - len(acknowledged) <= 1
    return len(kinds)


def goes_on(path: Path, home: Path) -> None:
    """The next session saves, and the study takes the pack in."""
    with session(path) as desk:
        item = desk.next()
        assert item
        desk.save(Act("label", item.assignment, label="HEDGE"))
    there = home.with_name(f"{path.stem}.db")
    shutil.copy(home, there)
    bring(there, path)
    assert "HEDGE" in labels(there) and state(there)


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("call", ["pwrite64", "unlink"])
def test_killed_at_every_write_nothing_acknowledged_is_missing(home: Path, tmp_path: Path, call: str) -> None:
    """An act stands from the moment in which its journal is unlinked."""
    whole = pack(home).path
    for number in range(1, 400):
        path = Path(shutil.copy(whole, tmp_path / f"s{number}.pack"))
        status, told = inject(path, f"signal=KILL:when={number}", call=call)
        check(path, told)
        goes_on(path, home)
        if status == 0:
            assert len(told) == 4 and number > 4
            return
    raise AssertionError("the session never came to its end")


@pytest.mark.timeout(1200)
def test_a_full_disk_refuses_in_words_and_the_pack_goes_on(home: Path, tmp_path: Path) -> None:
    whole, refused = pack(home).path, 0
    for number in range(1, 80, 5):
        path = Path(shutil.copy(whole, tmp_path / f"f{number}.pack"))
        _, told = inject(path, f"error=ENOSPC:when={number}+3")
        refused += sum(words[0] in ("refused", "ended") for words in told)
        check(path, told)
        goes_on(path, home)
    assert refused > 0


def test_each_act_is_synced_before_it_is_acknowledged(home: Path, tmp_path: Path) -> None:
    path = pack(home).path
    trace = tmp_path / "trace"
    subprocess.run(
        ["strace", "-f", "-qq", "-o", str(trace), "-e", "trace=fdatasync,fsync,write", sys.executable, "-c",
         PATHS + SESSION.format(path=str(path))],
        capture_output=True, check=True, timeout=120,
    )  # fmt: skip
    between = 0
    counts = []
    for line in trace.read_text().splitlines():
        between += "sync(" in line
        if 'write(1, "label' in line or 'write(1, "undo' in line:
            counts.append(between)
            between = 0
    assert len(counts) == 4 and min(counts) >= 1


@pytest.mark.timeout(1200)
def test_killed_at_every_write_of_its_merge_all_of_it_came_in_or_nothing(home: Path, tmp_path: Path) -> None:
    there = pack(home).path
    code(there, "wha", note="a note")
    seen = set()
    for number in range(1, 200):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = Path(shutil.copy(home, folder / "home.db"))
        shutil.copy(there, folder / "A.pack")
        status, told = inject(path, f"signal=KILL:when={number}", MERGE)
        done = sum(label is not None for label in labels(path))
        with open_study(path) as study:
            assert len(packs_out(study)) == (0 if done else 1)
        assert done in ({0, 3} if status else {3}) and (done == 3 or not told)
        seen.add(done)
        assert inject(path, "signal=KILL:when=9999", MERGE)[1] == [["merged", str(3 - done)]]
        assert state(path)
        if status == 0:
            assert seen == {0, 3} and number > 5
            return
    raise AssertionError("merging never came to its end")


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("call", ["pwrite64", "fsync", "fdatasync"])
def test_killed_while_a_pack_is_made_there_is_no_lease_without_a_pack(home: Path, tmp_path: Path, call: str) -> None:
    for number in range(1, 200):
        folder = tmp_path / f"{call}{number}"
        folder.mkdir()
        path = Path(shutil.copy(home, folder / "home.db"))
        status, told = inject(path, f"signal=KILL:when={number}", PACK, call)
        with open_study(path) as study:
            out = packs_out(study)
        assert not out or len(read_pack(folder / "A.pack").items) == out[0].assignments == 6
        assert out or not told
        if status == 0:
            assert told == [["packed", "6"]] and len(out) == 1
            return
    raise AssertionError("packing never came to its end")


def test_an_act_of_another_program_is_not_sealed(home: Path) -> None:
    """Whoever writes with plain SQLite cannot seal: the functions are not in the file."""
    import sqlite3
    from contextlib import closing

    path = pack(home).path
    code(path, "w")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "INSERT INTO events SELECT log_id, 2, kind, assignment_id, unit, body, protocol_version, tool_version, utc,"
            " active_ms, fence, origin, blindness, hash FROM events WHERE seq = 1"
        )
        connection.commit()
    with pytest.raises(Exception, match=r"row 2: it is not sealed"):
        bring(home, path)
