"""Opening a study: what is wrong with a file is said in one line, and nothing is written on the way."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from builder import protocol, seeded, small_study

import db.migrations
from db import faults
from db.coding import CodingSession
from db.connection import APPLICATION_ID, LATEST, connect, is_encrypted, is_pack, reading, writing
from db.errors import AnnotateError
from db.faults import (
    BusyStudy,
    DamagedStudy,
    DiskFull,
    NewerStudy,
    NotAStudy,
    ReadOnlyStudy,
    StudyError,
    StudyMissing,
    UnsafePlace,
    translate,
)
from db.places import network_type, sync_folder
from db.records import Act
from db.schema import migrate
from db.study import create_study, open_study
from db.version import TOOL_VERSION


def raw(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_a_new_study_is_whole_private_and_closed_properly(tmp_path: Path) -> None:
    path = tmp_path / "ein Ordner ü" / "studie ☃?.db"
    path.parent.mkdir()
    with create_study(path, protocol(), title="Ein Titel") as study:
        assert study.title == "Ein Titel" and study.protocol_version == 1 and study.protocol_toml == "codebook one"
        pragmas = {
            name: study.connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys", "recursive_triggers", "trusted_schema")
        }
        assert pragmas == {
            "journal_mode": "wal",
            "synchronous": 2,  # FULL
            "foreign_keys": 1,
            "recursive_triggers": 1,
            "trusted_schema": 0,
        }
        assert study.settings == {}
        study.set_settings({"a": [1], "b": "x"})
        study.set_settings({"b": None})
        assert study.settings == {"a": [1]}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {each.name for each in path.parent.iterdir()} == {path.name}
    with pytest.raises(StudyError, match="already a file"):
        create_study(path, protocol())
    with pytest.raises(StudyError, match="no such folder"):
        create_study(tmp_path / "nowhere" / "s.db", protocol())


def test_two_names_of_one_study_share_their_locks(tmp_path: Path) -> None:
    path = small_study(tmp_path / "study.db", "A")
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with CodingSession.open(path, "A", protocol()), pytest.raises(faults.SessionTaken):
        CodingSession.open(link, "A", protocol())


def test_what_is_no_study_is_named(tmp_path: Path) -> None:
    def problem(name: str) -> AnnotateError:
        with pytest.raises(AnnotateError) as caught:
            open_study(tmp_path / name)
        assert name in caught.value.message and caught.value.hint and caught.value.exit_code == 2
        return caught.value

    (tmp_path / "empty.db").touch()
    (tmp_path / "table.csv").write_text("a,b\n")
    raw(tmp_path / "other.db", "CREATE TABLE t (x)")
    small_study(tmp_path / "newer.db")
    raw(tmp_path / "newer.db", f"PRAGMA user_version = {LATEST + 1}")
    assert isinstance(problem("missing.db"), StudyMissing)
    assert "is empty" in problem("empty.db").message
    assert isinstance(problem("table.csv"), NotAStudy)
    assert "not a study" in problem("other.db").message
    newer = problem("newer.db")
    assert isinstance(newer, NewerStudy) and "Upgrade annotate-judge" in newer.hint
    with pytest.raises(NotAStudy, match="is a folder"):
        open_study(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of Unix")
def test_a_pipe_keeps_nobody_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.pack"
    os.mkfifo(pipe)
    assert not is_pack(pipe) and not is_encrypted(pipe)
    with pytest.raises(NotAStudy, match="is no file"):
        open_study(pipe)


def test_a_truncated_and_a_scribbled_file_are_damaged_not_a_traceback(tmp_path: Path) -> None:
    path = small_study(tmp_path / "s.db", items=200)
    whole = path.read_bytes()
    for name, content in {
        "cut.db": whole[: len(whole) // 2],
        "scribbled.db": whole[:4096] + os.urandom(len(whole) - 4096),
    }.items():
        broken = tmp_path / name
        broken.write_bytes(content)
        with (
            pytest.raises(DamagedStudy, match="damaged") as caught,
            CodingSession.open(broken, "A", protocol()) as session,
        ):
            while (item := session.next()) is not None:
                session.save(Act("label", item.assignment, label="WRONG"))
        assert "backups" in caught.value.hint


def test_a_file_that_is_removed_or_replaced_while_open_is_noticed_before_a_label_is_lost(tmp_path: Path) -> None:
    path = small_study(tmp_path / "s.db", "A")
    with CodingSession.open(path, "A", protocol()) as session:
        item = session.next()
        assert item
        away = path.rename(tmp_path / "away.db")
        with pytest.raises(StudyMissing, match="no such file"):
            session.save(Act("label", item.assignment, label="WRONG"))
        shutil.copy(away, path)
        with pytest.raises(StudyError, match="replaced by another file"):
            session.save(Act("label", item.assignment, label="WRONG"))
        path.unlink()
        away.rename(path)
        session.save(Act("label", item.assignment, label="WRONG"))


def as_nobody(check: Callable[[], object]) -> None:
    """Run ``check`` as somebody who may not write everything: where we are root, in a child that gives that up."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        check()
        return
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        try:
            check()
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(os.name == "nt", reason="permissions of Unix")
def test_a_read_only_study_can_be_read_and_not_coded() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        path = small_study(folder / "s.db", "A")
        shutil.rmtree(folder / "s.d", ignore_errors=True)
        path.chmod(0o444)
        folder.chmod(0o555)

        def check() -> None:
            with open_study(path, read_only=True) as study:
                assert study.connection.execute("SELECT count(*) FROM units").fetchone() == (6,)
            with pytest.raises(ReadOnlyStudy, match="cannot be"):
                CodingSession.open(path, "A", protocol())

        as_nobody(check)
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)


