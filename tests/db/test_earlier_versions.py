"""Study files of every earlier format open, prove themselves, hold what they held, and are coded on."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from builder import protocol

import db.migrations
from db.coding import CodingSession
from db.connection import LATEST
from db.labels import label_rows
from db.records import Act
from db.repair import repair
from db.study import create_study, open_study
from db.verify import verify

FIXTURES = Path(__file__).with_name("fixtures")
VERSIONS = [number for number, _, _ in db.migrations.MIGRATIONS]


@pytest.fixture(params=VERSIONS)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "old.db"
    path.write_bytes(gzip.decompress((FIXTURES / f"m{request.param:03}.db.gz").read_bytes()))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (request.param,)
    return path


def test_every_version_has_its_fixture() -> None:
    """A new migration needs a file that the release before it wrote."""
    assert sorted(path.name for path in FIXTURES.glob("*.gz")) == [f"m{number:03}.db.gz" for number in VERSIONS]


def test_it_opens_holds_and_is_coded_on(old: Path) -> None:
    with open_study(old) as study:
        proved = verify(study)
        assert proved.holds, [check for check in proved.checks if check.broken]
        rows = [row for row in label_rows(study) if row.label is not None]
        # three labels each of Ann and Bob stand (the fourth was undone), and Carl's imported one
        assert sorted((row.coder, row.label) for row in rows) == [("Ann", "WRONG")] * 3 + [("Bob", "WRONG")] * 3 + [
            ("Carl", "HEDGE")
        ]
        events = study.connection.execute("SELECT count(*) FROM events").fetchone()[0]
        assert events == 27
    with CodingSession.open(old, "Ann", protocol()) as session:
        item = session.next()
        assert item
        saved = session.save(Act("label", item.assignment, label="ABSTAIN"))
        assert saved.annotation is not None and saved.annotation.label == "ABSTAIN"
    with open_study(old) as study:
        assert verify(study).holds
        assert study.connection.execute("PRAGMA user_version").fetchone() == (LATEST,)


def test_after_migration_it_has_the_schema_of_a_new_study(old: Path, tmp_path: Path) -> None:
    def schema(path: Path) -> set[tuple[str, str]]:
        with closing(sqlite3.connect(path)) as connection:
            rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
            return {(name, " ".join(sql.split())) for name, sql in rows}

    open_study(old).close()
    create_study(tmp_path / "new.db", protocol()).close()
    assert schema(old) == schema(tmp_path / "new.db")


def test_it_can_be_repaired(old: Path, tmp_path: Path) -> None:
    found = repair(old, tmp_path / "new.db")
    assert found.complete and found.proved.holds
