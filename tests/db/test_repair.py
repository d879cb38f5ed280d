"""Repair of files that were cut, scribbled over and bit-flipped: what is legible comes back, the rest is named."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from builder import protocol, small_study

from db.backups import back_up
from db.coding import CodingSession
from db.erasure import forget
from db.errors import AnnotateError
from db.faults import DamagedStudy, StudyError, StudyMissing
from db.records import Act
from db.repair import repair
from db.study import open_study
from db.verify import verify

PAGE = 4096


def code(path: Path, coder: str, number: int, label: str = "WRONG") -> None:
    with CodingSession.open(path, coder, protocol()) as session:
        for _ in range(number):
            item = session.next()
            assert item
            session.save(Act("label", item.assignment, label=label, note=f"note of {coder}"))


@pytest.fixture
def coded(tmp_path: Path) -> Path:
    """60 units, two coders with 50 and 40 labels and their notes; closed, so that all of it is in the one file."""
    path = small_study(tmp_path / "s.db", "A", "B", items=30)
    code(path, "A", 50)
    code(path, "B", 40, "HEDGE")
    return path


def labels(path: Path) -> dict[str, str]:
    """Assignment -> label, read with plain SQL."""
    with closing(sqlite3.connect(path)) as connection:
        return dict(
            connection.execute(
                "SELECT a.uid, n.label FROM annotations n JOIN assignments a ON a.id = n.assignment_id"
                " WHERE n.label IS NOT NULL"
            )
        )


def pages_of(path: Path, table: str) -> list[int]:
    """The pages of a table's tree, told by SQLite's own account of each page of the file where it gives one."""
    with closing(sqlite3.connect(path)) as connection:
        try:
            rows = connection.execute("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'", (table,))
            return [row[0] for row in rows]
        except sqlite3.OperationalError:
            pytest.skip("this SQLite has no dbstat")


def overwrite(path: Path, pages: list[int], content: bytes = b"\xaa" * PAGE) -> None:
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE)
            file.write(content)


def test_a_sound_file_comes_out_as_it_was(coded: Path, tmp_path: Path) -> None:
    before = coded.read_bytes()
    found = repair(coded, tmp_path / "new.db")
    assert found.complete and found.proved.holds and found.backup is None and not found.schema
    assert labels(found.target) == labels(coded) and len(labels(coded)) == 90
    assert coded.read_bytes() == before
    assert {table.name: table.recovered for table in found.tables}["responses"] == 60
    code(found.target, "A", 10)
    with open_study(found.target) as study:
        assert verify(study).holds
    assert not list(tmp_path.glob(".new*"))


def test_a_hole_in_the_events_loses_exactly_the_rows_on_that_page(coded: Path, tmp_path: Path) -> None:
    whole = labels(coded)
    leaves = pages_of(coded, "events")
    assert len(leaves) >= 3
    overwrite(coded, [leaves[len(leaves) // 2]])
    found = repair(coded, tmp_path / "new.db")
    lost = [row for log in found.logs for row in log.lost]
    assert found.proved.holds, [check for check in found.proved.checks if check.broken]
    back = labels(found.target)
    assert back == {key: whole[key] for key in back}
    assert len(back) + len(lost) == 90 and 0 < len(lost) < 40
    assert all("assignment" in row and any(key in row for key in whole if key not in back) for row in lost)
    assert sum(log.moved for log in found.logs) > 0 and not found.complete
    with closing(sqlite3.connect(found.target)) as connection:
        origins = connection.execute("SELECT count(*) FROM events WHERE origin LIKE 'repair:%'").fetchone()[0]
    assert origins == sum(log.moved for log in found.logs)
    code(found.target, "A", 5)


def test_what_a_backup_holds_is_filled_in(coded: Path, tmp_path: Path) -> None:
    back_up(coded)
    code(coded, "A", 5, "ABSTAIN")
    whole = labels(coded)
    overwrite(coded, [*pages_of(coded, "responses"), pages_of(coded, "events")[0]])
    found = repair(coded, tmp_path / "new.db")
    assert found.backup is not None and found.proved.holds
    filled = {table.name: table.filled for table in found.tables}
    assert filled["responses"] == 60 and labels(found.target) == whole


def test_without_a_backup_lost_responses_are_counted_by_number(coded: Path, tmp_path: Path) -> None:
    overwrite(coded, pages_of(coded, "responses"))
    found = repair(coded, tmp_path / "new.db")
    (responses,) = [table for table in found.tables if table.name == "responses"]
    assert responses.lost == 60 and responses.names[0].startswith("responses ")


def test_a_file_whose_first_page_is_gone_is_read_under_a_sound_schema(coded: Path, tmp_path: Path) -> None:
    whole = labels(coded)
    overwrite(coded, [1], bytes(PAGE))
    found = repair(coded, tmp_path / "new.db")
    assert found.schema and found.proved.holds and labels(found.target) == whole


def test_a_file_of_nothing_but_noise_is_the_backup_or_an_error_that_says_so(coded: Path, tmp_path: Path) -> None:
    size = coded.stat().st_size
    copy = back_up(coded)
    whole = labels(copy)
    coded.write_bytes(random.Random(1).randbytes(size))
    found = repair(coded, tmp_path / "new.db")
    assert found.backup == copy and labels(found.target) == whole
    copy.unlink()
    with pytest.raises(DamagedStudy, match="neither the file nor a backup") as caught:
        repair(coded, tmp_path / "other.db")
    assert "annotate backup" in caught.value.hint and not (tmp_path / "other.db").exists()


def test_what_was_forgotten_does_not_come_back_from_a_backup(coded: Path, tmp_path: Path) -> None:
    back_up(coded)
    with open_study(coded) as study:
        forget(study, "A")
    overwrite(coded, [*pages_of(coded, "texts"), *pages_of(coded, "coders")])
    found = repair(coded, tmp_path / "new.db")
    with open_study(found.target) as study:
        assert study.connection.execute("SELECT name FROM coders WHERE pseudonym = 'coder-1'").fetchone() == (None,)
    content = found.target.read_bytes()
    assert b"note of A" not in content and b"note of B" in content


def test_what_cannot_be_repaired_or_written_is_said(coded: Path, tmp_path: Path) -> None:
    with pytest.raises(StudyMissing):
        repair(tmp_path / "nothing.db", tmp_path / "new.db")
    with pytest.raises(StudyError, match="already a file"):
        repair(coded, coded)
    with pytest.raises(StudyError, match="no such folder"):
        repair(coded, tmp_path / "no" / "new.db")


def damage(content: bytes, chance: random.Random) -> bytes:
    """Cut it, flip single bits, or write noise over a stretch of it."""
    kind = chance.choice(("cut", "flip", "flip", "noise", "zeros"))
    changed = bytearray(content)
    if kind == "cut":
        return bytes(changed[: chance.randrange(len(changed))])
    if kind == "flip":
        for _ in range(chance.choice((1, 3, 30))):
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        return bytes(changed)
    start, length = chance.randrange(len(changed)), chance.randrange(1, 4 * PAGE)
    end = min(start + length, len(changed))
    changed[start:end] = chance.randbytes(end - start) if kind == "noise" else bytes(end - start)
    return bytes(changed)


def examine(broken: Path, whole: dict[str, str]) -> str:
    """Verify and repair a broken file; whatever is wrong with it is said in words, and no label is made up."""
    told = ""
    try:
        with open_study(broken, read_only=True) as study:
            told = "held" if verify(study).holds else "found"
    except AnnotateError as error:
        assert error.message and error.hint, error
        told = "refused"
    target = broken.with_suffix(".new")
    try:
        found = repair(broken, target)
    except AnnotateError as error:
        assert error.message and error.hint, error
        return told
    back = labels(target)
    assert all(whole.get(key) == label for key, label in back.items())
    lost = sum(len(log.lost) for log in found.logs) + sum(t.lost or 0 for t in found.tables)
    assert len(back) == len(whole) or not found.complete or lost, (told, len(back))
    return told


@pytest.mark.parametrize("seed", range(3))
def test_damage_at_random_never_ends_in_a_traceback_or_a_label_that_nobody_gave(coded: Path, seed: int) -> None:
    fuzz(coded, seed, 8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 104))
def test_much_damage_at_random(coded: Path, seed: int) -> None:
    fuzz(coded, seed, 40)


def fuzz(coded: Path, seed: int, rounds: int) -> None:
    chance = random.Random(seed)
    content, whole = coded.read_bytes(), labels(coded)
    broken = coded.with_name("broken.db")
    for _ in range(rounds):
        broken.write_bytes(damage(content, chance))
        examine(broken, whole)
        for each in broken.parent.glob("broken*"):
            shutil.rmtree(each) if each.is_dir() else each.unlink()