def test_a_study_that_was_opened_to_be_read_refuses_a_write(tmp_path: Path) -> None:
    path = small_study(tmp_path / "s.db", "A")
    with open_study(path, read_only=True) as study:
        assert study.title == ""
        with pytest.raises(ReadOnlyStudy), writing(study.connection) as connection:
            connection.execute("UPDATE study SET title = 'x'")


def test_a_writer_that_never_ends_is_told_of_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = small_study(tmp_path / "s.db")
    monkeypatch.setattr("db.connection.begin_immediate.__defaults__", (0.05,))
    with (
        open_study(path) as one,
        open_study(path) as other,
        writing(one.connection),
        pytest.raises(BusyStudy, match="nothing was saved"),
        writing(other.connection),
    ):
        pass
    with open_study(path) as study, writing(study.connection):
        pass


def test_a_failed_block_leaves_nothing_behind(tmp_path: Path) -> None:
    with create_study(tmp_path / "s.db", protocol(), title="before") as study:
        with pytest.raises(RuntimeError), writing(study.connection) as connection:
            connection.execute("UPDATE study SET title = 'after'")
            raise RuntimeError
        assert study.connection.execute("SELECT title FROM study").fetchone() == ("before",)
        with pytest.raises(StudyError), writing(study.connection) as connection:
            connection.execute("SELECT nothing")


def test_a_write_inside_a_block_that_reads_is_a_mistake_and_not_lost_silently(tmp_path: Path) -> None:
    with create_study(tmp_path / "s.db", protocol()) as study:
        with (
            reading(study.connection),
            pytest.raises(RuntimeError, match="inside a block that reads"),
            writing(study.connection),
        ):
            pass
        with writing(study.connection), writing(study.connection), reading(study.connection) as connection:
            connection.execute("UPDATE study SET title = 'joined'")
        assert study.connection.execute("SELECT title FROM study").fetchone() == ("joined",)


class _Error(sqlite3.OperationalError):
    def __init__(self, code: int) -> None:
        super().__init__("disk I/O error")
        self.sqlite_errorcode = code


def test_errors_of_sqlite_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.db"
    path.touch()
    assert isinstance(translate(_Error(sqlite3.SQLITE_FULL), path), DiskFull)
    assert isinstance(translate(_Error(sqlite3.SQLITE_CORRUPT), path), DamagedStudy)
    assert isinstance(translate(_Error(sqlite3.SQLITE_READONLY), path), ReadOnlyStudy)
    assert isinstance(translate(_Error(sqlite3.SQLITE_BUSY_SNAPSHOT), path), BusyStudy)
    plain = translate(_Error(sqlite3.SQLITE_IOERR_WRITE), path)
    assert type(plain) is StudyError and "disk I/O error" in plain.message
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(100, 100, 0))  # type: ignore[attr-defined]
    full = translate(_Error(sqlite3.SQLITE_IOERR_WRITE), path)
    assert isinstance(full, DiskFull) and "Free some space" in full.hint
    path.unlink()
    assert isinstance(translate(_Error(sqlite3.SQLITE_CANTOPEN), path), StudyMissing)


# --- where a study may lie --------------------------------------------------------------------------

