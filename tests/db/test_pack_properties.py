"""Whatever packs, states of packs and copies come back, in whatever order and how often: the study ends up the same.
And whatever byte of a pack is changed on the way, no other label comes in than was given."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

import pytest
from builder import protocol, seeded, small_study
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pack_builder import NAMES, code, first_key_of, pack, rewrite, state

from db.coding import CodingSession
from db.errors import AnnotateError
from db.merge import merge, merge_copy
from db.pack_merge import OlderPack, merge_pack
from db.pack_read import ReadPack, read_pack
from db.records import Act
from db.study import open_study

FILES = ("A-1.pack", "A-2.pack", "A-3.pack", "B-1.pack", "B-2.pack", "C-1.pack", "C.db", "D.db", "D-2.db")
"""What comes back. Of two states of one pack the shorter is refused where the longer came before: nothing changes."""


@pytest.fixture(scope="module")
def returns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study, and what comes back: states of the packs of A, B and C, and copies in which C and D coded before."""
    folder = tmp_path_factory.mktemp("returns")
    home = small_study(folder / "home.db", "A", "B", "C", "D")
    copies(home, "C.db", "C", "w")
    with open_study(home) as study, open_study(folder / "C.db") as copy:
        merge_copy(study, copy)
    copies(home, "D.db", "D", "ha")
    copies(home, "D-2.db", "D", "haw")
    for coder in "ABC":
        pack(home, coder)
    for coder, states in {"A": ("w", "hu", "aw?"), "B": ("sw", "c"), "C": ("hh",)}.items():
        for number, keys in enumerate(states, 1):
            code(folder / f"{coder}.pack", keys, note="a note")
            shutil.copy(folder / f"{coder}.pack", folder / f"{coder}-{number}.pack")
    with open_study(home) as study:
        study.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder


def copies(home: Path, name: str, coder: str, keys: str) -> None:
    """A copy of the study in which a coder goes on; the ids and times are the same in each, as in one that grew."""
    copy = home.with_name(name)
    shutil.copy(home.with_name("D.db") if name == "D-2.db" else home, copy)
    done = 2 if name == "D-2.db" else 0
    with CodingSession.open(copy, coder, protocol()) as desk:
        for key in keys[done:]:
            item = desk.next()
            assert item
            desk.save(Act("label", item.assignment, label=NAMES[key]))


def bring(home: Path, path: Path) -> None:
    with open_study(home) as study:
        if path.suffix == ".pack":
            try:
                merge_pack(study, read_pack(path), lambda text, name: protocol())
            except OlderPack:
                return
        else:
            with open_study(path, read_only=True) as copy:
                merge_copy(study, copy)


@cache
def expected(folder: Path, files: frozenset[str]) -> list[tuple[object, ...]]:
    """The state after the longest of each, in the order of their names: another way to the same end."""
    home = folder / "expected.db"
    shutil.copy(folder / "home.db", home)
    longest = {name.split("-")[0].split(".")[0] + Path(name).suffix: name for name in sorted(files, key=length)}
    for name in sorted(longest.values()):
        bring(home, folder / name)
    return sorted(state(home), key=repr)


def length(name: str) -> int:
    return int(name.split("-")[1][0]) if "-" in name else 1


@given(order=st.lists(st.sampled_from(FILES), max_size=12))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_files_in_any_order_and_any_number_of_times_come_to_the_same(returns: Path, order: list[str]) -> None:
    home = returns / "trial.db"
    shutil.copy(returns / "home.db", home)
    for name in order:
        bring(home, returns / name)
    once = sorted(state(home), key=repr)
    assert once == expected(returns, frozenset(order))
    for name in reversed(order):
        bring(home, returns / name)
    assert sorted(state(home), key=repr) == once


# --- one byte ---------------------------------------------------------------------------------------


def heard(back: ReadPack) -> tuple[object, ...]:
    """All that a study takes from a pack."""
    return (dict(back.content), list(back.rows), {d: t for d, t in back.texts.items() if t[0]})


class Flips:
    """Changes bytes of a small pack, one at a time, and asks what a study would take in."""

    def __init__(self, folder: Path) -> None:
        self.home = small_study(folder / "home.db", "A", items=1)
        self.path = pack(self.home).path
        code(self.path, "wh", note="a note")
        self.whole = self.path.read_bytes()
        self.truth = heard(read_pack(self.path))
        self.broken = folder / "broken.pack"
        self.refused = self.same = 0

    def at(self, place: int, mask: int) -> None:
        """Change one byte."""
        content = bytearray(self.whole)
        content[place] ^= mask
        self.broken.write_bytes(content)
        self.try_it((place, mask))

    def cell(self, table: str, column: str, row: int, value: str) -> None:
        """Change one value, past triggers, types and constraints where SQLite lets that be."""
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as memory:
            memory.deserialize(self.whole)
            for (name,) in memory.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                memory.execute(f"DROP TRIGGER {name}")
            memory.execute("PRAGMA ignore_check_constraints = ON")
            keys = [each[1] for each in memory.execute(f"PRAGMA table_info({table})") if each[5]]
            where = f"({', '.join(keys)}) IN (SELECT {', '.join(keys)} FROM {table} LIMIT 1 OFFSET {row})"
            try:
                memory.execute(f"UPDATE {table} SET {column} = {value} WHERE {where}")
            except sqlite3.Error:
                return
            self.broken.write_bytes(memory.serialize())
        self.try_it((table, column, row, value))

    def try_it(self, what: object) -> None:
        """Refused with a reason, or it brings what was coded."""
        try:
            back = read_pack(self.broken)
            with open_study(self.home) as study:
                study.connection.execute("SAVEPOINT trial")
                study.connection.is_writing = True
                try:
                    merge_pack(study, back, lambda text, name: protocol(), random_bytes=seeded(1))
                finally:
                    study.connection.execute("ROLLBACK TO trial")
                    study.connection.execute("RELEASE trial")
                    study.connection.is_writing = False
        except AnnotateError:
            self.refused += 1
            return
        assert heard(back) == self.truth, what
        self.same += 1