MOUNTS = r"""/dev/vda / ext4 rw 0 0
server:/export /home nfs4 rw 0 0
/dev/sdb /home/local ext4 rw 0 0
//host/share /mnt/a\040b cifs rw 0 0
remote: /mnt/ssh fuse.sshfs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/srv/studies/s.db", None),
        ("/home/anna/s.db", "nfs4"),
        ("/home/local/s.db", None),
        ("/mnt/a b/s.db", "cifs"),
        ("/mnt/ssh/deep/s.db", "fuse.sshfs"),
        ("/homework/s.db", None),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="mount points of Unix")
def test_network_file_systems_are_told_by_the_nearest_mount(path: str, kind: str | None) -> None:
    assert network_type(Path(path), MOUNTS) == kind


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("/home/a/Dropbox/s.db", "Dropbox"),
        ("/home/a/OneDrive - University/x/s.db", "OneDrive - University"),
        ("/Users/a/Library/Mobile Documents/com~apple~CloudDocs/s.db", "Mobile Documents"),
        ("/Users/a/Library/CloudStorage/GoogleDrive-a@b.c/My Drive/s.db", "CloudStorage"),
        ("/home/a/dropboxes/s.db", None),
        ("/home/a/study/Dropbox.db", None),
    ],
)
def test_sync_folders_are_told_by_their_names(path: str, folder: str | None) -> None:
    assert sync_folder(Path(path)) == folder


def test_a_sync_folder_is_refused_with_the_alternative(tmp_path: Path) -> None:
    folder = tmp_path / "Dropbox"
    folder.mkdir()
    with pytest.raises(UnsafePlace, match="sync folder") as caught:
        create_study(folder / "s.db", protocol())
    assert "annotate merge" in caught.value.hint and list(folder.iterdir()) == []
    shutil.copy(small_study(tmp_path / "s.db"), folder / "s.db")
    with pytest.raises(UnsafePlace):
        open_study(folder / "s.db")


# --- migrations -------------------------------------------------------------------------------------


def test_the_constants_agree_with_the_migrations_and_the_project() -> None:
    assert db.migrations.MIGRATIONS[-1][0] == LATEST
    assert [number for number, _, _ in db.migrations.MIGRATIONS] == list(range(1, LATEST + 1))
    project = Path(db.migrations.__file__).parents[2] / "pyproject.toml"
    if project.is_file():
        import tomllib

        assert tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"] == TOOL_VERSION


def test_an_older_study_is_backed_up_and_brought_forward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = small_study(tmp_path / "s.db", "A")
    later = (LATEST + 1, "m_next", ("CREATE TABLE next_thing (x INTEGER) STRICT",))
    monkeypatch.setattr(db.migrations, "MIGRATIONS", (*db.migrations.MIGRATIONS, later))
    monkeypatch.setattr("db.connection.LATEST", LATEST + 1)
    monkeypatch.setattr("db.schema.LATEST", LATEST + 1)
    with closing(connect(path)) as connection:
        assert migrate(connection, LATEST + 1) == 1 and migrate(connection, LATEST + 1) == 0
        assert connection.execute("PRAGMA user_version").fetchone() == (LATEST + 1,)
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert [row[0] for row in connection.execute("SELECT name FROM migrations")][-1] == "m_next"
    (copy,) = (tmp_path / "s.d" / "backups").iterdir()
    assert f"before-migration-{LATEST}" in copy.name
    with closing(sqlite3.connect(copy)) as old:
        assert old.execute("PRAGMA user_version").fetchone() == (LATEST,)
        assert old.execute("SELECT count(*) FROM assignments").fetchone() == (6,)


def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = small_study(tmp_path / "s.db", "A")
    later = (LATEST + 1, "m_bad", ("CREATE TABLE half (x INTEGER) STRICT", "CREATE TABLE half (x INTEGER) STRICT"))
    monkeypatch.setattr(db.migrations, "MIGRATIONS", (*db.migrations.MIGRATIONS, later))
    with closing(connect(path)) as connection:
        with pytest.raises(StudyError, match="half"):
            migrate(connection, LATEST + 1)
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'half'").fetchone() == (0,)
        assert connection.execute("PRAGMA user_version").fetchone() == (LATEST,)


def test_ids_are_unlike_each_other(tmp_path: Path) -> None:
    with create_study(tmp_path / "a.db", protocol()) as one, create_study(tmp_path / "b.db", protocol()) as other:
        assert one.uid != other.uid and one.secret != other.secret and len(one.secret) == 32
    with create_study(tmp_path / "c.db", protocol(), random_bytes=seeded(4)) as one:
        uid = one.uid
    with create_study(tmp_path / "d.db", protocol(), random_bytes=seeded(4)) as other:
        assert other.uid == uid


def test_the_package_gives_its_names_when_they_are_used() -> None:
    for name in db.__all__:
        assert callable(getattr(db, name))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = db.nothing