def test_a_flipped_byte_is_refused_or_changes_nothing(tmp_path: Path) -> None:
    flips = Flips(tmp_path)
    written = [place for place, byte in enumerate(flips.whole) if byte]
    chance = random.Random(1)
    for place in chance.sample(written, 150):
        flips.at(place, 1 << chance.randrange(8))
    assert flips.refused > 10 and flips.same > 10


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_single_byte_that_is_flipped_is_refused_or_changes_nothing(tmp_path: Path) -> None:
    """Every byte that holds anything, and every 61st of those that are empty."""
    flips = Flips(tmp_path)
    for place, byte in enumerate(flips.whole):
        if byte or place % 61 == 0:
            flips.at(place, 1 << (place % 8))
    assert flips.refused > 1000 and flips.same > 1000


@pytest.mark.timeout(900)
def test_every_cell_that_is_changed_is_refused_or_changes_nothing(tmp_path: Path) -> None:
    """Not the file is damaged, but a value: each cell of each table in turn, once for each kind of value."""
    flips = Flips(tmp_path)
    with closing(sqlite3.connect(flips.path)) as whole:
        tables = {
            table: [row[1] for row in whole.execute(f"PRAGMA table_info({table})")]
            for (table,) in whole.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        }
        counts = {table: whole.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}
    values = ("NULL", "7", "'text'", "x'00'", "1.5", "'{}'", "''")
    for table, columns in tables.items():
        for column in columns:
            for row in range(counts[table]):
                for number, value in enumerate(values):
                    if (row + number) % 3 == 0:  # not every value in every row
                        flips.cell(table, column, row, value)
    assert flips.refused > 50 and flips.same > 50


def test_a_pack_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    flips = Flips(tmp_path)
    for size in range(0, len(flips.whole), 4999):
        flips.broken.write_bytes(flips.whole[:size])
        with pytest.raises(AnnotateError):
            read_pack(flips.broken)


def test_what_merging_takes_is_what_was_checked(tmp_path: Path) -> None:
    """The rows that were read are those that come in: nothing is read a second time from the file."""
    flips = Flips(tmp_path)
    back = read_pack(flips.path)
    flips.path.unlink()
    with open_study(flips.home) as study:
        assert merge_pack(study, back, lambda text, name: protocol()).added == 2
        assert merge(study, back.incoming()).added == 0


# --- who has the key --------------------------------------------------------------------------------

ANY = st.one_of(
    *(st.none(), st.booleans(), st.integers(-2, 2**40), st.floats(allow_nan=False, allow_infinity=False)),
    *(st.text(max_size=8), st.sampled_from(["WRONG", "a" * 64, "shown", "technical", "label"])),
    *(st.lists(st.integers(), max_size=2), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2)),
)
KEYS = st.sampled_from(["note", "label", "words", "target", "flag", "on", "kind", "reason", "rating", "sides", "zzz"])
COLUMNS = st.sampled_from(["kind", "unit", "protocol", "tool", "utc", "active_ms", "fence", "origin", "blindness"])
KINDS = st.sampled_from(
    ["undo", "redo", "note", "label", "confirm", "unmask", "takeover", "highlight", "flag", "lease"]
)


@pytest.fixture(scope="module")
def coded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack with seven acts, beside its study and its first copy."""
    folder = tmp_path_factory.mktemp("coded")
    first = pack(small_study(folder / "home.db", "A")).path
    code(Path(shutil.copy(first, folder / "coded.pack")), "wahs?u", note="a note")
    return folder


@given(at=st.integers(1, 7), column=st.one_of(st.none(), COLUMNS), key=KEYS, value=ANY, kind=KINDS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_who_has_the_first_key_is_refused_in_words_or_writes_what_holds(
    coded: Path, at: int, column: str | None, key: str, value: object, kind: str
) -> None:
    """Another program can seal anything that SQLite holds: the study refuses it, or takes it in and verifies."""
    trial = Path(shutil.copy(coded / "coded.pack", coded / "trial.pack"))
    home = Path(shutil.copy(coded / "home.db", coded / "trial.db"))

    def change(number: int, event: dict[str, dict]) -> None:
        if number == at and column is None:
            event["body"][key] = value
        elif number == at:
            event["row"][column] = kind if column == "kind" else value

    try:
        rewrite(trial, change, key=first_key_of(coded / "A.pack"))
    except (sqlite3.Error, OverflowError, UnicodeEncodeError):
        return  # no file can hold it
    with suppress(AnnotateError):
        bring(home, trial)
    state(home)
